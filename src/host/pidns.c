// SPDX-License-Identifier: GPL-2.0-only
#include "host/pidns.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "host/process.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode, since 3.8 */
#define PROC_MAGIC          0x9fa0
#define MOST_ANCESTORS      64

static uint32_t inode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

int pidns_by_status(const char *text, size_t length)
{
    uint64_t number;

    if (status_number(text, length, "Pid", 0, &number))
        return -EIO;
    if (status_number(text, length, "NSpid", 0, &number))
        return 0;
    return status_number(text, length, "NSpid", 1, &number) ? 1 : 2;
}

/* Without permission to read process 1, a process can read itself and perhaps an ancestor. One with a single
 * PID in NSpid is in the namespace of /proc itself. */
static uint32_t namespace_of_ancestors(void)
{
    char path[64] = "/proc/self/status", text[4096];
    uint64_t parent = 0;
    uint32_t inode = 0;

    for (int i = 0; i < MOST_ANCESTORS && !inode; i++) {
        long n = file_read(path, text, sizeof text);
        int numbers = n > 0 ? pidns_by_status(text, (size_t)n) : -EIO;
        if (numbers <= 0)
            return numbers == 0 ? FIRST_PID_NAMESPACE : 0;
        snprintf(strrchr(path, '/'), sizeof "/ns/pid", "/ns/pid");
        if (numbers == 1)
            inode = inode_of(path);
        if (status_number(text, (size_t)n, "PPid", 0, &parent) || !parent)
            break;
        snprintf(path, sizeof path, "/proc/%u/status", (uint32_t)parent);
    }
    return inode;
}

static uint32_t namespace_of_proc(struct error *why)
{
    uint32_t inode = inode_of("/proc/1/ns/pid");
    struct statfs fs;

    if (inode)
        return inode;
    if (statfs("/proc", &fs) || fs.f_type != PROC_MAGIC) {
        error_set(why, -ENOENT, "there is no procfs on /proc");
        return 0;
    }
    inode = namespace_of_ancestors();
    if (!inode)
        error_set(why, -EACCES,
                  "/proc is of another PID namespace than hog's, and /proc/1/ns/pid, which names it, cannot "
                  "be "
                  "read (CAP_SYS_PTRACE)");
    return inode;
}

void pidns_read(struct pidns *pidns)
{
    uint32_t own = inode_of("/proc/self/ns/pid");

    *pidns = (struct pidns){0};
    pidns->inode = namespace_of_proc(&pidns->reason);
    pidns->ours = pidns->inode && pidns->inode == own;
    if (pidns->inode != FIRST_PID_NAMESPACE)
        pidns->translate = pidns->inode;
}

void pidns_give_up(struct pidns *pidns, const struct error *reason)
{
    pidns->translate = 0;
    pidns->reason = *reason;
}

bool pidns_is_of_proc(const struct pidns *pidns)
{
    return pidns->inode && (pidns->translate || pidns->inode == FIRST_PID_NAMESPACE);
}

const char *pidns_name(const struct pidns *pidns)
{
    return pidns->translate ? "namespace" : "host";
}

void pidns_describe(const struct pidns *pidns, char *to, size_t size)
{
    if (pidns->translate)
        snprintf(to, size,
                 "namespace: the numbers of /proc, those of PID namespace %u%s; all outside it is one row",
                 pidns->inode, pidns->ours ? "" : ", which is not hog's own");
    else if (pidns_is_of_proc(pidns))
        snprintf(to, size, "host: the numbers of /proc%s",
                 pidns->ours ? "" : "; hog itself is in another PID namespace");
    else
        snprintf(to, size, "host, without names and -p: %s", pidns->reason.text);
}
