// SPDX-License-Identifier: GPL-2.0-only
/* Symbols of programs and libraries: what is found by name is what a walk over all symbols has under that
 * name, and all places lie in the file. */
#include "tests/fuzz/fuzz.h"
#include "loader/spec/elf_symbol.h"
#include <stdbool.h>
#include <string.h>

#define NAMES 6
#define MOST  64 /* symbols of a name that are noted */

uint64_t fuzz_taken;

static const char *const names[NAMES] = {"malloc", "free", "main", "a_free", "a", "data"};

struct input {
    const uint8_t *bytes;
    size_t size;
};

struct seen {
    size_t size, n[NAMES];
    uint64_t places[NAMES][MOST];
};

/* A file may shrink while it is read. */
static int read_input(void *file, void *to, size_t n, uint64_t offset)
{
    const struct input *input = file;

    if (n == 333 || !bytes_inside(offset, n, input->size))
        return -EIO;
    memcpy(to, input->bytes + offset, n);
    return 0;
}

static int note(void *context, const char *name, uint64_t offset)
{
    struct seen *seen = context;

    must(*name && strlen(name) < 256 && offset && offset < seen->size);
    for (size_t i = 0; i < NAMES; i++)
        if (!strcmp(name, names[i]) && seen->n[i] < MOST)
            seen->places[i][seen->n[i]++] = offset;
    return 0;
}

static bool is_seen(const struct seen *seen, size_t i, uint64_t offset)
{
    for (size_t j = 0; j < seen->n[i]; j++)
        if (seen->places[i][j] == offset)
            return true;
    return seen->n[i] == MOST;
}

static void ask(struct elf_symbols *s, unsigned type, size_t size)
{
    struct seen seen = {.size = size};
    uint64_t offsets[NAMES], within;
    struct error why = {0};
    char name[16];

    int all = elf_symbols_each(s, type, note, &seen);
    int found = elf_symbols_find(s, type, names, NAMES, offsets, &why), count = 0;
    must(found >= 0 || *why.text);
    for (size_t i = 0; i < NAMES && found >= 0; i++) {
        count += offsets[i] != 0;
        must(!offsets[i] || offsets[i] < size);
        must(!offsets[i] || all || is_seen(&seen, i, offsets[i]));
        if (offsets[i] && !elf_symbols_at(s, offsets[i], name, sizeof name, &within))
            must(*name && strlen(name) < sizeof name);
    }
    must(found < 0 || found == count);
    fuzz_taken += found > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct budget budget = {.steps = 1 << 20, .bytes = 8 << 20};
    struct arena arena = {.budget = &budget};
    struct bytes file = {.size = size, .read = read_input, .file = &input, .budget = &budget};
    struct elf_symbols symbols;
    struct error why = {0};

    if (fuzz_hash(bytes, size) % 2)
        file.memory = bytes;
    int err = elf_symbols_open(&symbols, &arena, &file, &why);
    must(!err || *why.text);
    for (unsigned type = 1; type <= 2 && !err; type++) /* STT_OBJECT, STT_FUNC */
        ask(&symbols, type, size);
    arena_free(&arena);
    return 0;
}
