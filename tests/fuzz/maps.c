// SPDX-License-Identifier: GPL-2.0-only
/* /proc/PID/maps: read in pieces, it gives the mappings that its lines give one by one. */
#include "tests/fuzz/fuzz.h"
#include "host/mappings.h"
#include <limits.h>
#include <string.h>

uint64_t fuzz_taken;

struct seen {
    uint32_t n, hash;
};

static int take(void *context, const struct mapping *m)
{
    struct seen *seen = context;
    size_t length, all = strlen(m->path);
    const char *name = mapping_name(m, &length);

    must(m->start < m->end && !strchr(m->path, '\n') && !memchr(name, '/', length));
    must(name >= m->path && name + length <= m->path + all);
    seen->n++;
    seen->hash = seen->hash * 31 + fuzz_hash((const uint8_t *)m->path, all) + (uint32_t)(m->start ^ m->inode);
    return 0;
}

static struct seen line_by_line(const char *text, size_t size)
{
    struct seen seen = {0};

    for (const char *p = text, *end; (end = memchr(p, '\n', size - (size_t)(p - text))); p = end + 1) {
        size_t n = (size_t)(end - p);
        char *line = strndup(p, n);
        struct mapping m;
        if (n <= 2 * PATH_MAX && mapping_parse(line, &m))
            take(&seen, &m);
        free(line);
    }
    return seen;
}

static size_t longest(const char *text, size_t size)
{
    size_t most = 0;

    for (const char *p = text, *end; p < text + size; p = end + 1) {
        end = memchr(p, '\n', size - (size_t)(p - text));
        end = end ? end : text + size;
        most = (size_t)(end - p) > most ? (size_t)(end - p) : most;
    }
    return most;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t begin = files_only(bytes, size, "maps");
    const char *text = (const char *)bytes + begin;
    struct seen seen = {0};
    char at[MAPPING_NAME];

    if (!begin)
        return 0;
    struct seen lines = line_by_line(text, size - begin);
    files_begin(bytes, size, 0);
    must(!mappings_read(1, take, &seen));
    if (longest(text, size - begin) <= PATH_MAX) /* longer ones may be passed over */
        must(seen.n == lines.n && seen.hash == lines.hash);
    mapping_at(1, 0x7f0000001000, at);
    must(strlen(at) < sizeof at);
    files_end();
    fuzz_taken += seen.n > 0;
    return 0;
}
