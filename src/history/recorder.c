/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/recorder.h"
#include "history/recording.h"
#include "history/rotated.h"
#include "out/lines.h"
#include "base/quote.h"
#include "base/message.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_BACK (64u << 10)

static const char head[] = RECORD_HEAD "1,\"hog_version\":\"" HOG_VERSION "\"}\n";
_Static_assert(RECORD_FORMAT == 1, "the head of a recording says its format");

struct recorder {
    struct lines_sink sink;
    const char *path;
    uint64_t max_size;
    unsigned keep;
    int fd;
    uint64_t whole;   /* bytes of whole windows in the file */
    uint64_t at;      /* behind what was written of the window */
    int failed;       /* of this window, -errno */
    uint64_t missing; /* windows in a row that could not be written */
};

static int write_whole(struct recorder *r, const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = pwrite(r->fd, bytes, n, (off_t)r->at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written ? -errno : -ENOSPC;
        bytes += written;
        r->at += (uint64_t)written;
        n -= (size_t)written;
    }
    return 0;
}

static void put(struct recorder *r, const char *bytes, size_t n)
{
    if (!r->failed && !r->at)
        r->failed = write_whole(r, head, sizeof head - 1);
    if (!r->failed)
        r->failed = write_whole(r, bytes, n);
}

static int sink_write(struct lines_sink *sink, const char *bytes, size_t n)
{
    put((struct recorder *)sink, bytes, n);
    return 0; /* a window that is lost is no reason to end */
}

struct lines_sink *recorder_sink(struct recorder *r)
{
    return &r->sink;
}

/* Opens the file, which is there or is not. */
static int open_file(struct recorder *r, struct error *why)
{
    const struct quoted shown = quote(r->path);
    const char *name = shown.text;
    struct stat st;

    r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (r->fd < 0 || fstat(r->fd, &st))
        return error_set(why, -errno, "%s cannot be written: %s (%s)", name, strerror(errno),
                         error_name(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(why, -EINVAL, "%s is no regular file: a recording needs one", name);
    if (flock(r->fd, LOCK_EX | LOCK_NB))
        return error_set(why, -EBUSY, "%s: another hog records there", name);
    int err = recording_check(r->fd, r->path, why);
    if (err && err != -ENODATA)
        return err;
    char *buffer = malloc(LOOK_BACK);
    int64_t whole = !buffer ? -ENOMEM : recording_whole(r->fd, (uint64_t)st.st_size, buffer, LOOK_BACK);
    free(buffer);
    if (whole < 0)
        return error_set(why, (int)whole, "%s cannot be read: %s (%s)", name, strerror((int)-whole),
                         error_name((int)whole));
    r->at = r->whole = (uint64_t)whole;
    if (ftruncate(r->fd, (off_t)whole)) /* what a hog that was killed has left of a window */
        return error_set(why, -errno, "%s cannot be cut: %s (%s)", name, strerror(errno), error_name(errno));
    return 0;
}

int recorder_open(struct recorder **recorder, const char *path, uint64_t max_size, unsigned keep,
                  struct error *why)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return error_set(why, -ENOMEM, "out of memory");
    *r = (struct recorder){
        .sink = {.write = sink_write}, .path = path, .max_size = max_size, .keep = keep, .fd = -1};
    if (strlen(path) > ROTATED_NAME - 8) {
        free(r);
        return error_set(why, -ENAMETOOLONG, "%s: too long for the name of a recording", quote(path).text);
    }
    int err = open_file(r, why);
    if (err)
        recorder_close(r);
    else
        *recorder = r;
    return err;
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

/* A file of its own for what follows. */
static int begin_file(struct recorder *r, bool move)
{
    struct error why = {""};
    int err = move ? rotated_move(r->path, r->keep) : 0;

    if (err)
        return err;
    close(r->fd);
    r->whole = r->at = 0;
    err = open_file(r, &why);
    return err;
}

/* The file was removed while it is being written. */
static bool is_gone(const struct recorder *r)
{
    struct stat st;

    return r->fd < 0 || fstat(r->fd, &st) || !st.st_nlink;
}

static void take_back(struct recorder *r, struct out *out)
{
    if (r->fd >= 0 && ftruncate(r->fd, (off_t)r->whole))
        r->at = r->whole; /* the reader passes over what stays behind it */
    r->at = r->whole;
    out_anew(out);
    if (!r->missing++)
        message("%s cannot be written: %s (%s): windows are left out until it can", quote(r->path).text,
                strerror(-r->failed), error_name(r->failed));
    r->failed = 0;
}

void recorder_end_window(struct recorder *r, struct out *out)
{
    static const char end[] = RECORD_END;

    if (!r->failed && is_gone(r)) {
        r->failed = begin_file(r, false);
        r->failed = r->failed ? r->failed : -ENOENT; /* its first half is gone */
    } else if (!r->failed) {
        put(r, end, sizeof end - 1);
    }
    if (r->failed) {
        take_back(r, out);
        return;
    }
    r->whole = r->at;
    if (r->missing)
        message("%s can be written again: %" PRIu64 " windows are missing", quote(r->path).text, r->missing);
    r->missing = 0;
    if (r->whole < r->max_size)
        return;
    r->failed = begin_file(r, true);
    out_anew(out);
}
