/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/log.h"
#include <stdbool.h>
#include <string.h>

/* What the verifier adds after the verdict: statistics, and for a loop without an end what it knew. */
static bool is_appendix(const char *line)
{
    static const char *const begin[] = {
        "processed ",   "verification time ", "stack depth ", "max_states_per_insn ",
        "mark_precise", "cur state:",         "old state:",
    };

    for (unsigned i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(line, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

const char *log_last_line(const char *log, int *length)
{
    const char *end = log + strlen(log);

    while (end > log) {
        const char *line = end;
        while (line > log && line[-1] != '\n')
            line--;
        if (line < end && !is_appendix(line)) {
            *length = end - line;
            return line;
        }
        end = line > log ? line - 1 : log;
    }
    *length = 0;
    return "";
}
