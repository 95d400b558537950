// SPDX-License-Identifier: GPL-2.0-only
#include "host/oom_kills.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD   2048 /* the kernel's are at most 1 KiB and their fields */
#define FACILITY 3    /* bits of the priority below it; 0: the kernel, what others write there has another */

void oom_kills_open(struct oom_kills *kills)
{
    kills->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (kills->log >= 0 && lseek(kills->log, 0, SEEK_END) < 0) {
        close(kills->log);
        kills->log = -1;
    }
}

void oom_kills_close(struct oom_kills *kills)
{
    if (kills->log >= 0)
        close(kills->log);
    kills->log = -1;
}

static uint64_t kib_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* "3,812,5140900,-;Memory cgroup out of memory: Killed process 1000 (cc1) total-vm:1024kB, anon-rss:512kB,
 * file-rss:4kB, shmem-rss:0kB, UID:0 ...". A name may hold any byte but NUL; what is not printable comes as
 * \xNN. */
bool oom_kill_parse(const char *record, struct oom_kill *kill)
{
    static const char *const begins[] = {"Out of memory: ", "Memory cgroup out of memory: "};
    static const char killed[] = "Killed process ", behind[] = ") total-vm:";
    const char *text = strchr(record, ';');
    char *end;

    if (!text || strtoul(record, NULL, 10) >> FACILITY)
        return false;
    text++;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(text, begins[i], strlen(begins[i])))
            text += strlen(begins[i]);
    if (strncmp(text, killed, sizeof killed - 1))
        return false;
    unsigned long pid = strtoul(text + sizeof killed - 1, &end, 10);
    const char *after = strstr(end, behind);
    if (strncmp(end, " (", 2) || !after || !pid || pid > INT32_MAX)
        return false;
    *kill = (struct oom_kill){.pid = (uint32_t)pid};
    snprintf(kill->comm, sizeof kill->comm, "%.*s", (int)(after - end - 2), end + 2);
    kill->rss_kib = kib_of(after, "anon-rss:") + kib_of(after, "file-rss:") + kib_of(after, "shmem-rss:");
    return true;
}

unsigned oom_kills_read(struct oom_kills *kills, struct oom_kill *last)
{
    char record[RECORD];
    struct oom_kill one;
    unsigned found = 0;

    while (kills->log >= 0) {
        ssize_t n = read(kills->log, record, sizeof record - 1);
        if (n < 0 && (errno == EPIPE || errno == EINTR)) /* EPIPE: records were lost before they were read */
            continue;
        if (n <= 0)
            break;
        record[n] = '\0';
        if (oom_kill_parse(record, &one)) {
            *last = one;
            found++;
        }
    }
    return found;
}
