/* SPDX-License-Identifier: GPL-2.0-only */
/* What sysfs says of disks. */
#ifndef HOG_HOST_DISK_H
#define HOG_HOST_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

#define DISK_NAME 32

struct disk {
    char name[DISK_NAME]; /* "vda"; "253:0" where sysfs does not say */
    const char *type;     /* "nvme", "ssd", "hdd", "virtual", "network"; NULL: not known */
};

void disk_read(uint32_t major, uint32_t minor, struct disk *disk);

/* The same by where /sys/dev/block/MAJOR:MINOR leads; rotates: 0, 1, or -1: not known. NULL: not known. */
const char *disk_type(const char *path, int rotates);

/* Does a comma list of names have that one? */
bool disk_is_listed(const char *list, const char *name);

/* Whether there is each disk of a comma list. -EINVAL: a reason that says which is not, and what is. NULL:
 * none is asked for. */
int disks_check(const char *list, struct error *why);

/* Whether some disk, and no memory, is swapped to. */
bool disks_swapped_to(void);

#endif
