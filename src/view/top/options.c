// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/options.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/quote.h"
#include "base/suggest.h"
#include "verdict/verdict.h"

static int add_alert(uint32_t *alert, const char *label, const char *word, size_t length, struct error *why)
{
    struct suggestion nearest = suggest(word, length, SLIPS);
    char allowed[160] = "";
    int used = 0;

    for (unsigned i = VERDICT_FIRST_TROUBLE; i < VERDICTS; i++) {
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

/* VERDICT,..[:N]. Lists of repeated options add up. */
static int parse_alerts(void *value, const char *label, const char *text, struct error *why)
{
    struct run_options *run = (struct run_options *)((char *)value - offsetof(struct run_options, alert));
    size_t words = strcspn(text, ":"), digits = text[words] ? strspn(text + words + 1, "0123456789") : 0;
    int error = 0;

    if (text[words] && (!digits || digits > 6 || text[words + 1 + digits] || text[words + 1] == '0'))
        return error_set(why, -EINVAL, "%s: \"%s\" is not VERDICT,..:N, with N windows from 1 to 999999",
                         label, quote(text).text);
    for (size_t i = 0; i < digits; i++)
        run->alert_for = 10 * (i ? run->alert_for : 0) + (unsigned)(text[words + 1 + i] - '0');
    for (size_t at = 0; at <= words && !error; at++) {
        size_t length = strcspn(text + at, ",:");
        error = add_alert(value, label, text + at, length, why);
        at += length;
    }
    return error;
}

#define AT(member) .offset = offsetof(struct run_options, member)

const struct option_spec top_options[] = {
    {
        .name = "alert",
        .argument = "VERDICT,..[:N]",
        .help = "exit with status 4 after N (1) windows in a row that show one of these",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_WHY,
        .kind = OPTION_PARSED,
        .words = verdict_names + VERDICT_FIRST_TROUBLE,
        AT(alert),
        .parse = parse_alerts,
    },
    {
        .name = "thresholds",
        .argument = "NAME=VALUE,..|FILE",
        .help = "judge by these values, or by a file of them; as the last word: print them all",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_WHY | VERB_HELP,
        .kind = OPTION_THRESHOLDS,
    },
    {.name = NULL},
};
