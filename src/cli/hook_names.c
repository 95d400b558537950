// SPDX-License-Identifier: GPL-2.0-only
#include "cli/hook_names.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "loader/kernel/probe.h"
#include "view/view.h"
#include "base/escape.h"
#include "base/list.h"
#include "base/message.h"

struct names {
    char list[200]; /* each once, separated by ", " */
    size_t used;
};

static bool is_word(const char *list, const char *word, size_t length)
{
    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == length && !strncmp(list, word, n))
            return true;
        if (!list[n])
            return false;
        list += n + 1 + (list[n + 1] == ' ');
    }
}

static void add_hook_name(struct names *names, const char *name)
{
    if (is_word(names->list, name, strlen(name)) || names->used >= sizeof names->list)
        return;
    names->used += (size_t)snprintf(names->list + names->used, sizeof names->list - names->used, "%s%s",
                                    names->used ? ", " : "", name);
}

static void add_ways(struct names *names, const struct hook_ways *ways)
{
    for (; ways->what; ways++)
        for (size_t i = 0; i < ways->n; i++)
            add_hook_name(names, ways->list[i].hook);
}

static void add_all_hooks(struct names *names)
{
    for (size_t i = 0; hook_kind(i); i++)
        add_hook_name(names, hook_kind(i));
    for (const struct view *const *view = views; *view; view++)
        for (const struct source_use *use = (*view)->sources; use->source; use++)
            if (use->source->ways)
                add_ways(names, use->source->ways);
}

int hook_names_check(const char *list, struct error *why)
{
    struct names names = {"", 0};
    char shown[64];

    add_all_hooks(&names);
    while (list) {
        const char *word;
        size_t length = list_word(&list, &word);
        if (!length || !is_word(names.list, word, length)) {
            escape_name(shown, sizeof shown, word, length);
            return error_set(why, -EINVAL, "--without: no hook is called \"%s\": hooks are %s",
                             length ? shown : "", names.list);
        }
    }
    return 0;
}

void print_hooks(const char *view, const struct hook_report hooks[MAX_HOOKS])
{
    for (int i = 0; i < MAX_HOOKS && hooks[i].what; i++) {
        for (size_t j = 0; j < hooks[i].choice.nrefused; j++)
            message("%s: %s: not %s: %s", view, hooks[i].what, hooks[i].choice.refused[j].hook,
                    hooks[i].choice.refused[j].reason.text);
        message("%s: %s: %s", view, hooks[i].what, hooks[i].hook ? hooks[i].hook : "no hook");
    }
}
