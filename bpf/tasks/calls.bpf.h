/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls by what a sleep in them is about: a table by number for each architecture. 32-bit programs
 * have other numbers and are not looked at. */
#ifndef HOG_BPF_TASKS_CALLS_H
#define HOG_BPF_TASKS_CALLS_H

#include "kernel/helpers.bpf.h"

enum hog_call {
    HOG_CALL_OTHER = 0, /* may idle: a timer, a child, work to do */
    HOG_CALL_PATH,      /* of a file by its path, which answers at once as a rule */
    HOG_CALL_FILE,      /* of an open file, the same */
    HOG_CALL_READ,      /* of a descriptor that may be a pipe or a socket, where a reader may idle */
    HOG_CALL_WRITE,
    HOG_CALL_LOCK,   /* of a file: flock(2), fcntl(2) */
    HOG_CALL_MEMORY, /* of the address space */
    HOG_CALL_CHILD,  /* fork and vfork */
    HOG_CALL_EPOLL,
    HOG_CALL_FAULT, /* no system call: a page fault */
};
const volatile enum hog_call call_layout = HOG_CALL_OTHER;

#define CALL_NUMBERS             512
#define CALLS(first, last, kind) [first... last] = HOG_CALL_##kind

#ifdef __TARGET_ARCH_x86
#define CALL_FCNTL 72
const volatile u8 call_kinds[CALL_NUMBERS] = {
    CALLS(0, 0, READ),      /* read */
    CALLS(1, 1, WRITE),     /* write */
    CALLS(2, 2, PATH),      /* open */
    CALLS(3, 3, FILE),      /* close */
    CALLS(4, 4, PATH),      /* stat */
    CALLS(5, 5, FILE),      /* fstat */
    CALLS(6, 6, PATH),      /* lstat */
    CALLS(8, 8, FILE),      /* lseek */
    CALLS(9, 12, MEMORY),   /* mmap, mprotect, munmap, brk */
    CALLS(17, 17, READ),    /* pread64 */
    CALLS(18, 18, WRITE),   /* pwrite64 */
    CALLS(19, 19, READ),    /* readv */
    CALLS(20, 20, WRITE),   /* writev */
    CALLS(21, 21, PATH),    /* access */
    CALLS(25, 25, MEMORY),  /* mremap */
    CALLS(26, 26, PATH),    /* msync */
    CALLS(28, 28, MEMORY),  /* madvise */
    CALLS(40, 40, WRITE),   /* sendfile */
    CALLS(44, 44, WRITE),   /* sendto */
    CALLS(45, 45, READ),    /* recvfrom */
    CALLS(46, 46, WRITE),   /* sendmsg */
    CALLS(47, 47, READ),    /* recvmsg */
    CALLS(56, 58, CHILD),   /* clone, fork, vfork */
    CALLS(59, 59, PATH),    /* execve */
    CALLS(72, 73, LOCK),    /* fcntl, flock */
    CALLS(74, 75, FILE),    /* fsync, fdatasync */
    CALLS(76, 76, PATH),    /* truncate */
    CALLS(77, 78, FILE),    /* ftruncate, getdents */
    CALLS(80, 80, PATH),    /* chdir */
    CALLS(81, 81, FILE),    /* fchdir */
    CALLS(82, 90, PATH),    /* rename to chmod */
    CALLS(91, 91, FILE),    /* fchmod */
    CALLS(92, 92, PATH),    /* chown */
    CALLS(93, 93, FILE),    /* fchown */
    CALLS(94, 94, PATH),    /* lchown */
    CALLS(132, 133, PATH),  /* utime, mknod */
    CALLS(137, 137, PATH),  /* statfs */
    CALLS(138, 138, FILE),  /* fstatfs */
    CALLS(162, 162, PATH),  /* sync */
    CALLS(165, 166, PATH),  /* mount, umount2 */
    CALLS(188, 199, PATH),  /* setxattr to fremovexattr */
    CALLS(217, 217, FILE),  /* getdents64 */
    CALLS(232, 232, EPOLL), /* epoll_wait */
    CALLS(235, 235, PATH),  /* utimes */
    CALLS(257, 269, PATH),  /* openat to faccessat */
    CALLS(277, 277, FILE),  /* sync_file_range */
    CALLS(280, 280, PATH),  /* utimensat */
    CALLS(281, 281, EPOLL), /* epoll_pwait */
    CALLS(285, 285, FILE),  /* fallocate */
    CALLS(295, 295, READ),  /* preadv */
    CALLS(296, 296, WRITE), /* pwritev */
    CALLS(306, 306, FILE),  /* syncfs */
    CALLS(307, 307, WRITE), /* sendmmsg */
    CALLS(316, 316, PATH),  /* renameat2 */
    CALLS(322, 322, PATH),  /* execveat */
    CALLS(326, 326, FILE),  /* copy_file_range */
    CALLS(327, 327, READ),  /* preadv2 */
    CALLS(328, 328, WRITE), /* pwritev2 */
    CALLS(332, 332, PATH),  /* statx */
    CALLS(435, 435, CHILD), /* clone3 */
    CALLS(437, 437, PATH),  /* openat2 */
    CALLS(439, 439, PATH),  /* faccessat2 */
};
#else
#define CALL_FCNTL 25
const volatile u8 call_kinds[CALL_NUMBERS] = {
    CALLS(5, 16, PATH),      /* setxattr to fremovexattr */
    CALLS(22, 22, EPOLL),    /* epoll_pwait */
    CALLS(25, 25, LOCK),     /* fcntl */
    CALLS(32, 32, LOCK),     /* flock */
    CALLS(33, 43, PATH),     /* mknodat to statfs */
    CALLS(44, 44, FILE),     /* fstatfs */
    CALLS(45, 45, PATH),     /* truncate */
    CALLS(46, 47, FILE),     /* ftruncate, fallocate */
    CALLS(48, 49, PATH),     /* faccessat, chdir */
    CALLS(50, 50, FILE),     /* fchdir */
    CALLS(52, 52, FILE),     /* fchmod */
    CALLS(53, 54, PATH),     /* fchmodat, fchownat */
    CALLS(55, 55, FILE),     /* fchown */
    CALLS(56, 56, PATH),     /* openat */
    CALLS(57, 57, FILE),     /* close */
    CALLS(61, 62, FILE),     /* getdents64, lseek */
    CALLS(63, 63, READ),     /* read */
    CALLS(64, 64, WRITE),    /* write */
    CALLS(65, 65, READ),     /* readv */
    CALLS(66, 66, WRITE),    /* writev */
    CALLS(67, 67, READ),     /* pread64 */
    CALLS(68, 68, WRITE),    /* pwrite64 */
    CALLS(69, 69, READ),     /* preadv */
    CALLS(70, 71, WRITE),    /* pwritev, sendfile */
    CALLS(78, 79, PATH),     /* readlinkat, newfstatat */
    CALLS(80, 80, FILE),     /* fstat */
    CALLS(81, 81, PATH),     /* sync */
    CALLS(82, 84, FILE),     /* fsync, fdatasync, sync_file_range */
    CALLS(88, 88, PATH),     /* utimensat */
    CALLS(206, 206, WRITE),  /* sendto */
    CALLS(207, 207, READ),   /* recvfrom */
    CALLS(211, 211, WRITE),  /* sendmsg */
    CALLS(212, 212, READ),   /* recvmsg */
    CALLS(214, 216, MEMORY), /* brk, munmap, mremap */
    CALLS(220, 220, CHILD),  /* clone */
    CALLS(221, 221, PATH),   /* execve */
    CALLS(222, 222, MEMORY), /* mmap */
    CALLS(226, 226, MEMORY), /* mprotect */
    CALLS(227, 227, PATH),   /* msync */
    CALLS(233, 233, MEMORY), /* madvise */
    CALLS(267, 267, FILE),   /* syncfs */
    CALLS(269, 269, WRITE),  /* sendmmsg */
    CALLS(276, 276, PATH),   /* renameat2 */
    CALLS(281, 281, PATH),   /* execveat */
    CALLS(285, 285, FILE),   /* copy_file_range */
    CALLS(286, 286, READ),   /* preadv2 */
    CALLS(287, 287, WRITE),  /* pwritev2 */
    CALLS(291, 291, PATH),   /* statx */
    CALLS(435, 435, CHILD),  /* clone3 */
    CALLS(437, 437, PATH),   /* openat2 */
    CALLS(439, 439, PATH),   /* faccessat2 */
};
#endif

#endif
