// SPDX-License-Identifier: GPL-2.0-only
#include "cli/thresholds_print.h"
#include <stdio.h>
#include "out/lines.h"

#define LONGEST_LINE 256

static void put(struct lines *lines, const char *text)
{
    lines_text(lines, text);
    lines_end(lines);
}

int thresholds_print(const struct thresholds *t, int fd)
{
    struct lines lines;
    char line[LONGEST_LINE];

    lines_open(&lines, fd);
    put(&lines, "# What hog judges by: NAME=VALUE a line. What is not named keeps its default.");
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const struct threshold_spec *spec = &threshold_table[i];
        put(&lines, "");
        snprintf(line, sizeof line, "# %s", spec->meaning);
        put(&lines, line);
        snprintf(line, sizeof line, "# %s, %s to %s; default %s", spec->unit,
                 threshold_text(spec->least).text, threshold_text(spec->most).text,
                 threshold_text(spec->standard).text);
        put(&lines, line);
        snprintf(line, sizeof line, "%s=%s", spec->name, threshold_text(t->value[i]).text);
        put(&lines, line);
    }
    int err = lines_flush(&lines);
    lines_close(&lines);
    return err;
}
