/* SPDX-License-Identifier: GPL-2.0-only */
/* Which container and which pod a control group is of, by its path only: every runtime has a way of its own
 * to name them. What no runtime's pattern fits is no container. */
#ifndef HOG_HOST_CONTAINER_H
#define HOG_HOST_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_POD 40 /* a UID with its dashes, and the zero */

/* Of containers in containers the innermost. Points into the path. */
struct container {
    const char *runtime; /* docker, containerd, crio, podman, lxc, nspawn; NULL: the path has only an id */
    const char *id;      /* 64 hexadecimal digits, or a name; not terminated */
    size_t length;       /* 0: no container */
    char pod[CONTAINER_POD]; /* UID of the Kubernetes pod; "": none */
};

void container_of_path(const char *path, size_t length, struct container *container);

/* How much of an id is shown: as much as `docker ps` has of one of 64 digits, and all of a name. */
size_t container_short(const struct container *container);

/* Whether a control group is that of `group`, or below it: "/a" has "/a/b" below it and not "/ab". Without a
 * slash in front it may stand anywhere in the path, as that of a systemd unit does; without a dot it may be
 * that of a service. */
bool cgroup_path_is_in(const char *path, size_t length, const char *group, size_t group_length);

/* Whether the id begins with the text, or the text with an id that was cut. */
bool container_id_begins(const struct container *container, const char *text, size_t length);

#endif
