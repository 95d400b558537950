/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of columns of all views: rows of text fit a terminal, and the first and the last fields of a row
 * are the same with and without -w. */
#include "out/out.h"
#include "view/view.h"
#include "tests/unit/tap.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TERMINAL 100
#define NARROW   80
#define MOST     64

/* Words as long as they get: a comm has 15 bytes, two culprits by number and name some 24. */
static struct cell widest(const struct column *column)
{
    static const char words[] = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
    size_t width = (size_t)abs(column->width);

    if (column->width >= 0)
        return width >= 7 ? cell_unsigned(1234567) : cell_unsigned(123);
    if (!strcmp(column->name, "comm") || !strcmp(column->name, "victim_comm"))
        width = 15;
    if (!strcmp(column->name, "by"))
        width = 24;
    return cell_string(words + sizeof words - 1 - width);
}

static char *written(const struct schema *schema, const struct column_choice *choice)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_TEXT, true);
    struct cell cells[MOST];
    char *text = calloc(1, 8192);

    out_choose(out, choice);
    for (size_t i = 0; i < schema->ncolumns; i++)
        cells[i] = widest(&schema->columns[i]);
    out_row(out, schema, cells);
    out_close(out);
    if (!text || pread(fd, text, 8191, 0) <= 0)
        abort();
    close(fd);
    return text;
}

static void check_width(const struct schema *schema, const struct column_choice *choice, size_t most)
{
    char *text = written(schema, choice);
    size_t names = strcspn(text, "\n"), row = strcspn(text + names + 1, "\n");

    check(names <= most && row <= most, "%s: a row has at most %zu characters: %zu, and %zu of names",
          schema->name, most, row, names);
    free(text);
}

/* The columns that a narrow screen keeps; it shows the name of the view once, not in each row. */
static void check_narrow(const struct schema *schema)
{
    char list[512] = "";

    for (size_t i = 0; i < schema->ncolumns; i++)
        if ((schema->columns[i].use & COLUMN_NARROW) == COLUMN_NARROW)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? "," : "",
                     schema->columns[i].name);
    check_width(schema, &(struct column_choice){.list = list}, strlen(schema->name) + 2 + NARROW);
}

/* 0: numbers of the default set, 1: further ones, 2: further words, 3: words of the default set, 4: comm. */
static int place_of(const struct column *column)
{
    bool words = column->width < 0, shown = column->use & COLUMN_DEFAULT;

    if (!strcmp(column->name, "comm"))
        return 4;
    return words ? 2 + shown : !shown;
}

static void check_places(const struct schema *schema)
{
    int place = 0;
    const char *wrong = NULL;

    for (size_t i = 0; i < schema->ncolumns; i++) {
        int next = place_of(&schema->columns[i]);
        if (next < place)
            wrong = schema->columns[i].name;
        place = next;
    }
    check(!wrong, "%s: numbers, further numbers, further words, words: %s stands in its place", schema->name,
          wrong ? wrong : "each");
    check(place == 4, "%s: comm is the last column", schema->name);
}

int main(void)
{
    for (size_t i = 0; views[i]; i++)
        for (const struct schema *schema = &views[i]->schema; schema; schema = schema->next) {
            check(schema->ncolumns <= CHOICE_COLUMNS && schema->ncolumns <= MOST, "%s: %zu columns",
                  schema->name, schema->ncolumns);
            check_places(schema);
            check_width(schema, &(struct column_choice){.wide = false}, TERMINAL);
            check_narrow(schema);
        }
    check(views[0] != NULL, "there is a view at all");
    return done();
}
