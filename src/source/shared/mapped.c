// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/mapped.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/escape.h"
#include "base/message.h"
#include "host/targets.h"

#define MOST_FILES 65536
#define GENTLY     50

/* What files may cost in a scan, so that the windows are not late. Time runs out by user, by the owner of the
 * process that maps the file: a user cannot keep hog from the files of another one. What is left waits for
 * the next scan. Of root's processes, which come first, only files that take too long count. */
#define FILE_NS   200000000ull
#define ROOTS_NS  500000000ull /* that root's processes map */
#define USER_NS   300000000ull
#define OTHERS_NS 600000000ull
#define ROOT_NS   800000000ull /* of these, in all */

/* A file that was scanned. */
struct seen {
    uint64_t id; /* file; with -p also process */
    bool has, done, skipped;
};

struct mapped_owner {
    uint64_t id; /* uid + 1 */
    uint64_t ns;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

/* Inode numbers of deleted files are reused: the name is part of the hash. */
static uint64_t file_id(const struct mapped *p, const struct mapping *m)
{
    uint64_t hash =
        mix(mix(p->pid < 0 ? 1 : (uint64_t)p->process + 2, m->inode), (uint64_t)m->major << 32 | m->minor);
    size_t length;
    const char *name = mapping_name(m, &length);

    for (size_t i = 0; i < length; i++)
        hash = mix(hash, (unsigned char)name[i]);
    return hash | 1;
}

/* A file that cannot be opened now, or is none that can have symbols, is not worth a word. */
static bool is_worth_saying(int err)
{
    return err == -E2BIG || err == -ETIMEDOUT || err == -EINVAL || err == -EIO || err == -ENOMEM;
}

static void note_skipped(struct mapped *p, const struct mapping *m, const struct error *why)
{
    char path[256];

    p->skipped++;
    if (!p->context->options->verbose)
        return;
    escape_name(path, sizeof path, m->path, strlen(m->path));
    message("skipped: %s: %s", path, why->text);
}

/* Whether there is time left for a file of that process. */
static bool has_time(const struct mapped *p)
{
    return p->of_root ? !p->owner || p->owner->ns < ROOT_NS
                      : p->owner && p->owner->ns < USER_NS && p->others_ns < OTHERS_NS;
}

static void charge_time(struct mapped *p, int err)
{
    uint64_t ns = p->reader.cpu_ns;

    p->files_ns += ns;
    if (p->of_root && err != -ETIMEDOUT)
        return;
    p->others_ns += p->of_root ? 0 : ns;
    if (p->owner)
        p->owner->ns += ns;
}

static void scan_file(struct mapped *p, const struct mapping *m, struct seen *seen)
{
    struct error why;
    int result = file_reader_ask(&p->reader, p->process, m, NULL, 0, p->of_root ? ROOTS_NS : FILE_NS, &why);

    charge_time(p, result);
    /* A file that cannot be opened, or took too long, is tried again at the next scan: by then more of it may
     * be in memory. */
    seen->done = result >= 0 || result == -ENOEXEC || result == -ENOTSUP || result == -E2BIG ||
                 result == -EINVAL || result == -EOVERFLOW;
    if (is_worth_saying(result) && !seen->skipped)
        note_skipped(p, m, &why);
    else if (result >= 0 && seen->skipped)
        p->skipped--;
    seen->skipped = is_worth_saying(result);
    const void *answer = file_reader_answer(&p->reader);
    seen->has =
        result > 0 && p->user->found(p->user_context, file_reader_path(&p->reader), answer, m, p->pid);
    if (p->user->missed && result <= 0 && (seen->done || seen->skipped))
        p->user->missed(p->user_context, result, m, answer, &why);
}

static int on_mapping(void *context, const struct mapping *m)
{
    struct mapped *p = context;

    if (!m->executable || !m->inode || *m->path != '/' ||
        (p->user->wants && !p->user->wants(p->user_context, m)))
        return 0;
    uint64_t id = file_id(p, m);
    const struct seen *known = hash_table_find(&p->seen, id);
    struct seen fresh = known ? *known : (struct seen){.id = id};
    if (!fresh.done && has_time(p)) {
        scan_file(p, m, &fresh);
        struct seen *seen = hash_table_find_or_add(&p->seen, id);
        if (seen)
            *seen = fresh;
    } else if (!fresh.done) {
        p->waiting++;
    }
    p->has |= fresh.has;
    return 0;
}

static void scan_process(struct mapped *p, uint32_t process, int pid, uid_t owner)
{
    p->process = process;
    p->pid = pid;
    p->has = false;
    p->of_root = !owner;
    p->owner = hash_table_find_or_add(&p->owners, (uint64_t)owner + 1);
    mappings_read(process, on_mapping, p);
}

static void scan_owned(struct mapped *p, DIR *directory, bool by_root)
{
    struct stat st;

    rewinddir(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char *end;
        unsigned long process = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && !*end && process <= UINT32_MAX &&
            !fstatat(dirfd(directory), entry->d_name, &st, 0) && (st.st_uid == 0) == by_root)
            scan_process(p, (uint32_t)process, -1, st.st_uid);
    }
}

static int scan_all(struct mapped *p, struct error *why)
{
    DIR *directory = opendir("/proc");

    if (!directory)
        return error_set(why, -errno, "/proc: %s", error_name(errno));
    scan_owned(p, directory, true);
    scan_owned(p, directory, false);
    closedir(directory);
    return 0;
}

/* In our own PID namespace a probe can be limited to one process and costs the others nothing. */
static void scan_targets(struct mapped *p)
{
    const struct targets *targets = p->context->targets;

    p->nfound = targets->n < MAX_PIDS ? targets->n : MAX_PIDS;
    for (size_t i = 0; i < p->nfound; i++) {
        uint32_t process = targets->list[i].pid;
        scan_process(p, process, targets->foreign ? -1 : (int)process, 0);
        p->found_pid[i] = process;
        p->found[i] = p->has;
    }
}

int mapped_scan(struct mapped *p, bool gently, uint64_t now, struct error *why)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int err = 0;

    if (gently && now < p->next)
        return 1;
    hash_table_free(&p->owners);
    p->waiting = p->others_ns = p->files_ns = 0;
    if (p->context->targets->n)
        scan_targets(p);
    else
        err = scan_all(p, why);
    file_reader_stop(&p->reader);
    /* CPU time: waiting on a busy host does not count. */
    uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin + p->files_ns;
    p->next = now + GENTLY * took;
    return err;
}

bool mapped_found(const struct mapped *p, uint32_t process)
{
    for (size_t i = 0; i < p->nfound; i++)
        if (p->found_pid[i] == process)
            return p->found[i];
    return true;
}

size_t mapped_skipped(const struct mapped *p)
{
    return p->skipped + p->waiting;
}

void mapped_open(struct mapped *p, const struct source_context *context, const struct mapped_user *user,
                 void *user_context)
{
    *p = (struct mapped){.context = context,
                         .user = user,
                         .user_context = user_context,
                         .seen = {.size = sizeof(struct seen), .most = MOST_FILES},
                         .owners = {.size = sizeof(struct mapped_owner), .most = 4096}};
    file_reader_open(&p->reader, user->look, user->answer_bytes);
}

void mapped_close(struct mapped *p)
{
    file_reader_close(&p->reader);
    hash_table_free(&p->seen);
    hash_table_free(&p->owners);
}
