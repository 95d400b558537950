/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/reader.h"
#include "history/recording.h"
#include "history/rotated.h"
#include "base/decimal.h"
#include "base/quote.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (128u << 10) /* two of the longest lines */

static const char end_line[] = RECORD_END;
#define END_LENGTH (sizeof end_line - 1)

/* --- files --- */

static void close_file(struct reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    r->from = r->to = 0;
    r->left = 0;
}

/* Opens the file of that number. -ENOENT, -ENODATA: there is nothing in it. */
static int open_file(struct reader *r, unsigned number, struct error *why)
{
    char name[ROTATED_NAME];
    struct stat st;

    if (!rotated_name(name, r->path, number))
        return error_set(why, -ENAMETOOLONG, "%s: too long for the name of a recording", quote(r->path).text);
    r->fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (r->fd < 0 || fstat(r->fd, &st))
        return error_set(why, -errno, "%s cannot be read: %s (%s)", quote(name).text, strerror(errno),
                         error_name(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(why, -EINVAL, "%s is no file: a recording is read more than once", quote(name).text);
    int err = recording_check(r->fd, name, why);
    if (err)
        return err;
    int64_t whole = recording_whole(r->fd, (uint64_t)st.st_size, r->buffer, BUFFER);
    if (whole < 0)
        return error_set(why, (int)whole, "%s cannot be read: %s (%s)", quote(name).text,
                         strerror((int)-whole), error_name((int)whole));
    r->left = (uint64_t)whole;
    r->torn += whole != st.st_size;
    r->files++;
    r->from = r->to = 0;
    return lseek(r->fd, 0, SEEK_SET) ? error_set(why, -errno, "%s cannot be read", quote(name).text) : 0;
}

/* The next one that is there. 1; 0: that was the last; -errno. */
static int next_file(struct reader *r, struct error *why)
{
    while (r->number) {
        close_file(r);
        r->number--;
        int err = open_file(r, r->number, why);
        if (!err)
            return 1;
        close_file(r);
        if (err != -ENOENT && err != -ENODATA)
            return err;
    }
    return 0;
}

void reader_rewind(struct reader *r)
{
    close_file(r);
    r->number = ROTATED_MOST + 1;
    r->nviews = 0;
    r->definitions++;
    r->bytes = r->damaged = 0;
    r->files = r->torn = 0;
}

int reader_open(struct reader *r, const char *path, struct error *why)
{
    *r = (struct reader){.path = path, .fd = -1};
    r->buffer = malloc(BUFFER);
    r->views = calloc(RECORD_MOST_VIEWS, sizeof *r->views);
    if (!r->buffer || !r->views) {
        reader_close(r);
        return error_set(why, -ENOMEM, "out of memory");
    }
    /* FILE itself may be missing or empty, if what it was is there: hog was killed while it moved them. */
    int err = open_file(r, 0, why);
    if (err == -ENOENT || err == -ENODATA) {
        struct error older;
        close_file(r);
        int found = open_file(r, 1, &older);
        err = found ? err : 0;
    }
    reader_rewind(r);
    if (err)
        reader_close(r);
    return err;
}

void reader_close(struct reader *r)
{
    close_file(r);
    free(r->buffer);
    free(r->views);
    r->buffer = NULL;
    r->views = NULL;
}

/* --- lines --- */

/* Room for more behind what is left. 1; 0: the end of the file; -errno. */
static int fill(struct reader *r)
{
    if (!r->left)
        return 0;
    if (r->from) {
        memmove(r->buffer, r->buffer + r->from, r->to - r->from);
        r->to -= r->from;
        r->from = 0;
    }
    size_t room = BUFFER - r->to;
    ssize_t n;
    do
        n = read(r->fd, r->buffer + r->to, room < r->left ? room : (size_t)r->left);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (!n) {
        r->left = 0; /* it was truncated meanwhile */
        return 0;
    }
    r->to += (size_t)n;
    r->left -= (uint64_t)n;
    r->bytes += (uint64_t)n;
    return 1;
}

/* A line without its newline. 1; 0: the end of the file; -errno. One that is too long is passed over. */
static int next_line(struct reader *r, char **line, size_t *length)
{
    bool skipping = false;
    size_t seen = 0;

    for (;;) {
        char *newline = memchr(r->buffer + r->from + seen, '\n', r->to - r->from - seen);
        if (newline && !skipping) {
            *line = r->buffer + r->from;
            *length = (size_t)(newline - *line);
            r->from += *length + 1;
            if (*length <= RECORD_MOST_LINE)
                return 1;
            r->damaged++;
            seen = 0;
            continue;
        }
        if (newline) {
            r->from = (size_t)(newline - r->buffer) + 1;
            skipping = false;
            seen = 0;
            continue;
        }
        seen = r->to - r->from;
        if (skipping || seen > RECORD_MOST_LINE) {
            r->damaged += !skipping;
            skipping = true;
            r->from = r->to = 0;
            seen = 0;
        }
        int n = fill(r);
        if (n <= 0)
            return n;
    }
}

/* Behind the closing quote of a string that begins at p, or NULL. */
static const char *past_string(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '"')
            return p + 1;
        if (*p == '\\')
            p++;
    }
    return NULL;
}

