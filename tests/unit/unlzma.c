/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams from xz(1), whole, in steps, cut short and damaged; and that the objects in the binary are those
 * that were built. */
#include "base/unlzma.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/embedded.h"
#include "tests/unit/tap.h"

#define LARGEST (512u << 10)

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % n;
}

/* ---- test data ---- */

static size_t noise(uint8_t *out)
{
    for (size_t i = 0; i < 5000; i++)
        out[i] = (uint8_t)below(256);
    return 5000;
}

static size_t one_byte(uint8_t *out)
{
    out[0] = 'x';
    return 1;
}

static size_t zeros(uint8_t *out)
{
    memset(out, 0, LARGEST);
    return LARGEST;
}

static size_t lines(uint8_t *out)
{
    size_t n = 0;

    for (unsigned i = 0; n + 64 < LARGEST / 4; i++)
        n += (size_t)sprintf((char *)out + n, "line %u of %u: %s\n", i, below(100), i % 3 ? "even" : "odd");
    return n;
}

/* Repeated pieces, at all distances and of all lengths, and some bytes between. */
static size_t pieces(uint8_t *out)
{
    size_t n = noise(out);

    while (n + 600 < LARGEST) {
        size_t length = 1 + below(below(2) ? 12 : 400), from = n - 1 - below((uint32_t)n - 1);
        for (; length; length--)
            out[n++] = out[from++];
        if (!below(3))
            out[n++] = (uint8_t)below(256);
    }
    return n;
}

static const struct {
    const char *name;
    size_t (*make)(uint8_t *out);
} inputs[] = {{"one byte", one_byte},
              {"zeros", zeros},
              {"noise", noise},
              {"lines", lines},
              {"pieces of what was there", pieces}};

/* ---- packing and unpacking ---- */

static const char *const shapes[] = {"lc=3,lp=0,pb=2", "lc=0,lp=1,pb=3", "lc=0,lp=4,pb=4", "lc=4,lp=0,pb=0",
                                     "preset=0"};

/* Bytes of the stream at `to`; 0: xz did not do it. */
static size_t pack(const char *shape, const uint8_t *bytes, size_t size, uint8_t *to)
{
    char path[] = "/tmp/unlzma.XXXXXX", command[256];
    int fd = mkstemp(path);
    ssize_t wrote = fd < 0 ? -1 : write(fd, bytes, size);
    snprintf(command, sizeof command, "xz -c --format=lzma --lzma1=%s <%s", shape, path);
    FILE *xz = wrote == (ssize_t)size ? popen(command, "re") : NULL;
    size_t n = xz ? fread(to, 1, 2 * (size_t)LARGEST, xz) : 0;
    if (xz && pclose(xz))
        n = 0;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return n;
}

/* In steps of `step` bytes. */
static bool unpacks_to(const uint8_t *packed, size_t size, const uint8_t *bytes, size_t n, size_t step)
{
    struct unlzma *u;
    const char *out = NULL;
    bool same = !unlzma_open(&u, packed, size, n, NULL);

    if (!same)
        return false;
    for (size_t have = 0; same && have < n;) {
        have = step < n - have ? have + step : n;
        same = !unlzma_until(u, have, &out, NULL) && !memcmp(out, bytes, have);
    }
    same = same && unlzma_until(u, n + 1, &out, NULL) == -EINVAL;
    unlzma_close(u);
    return same;
}

static bool opens(const uint8_t *packed, size_t size, size_t n)
{
    struct unlzma *u;
    const char *out;

    if (unlzma_open(&u, packed, size, n, NULL))
        return false;
    bool done = !unlzma_until(u, n, &out, NULL);
    unlzma_close(u);
    return done;
}

