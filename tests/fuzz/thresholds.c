/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hostile files of thresholds: whatever the bytes are, reading gives values within their bounds or a reason,
 * and what was read is printed so that it can be read again.
 *
 *   thresholds FILE   one input, as a fuzzer gives it
 *   thresholds        deterministic mutations of what hog prints, for five seconds
 *                     ($HOG_FUZZ_ROUNDS: that many instead; $HOG_FUZZ_SEED)
 */
#include "cli/thresholds_print.h"
#include "verdict/thresholds.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tests/fuzz/edits.h"
#include "tests/fuzz/random.h"
#include "tests/unit/tap.h"

#define SECONDS 5

static size_t print(const struct thresholds *t, int fd, char *text, size_t size)
{
    if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || thresholds_print(t, fd))
        abort();
    ssize_t n = pread(fd, text, size, 0);
    return n > 0 ? (size_t)n : 0;
}

static bool same(const struct thresholds *a, const struct thresholds *b)
{
    for (size_t i = 0; i < THRESHOLDS; i++)
        if (a->value[i] != b->value[i])
            return false;
    return true;
}

/* True: it was accepted. */
static bool one(const char *bytes, size_t length, int fd)
{
    static char printed[THRESHOLDS_MOST];
    struct thresholds t, again;
    struct error why = {""};
    char *exact = malloc(length ? length : 1); /* the sanitizer sees the first byte behind it */

    memcpy(exact, bytes, length);
    thresholds_default(&t);
    int err = thresholds_parse(&t, exact, length, &why);
    free(exact);
    if (err && strncmp(why.text, "line ", 5) != 0)
        abort();
    for (size_t i = 0; i < THRESHOLDS; i++)
        if (!(t.value[i] >= threshold_table[i].least && t.value[i] <= threshold_table[i].most))
            abort();
    if (err)
        return false;
    thresholds_default(&again);
    size_t n = print(&t, fd, printed, sizeof printed);
    if (thresholds_parse(&again, printed, n, &why) || !same(&t, &again))
        abort();
    return true;
}

static size_t mutate(char *text, size_t length, size_t size)
{
    static const char *const words[] = {"=",
                                        ".",
                                        "0",
                                        "9",
                                        "1e3",
                                        "nan",
                                        "-1",
                                        "starved_pct",
                                        " ",
                                        "\n",
                                        "#",
                                        "\r",
                                        "00000000000000000000",
                                        "99999999999999999999",
                                        "0.000001"};

    for (size_t n = 1 + below(4); n; n--) {
        const char *word = words[below(sizeof words / sizeof *words)];
        size_t at = below(length + 1), w = strlen(word), cut = below(40);
        switch (below(4)) {
        case 0: /* one byte */
            if (at < length)
                text[at] = (char)below(256);
            break;
        case 1: /* a word more */
            length = edit_insert(text, length, size, at, word, w);
            break;
        case 2: /* some bytes fewer */
            length = edit_remove(text, length, at, cut);
            break;
        default: /* a word over others */
            edit_cover(text, length, at, word, w);
        }
    }
    return length;
}

static void rounds(uint64_t limit, int fd)
{
    static char seed[THRESHOLDS_MOST], text[THRESHOLDS_MOST];
    struct thresholds t;
    uint64_t round = 0, taken = 0;
    time_t begin = time(NULL);

    thresholds_default(&t);
    size_t n = print(&t, fd, seed, sizeof seed);
    for (; limit ? round < limit : time(NULL) - begin < SECONDS; round++) {
        memcpy(text, seed, n);
        taken += one(text, mutate(text, n, sizeof text), fd);
    }
    check(one(seed, n, fd), "what is printed can be read");
    check(taken && taken < round, "%llu of %llu files were taken, the others refused with a reason",
          (unsigned long long)taken, (unsigned long long)round);
}

static int one_file(const char *path, int fd)
{
    static char text[THRESHOLDS_MOST];
    FILE *file = fopen(path, "r");

    if (!file)
        return 1;
    printf("%s: %s\n", path, one(text, fread(text, 1, sizeof text, file), fd) ? "taken" : "refused");
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    const char *limit = getenv("HOG_FUZZ_ROUNDS"), *seed = getenv("HOG_FUZZ_SEED");
    int fd = memfd_create("thresholds", 0);

    if (argc > 1)
        return one_file(argv[1], fd);
    if (seed)
        state = strtoull(seed, NULL, 10);
    rounds(limit ? strtoull(limit, NULL, 10) : 0, fd);
    close(fd);
    return done();
}
