/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says of one process or thread. */
#ifndef HOG_HOST_PROCESS_H
#define HOG_HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_COMM 64 /* kernel workers have longer names than 15 bytes in /proc */

struct process {
    bool kernel;                   /* a thread of the kernel */
    char state;                    /* 'R', 'S', 'D', 'Z', ... */
    int cpu;                       /* where it runs or ran last; -1: not known */
    uint32_t parent;               /* 0: none, or one that we cannot see */
    uint32_t session;              /* the process that leads its session */
    uint32_t threads;              /* of the process, with exited ones not yet reaped */
    uint64_t minor, major;         /* page faults since birth; of a process with those of its dead threads */
    uint64_t usr_ticks, sys_ticks; /* time in user and kernel mode, in units of 10 ms */
    uint64_t start_ticks;          /* start time after boot, in units of 10 ms (USER_HZ) */
    uint64_t
        start_ns; /* the same in ns of CLOCK_BOOTTIME, cut to 10 ms; the time namespace's offset undone */
    char comm[PROCESS_COMM];
    size_t comm_length;
};

/* thread 0: the process itself. -ESRCH if there is none, -EIO if /proc speaks another language. */
int process_read(uint32_t process, uint32_t thread, struct process *out);

/* Whether /proc speaks of all processes that it is of: it does not where it hides those of others. */
bool proc_tells_all(void);

/* How far the clock ("monotonic", "boottime") of our time namespace is ahead of the kernel's own, ns. */
int64_t namespace_offset(const char *clock);

/* Effective user, by /proc/PID/status. */
int process_user(uint32_t process, uint32_t *uid);

/* Resident memory, KiB, summed up over all CPUs. -EIO: it has none, like kernel threads. */
int process_rss(uint32_t process, uint32_t *kib);

/* The process that a thread belongs to, by /proc/TID/status. */
int process_of_thread(uint32_t thread, uint32_t *process);

/* Parses the text of /proc/PID/stat. -EIO if it is none. */
int process_parse_stat(const char *text, size_t length, struct process *out);

/* The first number behind "NAME:" at the start of a line of a status file; skip: how many numbers to pass
 * over. */
int status_number(const char *text, size_t length, const char *name, unsigned skip, uint64_t *value);

/* Reads a small file whole; at most size - 1 bytes, which are terminated. Bytes read or -errno. */
long file_read(const char *path, char *to, size_t size);

#endif
