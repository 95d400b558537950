/* SPDX-License-Identifier: GPL-2.0-only */
/* Does this kernel take probes in programs? Tried in hog's own, where they do nothing. */
#ifndef HOG_SOURCE_SHARED_SELF_PROBE_H
#define HOG_SOURCE_SHARED_SELF_PROBE_H

#include "loader/attach.h"

/* at_once: by a link for many probes, which gives a cookie (0); else one by one. -errno with a reason. */
int self_probe(const struct object_program *program, bool at_once, struct error *why);

#endif
