/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-time tool: writes the completion of a shell from the tables of views and options.
 *
 *   completion bash|zsh|fish
 *
 * It is linked with the views only, and without what they call: it reads their tables and runs none of their
 * functions.
 */
#include "cli/options_table.h"
#include <stdio.h>
#include <string.h>
#include "view/view.h"

/* In addition to the views. */
static const char *const verbs[] = {"doctor", "record", "report", "diff", "pin", "read", "unpin", NULL};

static const char *const by_words[] = {"process",   "thread", "comm",   "user", "cgroup",
                                       "container", "pod",    "parent", "cpu",  NULL};
static const char *const with_words[] = {"uid", "user",   "cgroup", "container",
                                         "pod", "parent", "thread", NULL};

/* What may follow an option; NULL: nothing that could be listed. */
static const char *const *words_of(const struct option_spec *spec)
{
    switch (spec->kind) {
    case OPTION_FORMAT:
        return format_names;
    case OPTION_BY:
        return by_words;
    case OPTION_WITH:
        return with_words;
    default:
        return spec->words;
    }
}

static int takes_file(const struct option_spec *spec)
{
    return spec->argument && strcmp(spec->name, "cgroup") != 0 &&
           (!strcmp(spec->argument, "FILE") || !strcmp(spec->argument, "PATH"));
}

static void put_words(const char *const *words, const char *between)
{
    for (size_t i = 0; words[i]; i++)
        printf("%s%s", i ? between : "", words[i]);
}

/* In single quotes; `hide` are characters that want a backslash. */
static void put_quoted(const char *text, const char *hide)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(hide, *text))
            putchar('\\');
        putchar(*text);
    }
}

/* All options that are not hidden, the common ones first, with the view that owns them or NULL. */
struct each_option {
    const struct option_spec *spec;
    const struct view *view;
    size_t next; /* of `views` */
};

static int next_option(struct each_option *each)
{
    do {
        each->spec = each->spec ? each->spec + 1 : option_table;
        while (!each->spec || !each->spec->name) {
            each->view = views[each->next];
            if (!each->view)
                return 0;
            each->next++;
            each->spec = each->view->options;
        }
    } while (each->spec->hidden);
    return 1;
}

static void put_views(void)
{
    for (size_t i = 0; views[i]; i++)
        printf("%s ", views[i]->name);
    put_words(verbs, " ");
}

static void put_names(const struct option_spec *spec, const char *between)
{
    printf("--%s", spec->name);
    if (spec->letter)
        printf("%s-%c", between, spec->letter);
}

static void bash(void)
{
    puts("# bash completion for hog\n_hog() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "    case $prev in");
    for (struct each_option each = {0}; next_option(&each);) {
        const struct option_spec *spec = each.spec;
        if (!spec->argument)
            continue;
        printf("    ");
        put_names(spec, "|");
        if (words_of(spec)) {
            printf(") words='");
            put_words(words_of(spec), " ");
            puts("' ;;");
        } else {
            puts(takes_file(spec) ? ") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;"
                                  : ") return ;;");
        }
    }
    puts("    record|report|diff|pin|read|unpin) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return "
         ";;\n    esac");
    printf("    if [ -z \"$words\" ]; then\n        case $cur in\n        -*) words='");
    for (struct each_option each = {0}; next_option(&each);) {
        put_names(each.spec, " ");
        putchar(' ');
    }
    printf("' ;;\n        *) [ \"${COMP_WORDS[1]}\" != diff ] || { mapfile -t COMPREPLY < <(compgen -f -- "
           "\"$cur\"); return; }\n"
           "            words='");
    put_views();
    puts("' ;;\n        esac\n    fi\n"
         "    # lists: what stands before the last comma stays\n"
         "    local list=${cur%\"${cur##*,}\"}\n"
         "    mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$words\" -- \"${cur##*,}\")\n"
         "}\ncomplete -F _hog hog");
}

static void zsh(void)
{
    puts("#compdef hog\n_arguments -s \\");
    for (struct each_option each = {0}; next_option(&each);) {
        const struct option_spec *spec = each.spec;
        printf("  ");
        if (spec->letter)
            printf("'(-%c --%s)'{-%c,--%s}", spec->letter, spec->name, spec->letter, spec->name);
        else
            printf("--%s", spec->name);
        printf("'[");
        if (each.view)
            printf("%s\\: ", each.view->name);
        put_quoted(spec->help, "[]:\\");
        printf("]");
        if (spec->argument) {
            printf(":");
            put_quoted(spec->argument, "[]:\\");
            printf(":");
            if (words_of(spec)) {
                printf("(");
                put_words(words_of(spec), " ");
                printf(")");
            } else if (takes_file(spec)) {
                printf("_files");
            }
        }
        puts("' \\");
    }
    printf("  '1:view:_sequence compadd - ");
    put_views();
    puts("' \\\n  '*::file:_files'");
}

static void fish(void)
{
    puts("complete -c hog -f");
    for (struct each_option each = {0}; next_option(&each);) {
        const struct option_spec *spec = each.spec;
        printf("complete -c hog -l %s", spec->name);
        if (spec->letter)
            printf(" -s %c", spec->letter);
        if (spec->argument)
            printf(takes_file(spec) ? " -r -F" : " -x");
        if (words_of(spec)) {
            printf(" -a '");
            put_words(words_of(spec), " ");
            printf("'");
        }
        printf(" -d '");
        if (each.view)
            printf("%s: ", each.view->name);
        for (const char *p = spec->help; *p; p++)
            printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
        puts("'");
    }
    printf("complete -c hog -n __fish_use_subcommand -a '");
    put_views();
    puts("'\ncomplete -c hog -n '__fish_seen_subcommand_from record report diff pin read unpin' -F");
}

int main(int argc, char **argv)
{
    const char *shell = argc > 1 ? argv[1] : "";

    if (!strcmp(shell, "bash"))
        bash();
    else if (!strcmp(shell, "zsh"))
        zsh();
    else if (!strcmp(shell, "fish"))
        fish();
    else
        return fprintf(stderr, "usage: completion bash|zsh|fish\n"), 2;
    return fflush(stdout) || ferror(stdout);
}
