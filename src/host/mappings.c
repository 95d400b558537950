// SPDX-License-Identifier: GPL-2.0-only
#include "host/mappings.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINE (PATH_MAX + 128)

/* The hexadecimal or decimal number at *text, which ends in `after`; *text comes to stand behind that. */
static bool number(char **text, int base, char after, uint64_t *value)
{
    char *end;

    if (**text == '-' || **text == '+' || **text == ' ')
        return false;
    errno = 0;
    *value = strtoull(*text, &end, base);
    if (errno || end == *text || *end != after)
        return false;
    *text = end + 1;
    return true;
}

bool mapping_parse(char *line, struct mapping *m)
{
    char *text = line;
    uint64_t major, minor;

    if (!number(&text, 16, '-', &m->start) || !number(&text, 16, ' ', &m->end) || strlen(text) < 5 ||
        text[4] != ' ')
        return false;
    m->executable = text[2] == 'x';
    text += 5;
    if (!number(&text, 16, ' ', &m->offset) || !number(&text, 16, ':', &major) ||
        !number(&text, 16, ' ', &minor) || major > UINT32_MAX || minor > UINT32_MAX)
        return false;
    char *end;
    m->major = (uint32_t)major;
    m->minor = (uint32_t)minor;
    m->inode = strtoull(text, &end, 10);
    if (end == text || (*end && *end != ' '))
        return false;
    m->path = end + strspn(end, " ");
    return m->start < m->end;
}

/* Lines as they come out of a descriptor. */
struct lines {
    int fd;
    size_t n;     /* bytes there */
    bool passing; /* over the rest of a line that was too long */
    char bytes[2 * LINE];
};

static int hand_on(struct lines *lines, mapping_fn fn, void *context)
{
    char *line = lines->bytes, *newline;

    while ((newline = memchr(line, '\n', lines->n - (size_t)(line - lines->bytes)))) {
        struct mapping m;
        *newline = '\0';
        bool good = !lines->passing && mapping_parse(line, &m);
        lines->passing = false;
        line = newline + 1;
        int err = good ? fn(context, &m) : 0;
        if (err)
            return err;
    }
    lines->n -= (size_t)(line - lines->bytes);
    memmove(lines->bytes, line, lines->n);
    if (lines->n == sizeof lines->bytes) {
        lines->passing = true;
        lines->n = 0;
    }
    return 0;
}

int mappings_read(uint32_t process, mapping_fn fn, void *context)
{
    char path[64];
    int err = 0;

    snprintf(path, sizeof path, "/proc/%u/maps", process);
    struct lines *lines = malloc(sizeof *lines);
    if (!lines)
        return -ENOMEM;
    lines->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (lines->fd < 0) {
        err = errno == ENOENT ? -ESRCH : -errno;
        free(lines);
        return err;
    }
    lines->n = 0;
    lines->passing = false;
    while (!err) {
        ssize_t n = read(lines->fd, lines->bytes + lines->n, sizeof lines->bytes - lines->n);
        if (n <= 0) {
            err = n < 0 ? -errno : 0;
            break;
        }
        lines->n += (size_t)n;
        err = hand_on(lines, fn, context);
    }
    close(lines->fd);
    free(lines);
    return err;
}

struct wanted {
    uint64_t address;
    char *name;
};

static int take_name(void *context, const struct mapping *m)
{
    const struct wanted *wanted = context;
    size_t length = strlen(m->path), skipped = length < MAPPING_NAME ? 0 : length - (MAPPING_NAME - 1);

    if (wanted->address < m->start || wanted->address >= m->end)
        return 0;
    snprintf(wanted->name, MAPPING_NAME, "%s", *m->path ? m->path + skipped : "[anon]");
    return 1;
}

int mapping_at(uint32_t process, uint64_t address, char name[MAPPING_NAME])
{
    struct wanted wanted = {address, name};

    *name = '\0';
    int found = mappings_read(process, take_name, &wanted);
    return found > 0 ? 0 : found ? found : -ENOENT;
}

/* A device may do something when it is opened, and a FIFO may block: only regular files are opened. */
int open_regular(const char *path, uint64_t inode)
{
    char again[48];
    struct stat st;
    int place = open(path, O_PATH | O_CLOEXEC);

    if (place < 0)
        return -errno;
    int fd = fstat(place, &st)             ? -errno
             : !S_ISREG(st.st_mode)        ? -ENOEXEC
             : inode && inode != st.st_ino ? -ESTALE
                                           : 0;
    if (!fd) {
        snprintf(again, sizeof again, "/proc/self/fd/%d", place);
        fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        fd = fd < 0 ? -errno : fd;
    }
    close(place);
    return fd;
}

/* The link in map_files leads to the file itself, whatever has become of its name; it needs more privileges
 * than the name as the process sees it. There the device may be another one (btrfs, overlayfs), and the inode
 * must do. */
int mapping_open(uint32_t process, const struct mapping *m)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", process, (unsigned long long)m->start,
             (unsigned long long)m->end);
    int fd = open_regular(path, 0);
    if (fd >= 0 || fd == -ENOEXEC || *m->path != '/')
        return fd;
    snprintf(path, sizeof path, "/proc/%u/root%s", process, m->path);
    return open_regular(path, m->inode);
}

const char *mapping_name(const struct mapping *m, size_t *length)
{
    static const char deleted[] = " (deleted)";
    const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
    size_t n = strlen(name);

    if (n > sizeof deleted - 1 && !strcmp(name + n - (sizeof deleted - 1), deleted))
        n -= sizeof deleted - 1;
    *length = n;
    return name;
}
