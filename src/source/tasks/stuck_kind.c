// SPDX-License-Identifier: GPL-2.0-only
/* Which sleeps count as blocked, by the function of the kernel in which a thread sleeps (Linux 5.10 to 7.1),
 * its system call, and the file behind its descriptor. */
#include <string.h>
#include <sys/stat.h>
#include "source/tasks/stuck.h"
#include "tasks.types.h"

#define MS      1000000ull
#define SECOND  1000000000ull
#define LONG_IO (2 * SECOND) /* a kernel thread that sleeps for less in D state does its work */

struct prefix {
    const char *text;
    const char *word;
};

/* File systems with a server, by the functions that wait for it. */
static const struct prefix servers[] = {
    {"request_wait_answer", "fuse"},
    {"fuse_", "fuse"},
    {"rpc_wait", "nfs"},
    {"nfs", "nfs"},
    {"wait_for_response", "cifs"},
    {"cifs_", "cifs"},
    {"smb2_", "cifs"},
    {"p9_", "9p"},
    {"ceph_", "ceph"},
    {"afs_", "afs"},
    {"autofs_wait", "autofs"},
    {"ptlrpc_", "lustre"},
};

/* The same by the magic number of the file's file system, <linux/magic.h>. */
static const struct {
    uint64_t magic;
    const char *word;
} magics[] = {
    {0x65735546, "fuse"}, {0x6969, "nfs"},     {0xff534d42, "cifs"}, {0xfe534d42, "cifs"},
    {0x517b, "cifs"},     {0x01021997, "9p"},  {0x00c36400, "ceph"}, {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"}, {0x5346414f, "afs"},
};

/* Sleeps in D state that end with a disk, which are counted as I/O. */
static const char *const disk_waits[] = {
    "jbd2",
    "io_schedule",
    "blk_",
    "bio_",
    "submit_bio",
    "wait_on_buffer",
    "__wait_on_buffer",
    "bit_wait",
    "wait_on_bit",
    "folio_",
    "wait_on_page",
    "wait_transaction",
    "xfs_",
    "btrfs_",
    "ext4_",
    "balance_dirty",
    "writeback",
    "wait_sb_inodes",
    "dm_",
    "md_",
    "raid",
    "rq_qos",
    "wbt_",
    "get_request",
    "__blk",
    "swap_",
    "shrink_",
    "throttle_direct_reclaim",
    "congestion_wait",
    "reclaim_throttle",
    "start_this_handle",
    "add_transaction_credits",
    "do_get_write_access",
    "f2fs_",
    "zfs",
    "cv_wait",
    "nvme_",
    "scsi_",
    "sync_",
};

/* Waits for a file or a directory that another task works on. */
static const char *const inode_waits[] = {
    "d_alloc_parallel", "lookup_slow",       "walk_component", "open_last_lookups",  "path_openat",
    "iterate_dir",      "do_unlinkat",       "do_rmdir",       "filename_create",    "do_renameat2",
    "lock_rename",      "filename_unlinkat", "__lookup_slow",  "lookup_one",         "vfs_",
    "lock_two_",        "d_wait_lookup",     "start_dirop",    "filename_renameat2", "__start_dirop",
    "do_renameat",
};

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static bool is_among(const char *function, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (begins_with(function, list[i]))
            return true;
    return false;
}
#define IS_AMONG(function, list) is_among(function, list, sizeof(list) / sizeof *(list))

static const char *server_word(const struct stuck *stuck)
{
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (begins_with(stuck->function, servers[i].text))
            return servers[i].word;
    return NULL;
}

static const char *magic_word(const struct stuck *stuck)
{
    bool regular = S_ISREG(stuck->mode) || S_ISDIR(stuck->mode);

    for (size_t i = 0; regular && i < sizeof magics / sizeof *magics; i++)
        if (stuck->magic == magics[i].magic)
            return magics[i].word;
    return NULL;
}

/* Pipes and sockets: a writer always; a reader only if stuck.c finds that the other end is stopped. */
static enum stuck_kind kind_of_channel(const struct stuck *stuck)
{
    if (S_ISFIFO(stuck->mode))
        return STUCK_PIPE;
    return S_ISSOCK(stuck->mode) ? STUCK_SOCKET : STUCK_NOT;
}

/* A sleep that a signal may end. */
static enum stuck_kind kind_of_light(const struct stuck *stuck)
{
    switch ((enum hog_call)stuck->call) {
    case HOG_CALL_READ:
    case HOG_CALL_WRITE:
        return kind_of_channel(stuck);
    case HOG_CALL_LOCK:
        return STUCK_FILE_LOCK;
    case HOG_CALL_FAULT:
        return begins_with(stuck->function, "handle_userfault") ? STUCK_IN_FUNCTION : STUCK_NOT;
    default:
        return STUCK_NOT;
    }
}

static bool is_frozen(const struct stuck *stuck)
{
    bool waits = begins_with(stuck->function, "percpu_rwsem_wait") ||
                 begins_with(stuck->function, "__percpu_down_read") || strstr(stuck->function, "sb_start");

    return stuck->why & HOG_STUCK_FROZEN ? stuck->call == HOG_CALL_WRITE || waits
                                         : waits && stuck->call == HOG_CALL_PATH;
}

static enum stuck_kind kind_of_deep(const struct stuck *stuck, uint64_t asleep)
{
    bool kernel = stuck->why & HOG_STUCK_KERNEL;

    if (is_frozen(stuck))
        return STUCK_FROZEN;
    if (stuck->call == HOG_CALL_LOCK)
        return STUCK_FILE_LOCK;
    if (stuck->why & HOG_STUCK_MMAP_LOCK)
        return asleep >= SECOND ? STUCK_MMAP_LOCK : STUCK_NOT; /* else a lock that is counted as one */
    if (stuck->why & HOG_STUCK_DISK || IS_AMONG(stuck->function, disk_waits) || (kernel && asleep < LONG_IO))
        return STUCK_NOT;
    if (begins_with(stuck->function, "__refrigerator") || begins_with(stuck->function, "do_freezer"))
        return STUCK_NOT;
    if (stuck->call == HOG_CALL_CHILD)
        return STUCK_CHILD;
    if (S_ISFIFO(stuck->mode) || S_ISSOCK(stuck->mode))
        return kind_of_channel(stuck);
    return IS_AMONG(stuck->function, inode_waits) ? STUCK_INODE : STUCK_IN_FUNCTION;
}

void stuck_classify(struct stuck *stuck, uint64_t asleep)
{
    stuck->kind = STUCK_NOT;
    stuck->word = NULL;
    if (asleep < 100 * MS || !*stuck->function)
        return;
    if (stuck->why & HOG_STUCK_APART) {
        stuck->kind = STUCK_APART;
        return;
    }
    stuck->word = server_word(stuck);
    if (!stuck->word && !(stuck->why & HOG_STUCK_FROZEN))
        stuck->word = magic_word(stuck);
    if (stuck->word)
        stuck->kind = STUCK_FILE_SYSTEM;
    else
        stuck->kind = stuck->why & HOG_STUCK_DEEP ? kind_of_deep(stuck, asleep) : kind_of_light(stuck);
}
