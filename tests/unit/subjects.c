/* SPDX-License-Identifier: GPL-2.0-only */
/* The table that `top` joins processes in: found again as it grows, judged over a span, forgotten when idle.
 */
#include <math.h>
#include "view/top/process_table.h"
#include "tests/unit/tap.h"

static void window(struct process_table *s, double ns, uint64_t keys, double part)
{
    process_table_begin(s, ns, 1e9);
    for (uint64_t key = 1; key <= keys; key++)
        process_table_at(s, key << 20)->now.run = part * ns;
    process_table_end(s);
}

static void test_many(void)
{
    struct process_table s = {0};
    bool all = true;

    window(&s, 1e9, 5000, 0.5);
    for (uint64_t key = 1; key <= 5000; key++)
        all = all && process_table_find(&s, key << 20) &&
              process_table_find(&s, key << 20)->judged.run == 0.5e9;
    check(s.span == 1e9 && s.window == 1e9, "the span stays as the table grows: %g", s.span);
    check(all && s.used == 5000, "5000 processes are found again: %zu", s.used);
    check(!process_table_find(&s, 1), "one that is not there is not");
    for (int i = 0; i < 3; i++)
        window(&s, 1e9, 1, 0.5);
    check(s.used < 200, "idle processes are dropped: %zu left", s.used);
    check(process_table_find(&s, 1 << 20), "a process that does not exist is not there");
    process_table_free(&s);
}

/* Windows of 10 ms are judged over a second. */
static void test_span(void)
{
    struct process_table s = {0};

    for (int i = 0; i < 1000; i++)
        window(&s, 1e7, 1, 0.3);
    const struct judged_process *one = process_table_find(&s, 1 << 20);
    check(fabs(s.span - 1e9) < 1e6, "100 windows of 10 ms and more: a span of %g s", s.span / 1e9);
    check(one && fabs(one->judged.run / one->judged.span - 0.3) < 1e-3, "and 30 %% in it: %g",
          one ? one->judged.run / one->judged.span : -1);
    window(&s, 1e7, 1, 1);
    one = process_table_find(&s, 1 << 20);
    check(one && fabs(one->judged.run / one->judged.span - 0.307) < 1e-3,
          "one window at 100 %%: 30.7 %%, not %g", one ? 100 * one->judged.run / one->judged.span : -1);
    window(&s, 2e9, 1, 1);
    one = process_table_find(&s, 1 << 20);
    check(one && one->judged.run == one->judged.span && one->judged.span == 2e9,
          "a long window is judged by itself");
    process_table_free(&s);
}

/* A new process in a short window has not existed for the whole span: its total is small. */
static void test_newcomer(void)
{
    struct process_table s = {0};

    for (int i = 0; i < 1000; i++)
        window(&s, 1e7, 1, 0.3);
    window(&s, 1e7, 2, 1);
    const struct judged_process *two = process_table_find(&s, 2 << 20);
    check(two && two->now.run == 1e7 && fabs(two->judged.run / two->judged.span - 0.01) < 1e-4,
          "10 ms in a second: %g %%", two ? 100 * two->judged.run / two->judged.span : -1);
    process_table_free(&s);
}

int main(void)
{
    test_many();
    test_span();
    test_newcomer();
    return done();
}