/* n values, each behind a comma, and the bracket at the end of the line. */
static bool take_values(const char *p, const char *end, struct record_value *values, unsigned n)
{
    for (struct record_value *v = values; v < values + n; v++) {
        if (p >= end || *p++ != ',')
            return false;
        const char *begin = p;
        if (p < end && *p == '"') {
            p = past_string(++begin, end);
            if (!p)
                return false;
            *v = (struct record_value){begin, (uint32_t)(p - begin) - 1, true};
            continue;
        }
        while (p < end && *p != ',' && *p != ']')
            p++;
        *v = (struct record_value){begin, (uint32_t)(p - begin), false};
    }
    return p + 1 == end && *p == ']';
}

static struct record_view *find_view(struct reader *r, const char *name, size_t length)
{
    for (unsigned i = 0; i < r->nviews; i++)
        if (!memcmp(r->views[i].name, name, length) && !r->views[i].name[length])
            return &r->views[i];
    return NULL;
}

/* A name in quotes: letters, digits and underscores. Behind it, or NULL. */
static const char *take_name(const char *p, const char *end, char to[RECORD_MOST_NAME])
{
    size_t n = 0;

    if (p >= end || *p++ != '"')
        return NULL;
    for (; p < end && *p != '"'; p++) {
        bool good = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_' || *p == '-';
        if (!good || n == RECORD_MOST_NAME - 1)
            return NULL;
        to[n++] = *p;
    }
    to[n] = '\0';
    return p < end && n ? p + 1 : NULL;
}

/* {"view":"top","columns":["rank",...]} */
static bool take_columns(struct reader *r, const char *p, const char *end)
{
    static const char between[] = ",\"columns\":[";
    char name[RECORD_MOST_NAME];

    p = take_name(p, end, name);
    if (!p || (size_t)(end - p) < sizeof between || memcmp(p, between, sizeof between - 1) != 0)
        return false;
    p += sizeof between - 1;
    struct record_view *view = find_view(r, name, strlen(name));
    if (!view && r->nviews == RECORD_MOST_VIEWS)
        return false;
    if (!view)
        view = &r->views[r->nviews++];
    r->definitions++;
    memcpy(view->name, name, sizeof name);
    for (view->n = 0; view->n < RECORD_MOST_COLUMNS; p++) {
        p = take_name(p, end, view->columns[view->n]);
        if (!p || p >= end)
            break;
        view->n++;
        if (*p == ']')
            return p + 2 == end && p[1] == '}';
        if (*p != ',')
            break;
    }
    view->n = 0;
    return false;
}

/* True: the record is filled in. */
static bool take_list(struct reader *r, const char *line, size_t length, struct record *record)
{
    const char *name = line + 2, *end = line + length;
    const char *quote = memchr(name, '"', length - 2 < RECORD_MOST_NAME ? length - 2 : RECORD_MOST_NAME);

    record->view = quote ? find_view(r, name, (size_t)(quote - name)) : NULL;
    if (!record->view || !record->view->n || !take_values(quote + 1, end, record->values, record->view->n)) {
        r->damaged++;
        return false;
    }
    return true;
}

int reader_next(struct reader *r, struct record *record, struct error *why)
{
    static const char columns[] = "{\"view\":";
    char *line = NULL;
    size_t length = 0;

    for (;;) {
        int n = r->fd < 0 ? 0 : next_line(r, &line, &length);
        if (n < 0)
            return error_set(why, n, "%s cannot be read: %s (%s)", quote(r->path).text, strerror(-n),
                             error_name(n));
        if (!n) {
            n = next_file(r, why);
            if (n <= 0)
                return n;
            continue;
        }
        if (length == END_LENGTH - 1 && !memcmp(line, end_line, length)) {
            record->view = NULL;
            return 1;
        }
        if (length > 2 && line[0] == '[' && line[1] == '"') {
            if (take_list(r, line, length, record))
                return 1;
        } else if (length > sizeof columns && !memcmp(line, columns, sizeof columns - 1)) {
            r->damaged += !take_columns(r, line + sizeof columns - 1, line + length);
        } else if (length < 2 || line[0] != '{' || line[length - 1] != '}') {
            r->damaged++;
        }
    }
}

/* --- values --- */

int record_column(const struct record_view *view, const char *name)
{
    for (unsigned i = 0; i < view->n; i++)
        if (!strcmp(view->columns[i], name))
            return (int)i;
    return -1;
}

bool record_number(const struct record_value *value, double *number)
{
    return !value->is_string && decimal_parse(value->at, value->length, number);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool record_text(const struct record_value *value, char *to, size_t size)
{
    const char *p = value->at, *end = p + value->length;
    size_t n = 0;

    if (!value->is_string && value->length == 4 && !memcmp(p, "null", 4))
        return false;
    while (p < end && n + 1 < size) {
        char c = *p++;
        if (c == '\\' && p < end)
            c = *p++; /* JSON's */
        if (c == '\\' && end - p >= 3 && p[0] == 'x' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            c = (char)(hex(p[1]) << 4 | hex(p[2])); /* and hog's own */
            p += 3;
        }
        to[n++] = c ? c : '?';
    }
    to[n] = '\0';
    return true;
}
