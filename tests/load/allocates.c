/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocates by a known script, and reports what it holds. Its threads exist before it says `ready`. Each line
 * on stdin is a command, after which it prints `done live=BYTES allocs=N frees=N failed=N`, the totals since
 * its start:
 *
 *   work N     each thread does N steps: all functions, sizes from 1 to about 100000 bytes, chains of
 * realloc, requests that fail as they are too large; some is freed by another thread; then it holds some hold
 * N     the first thread allocates N more blocks of 100 bytes leak N     N blocks of 50 bytes in
 * leaks_here(), forgotten map N      anonymous memory of N pages by mmap maps N     N times one page remap N
 * the last of these to N pages by mremap, in parts and too large unmap      all of these drop       frees all
 * but leaks open FILE  dlopen(FILE): its malloc and free are used from then on fork N     a child that frees
 * what it got from its parent, holds N blocks of 100 bytes, and waits exec       starts again with nothing
 *   throw N    N times a `new` that fails, by an exception within it if the library works that way
 *   pair N     N pairs of malloc and free, and then ns=N: their CPU time
 *
 *   allocates [THREADS]
 *
 * Nothing else in here allocates: no stdio.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOTS   512
#define MOST    16
#define HELD    (1 << 21)
#define TOOMUCH ((size_t)PTRDIFF_MAX - 4096)

/* Called by pointers that are opaque to the compiler: it knows what malloc does, and would remove the calls.
 */
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
static int (*volatile do_memalign)(void **, size_t, size_t) = posix_memalign;
static void *(*volatile do_aligned)(size_t, size_t) = aligned_alloc;
static void (*volatile do_free)(void *) = free;

/* Present in a program with the C++ library or jemalloc. Otherwise memory is freed by free(). */
#define WEAK __attribute__((weak))
WEAK void *new_or_null(size_t size, const void *nothrow) __asm__("_ZnwmRKSt9nothrow_t");
WEAK void *new_aligned(size_t size, size_t alignment,
                       const void *nothrow) __asm__("_ZnamSt11align_val_tRKSt9nothrow_t");
WEAK void delete (void *pointer) __asm__("_ZdlPv");
WEAK void delete_sized(void *pointer, size_t size) __asm__("_ZdlPvm");
WEAK void delete_aligned(void *pointer, size_t alignment) __asm__("_ZdaPvSt11align_val_t");
WEAK void *mallocx(size_t size, int flags);
WEAK void *rallocx(void *pointer, size_t size, int flags);
WEAK void dallocx(void *pointer, int flags);
WEAK void sdallocx(void *pointer, size_t size, int flags);

enum how { BY_FREE, BY_DELETE, BY_DELETE_SIZED, BY_DELETE_ALIGNED, BY_DALLOCX, BY_SDALLOCX };

struct slot {
    _Atomic(void *) pointer;
    size_t size;
    enum how how; /* how to free it */
};

struct worker {
    unsigned number;
    uint64_t random;
    struct slot slots[SLOTS];
};

static struct worker workers[MOST];
static unsigned threads = 1;
static pthread_barrier_t begin, end;
static unsigned long things;
static atomic_long live, allocs, frees, failures;
static bool throws; /* new_or_null() fails by an exception, which is allocated */
static void *held[HELD];
static size_t nheld;
static struct {
    void *at;
    size_t size;
} maps[4096];
static size_t nmaps;

static void say(const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (write(STDOUT_FILENO, text, (size_t)n) != n)
        _exit(3);
}

static uint64_t number(struct worker *w, uint64_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 33) % below;
}

static void count(void *pointer, size_t size)
{
    if (!pointer)
        _exit(4);
    memset(pointer, 1, size < 64 ? size : 64);
    atomic_fetch_add(&live, (long)size);
    atomic_fetch_add(&allocs, 1);
}

static void give_back(struct slot *slot)
{
    void *pointer = atomic_exchange(&slot->pointer, NULL);

    if (!pointer)
        return;
    atomic_fetch_sub(&live, (long)slot->size);
    atomic_fetch_add(&frees, 1);
    switch (slot->how) {
    case BY_FREE:
        do_free(pointer);
        break;
    case BY_DELETE:
        delete (pointer);
        break;
    case BY_DELETE_SIZED:
        delete_sized(pointer, slot->size);
        break;
    case BY_DELETE_ALIGNED:
        delete_aligned(pointer, 64);
        break;
    case BY_DALLOCX:
        dallocx(pointer, 0);
        break;
    case BY_SDALLOCX:
        sdallocx(pointer, slot->size, 0);
        break;
    }
}

/* By C++ or jemalloc, if present. */
static void *fill_otherwise(struct worker *w, struct slot *slot, size_t size)
{
    if (mallocx && number(w, 2)) {
        slot->how = number(w, 2) ? BY_DALLOCX : BY_SDALLOCX;
        return mallocx(size, 0);
    }
    if (!new_or_null)
        return do_malloc(size);
    slot->how = BY_DELETE + number(w, 3);
    return slot->how == BY_DELETE_ALIGNED ? new_aligned(size, 64, "") : new_or_null(size, "");
}

