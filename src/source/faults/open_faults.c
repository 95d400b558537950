// SPDX-License-Identifier: GPL-2.0-only
#include "source/faults/open_faults.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "faults.types.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "source/shared/sketch.h"

#define PLACES     (sizeof(struct hog_begun_table) / sizeof(struct hog_begun))
#define LONG_NS    20000000  /* shorter faults are accounted when they end */
#define CONFIRM_NS 100000000 /* how long an answer from /proc stays valid */
#define MAX_READS  64        /* reads of /proc per window */

int waiting_open(struct waiting *waiting, const struct object *obj, const struct pidns *pidns,
                 struct error *why)
{
    const struct object_map *map = object_map(obj, "hog_begun");

    waiting->begun = map ? map->memory : NULL;
    waiting->pidns = pidns;
    if (!waiting->begun)
        return error_set(why, -ENOTSUP,
                         "this kernel cannot map BPF arrays into memory: 5.5 or newer is needed");
    waiting->credits = calloc(PLACES, sizeof *waiting->credits);
    return waiting->credits ? 0 : error_set(why, -ENOMEM, "out of memory");
}

void waiting_close(struct waiting *waiting)
{
    free(waiting->credits);
    memset(waiting, 0, sizeof *waiting);
}

/* A thread that sleeps in a user-mode fault is in no system call; it sleeps uninterruptibly, or interruptibly
 * while it waits for userfaultfd. A kernel-mode fault is inside a system call and sleeps uninterruptibly. */
bool waiting_fits(char state, const char *syscall, bool kernel_mode)
{
    bool in_call = syscall[0] >= '0' && syscall[0] <= '9';

    if (kernel_mode)
        return in_call && state == 'D';
    return !strncmp(syscall, "-1 ", 3) && (state == 'D' || state == 'S');
}

/* Not every fault that begins is seen to end: a fault that turned into a signal is not counted. Verify with
 * /proc so that none of those is charged to a thread. */
static bool confirm_fault(const struct waiting *waiting, const struct hog_begun *begun)
{
    char path[64], text[128];
    struct process thread;
    uint32_t process = key_process(begun->key), number = begun->thread;

    if (!pidns_is_of_proc(waiting->pidns))
        return false;
    if (waiting->pidns->translate)
        number = key_thread(begun->key) ? key_thread(begun->key) : process;
    if (process_read(process, number, &thread))
        return false;
    snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", process, number);
    return file_read(path, text, sizeof text) > 0 &&
           waiting_fits(thread.state, text, begun->flags & HOG_BEGUN_KERNEL);
}

/* Programs write concurrently: an entry is whole if its key reads the same before and after. */
static bool copy_begun(const volatile struct hog_begun *begun, struct hog_begun *copy)
{
    copy->key = begun->key;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy->since = begun->since;
    copy->thread = begun->thread;
    copy->flags = begun->flags;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return copy->key && begun->key == copy->key && begun->since == copy->since;
}

/* One read is enough, unlike in source/sched: entries are old, the stores of their begin have been visible
 * for long. */
static bool is_open_fault(const struct waiting *waiting, size_t i, uint64_t now, unsigned *reads,
                          struct hog_begun *begun)
{
    const struct wait_credit *credit = &waiting->credits[i];

    if (!copy_begun(&waiting->begun[i], begun) || (int64_t)(now - begun->since) < LONG_NS)
        return false;
    if (credit->key == begun->key && credit->since == begun->since && now - credit->confirmed < CONFIRM_NS)
        return true;
    return (*reads)++ < MAX_READS && confirm_fault(waiting, begun);
}

/* A credited fault is no longer open. */
static void take_back_fault(struct wait_credit *credit, bool must, waiting_fn fn, void *context)
{
    if (fn(context, credit->key, -(int64_t)credit->ns, must || credit->over))
        *credit = (struct wait_credit){0};
    else
        credit->over = true;
}

void waiting_flip(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context)
{
    unsigned reads = 0;

    for (size_t i = 0; waiting->begun && i < PLACES; i++) {
        struct wait_credit *credit = &waiting->credits[i];
        struct hog_begun begun = {0};
        bool waits = is_open_fault(waiting, i, now, &reads, &begun);

        if (credit->key && (credit->key != begun.key || credit->since != begun.since))
            take_back_fault(credit, waits, fn, context);
        if (!waits)
            continue;
        credit->key = begun.key;
        credit->since = begun.since;
        if (now - credit->confirmed >= CONFIRM_NS)
            credit->confirmed = now;
        fn(context, begun.key, (int64_t)(now - begun.since - credit->ns), true);
        credit->ns = now - begun.since;
    }
}
