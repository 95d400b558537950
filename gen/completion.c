/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-time tool: writes the completion of a shell from the tables of views and options.
 *
 *   completion bash|zsh|fish
 *
 * It is linked with the views only, and without what they call: it reads their tables and runs none of their
 * functions.
 */
#include "cli/options_help.h"
#include "cli/options_table.h"
#include "cli/options_verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rows/rows.h"
#include "verdict/thresholds.h"
#include "view/view.h"

#define MOST_WORDS 512

/* A list that ends with NULL, each word once. */
struct words {
    const char *list[MOST_WORDS + 1];
    size_t n;
};

static void add_word(struct words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (!strcmp(words->list[i], word))
            return;
    if (words->n == MOST_WORDS)
        abort();
    words->list[words->n++] = word;
}

static void add_columns(struct words *words, const struct view *view)
{
    for (const struct schema *schema = &view->schema; schema; schema = schema->next)
        for (size_t i = 0; i < schema->ncolumns; i++)
            add_word(words, schema->columns[i].name);
}

/* What a shell can offer as the value of an option. */
enum values {
    VALUES_NONE,
    VALUES_WORDS,
    VALUES_FILES,
    VALUES_USERS,
    VALUES_PIDS,
    VALUES_DISKS,
    VALUES_COLUMNS
};

/* words: those that are known in advance. */
static enum values values_of(const struct option_spec *spec, struct words *words)
{
    words->n = 0;
    if (spec->kind == OPTION_FORMAT)
        for (size_t i = 0; format_names[i]; i++)
            add_word(words, format_names[i]);
    if (spec->kind == OPTION_BY || spec->kind == OPTION_WITH)
        for (unsigned bit = 0; bit < 32; bit++)
            if (spec->least >> bit & 1)
                add_word(words, rows_word_name(1u << bit));
    for (size_t i = 0; spec->words && spec->words[i]; i++)
        add_word(words, spec->words[i]);
    if (!strcmp(spec->name, "sort") || !strcmp(spec->name, "columns")) {
        for (size_t i = 0; views[i]; i++)
            add_columns(words, views[i]);
        words->list[words->n] = NULL;
        return VALUES_COLUMNS;
    }
    words->list[words->n] = NULL;
    if (words->n)
        return VALUES_WORDS;
    return spec->kind == OPTION_PIDS       ? VALUES_PIDS
           : !strcmp(spec->name, "user")   ? VALUES_USERS
           : !strcmp(spec->name, "device") ? VALUES_DISKS
           : spec->argument && (strstr(spec->argument, "FILE") || strstr(spec->argument, "PATH"))
               ? VALUES_FILES
               : VALUES_NONE;
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
    for (const struct verb_spec *verb = verb_table; verb->word; verb++)
        printf("%s%s", verb->word, verb[1].word ? " " : "");
}

/* Pages of help that are neither views nor verbs. */
static void put_topics(void)
{
    static const char *const topics[] = {"filters", "rows",       "output", "recordings",
                                         "general", "thresholds", "all"};

    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        printf(" %s", topics[i]);
}

static void put_thresholds(void)
{
    for (size_t i = 0; i < THRESHOLDS; i++)
        printf("%s%s=", i ? " " : "", threshold_table[i].name);
}

static void put_names(const struct option_spec *spec, const char *between)
{
    printf("--%s", spec->name);
    if (spec->letter)
        printf("%s-%c", between, spec->letter);
    if (spec->also)
        printf("%s-%c", between, spec->also);
}

/* ---- bash ---- */

/* Sets `words`, or returns with file names. */
static void bash_value(const struct option_spec *spec)
{
    struct words words;

    printf("    ");
    put_names(spec, "|");
    printf(") ");
    switch (values_of(spec, &words)) {
    case VALUES_WORDS:
        printf("words='");
        put_words(words.list, " ");
        printf("'");
        break;
    case VALUES_USERS:
        printf("words=$(compgen -u)");
        break;
    case VALUES_PIDS:
        printf("words=$(cd /proc && echo [0-9]*)");
        break;
    case VALUES_DISKS:
        printf("words=$(cd /sys/block 2>/dev/null && echo *)");
        break;
    case VALUES_COLUMNS:
        printf("words=$(_hog_columns) plus=+");
        break;
    case VALUES_FILES:
        if (spec->kind == OPTION_THRESHOLDS) {
            printf("words='");
            put_thresholds();
            printf("'; compopt -o nospace 2>/dev/null; ");
        }
        printf("files=1");
        break;
    case VALUES_NONE:
        printf("return");
    }
    puts(" ;;");
}

/* Of the views on the command line, or of the default one. */
static void bash_columns(void)
{
    puts("_hog_columns() {\n    local word words=\n    for word in \"${COMP_WORDS[@]:1}\"; do\n        case "
         ",$word, in");
    for (size_t i = 0; views[i]; i++) {
        struct words words = {.n = 0};
        add_columns(&words, views[i]);
        printf("        *,%s,*) words+=' ", views[i]->name);
        put_words(words.list, " ");
        puts("' ;;&");
    }
    puts("        esac\n    done");
    for (size_t i = 0; views[i]; i++) {
        struct words words = {.n = 0};
        if (!views[i]->is_default)
            continue;
        add_columns(&words, views[i]);
        printf("    echo \"${words:-");
        put_words(words.list, " ");
        puts("}\"");
    }
    puts("}");
}

