// SPDX-License-Identifier: GPL-2.0-only
/* The PID namespace of /proc, derived from the status of a process in it. */
#include <errno.h>
#include <string.h>
#include "host/pidns.h"
#include "host/process.h"
#include "tests/unit/tap.h"

static int by(const char *text)
{
    return pidns_by_status(text, strlen(text));
}

static void check_status(void)
{
    check(by("Name:\thog\nPid:\t7\nNSpid:\t7\nNSpgid:\t7\n") == 1, "one number: in the namespace of /proc");
    check(by("Pid:\t4711\nNSpid:\t4711\t7\nNSpgid:\t4711\t7\n") == 2, "two numbers: in one below it");
    check(by("Pid:\t4711\nNSpid:\t4711\t12\t7\n") == 2, "three numbers: the same");
    check(by("Pid:\t7\nNSpid:\t7\n123\n") == 1, "a number on the next line does not belong to it");
    check(by("Name:\tNSpid:\nPid:\t7\nUid:\t0\t0\n") == 0, "a kernel without PID namespaces");
    check(by("") == -EIO && by("NSpid:\t7\n") == -EIO, "no status of a process");
}

static void check_words(void)
{
    struct pidns pidns = {.inode = 4026532178u, .translate = 4026532178u};
    struct error reason = {"because"};
    char text[512];

    check(pidns_is_of_proc(&pidns) && !strcmp(pidns_name(&pidns), "namespace"),
          "the numbers of a namespace are those of /proc");
    pidns_give_up(&pidns, &reason);
    check(!pidns_is_of_proc(&pidns) && !strcmp(pidns_name(&pidns), "host"),
          "given up: the kernel's own, which are not those of /proc");
    pidns_describe(&pidns, text, sizeof text);
    check(!strncmp(text, "host", 4) && strstr(text, "because"), "given up: doctor says why");
}

/* A first thread that has ended is a zombie while others of its process live: the thread count shows that. */
static void check_threads(void)
{
    static const char stat[] = "7 (a b) Z 1 7 6 0 -1 0 0 0 0 0 41 42 0 0 20 0 3 0 123 0 0";
    struct process process;

    check(!process_parse_stat(stat, sizeof stat - 1, &process) && process.threads == 3 &&
              process.start_ticks == 123,
          "the number of threads");
    check(process.session == 6, "the session");
    check(process.usr_ticks == 41 && process.sys_ticks == 42, "the time in user and in kernel mode");
}

/* As Linux 6.18 wrote them for a kernel thread and for its init; names may end like fields. */
static void check_kernel_threads(void)
{
    static const struct {
        const char *text;
        bool kernel;
    } cases[] = {
        {"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 12 0 0 20 0 1 0 1 0 0", true},
        {"1 (init) S 0 1 1 0 -1 4194560 9 9 9 9 0 0 0 0 20 0 1 0 5 0 0", false},
        {"9 (x) S 0 0 0 0 -1 2129984) R 1 9 9 0 -1 4194560 9 9 9 9 0 0 0 0 20 0 1 0 5 0 0", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct process process;
        check(!process_parse_stat(cases[i].text, strlen(cases[i].text), &process) &&
                  process.kernel == cases[i].kernel,
              "%s thread: %s", cases[i].kernel ? "a kernel" : "no kernel", cases[i].text);
    }
}

int main(void)
{
    check_status();
    check_words();
    check_threads();
    check_kernel_threads();
    return done();
}
