/* SPDX-License-Identifier: GPL-2.0-only */
/* Names in the BPF file system, by which maps, programs and links outlive the process. */
#ifndef HOG_LOADER_KERNEL_PIN_H
#define HOG_LOADER_KERNEL_PIN_H

#include "loader/kernel/object.h"

#define PIN_DIRECTORY "/sys/fs/bpf"

/* -ENODEV: the directory that path is in is of no BPF file system. */
int bpf_pin_check(const char *path, struct error *why);
/* Gives the fd's object a name; -EEXIST if there is one already. */
int bpf_pin(int fd, const char *path, struct error *why);
/* A new fd of the object at path. */
int bpf_open_pinned(const char *path, struct error *why);
/* Removes the name, and only if it is one in a BPF file system. */
int bpf_unpin(const char *path, struct error *why);

#endif
