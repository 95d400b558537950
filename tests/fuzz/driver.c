// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a harness as `make test` wants it: the kept inputs, then mutations of them, the same ones each time.
 *
 *   NAME           tests/fuzz/corpus/NAME/ and the directory NAME.seeds next to the program
 *   NAME FILE...   these inputs only
 *
 * $HOG_FUZZ_SECONDS (of CPU time) and $HOG_FUZZ_SEED change what they say. An input that ends the program is
 * written to the file NAME.input next to it.
 */
#include "tests/fuzz/fuzz.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/tap.h"

#define SECONDS     3
#define SLOWEST_MS  3000 /* of CPU time, with sanitizers */
#define STUCK_S     10   /* an input that takes so long (of CPU time) does not end */
#define LARGEST_KIB (700 << 10)
#define MOST        (1u << 20) /* bytes of an input */
#define KEPT        4096

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input kept[KEPT];
static size_t nkept;
static char directory[512], saved[640];

/* The one that runs. */
static struct input now;
static volatile unsigned long started;

static uint64_t state = 88172645463325252u;

/* One below n, by xorshift64: the same everywhere. 0 where n is. */
static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state >> 32) % n : 0;
}

static uint64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- inputs that end the program ---- */

static char say_saved[700], say_stuck[] = "not ok - every input ends: one ran for ten seconds\n";

