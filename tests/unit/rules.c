/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts: what deserves each, what almost does, which comes first, and that neither the length of the span
 * nor the number of threads changes them. */
#include <string.h>
#include "tests/unit/tap.h"
#include "verdict/rules.h"

#define MS 1e6

struct a_case {
    const char *name;
    enum verdict expected;
    struct times times; /* ms */
    struct outlook outlook;
};

static const struct a_case cases[] = {
    {"asleep", VERDICT_IDLE, {.span = 1000}, {0}},
    {"a thread that fills a CPU", VERDICT_CPU_BOUND, {.span = 1000, .run = 990, .busiest = 990}, {0}},
    {"eight threads of a tenth", VERDICT_CPU_BOUND, {.span = 1000, .run = 800, .busiest = 120}, {0}},
    {"runs a third, waits two",
     VERDICT_STARVED,
     {.span = 1000, .run = 333, .wait = 667, .busiest = 333},
     {0}},
    {"waits a tenth of it", VERDICT_CPU_BOUND, {.span = 1000, .run = 900, .wait = 100, .busiest = 900}, {0}},
    {"waits a lot for the little it does", VERDICT_OK, {.span = 1000, .run = 5, .wait = 60}, {0}},
    {"its CPU is taken for half the time",
     VERDICT_STARVED,
     {.span = 1000, .run = 500, .stolen = 500, .busiest = 500},
     {0}},
    {"its CPU is taken for a tenth of the time",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 900, .stolen = 100, .busiest = 900},
     {0}},
    {"others and the hypervisor have a sixth each",
     VERDICT_STARVED,
     {.span = 1000, .run = 660, .wait = 170, .stolen = 170, .busiest = 660},
     {0}},
    {"a fifth of a CPU by quota", VERDICT_THROTTLED, {.span = 1000, .run = 200, .throttled = 800}, {0}},
    {"quota and neighbours, quota worse",
     VERDICT_THROTTLED,
     {.span = 1000, .run = 200, .throttled = 500, .wait = 300},
     {0}},
    {"quota and neighbours, neighbours worse",
     VERDICT_STARVED,
     {.span = 1000, .run = 200, .throttled = 300, .wait = 500},
     {0}},
    {"direct reads, one at a time", VERDICT_IO_BOUND, {.span = 1000, .run = 80, .io = 910}, {0}},
    {"reads half as long as it runs",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 500, .io = 250, .busiest = 500},
     {0}},
    {"a read now and then", VERDICT_OK, {.span = 1000, .run = 1, .io = 60}, {0}},
    {"refaults", VERDICT_THRASHING, {.span = 1000, .run = 200, .memory = 700}, {0}},
    {"refaults and other I/O", VERDICT_IO_BOUND, {.span = 1000, .run = 100, .memory = 300, .io = 500}, {0}},
    {"compressed swap costs CPU",
     VERDICT_THRASHING,
     {.span = 1000, .run = 1000, .busiest = 1000, .majors = 40000},
     {0}},
    {"a few major faults",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 1000, .busiest = 1000, .majors = 100},
     {0}},
    {"a lock that others hold",
     VERDICT_LOCK_BOUND,
     {.span = 1000, .run = 900, .lock = 3000, .busiest = 300},
     {0}},
    {"a lock now and then", VERDICT_CPU_BOUND, {.span = 1000, .run = 600, .lock = 300, .busiest = 300}, {0}},
    {"more threads than CPUs",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 960, .wait = 3000, .own_wait = 2900},
     {0}},
    {"more threads than CPUs, and a neighbour",
     VERDICT_STARVED,
     {.span = 1000, .run = 1000, .wait = 3000, .own_wait = 1500, .busiest = 300},
     {0}},
    {"waits for fsync nearly as long as it runs",
     VERDICT_IO_BOUND,
     {.span = 1000, .run = 507, .io = 484, .busiest = 507},
     {0}},
    {"runs, and reads a little",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 700, .io = 160, .busiest = 600},
     {0}},
    {"reads a little less than it waits for locks",
     VERDICT_LOCK_BOUND,
     {.span = 1000, .run = 200, .io = 150, .lock = 220},
     {0}},
    {"a quarter of everything",
     VERDICT_OK,
     {.span = 1000, .run = 120, .io = 60, .lock = 60, .memory = 50},
     {0}},
    {"a server that does not answer", VERDICT_BLOCKED, {.span = 1000, .run = 2, .blocked = 990}, {0}},
    {"one thread of eight is blocked, the others compute",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 7000, .blocked = 1000, .busiest = 1000},
     {0}},
    {"a hundredth", VERDICT_OK, {.span = 1000, .run = 11}, {0}},
    {"less than a hundredth", VERDICT_IDLE, {.span = 1000, .run = 4, .wait = 4}, {0}},
    {"keeps others waiting",
     VERDICT_NOISY_NEIGHBOR,
     {.span = 1000, .run = 990, .busiest = 990, .caused = 700},
     {0}},
    {"keeps them waiting a little",
     VERDICT_CPU_BOUND,
     {.span = 1000, .run = 990, .busiest = 990, .caused = 150},
     {0}},
    {"starved itself, it is no noisy neighbour",
     VERDICT_STARVED,
     {.span = 1000, .run = 500, .wait = 500, .caused = 500},
     {0}},
    {"memory ends", VERDICT_OOM_RISK, {.span = 1000, .run = 990, .busiest = 990}, {true, 30, 90}},
    {"memory ends, whatever else is",
     VERDICT_OOM_RISK,
     {.span = 1000, .run = 300, .wait = 700},
     {true, 30, 90}},
    {"memory ends, but not soon", VERDICT_OK, {.span = 1000, .run = 10}, {true, 600, 90}},
    {"memory ends because of another process", VERDICT_OK, {.span = 1000, .run = 10}, {true, 30, 5}},
    {"not known when memory ends", VERDICT_OK, {.span = 1000, .run = 10}, {false, 0, 100}},
};

