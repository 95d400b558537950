// SPDX-License-Identifier: GPL-2.0-only
#include "host/numbering.h"
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

int numbering_by_status(const char *text, size_t length)
{
    uint64_t number;

    if (status_number(text, length, "Pid", 0, &number))
        return -EIO;
    if (status_number(text, length, "NSpid", 0, &number))
        return 0;
    return status_number(text, length, "NSpid", 1, &number) ? 1 : 2;
}

/* Whoever may not look at process 1 can look at himself, and maybe at one of those who began him. Those who
 * have one number alone are in the namespace of /proc itself. */
static uint32_t namespace_of_ancestors(void)
{
    char path[64] = "/proc/self/status", text[4096];
    uint64_t parent = 0;
    uint32_t inode = 0;

    for (int i = 0; i < MOST_ANCESTORS && !inode; i++) {
        long n = file_read(path, text, sizeof text);
        int numbers = n > 0 ? numbering_by_status(text, (size_t)n) : -EIO;
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

static uint32_t namespace_of_proc(struct why *w)
{
    uint32_t inode = inode_of("/proc/1/ns/pid");
    struct statfs fs;

    if (inode)
        return inode;
    if (statfs("/proc", &fs) || fs.f_type != PROC_MAGIC) {
        why(w, -ENOENT, "there is no procfs on /proc");
        return 0;
    }
    inode = namespace_of_ancestors();
    if (!inode)
        why(w, -EACCES,
            "/proc is of another PID namespace than hog's, and /proc/1/ns/pid, which tells of which, cannot "
            "be "
            "read (CAP_SYS_PTRACE)");
    return inode;
}

void numbering_read(struct numbering *numbering)
{
    uint32_t own = inode_of("/proc/self/ns/pid");

    *numbering = (struct numbering){0};
    numbering->inode = namespace_of_proc(&numbering->reason);
    numbering->ours = numbering->inode && numbering->inode == own;
    if (numbering->inode != FIRST_PID_NAMESPACE)
        numbering->translate = numbering->inode;
}

void numbering_give_up(struct numbering *numbering, const struct why *reason)
{
    numbering->translate = 0;
    numbering->reason = *reason;
}

bool numbering_is_of_proc(const struct numbering *numbering)
{
    return numbering->inode && (numbering->translate || numbering->inode == FIRST_PID_NAMESPACE);
}

const char *numbering_name(const struct numbering *numbering)
{
    return numbering->translate ? "namespace" : "host";
}

void numbering_describe(const struct numbering *numbering, char *to, size_t size)
{
    if (numbering->translate)
        snprintf(to, size,
                 "namespace: the numbers of /proc, those of PID namespace %u%s; all outside it is one row",
                 numbering->inode, numbering->ours ? "" : ", which is not hog's own");
    else if (numbering_is_of_proc(numbering))
        snprintf(to, size, "host: the numbers of /proc%s",
                 numbering->ours ? "" : "; hog itself is in another PID namespace");
    else
        snprintf(to, size, "host, without names and -p: %s", numbering->reason.text);
}
