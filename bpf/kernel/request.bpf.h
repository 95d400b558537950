/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of block requests and the pages that they move: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_REQUEST_H
#define HOG_BPF_KERNEL_REQUEST_H

#include "kernel/block.bpf.h"

/* Where the kernel has struct folio, that begins like this. */
struct page {
    /* begins with the flags: an unsigned long that is a struct from 6.18 on */
    unsigned long compound_head;   /* bit 0: part of a larger page, whose address this is */
    struct address_space *mapping; /* bits 0 and 1: not a page of a file */
} __relocated;

/* Its name in 7.2. May be a bit mask in place of the address: the bits that both pages have in common. */
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
    unsigned int cmd_flags;  /* same encoding as bi_opf */
    unsigned int __data_len; /* bytes still to be moved */
    struct bio *bio;         /* NULL: no data */
} __relocated;

struct request___5_16 {
    struct gendisk *rq_disk; /* until 5.17, f3fa33acca9f */
} __relocated;

#endif
