// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/culprit_lock.h"
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"

#define MOSTLY  0.5  /* of the time that it slept for locks */
#define ONE_CPU 1.25 /* of the window: a process that runs for less has one thread that runs at a time */

/* Its futexes have the numbers of its own PID namespace: are they ours? */
static bool has_our_numbers(uint32_t process)
{
    char path[32], text[4096];

    snprintf(path, sizeof path, "/proc/%u/status", process);
    long n = file_read(path, text, sizeof text);
    return n > 0 && pidns_by_status(text, (size_t)n) != 2;
}

/* The thread that holds the locks, if it is one for most of the time: the futex says so, which is memory of
 * the process, so only a thread of its own is believed. 0: not known. */
static uint32_t holder_of(const struct top *top, const struct judged_process *process, struct process *who)
{
    const struct waits *waits = sched_waits(top->sched);
    int64_t ns = 0;
    uint32_t holder = waits ? waits_lock_holder(waits, process->key, &ns) : 0, owner = 0;

    if (!holder || (double)ns <= MOSTLY * process->now.lock || !pidns_is_of_proc(top->context->pidns) ||
        !has_our_numbers(key_process(process->key)) || process_of_thread(holder, &owner) ||
        owner != key_process(process->key) || process_read(owner, holder, who))
        return 0;
    return holder;
}

static bool is_of_mmap(const struct judged_process *process)
{
    return process->mmap > MOSTLY * process->now.lock;
}

size_t lock_text(const struct top *top, const struct judged_process *process, char *to, size_t size)
{
    char name[CULPRIT_NAME];
    struct process who;
    uint32_t holder = is_of_mmap(process) ? 0 : holder_of(top, process, &who);

    if (holder) {
        escape_name(name, sizeof name, who.comm, who.comm_length);
        snprintf(to, size, "futex:%u/%s", holder, name);
    } else {
        snprintf(to, size, "%s", is_of_mmap(process) ? "mmap_lock" : "[futex]");
    }
    return strlen(to);
}

void lock_prose(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    struct process who;
    uint32_t holder = is_of_mmap(process) ? 0 : holder_of(top, process, &who);

    if (is_of_mmap(process)) {
        paragraph_add(p,
                      " It is the lock of their address space: calls of mmap, munmap and the like, and page "
                      "faults, wait for each other. Larger blocks of memory that are kept help, or several "
                      "processes.");
    } else if (holder) {
        paragraph_add(p, " Thread ");
        paragraph_name(p, who.comm, who.comm_length);
        paragraph_add(p, " (%u) has the lock for most of that time: hog top -t -p %u shows what it does.",
                      holder, key_process(process->key));
    } else if (process->timed > MOSTLY * process->now.lock) {
        paragraph_add(
            p,
            " They ask for one lock again and again, a few milliseconds each time%s, as the threads "
            "of Python do for the lock of its interpreter. Several processes would run at the same "
            "time.",
            process->now.run < ONE_CPU * top->process_table.window ? ", and one of them runs at a time" : "");
    }
}