/* Called by signal handlers, too. */
static void save(void)
{
    int fd = now.bytes ? open(saved, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

    if (fd < 0 || write(fd, now.bytes, now.size) != (ssize_t)now.size ||
        write(STDERR_FILENO, say_saved, strlen(say_saved)) < 0)
        return;
    close(fd);
}

static void on_abort(int signal)
{
    save();
}

static void on_second(int signal)
{
    static unsigned long last;
    static unsigned seconds;

    seconds = last == started ? seconds + 1 : 0;
    last = started;
    if (seconds < STUCK_S)
        return;
    save();
    _exit(write(STDOUT_FILENO, say_stuck, sizeof say_stuck - 1) < 0 ? 2 : 1);
}

/* gcc's sanitizer asks the program for its options. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:max_allocation_size_mb=512";
}

static void watch(void)
{
    const struct itimerval second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};

    snprintf(say_saved, sizeof say_saved, "the input is in %s\n", saved);
    __sanitizer_set_death_callback(save);
    signal(SIGABRT, on_abort);
    signal(SIGPROF, on_second);
    setitimer(ITIMER_PROF, &second, NULL);
}

/* ---- running ---- */

static uint64_t slowest, slowest_input;

static void run(const uint8_t *bytes, size_t size)
{
    uint64_t before = cpu_ms();

    /* A block of the exact size: the sanitizer sees every byte read past it. */
    now = (struct input){malloc(size ? size : 1), size};
    memcpy(now.bytes, bytes, size);
    started++;
    LLVMFuzzerTestOneInput(now.bytes, now.size);
    free(now.bytes);
    now = (struct input){0};
    uint64_t took = cpu_ms() - before;
    if (took > slowest) {
        slowest = took;
        slowest_input = started;
    }
}

static bool load(const char *path)
{
    static uint8_t bytes[MOST];
    FILE *file = nkept < KEPT ? fopen(path, "r") : NULL;

    if (!file)
        return false;
    struct input input = {.size = fread(bytes, 1, MOST, file)};
    fclose(file);
    input.bytes = malloc(input.size ? input.size : 1);
    memcpy(input.bytes, bytes, input.size);
    kept[nkept++] = input;
    return true;
}

static void load_all(const char *path)
{
    struct dirent **entries;
    char name[sizeof directory + 256];
    int n = scandir(path, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            load(name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* ---- mutations ---- */

static void insert(struct input *to, size_t at, const void *bytes, size_t n)
{
    if (to->size + n > MOST)
        return;
    memmove(to->bytes + at + n, to->bytes + at, to->size - at);
    memcpy(to->bytes + at, bytes, n);
    to->size += n;
}

static void drop(struct input *from, size_t at, size_t n)
{
    n = n < from->size - at ? n : from->size - at;
    memmove(from->bytes + at, from->bytes + at + n, from->size - at - n);
    from->size -= n;
}

static void cover(struct input *to, size_t at, const void *bytes, size_t n)
{
    memcpy(to->bytes + at, bytes, n < to->size - at ? n : to->size - at);
}

/* A number where the first digits behind `at` are. */
static void put_digits(struct input *to, size_t at)
{
    static const char *const numbers[] = {
        "0",          "1",  "-1",  "4294967295",           "4294967296",
        "2147483648", "1.", "nan", "18446744073709551615", "99999999999999999999"};
    const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
    size_t n = 0;

    while (at < to->size && (to->bytes[at] < '0' || to->bytes[at] > '9'))
        at++;
    while (at + n < to->size && to->bytes[at + n] >= '0' && to->bytes[at + n] <= '9')
        n++;
    drop(to, at, n);
    insert(to, at, number, strlen(number));
}

static void put_word(struct input *to, size_t at)
{
    static const uint32_t odd[] = {0,      1,          0x7f,       0xff,       0x7fff,
                                   0xffff, 0x7fffffff, 0xffffffff, 0x80000000, 0x1000000};
    uint32_t word = below(3) ? odd[below(sizeof odd / sizeof *odd)] : (uint32_t)below(UINT32_MAX);
    size_t n = (size_t)1 << below(3);

    cover(to, at & ~(n - 1), &word, n);
}

/* A piece of this or another input, over what stands there or before it. */
static void put_piece(struct input *to, size_t at)
{
    const struct input *other = &kept[below(nkept)];
    uint8_t piece[256];
    size_t from = below(other->size), n = below(sizeof piece);

    n = n < other->size - from ? n : other->size - from;
    memcpy(piece, other->bytes + from, n);
    if (below(2))
        insert(to, at, piece, n);
    else
        cover(to, at, piece, n);
}

static void mutate(struct input *work)
{
    for (size_t n = 1 + below(6); n && work->size; n--) {
        /* Headers stand at the begin or the end. */
        size_t near = work->size < 1024 ? work->size : 1024, place = below(4);
        size_t at = place ? below(work->size) : below(2) ? below(near) : work->size - 1 - below(near);
        switch (below(8)) {
        case 0:
            work->bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            work->bytes[at] = (uint8_t)below(256);
            break;
        case 2:
            drop(work, at, below(40));
            break;
        case 3:
            put_digits(work, at);
            break;
        case 4:
        case 5:
            put_piece(work, at);
            break;
        case 6:
            work->size = below(8) ? work->size : at;
            break;
        default:
            put_word(work, at);
        }
    }
}

static void mutations(uint64_t ms)
{
    static uint8_t bytes[MOST];
    uint64_t begin = cpu_ms(), first = started, taken = fuzz_taken, slow = slowest;
    struct rusage usage;

    while (nkept && cpu_ms() - begin < ms) {
        const struct input *base = &kept[below(nkept)];
        struct input work = {bytes, base->size};
        memcpy(bytes, base->bytes, base->size);
        mutate(&work);
        run(work.bytes, work.size);
    }
    taken = fuzz_taken - taken;
    getrusage(RUSAGE_SELF, &usage);
    check(taken && taken < started - first, "%llu of %llu mutations are good input, the others are refused",
          (unsigned long long)taken, (unsigned long long)(started - first));
    check(slowest < SLOWEST_MS, "none takes long: the slowest %llu ms (kept ones: %llu ms), input %llu",
          (unsigned long long)slowest, (unsigned long long)slow, (unsigned long long)slowest_input);
    check(usage.ru_maxrss < LARGEST_KIB, "none takes much memory: %ld KiB", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
    const char *seconds = getenv("HOG_FUZZ_SECONDS"), *seed = getenv("HOG_FUZZ_SEED");

    snprintf(saved, sizeof saved, "%s.input", argv[0]);
    for (int i = 1; i < argc; i++)
        check(load(argv[i]), "%s can be read", argv[i]);
    if (argc == 1) {
        snprintf(directory, sizeof directory, "tests/fuzz/corpus/%s", program_invocation_short_name);
        load_all(directory);
        snprintf(directory, sizeof directory, "%s.seeds", argv[0]);
        load_all(directory);
    }
    if (seed)
        state = strtoull(seed, NULL, 10) | 1;
    watch();
    for (size_t i = 0; i < nkept; i++)
        run(kept[i].bytes, kept[i].size);
    check(nkept && fuzz_taken, "%zu kept inputs end as they must; %llu of them are good", nkept,
          (unsigned long long)fuzz_taken);
    if (argc == 1)
        mutations(seconds ? strtoull(seconds, NULL, 10) * 1000 : SECONDS * 1000);
    for (size_t i = 0; i < nkept; i++)
        free(kept[i].bytes);
    return done();
}
