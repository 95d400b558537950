/* SPDX-License-Identifier: GPL-2.0-only */
/* The time that was asked for, of a recording. */
#include "history/digest.h"
#include "history/when.h"
#include "base/quote.h"
#include <errno.h>
#include <string.h>

/* When the first and last windows begin. */
static int span_of(struct reader *reader, uint64_t *first, uint64_t *last, struct error *why)
{
    static struct record record;
    struct when when;
    int n;

    *first = *last = 0;
    reader_rewind(reader);
    while ((n = reader_next(reader, &record, why)) > 0) {
        if (!record.view || strcmp(record.view->name, "window") != 0)
            continue;
        int start = record_column(record.view, "start");
        if (start < 0 || !when_parse(record.values[start].at, record.values[start].length, &when) ||
            when.of_day)
            continue;
        *first = *first ? *first : when.ns;
        *last = when.ns;
    }
    return n;
}

int digest_range(struct digest_range *range, struct reader *reader, const char *from, const char *to,
                 struct error *why)
{
    struct when a = {0}, b = {.ns = UINT64_MAX};
    uint64_t first = 0, last = 0;

    if ((from && !when_parse(from, strlen(from), &a)) || (to && !when_parse(to, strlen(to), &b)))
        return error_set(why, -EINVAL, "no time: %s", quote(from ? from : to).text);
    int err = a.of_day || b.of_day ? span_of(reader, &first, &last, why) : 0;
    if (err)
        return err;
    *range = (struct digest_range){when_in(&a, first, last), when_in(&b, first, last)};
    if (a.of_day && b.of_day && range->from >= range->to && range->to > first) /* 23:50 to 00:10 */
        range->from -= UINT64_C(86400) * 1000000000;
    if (range->from >= range->to)
        return error_set(why, -EINVAL, "--from is not before --to");
    return 0;
}
