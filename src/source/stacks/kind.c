// SPDX-License-Identifier: GPL-2.0-only
#include "source/stacks/kind.h"
#include <string.h>
#include "source/shared/symbols.h"
#include "stacks.types.h"

const char *const stack_kinds[STACK_KINDS + 1] = {
    [STACK_CPU] = "cpu", [STACK_IO] = "io",     [STACK_LOCK] = "lock", [STACK_MEMORY] = "memory",
    [STACK_NET] = "net", [STACK_WAIT] = "wait", [STACK_KINDS] = NULL,
};

/* Functions that sleep, by how their names begin (Linux 5.10 to 7.1). Those of locks are left out of stacks
 * by the kernel itself, which then begin with whoever asked for the lock. */
static const struct {
    const char *prefix;
    enum stack_kind kind;
} functions[] = {
    {"rwsem_", STACK_LOCK},
    {"down_", STACK_LOCK},
    {"__down", STACK_LOCK},
    {"mutex_", STACK_LOCK},
    {"__mutex", STACK_LOCK},
    {"percpu_rwsem", STACK_LOCK},
    {"__percpu_down_read", STACK_LOCK},
    {"flock_lock", STACK_LOCK},
    {"locks_lock", STACK_LOCK},
    {"fcntl_setlk", STACK_LOCK},
    {"do_semtimedop", STACK_LOCK},
    {"__do_semtimedop", STACK_LOCK},
    {"jbd2", STACK_IO},
    {"wait_transaction", STACK_IO},
    {"add_transaction_credits", STACK_IO},
    {"start_this_handle", STACK_IO},
    {"io_schedule", STACK_IO},
    {"blk_", STACK_IO},
    {"__blk", STACK_IO},
    {"bio_", STACK_IO},
    {"submit_bio", STACK_IO},
    {"wait_on_page", STACK_IO},
    {"folio_wait", STACK_IO},
    {"__folio_lock", STACK_IO},
    {"filemap_", STACK_IO},
    {"wait_on_buffer", STACK_IO},
    {"__wait_on_buffer", STACK_IO},
    {"xfs_", STACK_IO},
    {"xlog_", STACK_IO},
    {"btrfs_", STACK_IO},
    {"ext4_", STACK_IO},
    {"rq_qos", STACK_IO},
    {"wbt_", STACK_IO},
    {"balance_dirty", STACK_IO},
    {"request_wait_answer", STACK_IO},
    {"fuse_", STACK_IO},
    {"rpc_wait", STACK_IO},
    {"nfs", STACK_IO},
    {"cifs_", STACK_IO},
    {"p9_", STACK_IO},
    {"read_events", STACK_IO},
    {"shrink_", STACK_MEMORY},
    {"throttle_direct_reclaim", STACK_MEMORY},
    {"reclaim_throttle", STACK_MEMORY},
    {"congestion_wait", STACK_MEMORY},
    {"mem_cgroup", STACK_MEMORY},
    {"swap_", STACK_MEMORY},
    {"inet_", STACK_NET},
    {"tcp_", STACK_NET},
    {"udp", STACK_NET},
    {"sk_", STACK_NET},
    {"unix_", STACK_NET},
    {"__skb", STACK_NET},
    {"skb_", STACK_NET},
    {"netlink_", STACK_NET},
    {"wait_woken", STACK_NET},
    {"sock_", STACK_NET},
    {"__lock_sock", STACK_NET},
    {"vsock", STACK_NET},
};

/* Calls of threads that idle. */
static enum stack_kind kind_of_function(const char *function)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strncmp(function, functions[i].prefix, strlen(functions[i].prefix)))
            return functions[i].kind;
    return STACK_WAIT;
}

enum stack_kind kind_of_stack(const struct hog_stack_key *key, const struct stack_frames *kernel,
                              struct symbols *symbols)
{
    char function[SYMBOL_NAME];

    if (key->call == HOG_STACK_ON_CPU)
        return STACK_CPU;
    switch ((enum hog_sleeps_on)key->on) {
    case HOG_ON_IO:
    case HOG_ON_SYNC:
        return STACK_IO;
    case HOG_ON_MEMORY:
        return STACK_MEMORY;
    case HOG_ON_LOCK:
    case HOG_ON_MMAP:
        return STACK_LOCK;
    default:
        return kernel && symbols_kernel(symbols, kernel->at[0] - 1, function) ? kind_of_function(function)
                                                                              : STACK_WAIT;
    }
}
