/* SPDX-License-Identifier: GPL-2.0-only */
/* The cells that say which task a row is about. */
#ifndef HOG_VIEW_TASK_CELLS_H
#define HOG_VIEW_TASK_CELLS_H

#include "host/names.h"
#include "out/out.h"

/* name NULL, or without what is asked for: unknown. */
static inline struct cell cell_uid(const struct name *name)
{
    return name && name->uid_known ? cell_unsigned(name->uid) : cell_unknown();
}

static inline struct cell cell_comm(const struct name *name)
{
    return name && name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown();
}

#endif
