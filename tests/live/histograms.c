// SPDX-License-Identifier: GPL-2.0-only
/* Histograms by key: what the kernel side counts and the reader returns, against the times themselves; and
 * which keys have a slot. */
#include "source/shared/histogram_by_key.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "syscall/bpf.h"
#include "tests/unit/tap.h"

static struct object *object;
static struct histogram_by_key histogram_by_key;
static int program;

static void must(int err, const char *step, const struct error *why)
{
    if (err >= 0)
        return;
    check(false, "%s: %s", step, why->text);
    exit(done());
}

static void set_up(void)
{
    const char *dir = getenv("HOG_TEST_OBJECTS");
    char path[512];
    struct stat st;
    struct error why = {""};

    snprintf(path, sizeof path, "%s/live_histograms.bpf.o", dir ? dir : "build/tests/bpf");
    int fd = open(path, O_RDONLY);
    must(fd < 0 || fstat(fd, &st) ? -1 : 0, path, &why);
    void *bytes = malloc((size_t)st.st_size);
    must(read(fd, bytes, (size_t)st.st_size) == st.st_size ? 0 : -1, path, &why);
    close(fd);
    must(object_open(&object, "live_histograms", bytes, (size_t)st.st_size, &why), "open", &why);
    must(object_relocate(object, NULL, &why), "relocate", &why);
    must(object_create_maps(object, &why), "create maps", &why);
    must(object_load_program(object, object_program(object, "test_histogram"), &why), "load", &why);
    must(histogram_by_key_open(&histogram_by_key, object, &why), "histograms", &why);
    program = object_program(object, "test_histogram")->fd;
}

static void count(uint64_t key, uint64_t ns, uint64_t heavy)
{
    uint64_t arguments[3] = {key, ns, heavy};
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = (uint32_t)program;
    attr.test.ctx_in = (uintptr_t)arguments;
    attr.test.ctx_size_in = sizeof arguments;
    must(sys_bpf_test_run(&attr), "run", &(struct error){"BPF_PROG_TEST_RUN"});
}

static bool is_near(uint64_t key, double q, uint64_t truth)
{
    uint64_t ns;

    if (!histogram_by_key_quantile(&histogram_by_key, key, q, &ns))
        return false;
    uint64_t apart = ns > truth ? ns - truth : truth - ns;
    return apart * 10000 <= truth * 625 || apart <= 8;
}

/* From 1 ns to more than the last bucket holds, each at the edges of possible buckets. */
static void every_time(void)
{
    bool good = true;
    uint64_t ns;

    histogram_by_key_flip(&histogram_by_key);
    for (unsigned bit = 0; bit < 36; bit++)
        for (unsigned eighth = 8; eighth < 16; eighth++) {
            uint64_t edge = (uint64_t)eighth << bit >> 3;
            for (uint64_t t = edge ? edge - 1 : 0; t <= edge; t++) {
                count(42, t, t + 2);
                histogram_by_key_flip(&histogram_by_key);
                if (!is_near(42, 0.5, t) && good) {
                    check(false, "%llu ns is counted as %lld", (unsigned long long)t,
                          histogram_by_key_quantile(&histogram_by_key, 42, 0.5, &ns) ? (long long)ns : -1);
                    good = false;
                }
            }
        }
    check(good, "a time comes back to 6.25 %%, whatever its order of magnitude");
    count(42, UINT64_MAX, UINT64_MAX);
    histogram_by_key_flip(&histogram_by_key);
    check(histogram_by_key_quantile(&histogram_by_key, 42, 1, &ns) && ns > 60000000000,
          "what is too long is in the last bucket");
}

static void windows(void)
{
    uint64_t ns;

    for (unsigned i = 1; i <= 1000; i++)
        count(7, i * 1000, i * 1000);
    histogram_by_key_flip(&histogram_by_key);
    check(is_near(7, 0.5, 500000) && is_near(7, 0.99, 990000) && is_near(7, 1, 1000000),
          "quantiles are those of the times");
    count(7, 5000, 5000);
    histogram_by_key_flip(&histogram_by_key);
    check(is_near(7, 0.5, 5000), "the next window has only its own times");
    histogram_by_key_flip(&histogram_by_key);
    check(!histogram_by_key_quantile(&histogram_by_key, 7, 0.5, &ns), "an idle key has none");
    check(!histogram_by_key_quantile(&histogram_by_key, 8, 0.5, &ns), "nor has an unknown key");
}

static unsigned seated(uint64_t first, unsigned n)
{
    uint64_t ns;
    unsigned with = 0;

    for (unsigned i = 0; i < n; i++)
        with += histogram_by_key_quantile(&histogram_by_key, first + i, 0.5, &ns);
    return with;
}

static void crowds(void)
{
    histogram_by_key_flip(&histogram_by_key);
    histogram_by_key_flip(&histogram_by_key);
    for (unsigned i = 0; i < 1000; i++)
        count(1000 + i, 1000, 1000);
    histogram_by_key_flip(&histogram_by_key);
    unsigned light = seated(1000, 1000);
    check(light > 100 && light <= 128, "a crowd has as many as there are places (%u)", light);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 20; i++)
            count(5000 + i, 1000000, (round + 1) * 1000000);
    histogram_by_key_flip(&histogram_by_key);
    check(seated(5000, 20) == 20, "a heavier key gets a slot");
    check(is_near(5000, 0.5, 1000000) && is_near(5019, 0.01, 1000000),
          "and nothing of its predecessor's times");
    for (unsigned i = 0; i < 1000; i++)
        count(9000 + i, 1000, 1000);
    for (unsigned i = 0; i < 20; i++)
        count(5000 + i, 1000000, 1000000);
    histogram_by_key_flip(&histogram_by_key);
    check(seated(5000, 20) == 20, "a crowd of light keys does not take it away");
}

int main(void)
{
    set_up();
    every_time();
    windows();
    crowds();
    histogram_by_key_close(&histogram_by_key);
    object_close(object);
    return done();
}
