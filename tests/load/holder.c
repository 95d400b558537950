/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads that hold a known amount of memory.
 *
 *   holder hold ANON FILE SHMEM PATH   holds that many KiB of each kind (of the file PATH), then waits
 *   holder spike KIB MS EVERY          holds KIB of anonymous memory for MS of every EVERY ms, and prints
 * `held` and `freed` holder map KIB                     maps KIB and touches none holder many N STEP STORM N
 * processes: the i-th holds i * STEP KiB; plus STORM short lives a second holder grow KIB EXEC grows by KIB;
 * EXEC=1: then calls exec, and holds nothing
 *
 * `many` prints `pid` for each. All print `ready` then; `hold`, `map` and `many` end with their input.
 */
#include "load.h"
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char *touch(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; at != MAP_FAILED && i < bytes; i += 4096)
        at[i] = 1;
    return at;
}

/* Huge pages would change the amounts. */
static unsigned char *hold_anon(size_t bytes, int flags)
{
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

    if (at == MAP_FAILED)
        return at;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    return touch(at, bytes);
}

static bool hold_file(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        return false;
    const unsigned char *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    for (size_t i = 0; at != MAP_FAILED && i < bytes; i += 4096)
        (void)*(volatile const unsigned char *)(at + i);
    return at != MAP_FAILED;
}

static int ready(void)
{
    char c;

    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    return 0;
}

static _Noreturn void spike(size_t bytes, uint64_t ms, uint64_t every)
{
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        unsigned char *at = hold_anon(bytes, MAP_PRIVATE);
        printf("held\n");
        fflush(stdout);
        rest(ms * 1000000);
        munmap(at, bytes);
        printf("freed\n");
        fflush(stdout);
        rest((every - ms) * 1000000);
    }
}

/* A child that holds that much and waits until its parent is gone. */
static bool child(size_t bytes)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        return false;
    if (pid) {
        printf("pid %d\n", pid);
        return true;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || (bytes && hold_anon(bytes, MAP_PRIVATE) == MAP_FAILED))
        _exit(1);
    for (;;)
        pause();
}

static int many(unsigned n, size_t step, unsigned storm)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char c;

    signal(SIGCHLD, SIG_DFL);
    for (unsigned i = 1; i <= n; i++)
        if (!child(i * step))
            return 1;
    rest(2000000000);
    printf("ready\n");
    fflush(stdout);
    while (!poll(&input, 1, storm ? 1000 / (int)storm : -1) || read(STDIN_FILENO, &c, 1) > 0) {
        pid_t pid = fork();
        if (!pid) {
            hold_anon(1 << 20, MAP_PRIVATE);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    return 0;
}

static int grow(char **arguments, size_t bytes, bool exec)
{
    if (hold_anon(bytes, MAP_PRIVATE) == MAP_FAILED)
        return 1;
    rest(100000000);
    if (exec)
        execl("/proc/self/exe", arguments[0], "map", "0", (char *)NULL);
    return ready();
}

int main(int argc, char **argv)
{
    size_t number[5] = {0};

    for (int i = 2; i < argc && i < 7; i++)
        number[i - 2] = strtoull(argv[i], NULL, 10);
    if (argc == 6 && !strcmp(argv[1], "hold")) {
        if (number[0] && hold_anon(number[0] * 1024, MAP_PRIVATE) == MAP_FAILED)
            return 1;
        if (number[2] && hold_anon(number[2] * 1024, MAP_SHARED) == MAP_FAILED)
            return 1;
        return number[1] && !hold_file(argv[5], number[1] * 1024) ? 1 : ready();
    }
    if (argc == 5 && !strcmp(argv[1], "spike"))
        spike(number[0] * 1024, number[1], number[2]);
    if (argc == 3 && !strcmp(argv[1], "map")) {
        if (number[0] && mmap(NULL, number[0] * 1024, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE,
                              -1, 0) == MAP_FAILED)
            return 1;
        return ready();
    }
    if (argc == 5 && !strcmp(argv[1], "many"))
        return many((unsigned)number[0], number[1] * 1024, (unsigned)number[2]);
    if (argc == 4 && !strcmp(argv[1], "grow"))
        return grow(argv, number[0] * 1024, number[1]);
    return 2;
}
