/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of Kubernetes pods by their UID: the kubelet keeps the logs of a pod in
 * /var/log/pods/NAMESPACE_NAME_UID. */
#ifndef HOG_HOST_PODS_H
#define HOG_HOST_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pods;

/* root: in front of /var/log/pods; "" but for tests. NULL: no memory. */
struct pods *pods_open(const char *root);
void pods_close(struct pods *pods);

/* Whether the name of the pod, or NAMESPACE/NAME, begins with the text. New pods are looked for once a second
 * at most. now: CLOCK_MONOTONIC ns. */
bool pods_name_begins(struct pods *pods, const char *uid, const char *text, size_t length, uint64_t now);

#endif
