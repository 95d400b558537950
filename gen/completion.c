/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-time tool: writes the completion of a shell from the table of options.
 *
 *   completion bash|zsh|fish VIEW...
 */
#include "cli/options_table.h"
#include <stdio.h>
#include <string.h>
#include "verdict/verdict.h"

/* Beside the views. */
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
    case OPTION_WORD:
        return spec->words;
    case OPTION_BY:
        return by_words;
    case OPTION_WITH:
        return with_words;
    case OPTION_ALERT:
        return verdict_names + 1;
    default:
        return NULL;
    }
}

static int takes_file(const struct option_spec *spec)
{
    return spec->argument && strcmp(spec->name, "cgroup") != 0 &&
           (!strcmp(spec->argument, "FILE") || !strcmp(spec->argument, "PATH"));
}

static void put_words(const char *const *words, const char *between)
{
    /* The names of verdicts have no NULL at their end. */
    for (size_t i = 0; words != verdict_names + 1 ? words[i] != NULL : i < VERDICTS - 1; i++)
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

static void put_names(const struct option_spec *spec, const char *between)
{
    printf("--%s", spec->name);
    if (spec->letter)
        printf("%s-%c", between, spec->letter);
}

static void bash(char **views, int n)
{
    puts("# bash completion for hog\n_hog() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "    case $prev in");
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_spec *spec = &option_table[i];
        if (spec->hidden || !spec->argument)
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
    for (size_t i = 0; i < option_table_size; i++)
        if (!option_table[i].hidden) {
            put_names(&option_table[i], " ");
            putchar(' ');
        }
    printf("' ;;\n        *) [ \"${COMP_WORDS[1]}\" != diff ] || { mapfile -t COMPREPLY < <(compgen -f -- "
           "\"$cur\"); return; }\n"
           "            words='");
    for (int i = 0; i < n; i++)
        printf("%s ", views[i]);
    put_words(verbs, " ");
    puts("' ;;\n        esac\n    fi\n"
         "    # lists: what stands before the last comma stays\n"
         "    local list=${cur%\"${cur##*,}\"}\n"
         "    mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$words\" -- \"${cur##*,}\")\n"
         "}\ncomplete -F _hog hog");
}

static void zsh(char **views, int n)
{
    puts("#compdef hog\n_arguments -s \\");
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_spec *spec = &option_table[i];
        if (spec->hidden)
            continue;
        printf("  ");
        if (spec->letter)
            printf("'(-%c --%s)'{-%c,--%s}", spec->letter, spec->name, spec->letter, spec->name);
        else
            printf("--%s", spec->name);
        printf("'[");
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
    for (int i = 0; i < n; i++)
        printf("%s ", views[i]);
    put_words(verbs, " ");
    puts("' \\\n  '*::file:_files'");
}

static void fish(char **views, int n)
{
    puts("complete -c hog -f");
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_spec *spec = &option_table[i];
        if (spec->hidden)
            continue;
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
        for (const char *p = spec->help; *p; p++)
            printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
        puts("'");
    }
    printf("complete -c hog -n __fish_use_subcommand -a '");
    for (int i = 0; i < n; i++)
        printf("%s ", views[i]);
    put_words(verbs, " ");
    puts("'\ncomplete -c hog -n '__fish_seen_subcommand_from record report diff pin read unpin' -F");
}

int main(int argc, char **argv)
{
    const char *shell = argc > 1 ? argv[1] : "";

    if (!strcmp(shell, "bash"))
        bash(argv + 2, argc - 2);
    else if (!strcmp(shell, "zsh"))
        zsh(argv + 2, argc - 2);
    else if (!strcmp(shell, "fish"))
        fish(argv + 2, argc - 2);
    else
        return fprintf(stderr, "usage: completion bash|zsh|fish VIEW...\n"), 2;
    return fflush(stdout) || ferror(stdout);
}