static void bash(void)
{
    puts("# bash completion for hog");
    bash_columns();
    puts("_hog() {\n"
         "    local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} words='' files='' plus='' prev\n"
         "    # bash takes --output=json as three words\n"
         "    if [ \"$cur\" = = ]; then\n        cur=''\n    elif [ \"${COMP_WORDS[at-1]}\" = = ]; then\n"
         "        at=$((at - 1))\n    fi\n"
         "    prev=${COMP_WORDS[at-1]}\n"
         "    case $prev in");
    for (struct each_option each = {0}; next_option(&each);)
        if (each.spec->argument)
            bash_value(each.spec);
    puts("    record|report|diff|pin|read|unpin) files=1 ;;\n"
         "    *)\n        case $cur in");
    printf("        -*) words='");
    for (struct each_option each = {0}; next_option(&each);) {
        put_names(each.spec, " ");
        putchar(' ');
    }
    puts("' ;;");
    printf("        *)\n            [ \"${COMP_WORDS[1]}\" != diff ] || files=1\n            [ -n \"$files\" "
           "] || words='");
    put_views();
    printf("'\n            [ \"${COMP_WORDS[1]}\" != help ] || words+='");
    put_topics();
    puts("' ;;\n        esac ;;\n    esac\n"
         "    # lists: what stands before the last comma stays; files have no lists\n"
         "    local list=${cur%\"${cur##*,}\"}\n"
         "    [ -z \"$plus\" ] || [[ $list ]] || [[ $cur != +* ]] || list=+\n"
         "    COMPREPLY=()\n"
         "    [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$words\" -- "
         "\"${cur#\"$list\"}\")\n"
         "    [ -z \"$files\" ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "}\ncomplete -F _hog hog");
}

/* ---- zsh ---- */

static void zsh_value(const struct option_spec *spec)
{
    struct words words;

    printf(":");
    put_quoted(spec->argument, "[]:\\");
    printf(":");
    switch (values_of(spec, &words)) {
    case VALUES_WORDS:
    case VALUES_COLUMNS:
        printf("_sequence compadd - ");
        put_words(words.list, " ");
        break;
    case VALUES_USERS:
        printf("_sequence _users");
        break;
    case VALUES_PIDS:
        printf("_sequence _pids");
        break;
    case VALUES_DISKS:
        printf("_sequence compadd - /sys/block/*(N\\:t)");
        break;
    case VALUES_FILES:
        if (spec->kind == OPTION_THRESHOLDS) {
            printf("_alternative \"files\\:file\\:_files\" \"names\\:name\\:compadd -S \\\"\\\" - ");
            put_thresholds();
            printf("\"");
        } else {
            printf("_files");
        }
        break;
    case VALUES_NONE:
        break;
    }
}

static void zsh(void)
{
    puts("#compdef hog\n_arguments -s \\");
    for (struct each_option each = {0}; next_option(&each);) {
        const struct option_spec *spec = each.spec;
        const char *equals = spec->argument ? "=" : "";
        printf("  ");
        if (spec->letter)
            printf("'(-%c --%s)'{-%c,--%s%s}", spec->letter, spec->name, spec->letter, spec->name, equals);
        else
            printf("--%s%s", spec->name, equals);
        printf("'[");
        if (each.view)
            printf("%s\\: ", each.view->name);
        put_quoted(spec->help, "[]:\\");
        printf("]");
        if (spec->argument)
            zsh_value(spec);
        puts("' \\");
    }
    printf("  '1:view:_sequence compadd - ");
    put_views();
    printf("' \\\n  '*: :{ [[ $words[2] == (record|report|diff|pin|read|unpin) ]] && _files || compadd - ");
    put_views();
    put_topics();
    puts("; }'");
}

/* ---- fish ---- */

static void fish_value(const struct option_spec *spec)
{
    struct words words;
    enum values values = values_of(spec, &words);

    printf(values == VALUES_FILES ? " -r -F" : " -x");
    if (values == VALUES_WORDS || values == VALUES_COLUMNS) {
        printf(" -a '");
        put_words(words.list, " ");
        printf("'");
    }
    if (values == VALUES_USERS)
        printf(" -a '(__fish_complete_users)'");
    if (values == VALUES_PIDS)
        printf(" -a '(__fish_complete_pids)'");
    if (values == VALUES_DISKS)
        printf(" -a '(ls /sys/block)'");
    if (spec->kind == OPTION_THRESHOLDS) {
        printf(" -a '");
        put_thresholds();
        printf("'");
    }
}

static void fish(void)
{
    puts("complete -c hog -f");
    for (struct each_option each = {0}; next_option(&each);) {
        const struct option_spec *spec = each.spec;
        printf("complete -c hog -l %s", spec->name);
        if (spec->letter)
            printf(" -s %c", spec->letter);
        if (spec->also)
            printf(" -s %c", spec->also);
        if (spec->argument)
            fish_value(spec);
        printf(" -d '");
        if (each.view)
            printf("%s: ", each.view->name);
        for (const char *p = spec->help; *p; p++)
            printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
        puts("'");
    }
    printf("complete -c hog -n 'not __fish_seen_subcommand_from record report diff pin read unpin' -a '");
    put_views();
    printf("'\ncomplete -c hog -n '__fish_seen_subcommand_from help' -a '");
    put_topics();
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
