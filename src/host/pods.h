/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of Kubernetes pods by UID, without an API: the kubelet keeps a directory NAMESPACE_NAME_UID for the
 * logs of each pod, and makes it before the pod's first process. */
#ifndef HOG_HOST_PODS_H
#define HOG_HOST_PODS_H

#include <stdbool.h>
#include <stddef.h>

#define PODS_DIRECTORY "/var/log/pods"
#define PODS_NAME      256 /* NAMESPACE/NAME and the zero; less than the name of a directory */

struct pods;

/* Reads nothing yet. NULL: no memory. */
struct pods *pods_open(const char *directory);
void pods_close(struct pods *pods);

/* Reads the directory when a UID is new and the directory has changed since. False: there is no such pod, or
 * the directory is not readable. */
bool pods_find(struct pods *pods, const char *uid, char name[PODS_NAME]);

#endif
