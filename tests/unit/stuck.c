/* SPDX-License-Identifier: GPL-2.0-only */
/* Which sleeps count as blocked: by the function of the kernel, the system call, and the file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/unit/tap.h"
#include "source/tasks/stuck.h"
#include "tasks.types.h"

#define MS    1000000ull
#define FUSE  0x65735546
#define EXT4  0xef53
#define DEEP  HOG_STUCK_DEEP
#define MMAP  HOG_STUCK_MMAP_LOCK
#define DISK  HOG_STUCK_DISK
#define TASK  HOG_STUCK_KERNEL
#define FROST HOG_STUCK_FROZEN

static const struct a_case {
    const char *name, *function;
    uint32_t call, mode, why;
    uint64_t magic, asleep_ms;
    enum stuck_kind kind;
    const char *word;
} cases[] = {
    {"stat of a FUSE mount", "request_wait_answer", HOG_CALL_PATH, 0, 0, 0, 500, STUCK_FILE_SYSTEM, "fuse"},
    {"a read there", "request_wait_answer", HOG_CALL_READ, S_IFREG, 0, FUSE, 500, STUCK_FILE_SYSTEM, "fuse"},
    {"for a moment", "request_wait_answer", HOG_CALL_READ, S_IFREG, 0, FUSE, 50, STUCK_NOT, NULL},
    {"a page of it", "folio_wait_bit_common", HOG_CALL_READ, S_IFREG, DEEP | DISK, FUSE, 500,
     STUCK_FILE_SYSTEM, "fuse"},
    {"NFS", "rpc_wait_bit_killable", HOG_CALL_PATH, 0, DEEP, 0, 500, STUCK_FILE_SYSTEM, "nfs"},
    {"its function is not known yet", "", HOG_CALL_PATH, 0, DEEP, 0, 500, STUCK_NOT, NULL},
    {"a write to a frozen disk", "percpu_rwsem_wait", HOG_CALL_WRITE, S_IFREG, DEEP | FROST, EXT4, 500,
     STUCK_FROZEN, NULL},
    {"a new file on it", "percpu_rwsem_wait", HOG_CALL_PATH, 0, DEEP, 0, 500, STUCK_FROZEN, NULL},
    {"a read of it", "folio_wait_bit_common", HOG_CALL_READ, S_IFREG, DEEP | DISK | FROST, EXT4, 500,
     STUCK_NOT, NULL},
    {"a fork that waits for cgroups", "percpu_rwsem_wait", HOG_CALL_CHILD, 0, DEEP, 0, 500, STUCK_CHILD,
     NULL},
    {"fsync", "jbd2_log_wait_commit", HOG_CALL_FILE, S_IFREG, DEEP, EXT4, 500, STUCK_NOT, NULL},
    {"a direct read", "blk_io_schedule", HOG_CALL_READ, S_IFREG, DEEP | DISK, EXT4, 5000, STUCK_NOT, NULL},
    {"a pipe without a reader that reads", "anon_pipe_write", HOG_CALL_WRITE, S_IFIFO, 0, 0, 500, STUCK_PIPE,
     NULL},
    {"a socket", "sock_alloc_send_pskb", HOG_CALL_WRITE, S_IFSOCK, 0, 0, 500, STUCK_SOCKET, NULL},
    {"/proc/kmsg", "do_syslog", HOG_CALL_READ, S_IFREG, 0, 0x9fa0, 5000, STUCK_NOT, NULL},
    {"flock", "locks_lock_inode_wait", HOG_CALL_LOCK, S_IFREG, 0, EXT4, 500, STUCK_FILE_LOCK, NULL},
    {"vfork", "kernel_clone", HOG_CALL_CHILD, 0, DEEP, 0, 500, STUCK_CHILD, NULL},
    {"munmap", "vm_munmap", HOG_CALL_MEMORY, 0, DEEP | MMAP, 0, 500, STUCK_NOT, NULL},
    {"munmap, for long", "vm_munmap", HOG_CALL_MEMORY, 0, DEEP | MMAP, 0, 1500, STUCK_MMAP_LOCK, NULL},
    {"a directory that is looked at", "d_alloc_parallel", HOG_CALL_PATH, 0, DEEP, 0, 500, STUCK_INODE, NULL},
    {"a driver", "usb_start_wait_urb", HOG_CALL_OTHER, S_IFCHR, DEEP, 0, 500, STUCK_IN_FUNCTION, NULL},
    {"a kernel thread at work", "usb_start_wait_urb", 0, 0, DEEP | TASK, 0, 500, STUCK_NOT, NULL},
    {"a kernel thread that hangs", "usb_start_wait_urb", 0, 0, DEEP | TASK, 0, 5000, STUCK_IN_FUNCTION, NULL},
    {"a frozen control group", "__refrigerator", HOG_CALL_OTHER, 0, DEEP, 0, 5000, STUCK_NOT, NULL},
    {"a session of PostgreSQL", "do_epoll_wait", HOG_CALL_EPOLL, 0, HOG_STUCK_APART, 0, 500, STUCK_APART,
     NULL},
    {"userfaultfd", "handle_userfault", HOG_CALL_FAULT, 0, 0, 0, 500, STUCK_IN_FUNCTION, NULL},
    {"a fault that a signal may end", "do_something", HOG_CALL_FAULT, 0, 0, 0, 500, STUCK_NOT, NULL},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct a_case *c = &cases[i];
        struct stuck stuck = {.call = c->call, .mode = c->mode, .why = c->why, .magic = c->magic};
        snprintf(stuck.function, sizeof stuck.function, "%s", c->function);
        stuck_classify(&stuck, c->asleep_ms * MS);
        check(stuck.kind == c->kind, "%s: kind %d", c->name, stuck.kind);
        check(c->word ? stuck.word && !strcmp(stuck.word, c->word) : !stuck.word, "%s: word %s", c->name,
              stuck.word ? stuck.word : "-");
    }
    return done();
}
