// SPDX-License-Identifier: GPL-2.0-only
#include "host/disk.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "host/process.h"
#include "base/quote.h"
#include "base/list.h"
#include "base/suggest.h"

#define SYS_BLOCK "/sys/block"

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* A path with multipath to an NVMe disk of this host is below /devices/virtual, too. */
const char *disk_type(const char *path, int rotates)
{
    const char *name = last_part(path);

    if (begins(name, "nbd") || begins(name, "rbd") || begins(name, "drbd") || strstr(path, "/session") ||
        strstr(path, "/nvme-fabrics/"))
        return "network";
    if (begins(name, "nvme"))
        return "nvme";
    if (strstr(path, "/devices/virtual/") || strstr(path, "/virtio") || strstr(path, "/vbd-"))
        return "virtual";
    return rotates < 0 ? NULL : rotates ? "hdd" : "ssd";
}

static int read_rotates(const char *name)
{
    char path[96], text[8];

    snprintf(path, sizeof path, SYS_BLOCK "/%s/queue/rotational", name);
    if (file_read(path, text, sizeof text) <= 0 || (*text != '0' && *text != '1'))
        return -1;
    return *text - '0';
}

void disk_read(uint32_t major, uint32_t minor, struct disk *disk)
{
    char path[64], target[256];

    *disk = (struct disk){.type = NULL};
    snprintf(disk->name, sizeof disk->name, "%u:%u", major, minor);
    snprintf(path, sizeof path, "/sys/dev/block/%s", disk->name);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = '\0';
    const char *name = last_part(target);
    if (!*name)
        return;
    snprintf(disk->name, sizeof disk->name, "%.*s", DISK_NAME - 1, name);
    disk->type = disk_type(target, read_rotates(disk->name));
}

bool disk_is_listed(const char *list, const char *name)
{
    return list_contains(list, name, strlen(name));
}

static bool is_disk(const char *name, size_t length)
{
    char path[96];

    if (!length || length >= DISK_NAME || memchr(name, '/', length) || *name == '.')
        return false;
    snprintf(path, sizeof path, SYS_BLOCK "/%.*s/dev", (int)length, name);
    return !access(path, F_OK);
}

/* Says what there is instead: the nearest, else some. */
static int unknown(const char *name, size_t length, struct error *why)
{
    struct suggestion near = suggest(name, length, SLIPS);
    struct quoted shown = quote_bytes(name, length);
    char some[160] = "", nearest[DISK_NAME] = "";
    size_t used = 0;
    const struct dirent *entry;
    DIR *directory = opendir(SYS_BLOCK);

    while (directory && (entry = readdir(directory))) {
        if (*entry->d_name == '.' || strlen(entry->d_name) >= DISK_NAME)
            continue;
        suggest_consider(&near, entry->d_name);
        if (near.name == entry->d_name) { /* the name is gone with the next one */
            snprintf(nearest, sizeof nearest, "%.*s", DISK_NAME - 1, entry->d_name);
            near.name = nearest;
        }
        if (used + strlen(entry->d_name) + 3 < sizeof some)
            used +=
                (size_t)snprintf(some + used, sizeof some - used, "%s%s", used ? ", " : "", entry->d_name);
    }
    if (directory)
        closedir(directory);
    if (*nearest)
        return error_set(why, -EINVAL, "--device: there is no disk \"%s\": did you mean %s?", shown.text,
                         nearest);
    return error_set(why, -EINVAL, "--device: there is no disk \"%s\" (there are: %s)", shown.text,
                     used ? some : "none");
}

int disks_check(const char *list, struct error *why)
{
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        if (!is_disk(name, length))
            return unknown(name, length, why);
    }
    return 0;
}

/* Its first line names the columns; memory that is compressed is called so. */
bool disks_swapped_to(void)
{
    char text[4096];

    if (file_read("/proc/swaps", text, sizeof text) <= 0)
        return false;
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (!begins(line + 1, "/dev/zram"))
            return true;
    return false;
}
