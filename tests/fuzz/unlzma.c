/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hostile LZMA streams: whatever the bytes are, unpacking gives the promised number of bytes or an error, and
 * reads and writes nowhere else.
 *
 *   unlzma FILE   one input, as a fuzzer gives it
 *   unlzma        deterministic mutations of the stream in the binary, and noise, for five seconds
 *                 ($HOG_FUZZ_ROUNDS: that many instead; $HOG_FUZZ_SEED)
 */
#include "loader/spec/unlzma.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "loader/kernel/embedded.h"
#include "tests/fuzz/random.h"
#include "tests/unit/tap.h"

#define SECONDS 5
#define LARGEST (8u << 20)

/* True: it was unpacked, in two steps. */
static bool one(const uint8_t *bytes, size_t size, size_t unpacked)
{
    uint8_t *exact = malloc(size ? size : 1); /* the sanitizer sees the first byte behind it */
    struct unlzma *u = NULL;
    struct error why = {""};
    const char *out = NULL;
    volatile uint64_t sum = 0;

    memcpy(exact, bytes, size);
    int err = unlzma_open(&u, exact, size, unpacked, &why);
    if (!err)
        err = unlzma_until(u, unpacked / 2, &out, &why);
    if (!err)
        err = unlzma_until(u, unpacked, &out, &why);
    for (size_t i = 0; !err && i < unpacked; i++)
        sum += (uint8_t)out[i];
    if (err && !why.text[0])
        abort();
    if (err && u && !unlzma_until(u, unpacked, &out, NULL))
        abort(); /* damage must stay damage */
    unlzma_close(u);
    free(exact);
    return !err;
}

static size_t mutate(uint8_t *bytes, size_t size)
{
    for (size_t n = 1 + below(6); n; n--) {
        /* Near the front as often as anywhere else: everything after it depends on it. */
        size_t at = below(2) ? below(size) : below(size < 64 ? size : 64);
        switch (below(4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            bytes[at] = (uint8_t)below(256);
            break;
        case 2:
            bytes[at] = below(2) ? 0xff : 0;
            break;
        default:
            size = below(8) ? size : at + 1;
        }
    }
    return size;
}

static size_t noise(uint8_t *bytes, size_t size)
{
    size_t n = below(size);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)below(256);
    if (n) {
        bytes[0] = (uint8_t)below(225);
        bytes[n > 13 ? 13 : 0] = 0;
    }
    return n;
}

static void rounds(uint64_t limit)
{
    uint8_t *bytes = malloc(embedded_stream_size);
    size_t unpacked = 0;
    uint64_t round = 0, done = 0;
    time_t begin = time(NULL);

    for (const struct embedded_object *object = embedded_objects; object->name; object++)
        unpacked = object->at + object->size;
    check(one(embedded_stream, embedded_stream_size, unpacked), "the stream in the binary is unpacked");
    for (; limit ? round < limit : time(NULL) - begin < SECONDS; round++) {
        memcpy(bytes, embedded_stream, embedded_stream_size);
        size_t n = below(4) ? mutate(bytes, embedded_stream_size) : noise(bytes, embedded_stream_size);
        done += one(bytes, n, below(8) ? below(unpacked) + 1 : below(64));
    }
    free(bytes);
    check(done && done < round, "%llu of %llu streams were unpacked, the others refused with a reason",
          (unsigned long long)done, (unsigned long long)round);
}

static int one_file(const char *path)
{
    static uint8_t bytes[LARGEST];
    FILE *file = fopen(path, "r");

    if (!file)
        return 1;
    printf("%s: %s\n", path,
           one(bytes, fread(bytes, 1, sizeof bytes, file), LARGEST) ? "unpacked" : "refused");
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    const char *limit = getenv("HOG_FUZZ_ROUNDS"), *seed = getenv("HOG_FUZZ_SEED");

    if (argc > 1)
        return one_file(argv[1]);
    if (seed)
        state = strtoull(seed, NULL, 10);
    rounds(limit ? strtoull(limit, NULL, 10) : 0);
    return done();
}
