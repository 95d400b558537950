/* SPDX-License-Identifier: GPL-2.0-only */
/* What only the view of block I/O reads of the kernel, as kernel.bpf.h. */
#ifndef HOG_BPF_KERNEL_BLOCK_H
#define HOG_BPF_KERNEL_BLOCK_H

#include "kernel/kernel.bpf.h"

/* Where it is a struct folio, this is what it begins with. */
struct page {
    /* it begins with its flags, an unsigned long that is a struct from 6.18 on */
    unsigned long compound_head;   /* bit 0: it is part of a larger one, whose address this is */
    struct address_space *mapping; /* bits 0 and 1: not of a file */
} __relocated;

/* Its name in 7.2; it may be a mask of bits in place of the address: those of its own that the first one has.
 */
struct page___7_2 {
    unsigned long compound_info;
} __relocated;

struct bio_vec {
    struct page *bv_page;
} __relocated;

struct request_queue {
    struct gendisk *disk; /* from 5.15, d152c682f03c; NULL: no disk uses it */
} __relocated;

struct request {
    struct request_queue *q;
    unsigned int cmd_flags;  /* as bi_opf */
    unsigned int __data_len; /* bytes that are still to be moved */
    struct bio *bio;         /* NULL: it moves nothing */
} __relocated;

struct request___5_16 {
    struct gendisk *rq_disk; /* until 5.17, f3fa33acca9f */
} __relocated;

#endif
