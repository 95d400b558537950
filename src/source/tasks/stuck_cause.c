// SPDX-License-Identifier: GPL-2.0-only
/* What is responsible for a sleep: the mount, the server of a file system, the other end of a pipe, the
 * holder of a file lock. From /proc only: no file of a mount is touched, and nothing is read for which the
 * kernel takes a lock of the process, as it does for its command line. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/names.h"
#include "host/process.h"
#include "source/tasks/stuck_private.h"
#include "tasks.types.h"

#define FRESH      20000000000ull /* ns for which an answer holds */
#define MOST_LINKS 4000           /* descriptors looked at for an answer: some ms */
#define OF_FUSE    1              /* numbers of inodes of pipes are larger */

/* ---- processes that have a file open ---- */

/* Looks for `target` among the descriptors of a process. */
static bool has_open(const char *pid, const char *target, unsigned *links)
{
    char path[64], link[64];
    bool has = false;

    snprintf(path, sizeof path, "/proc/%.16s/fd", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    for (struct dirent *entry; !has && *links && (entry = readdir(dir));) {
        ssize_t n =
            entry->d_name[0] == '.' ? -1 : readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (n < 0)
            continue;
        --*links;
        link[n] = '\0';
        has = !strcmp(link, target);
    }
    closedir(dir);
    return has;
}

/* A process but one that has it open: a stopped one, if there is one. 0: none, or, with `only`, several that
 * are not stopped. */
static uint32_t process_with(const struct stuck_tasks *s, const char *target, uint32_t but, bool only)
{
    unsigned links = MOST_LINKS;
    uint32_t first = 0, n = 0;

    for (size_t i = 0; i < s->stopped.n; i++) {
        const struct stopped *stopped = hash_table_at(&s->stopped, i);
        char pid[16];
        snprintf(pid, sizeof pid, "%u", (unsigned)stopped->id);
        if (stopped->id != but && has_open(pid, target, &links))
            return (uint32_t)stopped->id;
    }
    DIR *proc = opendir("/proc");
    if (!proc)
        return 0;
    for (struct dirent *entry; links && (entry = readdir(proc));) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!pid || pid == but || !has_open(entry->d_name, target, &links))
            continue;
        first = first ? first : pid;
        if (++n > 1 || !only)
            break;
    }
    closedir(proc);
    return only && n > 1 ? 0 : first;
}

static uint32_t find_process(struct stuck_tasks *s, uint64_t what, const char *target, uint32_t but,
                             bool only, uint64_t now)
{
    for (size_t i = 0; i < CAUSES; i++)
        if (s->found[i].what == what && s->found[i].but == but && now < s->found[i].at + FRESH)
            return s->found[i].process;
    uint32_t process = process_with(s, target, but, only);
    s->found[s->next] = (struct found){what, now, process, but};
    s->next = (s->next + 1) % CAUSES;
    return process;
}

/* ---- each kind ---- */

static void put_path(struct stuck_cause *cause, const char *path)
{
    snprintf(cause->path, sizeof cause->path, "%s", path ? path : "");
}

/* Of a call by path the mount is not known: it is the only one of that type. */
static void put_only_mount(struct stuck_cause *cause, const char *word)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    struct mount_point mount;
    size_t size = 0, n = 0, length = strlen(word);
    char *line = NULL;

    while (file && getline(&line, &size, file) > 0)
        if (mount_parse(line, &mount) && !strncmp(mount.type, word, length) &&
            strcmp(mount.type, "fusectl") != 0 && n++ == 0)
            put_path(cause, mount.path);
    if (n != 1)
        cause->path[0] = '\0';
    free(line);
    if (file)
        fclose(file);
}

static void explain_file_system(struct stuck_tasks *s, const struct stuck *stuck, uint64_t now,
                                struct stuck_cause *cause)
{
    cause->word = stuck->word;
    if (stuck->device && stuck->magic)
        put_path(cause, mounts_path(s->mounts, 0, 0, stuck->device >> 20, stuck->device & 0xfffff, now));
    else
        put_only_mount(cause, stuck->word);
    if (!strcmp(stuck->word, "fuse"))
        cause->process = find_process(s, OF_FUSE, "/dev/fuse", 0, true, now);
}

static void explain_pipe(struct stuck_tasks *s, const struct stuck *stuck, uint64_t now,
                         struct stuck_cause *cause)
{
    char target[48];