static void round_trips(void)
{
    uint8_t *bytes = malloc(LARGEST + 1), *packed = malloc(2 * (size_t)LARGEST);

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        size_t n = inputs[i].make(bytes);
        unsigned whole = 0, steps = 0, all = 0;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++, all++) {
            size_t size = pack(shapes[s], bytes, n, packed);
            whole += size && unpacks_to(packed, size, bytes, n, n);
            steps += size && unpacks_to(packed, size, bytes, n, 1 + n / 7);
        }
        check(whole == all, "%s: what xz packs is unpacked, in %u of %u shapes", inputs[i].name, whole, all);
        check(steps == all, "%s: the same in steps, in %u of %u", inputs[i].name, steps, all);
    }
    free(bytes);
    free(packed);
}

static void refusals(void)
{
    uint8_t *bytes = malloc(LARGEST + 1), *packed = malloc(2 * (size_t)LARGEST);
    size_t n = lines(bytes), size = pack(shapes[0], bytes, n, packed), cut = 0, lengths = 0, front = 0;

    for (size_t length = 0; length < size - 16; length += 1 + length / 9, lengths++) {
        uint8_t *exact = malloc(length + 1);
        memcpy(exact, packed, length);
        cut += !opens(exact, length, n);
        free(exact);
    }
    for (size_t wanted = 1; wanted <= 600; wanted++)
        front += opens(packed, size, wanted);
    check(front == 600, "of a longer stream the front is unpacked, wherever that ends: %zu of 600", front);
    check(cut == lengths, "a stream cut short is refused: %zu of %zu", cut, lengths);
    check(!opens(packed, size, n + 1), "one that unpacks to less than is wanted is refused");
    packed[0] = 225;
    check(!opens(packed, size, n), "a first byte that there cannot be is refused");
    packed[0] = 4 + 9;
    check(!opens(packed, size, n), "more literals than xz makes are refused");
    free(bytes);
    free(packed);
}

/* ---- the binary's own ---- */

static bool is_file(const char *path, const char *bytes, size_t size)
{
    char *file = malloc(size + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, file, size + 1);

    if (fd >= 0)
        close(fd);
    bool same = n == (ssize_t)size && !memcmp(file, bytes, size);
    free(file);
    return same;
}

static void own_objects(void)
{
    const char *build = getenv("BUILD"), *last = "";
    struct unlzma *u = NULL;
    const char *all = NULL;
    size_t end = 0, same = 0, n = 0, opened = 0;

    for (const struct embedded_object *o = embedded_objects; o->name; o++, n++) {
        end = o->at + o->size;
        last = o->name;
    }
    if (!unlzma_open(&u, embedded_stream, embedded_stream_size, end, NULL))
        unlzma_until(u, end, &all, NULL);
    for (const struct embedded_object *o = embedded_objects; all && o->name; o++) {
        char path[512];
        snprintf(path, sizeof path, "%s/bpf/%s.slim.o", build ? build : "build", o->name);
        same += is_file(path, all + o->at, o->size);
    }
    unlzma_close(u);
    check(n > 3 && same == n, "the objects in the binary are those that were built: %zu of %zu", same, n);

    /* In the order of the stream, then all again, and from the last one on after embedded_close(). */
    for (int round = 0; round < 2; round++)
        for (const struct embedded_object *o = embedded_objects; o->name; o++) {
            struct object *object;
            if (embedded_open(&object, o->name, NULL))
                continue;
            opened += !strcmp(object->name, o->name);
            object_close(object);
        }
    check(opened == 2 * n, "each is opened, and again: %zu of %zu", opened, 2 * n);
    struct object *kept = NULL, *again = NULL;
    int err = embedded_open(&kept, last, NULL);
    embedded_close();
    err = err ? err : embedded_open(&again, embedded_objects[0].name, NULL);
    check(!err && !strcmp(kept->name, last) && kept->nprograms, "an object stays when the rest is dropped");
    object_close(kept);
    object_close(again);
    embedded_close();
    check(embedded_open(&again, "none", NULL) == -EINVAL, "one that there is not is refused");
}

int main(void)
{
    round_trips();
    refusals();
    own_objects();
    return done();
}
