/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of a process according to /proc. */
#ifndef HOG_SOURCE_MEMORY_PROC_H
#define HOG_SOURCE_MEMORY_PROC_H

#include <stddef.h>
#include <stdint.h>

/* All in KiB. */
struct mem_levels {
    uint64_t rss, anon, file, shmem, swap, vm;
    uint64_t high_rss, high_vm; /* peak since its last exec */
};

/* Parses /proc/PID/status. -ENODATA: no memory (a kernel thread, or it has ended); -EIO: unexpected format.
 */
int mem_parse_status(const char *text, size_t length, struct mem_levels *levels);

/* Reads any thread of the process; -ESRCH: there is none. */
int mem_read_status(uint32_t pid, struct mem_levels *levels);

/* Files kept open: reading again costs less than half, and a process that reuses the PID does not answer. The
 * least used ones are closed to make room. */
#define MEM_FILES 48
struct mem_files {
    struct mem_file {
        uint64_t key; /* the process; 0: none */
        uint64_t used;
        int fd;
    } of[MEM_FILES];
    uint64_t reads;
};

/* -EAGAIN: no such file open, or it cannot be read; -ESRCH: the process has ended; else as
 * mem_parse_status(). */
int mem_files_read(struct mem_files *files, uint64_t key, struct mem_levels *levels);
void mem_files_open(struct mem_files *files, uint64_t key, uint32_t pid);
void mem_files_drop(struct mem_files *files, uint64_t key); /* 0: all */

/* Proportional set size, KiB, from /proc/PID/smaps_rollup. Slow: the kernel walks all pages. */
int mem_parse_pss(const char *text, size_t length, uint64_t *kib);
int mem_read_pss(uint32_t pid, uint64_t *kib);

/* Calls fn for each process in /proc. 0 or -errno. */
typedef void (*mem_pid_fn)(void *context, uint32_t pid);
int mem_each_pid(mem_pid_fn fn, void *context);

#endif
