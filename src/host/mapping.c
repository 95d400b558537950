// SPDX-License-Identifier: GPL-2.0-only
#include "host/mapping.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK     4096
#define MOST_READ (16u << 20) /* of one file: some 100,000 mappings */
#define NAME_AT   5           /* range, permissions, offset, device, inode, and then the name */

/* The field, or the end of the line. */
static const char *field(const char *line, const char *end, int n)
{
    for (; n && line < end; n--) {
        while (line < end && *line != ' ')
            line++;
        while (line < end && *line == ' ')
            line++;
    }
    return line;
}

static void take_name(const char *from, const char *end, char name[MAPPING_NAME])
{
    size_t length = (size_t)(end - from), skipped = length < MAPPING_NAME ? 0 : length - (MAPPING_NAME - 1);

    if (!length) {
        memcpy(name, "[anon]", sizeof "[anon]");
        return;
    }
    memcpy(name, from + skipped, length - skipped);
    name[length - skipped] = '\0';
}

int mapping_find(const char *text, size_t length, uint64_t address, char name[MAPPING_NAME])
{
    const char *line = text, *all = text + length;

    *name = '\0';
    while (line < all) {
        const char *end = memchr(line, '\n', (size_t)(all - line));
        char *after;
        if (!end)
            break;
        uint64_t first = strtoull(line, &after, 16), last = *after == '-' ? strtoull(after + 1, NULL, 16) : 0;
        if (address >= first && address < last) {
            take_name(field(line, end, NAME_AT), end, name);
            return 0;
        }
        line = end + 1;
    }
    return -ENOENT;
}

/* Line by line, for lines and files can be long: what is no whole line yet waits for the next read. */
int mapping_at(uint32_t process, uint64_t address, char name[MAPPING_NAME])
{
    char path[64], text[2 * CHUNK + 1];
    size_t have = 0, all = 0;
    int err = -ENOENT;

    *name = '\0';
    snprintf(path, sizeof path, "/proc/%u/maps", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    while (err == -ENOENT && all < MOST_READ) {
        ssize_t n = read(fd, text + have, sizeof text - 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
        all += (size_t)n;
        text[have] = '\0';
        const char *end = memrchr(text, '\n', have);
        size_t whole = end ? (size_t)(end - text) + 1 : have; /* a line of that length is none of ours */
        err = mapping_find(text, whole, address, name);
        have -= whole;
        memmove(text, text + whole, have);
    }
    close(fd);
    return err;
}
