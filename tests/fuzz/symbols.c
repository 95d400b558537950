// SPDX-License-Identifier: GPL-2.0-only
/* Symbols of programs and libraries: what is found by name is what a walk over all symbols has under that
 * name, and all places lie in the file. Then functions by their place, in the same bytes as a file and as the
 * map of a JIT: names are clean. */
#include "tests/fuzz/fuzz.h"
#include "loader/spec/elf_symbol.h"
#include "source/shared/symbols_file.h"
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMES 6
#define MOST  64 /* symbols of a name that are noted */

uint64_t fuzz_taken;

static const char *const names[NAMES] = {"malloc", "free", "main", "a_free", "a", "data"};

struct seen {
    const struct elf_symbols *symbols;
    const uint8_t *bytes;
    size_t size, n[NAMES];
    uint64_t places[NAMES][MOST];
};

static int note(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct seen *seen = context;
    const uint8_t *at = (const uint8_t *)name;
    uint64_t offset = elf_symbols_offset(seen->symbols, symbol->st_value);

    must(at >= seen->bytes && at + strlen(name) < seen->bytes + seen->size);
    must(!offset || offset < seen->size);
    for (size_t i = 0; i < NAMES && offset; i++)
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

static void ask(const struct elf_symbols *s, unsigned type, const uint8_t *bytes, size_t size)
{
    struct seen seen = {.symbols = s, .bytes = bytes, .size = size};
    uint64_t offsets[NAMES];
    int all = elf_symbols_each(s, type, note, &seen);
    int found = elf_symbols_find(s, type, names, NAMES, offsets), count = 0;

    for (size_t i = 0; i < NAMES && found >= 0; i++) {
        count += offsets[i] != 0;
        must(!offsets[i] || offsets[i] < size);
        must(!offsets[i] || all || is_seen(&seen, i, offsets[i]));
    }
    must(found < 0 || found == count);
    fuzz_taken += found > 0;
}

static void ask_places(const uint8_t *bytes, size_t size, bool jit)
{
    static struct symbols_answer answer;
    struct symbols_asked asked = {.n = SYMBOLS_ASKED, .debug = {"/nonexistent"}, .jit = jit, .uid = getuid()};
    struct error why = {0};
    char path[32];
    int fd = memfd_create("symbols", MFD_CLOEXEC);

    if (fd < 0 || (size && write(fd, bytes, size) != (ssize_t)size))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < SYMBOLS_ASKED; i++)
        asked.at[i] = i < 128 ? i * size / 128 : UINT64_MAX - (SYMBOLS_ASKED - 1 - i) * 4096;
    int err = symbols_answer(path, &asked, &answer, &why);
    close(fd);
    must(err <= 0 && (!err || *why.text));
    for (size_t i = 0; i < SYMBOLS_ASKED; i++) {
        size_t n = strnlen(answer.names[i], SYMBOL_NAME);
        must(n < SYMBOL_NAME);
        for (size_t j = 0; j < n; j++)
            must((uint8_t)answer.names[i][j] > ' ' && answer.names[i][j] != ';');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct budget budget = {.steps = 1 << 20, .bytes = 8 << 20};
    struct arena arena = {.budget = &budget};
    const struct bytes file = {.memory = bytes, .size = size};
    struct elf_symbols symbols;
    struct error why = {0};
    int err = elf_symbols_open(&symbols, &arena, &file, &why);

    must(!err || *why.text);
    for (unsigned type = 1; type <= 2 && !err; type++) /* STT_OBJECT, STT_FUNC */
        ask(&symbols, type, bytes, size);
    arena_free(&arena);
    ask_places(bytes, size, false);
    ask_places(bytes, size, true);
    return 0;
}
