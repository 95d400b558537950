// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/mapped.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "host/targets.h"

#define MOST_FILES 65536
#define GENTLY     50

/* A file that was scanned. */
struct seen {
    uint64_t id; /* file; with -p also process */
    uint64_t has;
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

/* -errno: it cannot be opened. */
static int scan_file(const struct mapped *p, const struct mapping *m, struct seen *seen)
{
    char path[64];
    int fd = mapping_open(p->process, m);

    if (fd < 0)
        return fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    seen->has = p->fn(p->fn_context, path, p->process, m, p->pid);
    close(fd);
    return 0;
}

static int on_mapping(void *context, const struct mapping *m)
{
    struct mapped *p = context;

    if (!m->executable || !m->inode || *m->path != '/')
        return 0;
    uint64_t id = file_id(p, m);
    struct seen *seen = hash_table_find(&p->seen, id);
    if (!seen) {
        struct seen fresh = {.id = id};
        /* A file that cannot be opened is tried again at the next scan. */
        if (scan_file(p, m, &fresh) || !(seen = hash_table_find_or_add(&p->seen, id)))
            return 0;
        *seen = fresh;
    }
    p->has |= seen->has != 0;
    return 0;
}

static void scan_process(struct mapped *p, uint32_t process, int pid)
{
    p->process = process;
    p->pid = pid;
    p->has = false;
    mappings_read(process, on_mapping, p);
}

static int scan_all(struct mapped *p, struct error *why)
{
    DIR *directory = opendir("/proc");

    if (!directory)
        return error_set(why, -errno, "/proc: %s", error_name(errno));
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char *end;
        unsigned long process = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && !*end && process <= UINT32_MAX)
            scan_process(p, (uint32_t)process, -1);
    }
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
        scan_process(p, process, targets->foreign ? -1 : (int)process);
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
    if (p->context->targets->n)
        scan_targets(p);
    else
        err = scan_all(p, why);
    uint64_t took =
        clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin; /* CPU time: waiting on a busy host does not count */
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

void mapped_open(struct mapped *p, const struct source_context *context, mapped_fn fn, void *fn_context)
{
    *p = (struct mapped){.context = context,
                         .fn = fn,
                         .fn_context = fn_context,
                         .seen = {.size = sizeof(struct seen), .most = MOST_FILES}};
}

void mapped_close(struct mapped *p)
{
    hash_table_free(&p->seen);
}
