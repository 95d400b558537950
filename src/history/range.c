/* SPDX-License-Identifier: GPL-2.0-only */
/* The time that was asked for, of a recording. */
#include "history/digest.h"
#include "history/when.h"
#include "base/clock.h"
#include "base/quote.h"
#include <errno.h>
#include <string.h>

int digest_span(struct reader *reader, uint64_t *first, uint64_t *last, struct error *why)
{
    static struct record record;
    uint64_t ns;
    int n;

    *first = *last = 0;
    reader_rewind(reader);
    while ((n = reader_next(reader, &record, why)) > 0) {
        if (!record.view || strcmp(record.view->name, "window") != 0)
            continue;
        int start = record_column(record.view, "start");
        if (start < 0 || !when_recorded(record.values[start].at, record.values[start].length, &ns))
            continue;
        *first = *first ? *first : ns;
        *last = ns;
    }
    return n;
}

static bool is_of_day(const struct when *when)
{
    return !when->absolute && !when->dated;
}

/* As a time of day --from may be of the day before that of --to: 23:50 to 00:10. */
static int resolve(struct digest_range *range, const struct when *from, const struct when *to, uint64_t first,
                   uint64_t last, struct error *why)
{
    struct error reason = {""};
    int err = when_resolve(from, first, last, 0, false, &range->from, &reason);

    if (err)
        return error_set(why, err, "--from: %s", reason.text);
    err = when_resolve(to, first, last, 0, true, &range->to, &reason);
    if (!err && is_of_day(from) && is_of_day(to) && range->from >= range->to && range->to > first)
        err = when_resolve(from, first, range->to, 1, false, &range->from, &reason);
    if (err)
        return error_set(why, err, "--to: %s", reason.text);
    if (range->from < range->to)
        return 0;
    char begin[WHEN_TEXT], end[WHEN_TEXT];
    when_format(range->from, begin);
    when_format(range->to, end);
    return error_set(why, -EINVAL, "--from, %s, is not before --to, %s", begin, end);
}

int digest_range(struct digest_range *range, struct reader *reader, const char *from, const char *to,
                 struct error *why)
{
    struct when a = {.absolute = true}, b = {.absolute = true, .ns = UINT64_MAX};
    uint64_t first = 0, last = 0, now = clock_ns(CLOCK_REALTIME);

    if ((from && !when_parse(from, now, &a)) || (to && !when_parse(to, now, &b)))
        return error_set(why, -EINVAL, "no time: %s", quote(from ? from : to).text);
    int err = is_of_day(&a) || is_of_day(&b) ? digest_span(reader, &first, &last, why) : 0;
    return err ? err : resolve(range, &a, &b, first, last, why);
}
