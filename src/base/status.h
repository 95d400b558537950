/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit statuses: part of the interface. */
#ifndef HOG_BASE_STATUS_H
#define HOG_BASE_STATUS_H

enum status {
    STATUS_DONE = 0,
    STATUS_FAILED = 1, /* while running */
    STATUS_USAGE = 2,
    STATUS_HOST = 3,  /* this host cannot: privilege, kernel, lockdown */
    STATUS_ALERT = 4, /* what --alert asks for was seen */
};

#endif
