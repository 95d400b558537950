// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/quote.h"
#include "base/list.h"
#include "base/suggest.h"
#include "verdict/verdict.h"

static int add_alert(uint32_t *alert, const char *label, const char *word, size_t length, struct error *why)
{
    struct suggestion nearest = suggest(word, length, SLIPS);
    char allowed[160] = "";
    int used = 0;

    for (unsigned i = VERDICT_OK + 1; i < VERDICTS; i++) {
        const char *name = verdict_names[i];
        if (strlen(name) == length && !strncmp(word, name, length)) {
            *alert |= UINT32_C(1) << i;
            return 0;
        }
        suggest_consider(&nearest, name);
        used += snprintf(allowed + used, sizeof allowed - (size_t)used, "%s%s", used ? ", " : "", name);
    }
    return error_set(why, -EINVAL, "%s: \"%s\" is not one of %s%s%s%s", label, quote_bytes(word, length).text,
                     allowed, nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                     nearest.name ? "?" : "");
}

/* Lists of repeated options add up. */
static int parse_alerts(void *value, const char *label, const char *list, struct error *why)
{
    int error = 0;

    while (list && !error) {
        const char *word;
        size_t length = list_word(&list, &word);
        error = add_alert(value, label, word, length, why);
    }
    return error;
}

#define AT(member) .offset = offsetof(struct run_options, member)

const struct option_spec top_options[] = {
    {
        .name = "explain",
        .help = "the numbers behind each verdict",
        .kind = OPTION_FLAG,
        AT(explain),
    },
    {
        .name = "why",
        .argument = "PID",
        .help = "only this process, with the numbers behind its verdict",
        .kind = OPTION_PID,
        AT(why_pid),
        .least = 1,
        .most = 4194304, /* PID_MAX_LIMIT of the kernel */
    },
    {
        .name = "alert",
        .argument = "VERDICT,..",
        .help = "exit with status 4 after a window that shows one of these; may be repeated",
        .kind = OPTION_PARSED,
        .words = verdict_names + 1,
        AT(alert),
        .parse = parse_alerts,
    },
    {
        .name = "alert-for",
        .argument = "N",
        .help = "only after N such windows in a row (1 to 1000000; default 1)",
        .kind = OPTION_NUMBER,
        AT(alert_for),
        .least = 1,
        .most = 1000000,
    },
    {.name = NULL},
};

int top_check_options(const struct view_request *request, struct error *why)
{
    struct run_options *run = request->run;

    if (run->alert_for && !run->alert)
        return error_set(why, -EINVAL,
                         "--alert-for says how many windows in a row --alert waits for: it needs --alert");
    if (run->why_pid && request->npids)
        return error_set(why, -EINVAL, "--why judges one process among all: -p is not possible with it");
    if (run->why_pid && !request->only)
        return error_set(why, -EINVAL, "--why needs the view top and no other: hog top --why PID");
    run->explain = run->explain || run->why_pid;
    return 0;
}
