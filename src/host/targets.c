// SPDX-License-Identifier: GPL-2.0-only
#include "host/targets.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "host/names.h"
#include "host/process.h"

static int identify(uint32_t pid, struct target *target, struct why *w)
{
    struct process process;
    uint32_t owner;
    int err = process_read(pid, 0, &process);

    if (err)
        return why(w, err, "pid %u: %s", pid,
                   err == -ESRCH ? "no such process" : "/proc does not tell about it (is it mounted?)");
    if (!process_of_thread(pid, &owner) && owner != pid)
        return why(w, -EINVAL, "pid %u: is a thread of process %u: ask for that one, and -t for its threads",
                   pid, owner);
    target->pid = pid;
    target->start_ns = process.start_ns;
    target->exited = false;
    return 0;
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

int targets_add(struct targets *targets, uint32_t pid, struct why *w)
{
    struct target target;
    size_t at = 0;

    if (make_room(targets))
        return why(w, -ENOMEM, "out of memory");
    /* The pidfd first: whoever it refers to is still there when /proc is asked, or reads as gone. */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno != EINVAL && errno != ENOENT && errno != ESRCH)
        return why(w, -errno, "pid %u: pidfd_open: %s", pid, why_errno(errno));
    int err = identify(pid, &target, w);
    if (err || fd < 0) {
        if (fd >= 0)
            close(fd);
        return err ? err : why(w, -ESRCH, "pid %u: no such process", pid);
    }
    while (at < targets->n && targets->list[at].pid < pid)
        at++;
    memmove(targets->list + at + 1, targets->list + at, (targets->n - at) * sizeof target);
    memmove(targets->polls + at + 1, targets->polls + at, (targets->n - at) * sizeof *targets->polls);
    targets->list[at] = target;
    targets->polls[at] = (struct pollfd){.fd = fd, .events = POLLIN};
    targets->n++;
    return 0;
}

size_t targets_poll(struct targets *targets)
{
    size_t exited = 0;

    if (!targets->n || poll(targets->polls, targets->n, 0) <= 0)
        return 0;
    for (size_t i = 0; i < targets->n; i++) {
        targets->list[i].exited = targets->polls[i].revents != 0;
        exited += targets->list[i].exited;
    }
    return exited;
}

void targets_drop(struct targets *targets)
{
    size_t kept = 0;

    for (size_t i = 0; i < targets->n; i++) {
        if (targets->list[i].exited) {
            close(targets->polls[i].fd);
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
        close(targets->polls[i].fd);
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
