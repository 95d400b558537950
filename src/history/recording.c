/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/recording.h"
#include "base/quote.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char end_line[] = RECORD_END;
#define END_LENGTH (sizeof end_line - 1)

static ssize_t read_at(int fd, char *to, size_t n, uint64_t at)
{
    ssize_t got;

    do
        got = pread(fd, to, n, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

int64_t recording_whole(int fd, uint64_t size, char *buffer, size_t room)
{
    uint64_t end = size;

    while (end >= END_LENGTH) {
        uint64_t begin = end > room ? end - room : 0;
        ssize_t n = read_at(fd, buffer, (size_t)(end - begin), begin);
        if (n < 0)
            return n;
        for (ssize_t i = n - (ssize_t)END_LENGTH; i >= 0; i--)
            if (buffer[i] == '[' && !memcmp(buffer + i, end_line, END_LENGTH) &&
                (i ? buffer[i - 1] == '\n' : !begin))
                return (int64_t)begin + i + (int64_t)END_LENGTH;
        if (!begin)
            break;
        end = begin + END_LENGTH; /* one may lie across; its newline before it, too */
    }
    return 0;
}

int recording_check(int fd, const char *name, struct error *why)
{
    static const char head[] = RECORD_HEAD;
    char begin[sizeof head + 8];
    ssize_t n = read_at(fd, begin, sizeof begin - 1, 0);

    if (n < 0)
        return error_set(why, (int)n, "%s cannot be read: %s (%s)", quote(name).text, strerror((int)-n),
                         error_name((int)n));
    begin[n] = '\0';
    if (!n)
        return error_set(why, -ENODATA, "%s is empty: nothing was recorded", quote(name).text);
    if (strncmp(begin, head, sizeof head - 1) != 0)
        return error_set(why, -EINVAL, "%s is no recording: it is not from `hog record`", quote(name).text);
    char *after;
    unsigned long format = strtoul(begin + sizeof head - 1, &after, 10);
    if (format != RECORD_FORMAT || (*after != ',' && *after != '}'))
        return error_set(why, -EINVAL, "%s is a recording in format %.6s, and this hog reads format %d",
                         quote(name).text, begin + sizeof head - 1, RECORD_FORMAT);
    return 0;
}
