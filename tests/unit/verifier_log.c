/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/log.h"
#include "tests/unit/tap.h"
#include <string.h>

static const struct {
    const char *log, *line;
} cases[] = {
    {"0: (85) call 1\nR1 type=ctx expected=map_ptr\nprocessed 1 insns (limit 1000000)\n",
     "R1 type=ctx expected=map_ptr"},
    {"R0 !read_ok\nverification time 12 usec\nstack depth 0\nprocessed 2 insns\n\n", "R0 !read_ok"},
    {"infinite loop detected at insn 3\ncur state: R0=1\nold state: R0=1\nprocessed 9 insns\n",
     "infinite loop detected at insn 3"},
    {"only line", "only line"},
    {"only line\n", "only line"},
    {"\n\n", ""},
    {"", ""},
    {"processed 0 insns\n", ""},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = -1;
        const char *line = log_last_line(cases[i].log, &n);
        check(n == (int)strlen(cases[i].line) && strncmp(line, cases[i].line, n) == 0,
              "last line %zu: '%.*s'", i, n, line);
    }
    return done();
}
