/* SPDX-License-Identifier: GPL-2.0-only */
/* The manual documents every option, every view and, below it, every column in its order. Run from the top of
 * the source tree. */
#include "cli/options_table.h"
#include "view/view.h"
#include "tests/unit/tap.h"
#include <stdlib.h>
#include <string.h>

static char *read_manual(void)
{
    FILE *file = fopen("docs/hog.8", "r");
    char *text = calloc(1, 1 << 20);

    if (!text || !file || !fread(text, 1, (1 << 20) - 1, file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* The first line that is exactly this, from `text` on. */
static const char *find_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *p = text; (p = strstr(p, line)); p += n)
        if ((p == text || p[-1] == '\n') && p[n] == '\n')
            return p;
    return NULL;
}

static void check_view(const char *manual, const struct schema *schema)
{
    char line[64];

    snprintf(line, sizeof line, ".Ss %s", schema->name);
    const char *at = find_line(manual, line);
    check(at != NULL, "the manual has a section for %s", schema->name);
    const char *end = at ? strstr(at + 1, "\n.S") : NULL;
    for (size_t i = 0; at && i < schema->ncolumns; i++) {
        snprintf(line, sizeof line, ".It Li %s", schema->columns[i].name);
        const char *item = find_line(at, line);
        check(item && end && item < end, "the manual explains %s of %s in its place", schema->columns[i].name,
              schema->name);
        at = item ? item : at;
    }
}

/* .It Fl i , -interval Ar TIME */
static bool has_option(const char *manual, const char *name)
{
    char flag[64];
    size_t n = (size_t)snprintf(flag, sizeof flag, " -%s", name);

    for (const char *p = manual; (p = strstr(p, "\n.It Fl ")); p++) {
        const char *end = p + 1 + strcspn(p + 1, "\n"), *at = strstr(p, flag);
        if (at && at + n <= end && (at[n] == ' ' || at[n] == '\n'))
            return true;
    }
    return false;
}

static void check_options(const char *manual, const struct option_spec *specs)
{
    for (; specs && specs->name; specs++)
        if (!specs->hidden)
            check(has_option(manual, specs->name), "the manual explains --%s", specs->name);
}

int main(void)
{
    char *manual = read_manual();

    check(manual != NULL, "docs/hog.8 can be read from here");
    if (manual)
        check_options(manual, option_table);
    for (size_t i = 0; manual && views[i]; i++) {
        check_view(manual, &views[i]->schema);
        check_options(manual, views[i]->options);
    }
    check(views[0] != NULL, "there is a view at all");
    free(manual);
    return done();
}
