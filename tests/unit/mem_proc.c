/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a process in /proc, in this kernel's format and in others. */
#include "source/memory/proc.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/tap.h"

static int parse(const char *text, struct mem_levels *levels)
{
    return mem_parse_status(text, strlen(text), levels);
}

static void check_status(void)
{
    struct mem_levels levels;

    check(!parse("Name:\tx\nPid:\t7\nVmPeak:\t  90 kB\nVmSize:\t  80 kB\nVmHWM:\t 60 kB\nVmRSS:\t 50 kB\n"
                 "RssAnon:\t 20 kB\nRssFile:\t 25 kB\nRssShmem:\t 5 kB\nVmSwap:\t 3 kB\n",
                 &levels) &&
              levels.rss == 50 && levels.anon == 20 && levels.file == 25 && levels.shmem == 5 &&
              levels.swap == 3 && levels.vm == 80 && levels.high_rss == 60 && levels.high_vm == 90,
          "all lines of a status");
    check(!parse("Pid:\t7\nVmSize:\t80 kB\nVmRSS:\t50 kB\n", &levels) && levels.rss == 50 && !levels.anon &&
              !levels.swap,
          "lines that a kernel without swap or before 4.5 does not have are none");
    check(parse("Name:\tkthreadd\nPid:\t2\nThreads:\t1\n", &levels) == -ENODATA,
          "a kernel thread has no memory");
    check(parse("Name:\tVmRSS: 7\nPid:\t2\n", &levels) == -ENODATA, "a name is no line");
    check(parse("", &levels) == -EIO && parse("x", &levels) == -EIO, "what is no status");
    check(parse("Pid:\t7\nVmRSS:\n", &levels) == -EIO, "a line without its number");
    check(parse("Pid:\t7\nVmRSS:\t50", &levels) == 0 && levels.rss == 50, "a text that is cut");
}

static void check_pss(void)
{
    static const char rollup[] =
        "55d0-7ffd ---p 0 00:00 0 [rollup]\nRss:  900 kB\nPss:  300 kB\nPss_Dirty: 7 kB\n";
    uint64_t kib = 0;

    check(!mem_parse_pss(rollup, strlen(rollup), &kib) && kib == 300, "Pss of a rollup, not Pss_Dirty");
    check(mem_parse_pss("Rss: 1 kB\n", 10, &kib) == -ENOENT, "a rollup without it");
}

static bool found;

static void find_self(void *context, uint32_t pid)
{
    found = found || pid == *(const uint32_t *)context;
}

static void check_self(void)
{
    const size_t bytes = 16 << 20;
    struct mem_levels before, after;
    uint32_t self = (uint32_t)getpid();

    check(!mem_read_status(self, &before) && before.rss > 0 && before.vm >= before.rss, "this process");
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(at != MAP_FAILED, "memory for the test");
    madvise(at, bytes, MADV_NOHUGEPAGE);
    memset(at, 1, bytes);
    check(!mem_read_status(self, &after) && after.anon - before.anon >= (bytes >> 10) - 1024 &&
              after.vm - before.vm == bytes >> 10,
          "what was touched is resident, what was mapped is mapped");
    check(!mem_each_pid(find_self, &self) && found, "this process is one of all");
    pid_t child = fork();
    if (!child)
        _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    check(mem_read_status((uint32_t)child, &after) == -ENODATA, "one that has ended, and is waited for");
    waitpid(child, NULL, 0);
    check(mem_read_status((uint32_t)child, &after) == -ESRCH, "one that is gone");
}

/* A process that waits; its files stay open past its end. */
static void check_files(void)
{
    static struct mem_files files;
    struct mem_levels levels, again;
    int first = dup(STDOUT_FILENO); /* the lowest number that is free */
    pid_t child = fork();

    close(first);
    if (!child)
        for (;;)
            pause();
    check(mem_files_read(&files, 1, &levels) == -EAGAIN, "no file is open at first");
    mem_files_open(&files, 1, (uint32_t)child);
    check(!mem_files_read(&files, 1, &levels) && !mem_read_status((uint32_t)child, &again) &&
              levels.vm == again.vm && levels.rss == again.rss,
          "a file that stays open says what a new one says");
    for (uint64_t key = 2; key < MEM_FILES + 1; key++)
        mem_files_open(&files, key, (uint32_t)getpid());
    check(!mem_files_read(&files, 1, &levels) && levels.vm == again.vm, "it stays while there is room");
    mem_files_open(&files, MEM_FILES + 1, (uint32_t)getpid());
    check(!mem_files_read(&files, 1, &levels) && mem_files_read(&files, 2, &levels) == -EAGAIN,
          "then the least recently used one is closed");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int said = mem_files_read(&files, 1, &levels);
    check(said == -ESRCH && mem_files_read(&files, 1, &levels) == -EAGAIN,
          "an ended process is reported once, and its file is closed");
    mem_files_drop(&files, 0);
    int last = dup(STDOUT_FILENO);
    close(last);
    check(last == first && mem_files_read(&files, 3, &levels) == -EAGAIN, "all are closed in the end");
}

int main(void)
{
    check_files();
    check_status();
    check_pss();
    check_self();
    return done();
}
