/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options_help.h"
#include "base/list.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/options_table.h"
#include "cli/options_verbs.h"
#include "cli/thresholds_print.h"
#include "out/lines.h"
#include "view/view.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WIDTH       80
#define INDENT      24
#define VIEW_INDENT 14

static const char *const section_names[SECTIONS] = {
    [SECTION_FILTERS] = "filters",       [SECTION_ROWS] = "rows",       [SECTION_OUTPUT] = "output",
    [SECTION_RECORDINGS] = "recordings", [SECTION_GENERAL] = "general",
};

static const char *const section_titles[SECTIONS] = {
    [SECTION_FILTERS] = "Filters: only some rows. ! in front of a value: all others; may be repeated.",
    [SECTION_ROWS] = "Rows: how many, in which order, what is one row, and columns about it.",
    [SECTION_OUTPUT] = "Output: which columns, and in which format.",
    [SECTION_RECORDINGS] = "Recordings: hog record, report and diff.",
    [SECTION_GENERAL] = "General: windows, how hog counts and judges, help.",
};

#define PAGE_ALL        "all"
#define PAGE_THRESHOLDS "thresholds"

const char *section_name(enum option_section section)
{
    return section_names[section];
}

/* ---- lines ---- */

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

/* ---- options ---- */

static void put_option(struct lines *lines, const struct option_spec *spec)
{
    char label[64], letter[] = {'-', spec->letter, ',', ' ', '\0'};

    if (spec->hidden)
        return;
    snprintf(label, sizeof label, "  %s--%s%s%s", spec->letter ? letter : "    ", spec->name,
             spec->argument ? " " : "", spec->argument ? spec->argument : "");
    put_entry(lines, label, INDENT, spec->help);
}

static void put_section(struct lines *lines, enum option_section section)
{
    put(lines, section_titles[section]);
    for (const struct option_spec *spec = option_table; spec->name; spec++)
        if (spec->section == section)
            put_option(lines, spec);
}

static void put_view_options(struct lines *lines, const struct view *view)
{
    char title[64];

    if (!view->options)
        return;
    snprintf(title, sizeof title, "Options of %s:", view->name);
    put(lines, title);
    for (const struct option_spec *spec = view->options; spec->name; spec++)
        put_option(lines, spec);
}

static void put_all(struct lines *lines, const struct view *const *known)
{
    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++) {
        put_section(lines, section);
        put(lines, "");
    }
    for (; *known; known++)
        put_view_options(lines, *known);
}

/* ---- pages ---- */

static void put_first(struct lines *lines, const struct view *const *known)
{
    char label[40];

    put(lines, "Usage: hog [VIEW..] [OPTIONS] [INTERVAL [COUNT]]");
    put(lines, "Names the processes that hog this host: COUNT windows of INTERVAL (1s).");
    put(lines, "Views, one or more; without any, top:");
    for (; *known; known++) {
        snprintf(label, sizeof label, "  %s", (*known)->name);
        put_entry(lines, label, VIEW_INDENT, (*known)->summary);
    }
    put(lines, "In place of views:");
    for (const struct verb_spec *verb = verb_table; verb->word; verb++) {
        if (!verb->group)
            continue;
        snprintf(label, sizeof label, "  %s", verb->group);
        put_entry(lines, label, INDENT, verb->about);
    }
    put(lines, "Often: -p PID -c NAME -u USER (filters), -k ROWS, -w (all columns), -o json");
    put(lines, "More: hog help VIEW, filters, rows, output, recordings, general; or all");
    put(lines, "Status: 0 done, 1 failed, 2 usage, 3 this host cannot, 4 an --alert");
}

static void put_columns(struct lines *lines, const struct schema *schema, bool wide)
{
    char label[64];
    size_t indent = 0;

    for (size_t i = 0; i < schema->ncolumns; i++) {
        size_t n = strlen(schema->columns[i].name);
        if (wide || schema->columns[i].use & COLUMN_DEFAULT)
            indent = n > indent ? n : indent;
    }
    for (size_t i = 0; i < schema->ncolumns; i++) {
        const struct column *column = &schema->columns[i];
        if (!wide && !(column->use & COLUMN_DEFAULT))
            continue;
        snprintf(label, sizeof label, "  %s", column->name);
        put_entry(lines, label, indent + 4, column->help);
    }
}

