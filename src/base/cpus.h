/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs there are. */
#ifndef HOG_BASE_CPUS_H
#define HOG_BASE_CPUS_H

#include <stddef.h>
#include <stdint.h>

#define MAX_CPUS 8192 /* CONFIG_NR_CPUS of the largest kernels that are built */

#define CPUS_ONLINE "/sys/devices/system/cpu/online"

/* Number of possible CPUs: one more than the highest number in /sys/devices/system/cpu/possible, which is
 * what the kernel sizes per-CPU map values by. -ERANGE: more than MAX_CPUS; or another -errno. */
int cpus_possible(void);

/* Sets mask[cpu] to 1 for each online CPU below n, to 0 for others. Returns the number of online CPUs set. */
int cpus_online(uint8_t *mask, size_t n);

/* The same for callers that ask in every window (1 us): the file stays open, and the list is parsed only when
 * it has changed. To close one that is all zero does nothing. */
#define LIST_BYTES 4096 /* what sysfs gives at most */
struct cpus_watch {
    int fd;
    char text[LIST_BYTES];
};
int cpus_watch_open(struct cpus_watch *watch);
/* 1: mask is set anew; 0: nothing changed, mask is untouched; -errno. */
int cpus_watch(struct cpus_watch *watch, uint8_t *mask, size_t n);
void cpus_watch_close(struct cpus_watch *watch);

/* Lowest online CPU; 0 if sysfs does not say. */
int cpus_first_online(void);

/* "0-3,8" into a mask as above (NULL: none). Returns one more than the highest CPU listed (also past n);
 * -EINVAL for text that is no such list, -ERANGE for one that goes past MAX_CPUS. */
int cpus_parse(const char *list, uint8_t *mask, size_t n);

#endif
