/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that cannot go on, by snapshots of all tasks: what each sleeps for, and since when. The kernel side
 * is bpf/tasks/stuck.bpf.h; src/source/tasks/stuck_kind.c decides which sleeps count. */
#ifndef HOG_SOURCE_TASKS_STUCK_H
#define HOG_SOURCE_TASKS_STUCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hog_stuck;
struct sched;

enum stuck_kind {
    STUCK_NOT = 0,     /* it may idle, or waits for a disk or a lock that are counted elsewhere */
    STUCK_FILE_SYSTEM, /* a server answers for it: `word` says of which kind */
    STUCK_FROZEN,      /* a write to a frozen file system */
    STUCK_PIPE,        /* nothing takes what it writes, or writes what it reads */
    STUCK_SOCKET,
    STUCK_FILE_LOCK,   /* flock(2), fcntl(2) */
    STUCK_CHILD,       /* vfork(2): its child has not begun a program */
    STUCK_MMAP_LOCK,   /* the lock of its address space */
    STUCK_INODE,       /* a file or directory that another task holds */
    STUCK_APART,       /* an event of its own service, while it has a client */
    STUCK_IN_FUNCTION, /* all else in D state */
};

#define STUCK_FUNCTION 40
struct stuck {
    uint64_t id;       /* thread id and start time */
    uint64_t key;      /* of the process, with -t of the thread */
    uint64_t switches; /* identifies the sleep */
    uint64_t since;    /* CLOCK_MONOTONIC, ns */
    uint64_t snapshot;
    uint64_t inode, magic, owner; /* owner: key of the holder of a lock; 0: not known */
    uint32_t device, mode, call, peer, why;
    enum stuck_kind kind;
    const char *word;              /* of a file system: "fuse", "nfs" */
    char function[STUCK_FUNCTION]; /* of the kernel, in which it sleeps; empty: not known */
};

struct stuck_tasks;

struct stuck_tasks *stuck_open(void); /* NULL: no memory */
void stuck_close(struct stuck_tasks *s);

/* A snapshot: begin, a call a record, end. `now`: CLOCK_MONOTONIC. `of_proc`: the PIDs are those of /proc. */
void stuck_begin(struct stuck_tasks *s, uint64_t now);
void stuck_add(struct stuck_tasks *s, const struct sched *sched, const struct hog_stuck *record);
void stuck_end(struct stuck_tasks *s, bool of_proc);

/* Whether some task is stopped: readers of pipes and sockets are worth a record then. */
bool stuck_some_stopped(const struct stuck_tasks *s);
bool stuck_is_stopped(const struct stuck_tasks *s, uint32_t process);

/* All threads of the last snapshot that count (kind is not STUCK_NOT). */
typedef void (*stuck_fn)(void *context, const struct stuck *stuck);
void stuck_each(const struct stuck_tasks *s, stuck_fn fn, void *context);

/* The longest sleep of a process (-t: thread); NULL: none. */
const struct stuck *stuck_find(const struct stuck_tasks *s, uint64_t key);

/* What is responsible, as far as /proc tells. Reads /proc, never a file system of others; what was found
 * holds for some seconds. */
#define STUCK_PATH 256
struct stuck_cause {
    const char *word;      /* "fuse", "frozen", "pipe", ... */
    char path[STUCK_PATH]; /* of the mount, cut; empty: not known */
    uint32_t process;      /* server, other end, holder, child; 0: not known */
    bool stopped;          /* and it is stopped */
};
void stuck_explain(struct stuck_tasks *s, const struct stuck *stuck, uint64_t now, struct stuck_cause *cause);

/* ---- stuck_kind.c ---- */

/* Fills in kind and word. `asleep`: ns. */
void stuck_classify(struct stuck *stuck, uint64_t asleep);

#endif
