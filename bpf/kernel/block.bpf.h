/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of disks and bios: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_BLOCK_H
#define HOG_BPF_KERNEL_BLOCK_H

#include "kernel/helpers.bpf.h"

struct gendisk {
    int major, first_minor; /* of the whole disk */
} __relocated;

struct block_device {
    struct gendisk *bd_disk;
} __relocated;

struct bio_vec;

struct bvec_iter {
    unsigned int bi_size; /* bytes */
} __relocated;

struct bio {
    struct block_device *bi_bdev; /* from 5.12, 309dca309fc3 */
    unsigned int bi_opf;          /* enum req_op in the low 8 bits */
    struct bvec_iter bi_iter;
    void *bi_private;
    struct bio_vec *bi_io_vec;
} __relocated;

struct bio___5_11 {
    struct gendisk *bi_disk;
} __relocated;

#endif
