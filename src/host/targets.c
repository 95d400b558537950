// SPDX-License-Identifier: GPL-2.0-only
#include "host/targets.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "host/names.h"
#include "host/process.h"

static int identify(const struct targets *targets, uint32_t pid, struct target *target, struct error *why)
{
    struct process process;
    uint32_t owner;
    int err = process_read(pid, 0, &process);

    if (err == -ESRCH)
        return error_set(why, err, "pid %u: no such process%s", pid,
                         targets->inside ? " in the PID namespace of /proc" : "");
    if (err)
        return error_set(why, err, "pid %u: /proc does not show it: %s", pid, error_name(err));
    if (!process_of_thread(pid, &owner) && owner != pid)
        return error_set(why, -EINVAL,
                         "pid %u: is a thread of process %u: ask for that one, and -t for its threads", pid,
                         owner);
    target->pid = pid;
    target->start_ns = process.start_ns;
    target->exited = false;
    return 0;
}

/* Detects its exit: a pidfd, or else (pidfd_open wants the number in our own PID namespace, and may be
 * forbidden) its open /proc/PID/stat, which stays that of this process too, and cannot be read when it has
 * gone. */
static int watch(const struct targets *targets, uint32_t pid, int *pidfd, int *stat)
{
    char path[32];

    *stat = -1;
    *pidfd = targets->foreign ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
    if (*pidfd >= 0 || (!targets->foreign && (errno == ESRCH || errno == EINVAL || errno == ENOENT)))
        return 0; /* none of that number: identify() says it better */
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    *stat = open(path, O_RDONLY | O_CLOEXEC);
    return *stat < 0 && errno != ENOENT ? -errno : 0;
}

static bool has_exited(int stat)
{
    char text[1024];
    struct process process;
    ssize_t n = pread(stat, text, sizeof text - 1, 0);

    if (n <= 0)
        return true;
    text[n] = '\0';
    /* A first thread that has exited is a zombie for as long as others of its process live. */
    return process_parse_stat(text, (size_t)n, &process) ||
           ((process.state == 'Z' || process.state == 'X') && process.threads <= 1);
}

static void unwatch(struct targets *targets, size_t i)
{
    if (targets->polls[i].fd >= 0)
        close(targets->polls[i].fd);
    if (targets->list[i].stat >= 0)
        close(targets->list[i].stat);
}

static int make_room(struct targets *targets)
{
    struct target *list = realloc(targets->list, (targets->n + 1) * sizeof *list);

    if (!list)
        return -ENOMEM;
    targets->list = list;
    struct pollfd *polls = realloc(targets->polls, (targets->n + 1) * sizeof *polls);
    if (!polls)
        return -ENOMEM;
    targets->polls = polls;
    return 0;
}

int targets_add(struct targets *targets, uint32_t pid, struct error *why)
{
    struct target target;
    size_t at = 0;
    int pidfd;

    if (make_room(targets))
        return error_set(why, -ENOMEM, "out of memory");
    /* Before /proc is read: the process it refers to then still exists, or reads as gone. */
    int err = watch(targets, pid, &pidfd, &target.stat);
    if (err)
        return error_set(why, err, "pid %u: cannot be watched: %s", pid, error_name(err));
    err = identify(targets, pid, &target, why);
    if (!err && pidfd < 0 && target.stat < 0)
        err = error_set(why, -ESRCH, "pid %u: no such process", pid);
    if (err) {
        if (pidfd >= 0)
            close(pidfd);
        if (target.stat >= 0)
            close(target.stat);
        return err;
    }
    while (at < targets->n && targets->list[at].pid < pid)
        at++;
    memmove(targets->list + at + 1, targets->list + at, (targets->n - at) * sizeof target);
    memmove(targets->polls + at + 1, targets->polls + at, (targets->n - at) * sizeof *targets->polls);
    targets->list[at] = target;
    targets->polls[at] = (struct pollfd){.fd = pidfd, .events = POLLIN};
    targets->n++;
    return 0;
}

size_t targets_poll(struct targets *targets)
{
    size_t exited = 0;

    if (!targets->n || poll(targets->polls, targets->n, 0) < 0)
        return 0;
    for (size_t i = 0; i < targets->n; i++) {
        struct target *target = &targets->list[i];
        target->exited = targets->polls[i].revents != 0 || (target->stat >= 0 && has_exited(target->stat));
        exited += target->exited;
    }
    return exited;
}

void targets_drop(struct targets *targets)
{
    size_t kept = 0;

    for (size_t i = 0; i < targets->n; i++) {
        if (targets->list[i].exited) {
            unwatch(targets, i);
            continue;
        }
        targets->list[kept] = targets->list[i];
        targets->polls[kept++] = targets->polls[i];
    }
    targets->n = kept;
}

void targets_free(struct targets *targets)
{
    for (size_t i = 0; i < targets->n; i++)
        unwatch(targets, i);
    free(targets->list);
    free(targets->polls);
    memset(targets, 0, sizeof *targets);
}

const struct target *targets_find(const struct targets *targets, uint64_t key)
{
    size_t low = 0, high = targets->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct target *target = &targets->list[middle];
        if (target->pid == key_process(key))
            /* A thread is born after its process: only a process's own birth can be compared. */
            return key_thread(key) || key_born_at(key, target->start_ns) ? target : NULL;
        if (target->pid < key_process(key))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
