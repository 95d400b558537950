// SPDX-License-Identifier: GPL-2.0-only
/* --without accepts existing hooks, and nothing else. */
#include "cli/hook_names.h"
#include <errno.h>
#include <string.h>
#include "view/view.h"
#include "tap.h"

static void good(const char *list)
{
    struct error why = {""};

    check(!hook_names_check(list, &why), "\"%s\" is taken", list ? list : "(nothing)");
}

static void bad(const char *list, const char *shown)
{
    struct error why = {""};
    bool named = hook_names_check(list, &why) == -EINVAL && strstr(why.text, shown);

    check(named && strstr(why.text, "hooks are tp_btf, ") && strlen(why.text) < 300, "%s is refused by name",
          shown);
}

static void every_alternative(void)
{
    struct error why;
    size_t n = 0, refused = 0;

    for (const struct view *const *view = views; *view; view++)
        for (const struct source_use *use = (*view)->sources; use->source; use++)
            for (const struct hook_ways *ways = use->source->ways; ways && ways->what; ways++)
                for (size_t i = 0; i < ways->n; i++, n++)
                    refused += hook_names_check(ways->list[i].hook, &why) != 0;
    check(n > 5 && !refused, "the hooks of all %zu alternatives of all views are taken", n);
}

int main(void)
{
    char noise[5000];

    good(NULL);
    good("tp_btf");
    good("tp_btf,raw_tp,tracepoint");
    good("kprobe,uprobe,perf_event,fentry");
    every_alternative();
    bad("tp_bft", "\"tp_bft\"");
    bad("tp_btf,none", "\"none\"");
    bad("tp", "\"tp\"");
    bad("tp_btf ", "\"tp_btf\\x20\"");
    bad("tp_btf, raw_tp", "\"\\x20raw_tp\"");
    bad("", "\"\"");
    bad("tp_btf,", "\"\"");
    bad(",tp_btf", "\"\"");
    memset(noise, '\033', sizeof noise - 1);
    noise[sizeof noise - 1] = 0;
    bad(noise, "\"\\x1b\\x1b");
    return done();
}