static struct times scaled(const struct times *ms, double by)
{
    struct times ns = *ms;
    double *members = (double *)&ns;

    for (size_t i = 0; i < sizeof ns / sizeof *members; i++)
        members[i] *= MS * by;
    ns.majors = ms->majors * by;
    return ns;
}

static void test_case(const struct a_case *c, const struct thresholds *thresholds)
{
    static const double spans[] = {0.01, 1, 60};

    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct times times = scaled(&c->times, spans[i]);
        struct judgement judgement;
        judge(&times, &c->outlook, thresholds, &judgement);
        check(judgement.verdict == c->expected, "%s, in %g s: %s", c->name, spans[i],
              verdict_names[judgement.verdict]);
        double sum = 100 *
                     (c->times.run + c->times.wait + c->times.stolen + c->times.throttled + c->times.io +
                      c->times.memory + c->times.lock + c->times.blocked + c->times.caused) /
                     c->times.span;
        check(score(&times) > sum - 1e-6 && score(&times) < sum + 1e-6, "%s: score %g, not %g", c->name,
              score(&times), sum);
    }
}

/* Each threshold decides: the same process on both sides of it. */
static void test_thresholds(struct thresholds thresholds)
{
    struct times half = scaled(&(struct times){.span = 1000, .run = 500, .wait = 500}, 1);
    struct outlook none = {0};
    struct judgement judgement;

    thresholds.value[STARVED_PCT] = 49;
    judge(&half, &none, &thresholds, &judgement);
    check(judgement.verdict == VERDICT_STARVED, "half waited, 49 %% asked for: %s",
          verdict_names[judgement.verdict]);
    thresholds.value[STARVED_PCT] = 51;
    judge(&half, &none, &thresholds, &judgement);
    check(judgement.verdict == VERDICT_CPU_BOUND && judgement.largest_share,
          "half waited, 51 %% asked for: %s by share", verdict_names[judgement.verdict]);
    thresholds.value[BUSY_PCT] = 101;
    judge(&half, &none, &thresholds, &judgement);
    check(judgement.verdict == VERDICT_OK, "half waited, 51 %% asked for: %s",
          verdict_names[judgement.verdict]);
    for (int i = 0; i < RULES; i++)
        if (judgement.findings[i].verdict == VERDICT_STARVED)
            check(judgement.findings[i].value == 50 && judgement.findings[i].limit == 51 &&
                      !judgement.findings[i].holds,
                  "the finding has it: value %g limit %g", judgement.findings[i].value,
                  judgement.findings[i].limit);
}

int main(void)
{
    struct thresholds thresholds;

    thresholds_default(&thresholds);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_case(&cases[i], &thresholds);
    test_thresholds(thresholds);
    return done();
}