static void fill(struct worker *w, struct slot *slot)
{
    size_t size = 1 + number(w, number(w, 8) ? 2000 : 100000);
    void *pointer = NULL;

    slot->how = BY_FREE;
    switch (number(w, 7)) {
    case 0:
        pointer = do_malloc(size);
        break;
    case 1:
        size = (size + 7) / 8 * 8;
        pointer = do_calloc(size / 8, 8);
        break;
    case 2:
        if (do_memalign(&pointer, 64, size))
            pointer = NULL;
        break;
    case 3:
        size = (size + 255) / 256 * 256;
        pointer = do_aligned(256, size);
        break;
    case 4:
    case 5:
        size = (size + 63) / 64 * 64; /* C++ rounds up to the alignment, too */
        pointer = fill_otherwise(w, slot, size);
        break;
    default:
        pointer = do_realloc(NULL, size);
        break;
    }
    count(pointer, size);
    slot->size = size;
    atomic_store(&slot->pointer, pointer);
}

static void resize(struct worker *w, struct slot *slot)
{
    void *pointer = atomic_exchange(&slot->pointer, NULL);
    bool is_x = slot->how == BY_DALLOCX || slot->how == BY_SDALLOCX;

    if (slot->how != BY_FREE && !is_x) { /* memory from new cannot be resized */
        atomic_store(&slot->pointer, pointer);
        return;
    }
    for (int i = 0; pointer && i < 4; i++) {
        size_t size = 2 * (1 + number(w, 5000));
        void *moved = is_x    ? rallocx(pointer, size, 0)
                      : i & 1 ? do_reallocarray(pointer, size / 2, 2)
                              : do_realloc(pointer, size);
        atomic_fetch_sub(&live, (long)slot->size);
        atomic_fetch_add(&frees, 1);
        count(moved, size);
        pointer = moved;
        slot->size = size;
    }
    atomic_store(&slot->pointer, pointer);
}

static void fail(struct worker *w, struct slot *slot)
{
    void *pointer = slot->how == BY_FREE ? atomic_load(&slot->pointer) : NULL, *got = NULL;

    switch (number(w, 5)) {
    case 0:
        got = do_malloc(TOOMUCH);
        break;
    case 1:
        got = do_calloc(SIZE_MAX / 2, 4);
        break;
    case 2:
        got = pointer ? do_realloc(pointer, TOOMUCH) : do_malloc(TOOMUCH);
        break;
    case 3:
        got = new_or_null && !throws ? new_or_null(TOOMUCH, "") : do_malloc(TOOMUCH);
        break;
    default:
        if (do_memalign(&got, 64, TOOMUCH))
            got = NULL;
        break;
    }
    if (got)
        _exit(5);
    atomic_fetch_add(&failures, 1);
}

/* A slot is touched by its own worker, but that the next one frees those of the upper half. */
static void work(struct worker *w)
{
    struct worker *other = &workers[(w->number + 1) % threads];

    for (unsigned long i = 0; i < things; i++) {
        struct slot *slot = &w->slots[number(w, SLOTS / 2)];
        unsigned what = (unsigned)number(w, 16);
        if (what == 0)
            fail(w, slot);
        else if (what < 4)
            resize(w, slot);
        else if (atomic_load(&slot->pointer))
            give_back(slot);
        else
            fill(w, slot);
    }
    for (size_t i = SLOTS / 2; i < SLOTS; i++)
        if (!atomic_load(&w->slots[i].pointer))
            fill(w, &w->slots[i]);
    pthread_barrier_wait(&begin);
    for (size_t i = SLOTS / 2; i < SLOTS; i += 2)
        give_back(&other->slots[i]);
}

static void *thread(void *argument)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        work(argument);
        pthread_barrier_wait(&end);
    }
    return NULL;
}

__attribute__((noinline)) static void hold(size_t n)
{
    for (size_t i = 0; i < n && nheld < HELD; i++) {
        held[nheld] = do_malloc(100);
        count(held[nheld++], 100);
    }
}

__attribute__((noinline)) void leaks_here(size_t n);
void leaks_here(size_t n)
{
    for (size_t i = 0; i < n; i++)
        count(do_malloc(50), 50);
}

static void map(size_t pages)
{
    size_t size = pages * 4096;

    if (nmaps == sizeof maps / sizeof *maps)
        _exit(6);
    maps[nmaps].at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    maps[nmaps++].size = size;
    atomic_fetch_add(&allocs, 1);
    atomic_fetch_add(&live, (long)size);
}

/* The last mapping to so many pages; then a page of it, if it has several, moves away and becomes two; then
 * what cannot be. */
