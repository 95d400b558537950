// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/culprit_disk.h"
#include <stdio.h>
#include <string.h>
#include "shared.types.h"
#include "host/names.h"

#define MORE  1.25 /* of the bytes of the process itself: less, and the other one is no hog */
#define PART  0.3  /* of all bytes of the disk: the same */
#define SYNCS 0.5  /* of its I/O time in fsync(2): it waits for that */

bool disk_counts(const void *context, uint64_t key)
{
    const struct top *top = context;
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, key) : NULL;

    return key != HOG_KEY_OUTSIDE && !(task ? task->kernel : sched_name(top->sched, key, top->now)->kernel);
}

/* Another process that loads the disk of this one; false: none, or only a little more than it does itself. */
static bool other_hog(const struct top *top, const struct judged_process *process, const struct disk_use *use,
                      struct disk_share *share)
{
    return disks_heaviest(top->disks, use->major, use->minor, disk_counts, top, share) &&
           share->key != process->key && (double)share->bytes >= MORE * (double)use->bytes &&
           (double)share->bytes >= PART * (double)share->all;
}

static bool waits_for_sync(const struct judged_process *process)
{
    return process->sync > SYNCS * process->now.io;
}

size_t disk_text(const struct top *top, const struct judged_process *process, char *to, size_t size)
{
    char name[CULPRIT_NAME];
    struct disk_share share;
    struct disk_use use;

    if (!top->disks || !disks_of(top->disks, process->key, &use)) {
        snprintf(to, size, "%s", waits_for_sync(process) ? "[disk]:fsync" : "[disk]");
    } else if (other_hog(top, process, &use, &share)) {
        culprit_name(top, share.key, name, sizeof name);
        snprintf(to, size, "%s:%s", use.disk.name, name);
    } else {
        snprintf(to, size, "%s%s", use.disk.name, waits_for_sync(process) ? ":fsync" : "");
    }
    return strlen(to);
}

void disk_prose(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    struct disk_share share;
    struct disk_use use;

    if (waits_for_sync(process))
        paragraph_add(
            p, " Most of that is in fsync(2) or the like, which waits until the data are on the disk.");
    if (!top->disks || !disks_of(top->disks, process->key, &use))
        return;
    paragraph_add(p, " On %s it had %lu reads and %lu writes, ", use.disk.name, (unsigned long)use.reads,
                  (unsigned long)use.writes);
    paragraph_bytes(p, (double)use.bytes);
    paragraph_add(p, " in all.");
    if (!other_hog(top, process, &use, &share))
        return;
    const struct name *name = sched_name(top->sched, share.key, top->now);
    paragraph_add(p, " ");
    paragraph_name(p, name->comm, name->comm_length);
    paragraph_add(p, " (%u) loads that disk most: ", key_process(share.key));
    paragraph_bytes(p, (double)share.bytes);
    paragraph_add(p, ", %.0f %% of all.", 100 * (double)share.bytes / (double)share.all);
}

void disk_next(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    struct disk_share share;
    struct disk_use use;

    if (top->disks && disks_of(top->disks, process->key, &use) && other_hog(top, process, &use, &share))
        paragraph_add(
            p,
            "ionice -c 3 -p %u, or a lower IOWeight= of its unit, puts that one behind; hog block shows "
            "all that use the disk.",
            key_process(share.key));
    else if (waits_for_sync(process))
        paragraph_add(
            p,
            "fewer and larger transactions, or a disk with a write cache that survives a power cut. hog "
            "file --top-files 10 -p %u shows which files it writes.",
            key_process(process->key));
    else
        paragraph_add(p,
                      "hog block shows which processes load that disk, hog file --top-files 10 -p %u which "
                      "files it reads and writes.",
                      key_process(process->key));
}
