// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/symbols_kernel.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST       1000000
#define MOST_BYTES (64u << 20)
#define SPAN       0xfffff000ull /* modules lie within two gigabytes of the kernel */

static bool grow(void **list, size_t *room, size_t n, size_t size)
{
    if (n < *room)
        return true;
    size_t more = *room ? *room + *room / 2 : 16384;
    void *larger = more * size > MOST_BYTES ? NULL : realloc(*list, more * size);
    if (!larger)
        return false;
    *list = larger;
    *room = more;
    return true;
}

static bool is_function(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ffffffff81000000 T name	[module]". The padding before each function has a name of its own. */
static void take_line(struct kernel_symbols *k, const char *line, size_t length)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    const char *name = end + 3;

    if (end == line || (size_t)(name - line) >= length || !is_function(end[1]) || !strncmp(name, "__pfx_", 6))
        return;
    size_t n = strcspn(name, "\t\n ");
    if (!address || k->n == MOST)
        return;
    if (!k->n)
        k->base = address;
    while (k->bytes + n + 1 > k->names_room)
        if (!grow((void **)&k->names, &k->names_room, k->names_room, 1))
            return;
    if (address < k->base || address - k->base > SPAN ||
        !grow((void **)&k->list, &k->room, k->n, sizeof *k->list))
        return;
    k->list[k->n++] = (struct kernel_symbol){(uint32_t)(address - k->base), (uint32_t)k->bytes};
    memcpy(k->names + k->bytes, name, n);
    k->names[k->bytes + n] = '\0';
    k->bytes += n + 1;
}

static int compare(const void *x, const void *y)
{
    const struct kernel_symbol *a = x, *b = y;

    return a->at != b->at ? (a->at < b->at ? -1 : 1) : (a->name > b->name) - (a->name < b->name);
}

static void read_all(struct kernel_symbols *k)
{
    static char text[65536];
    size_t have = 0;
    ssize_t n;
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (n = read(fd, text + have, sizeof text - 1 - have)) > 0) {
        have += (size_t)n;
        text[have] = '\0';
        char *line = text, *newline;
        while ((newline = strchr(line, '\n'))) {
            *newline = '\0';
            take_line(k, line, (size_t)(newline - line));
            line = newline + 1;
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
        if (have == sizeof text - 1)
            have = 0; /* no line is that long */
    }
    if (fd >= 0)
        close(fd);
    k->hidden = !k->n;
    if (k->n)
        qsort(k->list, k->n, sizeof *k->list, compare);
}

const char *kernel_symbol(struct kernel_symbols *k, uint64_t address)
{
    if (!k->read)
        read_all(k);
    k->read = true;
    if (!k->n || address < k->base || address - k->base > SPAN)
        return NULL;
    uint32_t at = (uint32_t)(address - k->base);
    size_t low = 0, high = k->n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (k->list[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    while (low && k->list[low - 1].at == k->list[low].at) /* the first of several names */
        low--;
    return k->names + k->list[low].name;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
    free(k->list);
    free(k->names);
    *k = (struct kernel_symbols){.read = false};
}
