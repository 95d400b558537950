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
#define LONG_NS    20000000  /* what is shorter comes with the window that it ends in */
#define CONFIRM_NS 100000000 /* how long a look at /proc is good for */
#define MAX_LOOKS  64        /* at /proc in a window */

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

/* In a fault of user space a thread that sleeps is in no system call; uninterruptibly, or where userfaultfd
 * serves it not. Where the kernel itself faults, it is in one, and sleeps uninterruptibly. */
bool waiting_fits(char state, const char *syscall, bool kernel_mode)
{
    bool in_call = syscall[0] >= '0' && syscall[0] <= '9';

    if (kernel_mode)
        return in_call && state == 'D';
    return !strncmp(syscall, "-1 ", 3) && (state == 'D' || state == 'S');
}

/* Not every fault that begins is seen to end: one that became a signal is counted by nobody. Nobody may be
 * blamed for those: ask. */
static bool confirm(const struct waiting *waiting, const struct hog_begun *begun)
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

/* The programs write while we read: what stands there before and after is whole. */
static bool look(const volatile struct hog_begun *begun, struct hog_begun *copy)
{
    copy->key = begun->key;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy->since = begun->since;
    copy->thread = begun->thread;
    copy->flags = begun->flags;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return copy->key && begun->key == copy->key && begun->since == copy->since;
}

/* What is here is long past: no two looks as in oncpu.c are needed, the stores of its begin have long been
 * seen. */
static bool is_waiting(const struct waiting *waiting, size_t i, uint64_t now, unsigned *looks,
                       struct hog_begun *begun)
{
    const struct wait_credit *credit = &waiting->credits[i];

    if (!look(&waiting->begun[i], begun) || (int64_t)(now - begun->since) < LONG_NS)
        return false;
    if (credit->key == begun->key && credit->since == begun->since && now - credit->confirmed < CONFIRM_NS)
        return true;
    return (*looks)++ < MAX_LOOKS && confirm(waiting, begun);
}

/* A fault that got credit is no longer there. */
static void take_back(struct wait_credit *credit, bool must, waiting_fn fn, void *context)
{
    if (fn(context, credit->key, -(int64_t)credit->ns, must || credit->over))
        *credit = (struct wait_credit){0};
    else
        credit->over = true;
}

void waiting_flip(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context)
{
    unsigned looks = 0;

    for (size_t i = 0; waiting->begun && i < PLACES; i++) {
        struct wait_credit *credit = &waiting->credits[i];
        struct hog_begun begun = {0};
        bool waits = is_waiting(waiting, i, now, &looks, &begun);

        if (credit->key && (credit->key != begun.key || credit->since != begun.since))
            take_back(credit, waits, fn, context);
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