static void put_view(struct lines *lines, const struct view *view, bool wide)
{
    char text[256];

    snprintf(text, sizeof text, "hog %s%s", view->name, view->takes_pids ? " PID.." : "");
    put_entry(lines, text, strlen(text) + 2, view->summary);
    if (view->takes_command) {
        snprintf(text, sizeof text, "hog %s -- COMMAND ARGUMENTS..", view->name);
        put_entry(lines, text, strlen(text) + 2, "the same for a command while it runs");
    }
    put(lines, wide ? "Columns:" : "Columns, the default ones:");
    put_columns(lines, &view->schema, wide);
    put_view_options(lines, view);
    snprintf(text, sizeof text, "All columns: hog help %s -w", view->name);
    if (!wide)
        put(lines, text);
    put(lines, "Options of all views: hog help filters, rows, output, general");
}

/* The options that have an effect there, by name. */
static void put_verb(struct lines *lines, const struct verb_spec *verb)
{
    char text[512], label[48];

    snprintf(text, sizeof text, "hog %s %s", verb->word, verb->usage);
    put(lines, text);
    put_entry(lines, "", 0, verb->summary);
    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++) {
        size_t used = 0;
        for (const struct option_spec *spec = option_table; spec->name; spec++)
            if (spec->section == section && !spec->hidden && spec->verbs & verb->verb)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s--%s", used ? " " : "", spec->name);
        snprintf(label, sizeof label, "  hog help %s:", section_names[section]);
        if (used)
            put_entry(lines, label, INDENT, text);
    }
}

static int put_page(struct lines *lines, const struct options *options, const char *topic,
                    const struct view *const *known)
{
    const struct verb_spec *verb = verb_find(topic, strlen(topic));

    for (; *known; known++)
        if (!strcmp(topic, (*known)->name))
            put_view(lines, *known, options->wide);
    if (verb)
        put_verb(lines, verb);
    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++)
        if (!strcmp(topic, section_names[section]))
            put_section(lines, section);
    if (strcmp(topic, PAGE_THRESHOLDS) != 0)
        return 0;
    int err = lines_flush(lines);
    return err ? err : thresholds_print(&options->thresholds, lines->fd);
}

int options_help(int fd, const struct options *options, const struct view *const *known)
{
    struct lines lines;
    int err = 0;

    lines_open(&lines, fd);
    if (!options->topics[0])
        put_first(&lines, known);
    for (const char *const *topic = options->topics; *topic && !err; topic++) {
        if (topic > options->topics)
            put(&lines, "");
        if (!strcmp(*topic, PAGE_ALL))
            put_all(&lines, known);
        else
            err = put_page(&lines, options, *topic, known);
    }
    if (!err)
        err = lines_flush(&lines);
    lines_close(&lines);
    return err;
}

/* Goes through the names of all pages. */
static const char *page_name(size_t i, const struct view *const *known)
{
    size_t n = 0;

    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++)
        if (n++ == i)
            return section_names[section];
    for (; *known; known++)
        if (n++ == i)
            return (*known)->name;
    for (const struct verb_spec *verb = verb_table; verb->word; verb++)
        if (n++ == i)
            return verb->word;
    return n == i ? PAGE_ALL : n + 1 == i ? PAGE_THRESHOLDS : NULL;
}

int help_check(const char *topic, const struct view *const *known, struct error *why)
{
    struct suggestion nearest = suggest(topic, strlen(topic), SLIPS);
    char list[256] = "";
    const char *name;

    for (size_t i = 0; (name = page_name(i, known)); i++) {
        if (!strcmp(topic, name))
            return 0;
        suggest_consider(&nearest, name);
        append_name(list, sizeof list, name);
    }
    return error_set(why, -EINVAL, "no page of help \"%s\": there are %s%s%s%s", quote(topic).text, list,
                     nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                     nearest.name ? "?" : "");
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
