// SPDX-License-Identifier: GPL-2.0-only
/* Build-time tool: writes docs/options.md, a table of options and verbs, from the tables of both. Like
 * gen/completion.c, it is linked with the views only, and without what they call. */
#include "cli/options_table.h"
#include "cli/options_verbs.h"
#include "view/view.h"
#include <stdio.h>
#include <string.h>

static void put_head(void)
{
    puts("# Options and where they have an effect\n\n"
         "Generated from the tables of options by `gen/options.c`: `make build/gen/options.md` and copy it. "
         "A `x`: "
         "the option has an\neffect there. Everywhere else it is refused with one line and status 2; "
         "`tests/live/"
         "options.sh` runs every cell.\n");
    printf("| option | of |");
    for (unsigned bit = 0; bit < VERBS; bit++)
        printf(" %s |", verb_name(1u << bit));
    printf(" not with |\n|---|---|");
    for (unsigned bit = 0; bit < VERBS; bit++)
        printf("---|");
    puts("---|");
}

static void put_lacking(const struct option_spec *spec)
{
    const char *between = "";

    for (const struct view *const *view = views; spec->needs && *view; view++)
        if ((*view)->lacks & spec->needs) {
            printf("%s%s", between, (*view)->name);
            between = ", ";
        }
}

static void put_options(const struct option_spec *spec, const char *owner)
{
    for (; spec && spec->name; spec++) {
        if (spec->hidden)
            continue;
        printf("| `--%s` | %s |", spec->name, owner);
        for (unsigned bit = 0; bit < VERBS; bit++)
            printf(spec->verbs >> bit & 1 ? " x |" : " |");
        putchar(' ');
        put_lacking(spec);
        puts(" |");
    }
}

int main(void)
{
    put_head();
    put_options(option_table, "all");
    for (const struct view *const *view = views; *view; view++)
        put_options((*view)->options, (*view)->name);
    return fflush(stdout) || ferror(stdout);
}