    snprintf(target, sizeof target, "pipe:[%llu]", (unsigned long long)stuck->inode);
    cause->word = "pipe";
    cause->process = find_process(s, stuck->inode, target, key_process(stuck->key), false, now);
}

/* "1: FLOCK  ADVISORY  WRITE 4711 08:01:131090 0 EOF"; a line with "->" waits for the one before it. */
static uint32_t lock_holder(uint32_t waiter)
{
    FILE *file = fopen("/proc/locks", "re");
    uint32_t holder = 0, found = 0;
    char *line = NULL;
    size_t size = 0;

    while (file && !found && getline(&line, &size, file) > 0) {
        char *rest = line, *field = NULL;
        bool waits = strstr(line, "->");
        for (int i = 0; i < 5 + waits && (field = strsep(&rest, " "));)
            i += *field != '\0';
        uint32_t pid = field ? (uint32_t)strtoul(field, NULL, 10) : 0;
        if (!waits)
            holder = pid;
        else if (pid == waiter)
            found = holder;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* The first child of a thread. */
static uint32_t child_of(uint64_t thread, uint64_t key)
{
    char path[64], text[32];

    snprintf(path, sizeof path, "/proc/%u/task/%u/children", key_process(key), key_process(thread));
    return file_read(path, text, sizeof text) > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Whatever waits in a directory of a file system whose server hangs waits for the one that asked it. */
static uint32_t first_at_server(const struct stuck_tasks *s, const struct stuck *but)
{
    const struct stuck *first = NULL;

    for (size_t i = 0; i < s->threads.n; i++) {
        const struct stuck *stuck = hash_table_at(&s->threads, i);
        if (stuck != but && stuck->kind == STUCK_FILE_SYSTEM && stuck->since <= but->since &&
            (!first || stuck->since < first->since))
            first = stuck;
    }
    return first ? key_process(first->key) : 0;
}

/* Of a call by path the mount is not known: it is that of another write that waits, if these agree. */
static void explain_frozen(struct stuck_tasks *s, const struct stuck *stuck, uint64_t now,
                           struct stuck_cause *cause)
{
    uint32_t device = stuck->why & HOG_STUCK_FROZEN ? stuck->device : 0;
    bool agree = true;

    cause->word = "frozen";
    for (size_t i = 0; !(stuck->why & HOG_STUCK_FROZEN) && i < s->threads.n; i++) {
        const struct stuck *other = hash_table_at(&s->threads, i);
        if (other->kind != STUCK_FROZEN || !(other->why & HOG_STUCK_FROZEN))
            continue;
        agree &= !device || device == other->device;
        device = other->device;
    }
    if (device && agree)
        put_path(cause, mounts_path(s->mounts, 0, 0, device >> 20, device & 0xfffff, now));
}

/* The process that took the lock, if it is still there: a child that inherited the file may hold it. */
static void explain_file_lock(const struct stuck *stuck, struct stuck_cause *cause)
{
    struct process holder;
    uint32_t pid = lock_holder(key_process(stuck->key));

    cause->word = "flock";
    if (pid && !process_read(pid, 0, &holder))
        cause->process = pid;
}

void stuck_explain(struct stuck_tasks *s, const struct stuck *stuck, uint64_t now, struct stuck_cause *cause)
{
    *cause = (struct stuck_cause){.process = key_process(stuck->owner)};
    switch (stuck->kind) {
    case STUCK_FILE_SYSTEM:
        explain_file_system(s, stuck, now, cause);
        break;
    case STUCK_FROZEN:
        explain_frozen(s, stuck, now, cause);
        break;
    case STUCK_PIPE:
        explain_pipe(s, stuck, now, cause);
        break;
    case STUCK_SOCKET:
        cause->word = stuck->peer ? "unix" : "socket";
        cause->process = stuck->peer;
        break;
    case STUCK_FILE_LOCK:
        explain_file_lock(stuck, cause);
        break;
    case STUCK_CHILD:
        cause->word = "vfork";
        cause->process = child_of(stuck->id, stuck->key);
        break;
    case STUCK_MMAP_LOCK:
        cause->word = "mmap_lock";
        break;
    case STUCK_INODE:
        cause->word = "inode";
        if (!cause->process)
            cause->process = first_at_server(s, stuck);
        break;
    case STUCK_APART:
        cause->word = "[epoll]";
        break;
    case STUCK_IN_FUNCTION:
    case STUCK_NOT:
        break;
    }
    cause->stopped = stuck_is_stopped(s, cause->process);
}
