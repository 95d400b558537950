/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that the pages of a bio belong to, by copies of kernel memory; and which writes are of a journal.
 */
#ifndef HOG_BPF_LIB_BIO_INODE_H
#define HOG_BPF_LIB_BIO_INODE_H

#include "kernel/block.bpf.h"
#include "kernel/fs.bpf.h"
#include "kernel/request.bpf.h"
#include "kernel/task.bpf.h"

#define PAGE_ANONYMOUS 3 /* bits of page->mapping: not a page of a file */

/* The first page of the folio that a page belongs to, which knows the file. Masks are larger than any address
 * of a page. */
static __always_inline struct page *first_page(struct page *page)
{
    struct page___7_2 *newer = (void *)page;
    u64 head = 0;

    if (kernel_has(page, compound_head))
        bpf_probe_read_kernel(&head, sizeof head, __builtin_preserve_access_index(&page->compound_head));
    else if (kernel_has(newer, compound_info))
        bpf_probe_read_kernel(&head, sizeof head, __builtin_preserve_access_index(&newer->compound_info));
    if (!(head & 1))
        return page;
    return (void *)(head >> 32 == 0xffffffff ? (u64)page & head & ~1ull : head - 1);
}

/* The inode that the first page of a bio belongs to; 0: none. */
static __always_inline u64 bio_inode(struct bio *bio)
{
    struct page *page = NULL;
    u64 mapping = 0, inode = 0;

    struct bio_vec *vec = kernel_field(false, bio, bi_io_vec);
    bpf_probe_read_kernel(&page, sizeof page, __builtin_preserve_access_index(&vec->bv_page));
    if (!page)
        return 0;
    page = first_page(page);
    bpf_probe_read_kernel(&mapping, sizeof mapping, __builtin_preserve_access_index(&page->mapping));
    if (!mapping || mapping & PAGE_ANONYMOUS)
        return 0;
    struct address_space *space = (void *)mapping;
    bpf_probe_read_kernel(&inode, sizeof inode, __builtin_preserve_access_index(&space->host));
    return inode;
}

/* ---- writes ---- */

/* enum req_flag_bits, unchanged since 4.10 except for REQ_SWAP. */
/* REQ_IDLE, of writes: direct I/O, or a journal. */
#define REQ_META (1u << 12)
#define REQ_IDLE (1u << 15)

/* "jbd2/vda-8": the threads that write the journals of ext4. */
static __always_inline bool is_journal(bool direct, struct task_struct *task)
{
    const u64 *comm = (const u64 *)__builtin_preserve_access_index(&task->comm);
    u64 first = 0;

    if (direct)
        first = *comm;
    else
        bpf_probe_read_kernel(&first, sizeof first, comm);
    return (first & 0xffffffffffull) == 0x2f3264626aull;
}

#endif