static void remap(size_t pages)
{
    size_t size = pages * 4096, i = nmaps - 1;

    if (!nmaps || nmaps == sizeof maps / sizeof *maps)
        _exit(6);
    maps[i].at = mremap(maps[i].at, maps[i].size, size, MREMAP_MAYMOVE);
    if (maps[i].at == MAP_FAILED)
        _exit(9);
    atomic_fetch_add(&live, (long)size - (long)maps[i].size);
    maps[i].size = size;
    atomic_fetch_add(&allocs, 1);
    atomic_fetch_add(&frees, 1);
    if (pages > 1) {
        maps[nmaps].at = mremap(maps[i].at, 4096, 8192, MREMAP_MAYMOVE);
        if (maps[nmaps].at == MAP_FAILED)
            _exit(9);
        maps[nmaps++].size = 8192;
        maps[i].at = (char *)maps[i].at + 4096;
        maps[i].size -= 4096;
        atomic_fetch_add(&live, 4096);
        atomic_fetch_add(&allocs, 1);
        atomic_fetch_add(&frees, 1);
    }
    if (mremap(maps[i].at, maps[i].size, TOOMUCH, MREMAP_MAYMOVE) != MAP_FAILED)
        _exit(9);
    atomic_fetch_add(&failures, 1);
}

static void unmap(void)
{
    while (nmaps) {
        nmaps--;
        munmap(maps[nmaps].at, maps[nmaps].size);
        atomic_fetch_add(&frees, 1);
        atomic_fetch_sub(&live, (long)maps[nmaps].size);
    }
}

static void drop(void)
{
    for (unsigned i = 0; i < threads; i++)
        for (size_t j = 0; j < SLOTS; j++)
            give_back(&workers[i].slots[j]);
    while (nheld) {
        do_free(held[--nheld]);
        atomic_fetch_add(&frees, 1);
        atomic_fetch_sub(&live, 100);
    }
}

static void use(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        _exit(7);
    do_malloc = (void *(*)(size_t))dlsym(library, "malloc");
    do_free = (void (*)(void *))dlsym(library, "free");
}

static void begin_child(size_t n)
{
    pid_t child = fork();

    if (child) {
        say("child=%d\n", (int)child);
        return;
    }
    drop();
    atomic_store(&live, 0);
    hold(n);
    pause();
    _exit(0);
}

static uint64_t pair(size_t n)
{
    struct timespec a, b;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (size_t i = 0; i < n; i++)
        do_free(do_malloc(100));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    return (uint64_t)((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
}

static void obey(const char *command, const char *argument, char **argv)
{
    size_t n = strtoul(argument, NULL, 10);

    if (!strcmp(command, "work")) {
        things = n;
        if (threads > 1)
            pthread_barrier_wait(&begin);
        work(&workers[0]);
        if (threads > 1)
            pthread_barrier_wait(&end);
    } else if (!strcmp(command, "hold")) {
        hold(n);
    } else if (!strcmp(command, "leak")) {
        leaks_here(n);
    } else if (!strcmp(command, "map")) {
        map(n);
    } else if (!strcmp(command, "maps")) {
        for (size_t i = 0; i < n; i++)
            map(1);
    } else if (!strcmp(command, "remap")) {
        remap(n);
    } else if (!strcmp(command, "throw")) {
        for (size_t i = 0; new_or_null && i < n; i++)
            if (new_or_null(TOOMUCH, ""))
                _exit(5);
    } else if (!strcmp(command, "unmap")) {
        unmap();
    } else if (!strcmp(command, "drop")) {
        drop();
    } else if (!strcmp(command, "open")) {
        use(argument);
    } else if (!strcmp(command, "fork")) {
        begin_child(n);
    } else if (!strcmp(command, "exec")) {
        execv("/proc/self/exe", argv);
        _exit(8);
    } else if (!strcmp(command, "pair")) {
        say("ns=%llu\n", (unsigned long long)pair(n));
    }
}

/* A line, byte by byte: no buffer. */
static int read_line(char *line, size_t size)
{
    size_t n = 0;

    while (n < size - 1 && read(STDIN_FILENO, line + n, 1) == 1) {
        if (line[n] == '\n') {
            line[n] = '\0';
            return 1;
        }
        n++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char line[256];

    threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    if (!threads || threads > MOST)
        return 2;
    Dl_info library;
    throws = new_or_null && dladdr((void *)new_or_null, &library) && strstr(library.dli_fname, "libstdc++");
    pthread_barrier_init(&begin, NULL, threads);
    pthread_barrier_init(&end, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        pthread_t id;
        workers[i].number = i;
        workers[i].random = i + 1;
        if (i && pthread_create(&id, NULL, thread, &workers[i]))
            return 3;
    }
    say("ready\n");
    while (read_line(line, sizeof line)) {
        char *space = strchr(line, ' ');
        if (space)
            *space = '\0';
        obey(line, space ? space + 1 : "", argv);
        say("done live=%ld allocs=%ld frees=%ld failed=%ld\n", atomic_load(&live), atomic_load(&allocs),
            atomic_load(&frees), atomic_load(&failures));
    }
    return 0;
}
