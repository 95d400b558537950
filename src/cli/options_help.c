/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options.h"
#include "cli/options_table.h"
#include "out/lines.h"
#include "view/view.h"
#include <stdio.h>
#include <string.h>

#define WIDTH  80
#define INDENT 24

static void put(struct lines *lines, const char *line)
{
    lines_text(lines, line);
    lines_end(lines);
}

/* The label, then the text from column `indent` on, wrapped between words. */
static void put_entry(struct lines *lines, const char *label, size_t indent, const char *text)
{
    size_t at = strlen(label);

    lines_text(lines, label);
    if (at >= indent) {
        lines_end(lines);
        at = 0;
    }
    lines_spaces(lines, indent - at);
    at = indent;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at > indent && at + 1 + word >= WIDTH) {
            lines_end(lines);
            lines_spaces(lines, indent);
            at = indent;
        } else if (at > indent) {
            lines_spaces(lines, 1);
            at++;
        }
        lines_add(lines, text, word);
        at += word;
        text += word + strspn(text + word, " ");
    }
    lines_end(lines);
}

static void put_views(struct lines *lines, const struct view *const *known)
{
    char label[40];

    put(lines, "");
    put(lines, "Views:");
    for (; *known; known++) {
        snprintf(label, sizeof label, "  %s", (*known)->name);
        put_entry(lines, label, 14, (*known)->summary);
    }
    put_entry(
        lines, "  doctor", 14,
        "measures nothing: what this host allows, which hook each view would use, and why not a better one");
}

static void put_options(struct lines *lines, const struct option_spec *specs)
{
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        char label[64], letter[] = {'-', spec->letter, ',', ' ', '\0'};
        if (spec->hidden)
            continue;
        snprintf(label, sizeof label, "  %s--%s%s%s", spec->letter ? letter : "    ", spec->name,
                 spec->argument ? " " : "", spec->argument ? spec->argument : "");
        put_entry(lines, label, INDENT, spec->help);
    }
}

static void put_view_options(struct lines *lines, const struct view *const *known)
{
    char title[64];

    for (; *known; known++) {
        if (!(*known)->options)
            continue;
        put(lines, "");
        snprintf(title, sizeof title, "Options of %s:", (*known)->name);
        put(lines, title);
        put_options(lines, (*known)->options);
    }
}

int options_help(int fd, const struct view *const *known)
{
    struct lines lines;

    lines_open(&lines, fd);
    put(&lines, "Usage: hog [VIEW[,VIEW...]] [OPTIONS] [INTERVAL [COUNT]]");
    put(&lines, "       hog track PID.. [OPTIONS]");
    put(&lines, "       hog doctor [OPTIONS]");
    put(&lines, "       hog energy [OPTIONS] -- COMMAND ARGUMENTS..");
    put(&lines, "       hog pin DIR [VIEW,..] | hog read DIR [INTERVAL [COUNT]] | hog unpin DIR");
    put(&lines, "       hog record FILE [VIEW[,VIEW...]] [OPTIONS] [INTERVAL [COUNT]]");
    put(&lines, "       hog report FILE [OPTIONS]");
    put(&lines, "       hog diff BEFORE AFTER [OPTIONS]");
    put(&lines, "Names the processes that hog this host: a window every INTERVAL (seconds, or");
    put(&lines, "with a unit: 500ms, 2m), COUNT windows or until interrupted.");
    put_views(&lines, known);
    put(&lines, "");
    put(&lines, "Options:");
    put_options(&lines, option_table);
    put_view_options(&lines, known);
    put(&lines, "");
    put(&lines, "Examples:");
    put(&lines, "  hog cpu                       the top 10 by CPU time, every second");
    put(&lines, "  hog cpu -k 5 0.1 50           the top 5, ten times a second, for five seconds");
    put(&lines, "  hog track 4711 -i 1ms -n 100  one process in steps of a millisecond");
    put(&lines, "  hog cpu -o json 1 | jq -c 'select(.cpu_pct > 90)'");
    put(&lines, "");
    put(&lines, "Exit status: 0 done, 1 failed while running, 2 usage, 3 this host cannot,");
    put(&lines, "             4 an --alert.");
    int error = lines_flush(&lines);
    lines_close(&lines);
    return error;
}

int options_version(int fd)
{
    struct lines lines;

    lines_open(&lines, fd);
    put(&lines, "hog " HOG_VERSION);
    int error = lines_flush(&lines);
    lines_close(&lines);
    return error;
}
