/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "host/oom_kills.h"
#include "tests/unit/tap.h"

#define BEHIND                                                                                               \
    " total-vm:2048kB, anon-rss:512kB, file-rss:4kB, shmem-rss:8kB, UID:0 pgtables:60kB oom_score_adj:0\n"

static const struct {
    const char *what, *record;
    uint32_t pid; /* 0: it is not about a kill */
    const char *comm;
} cases[] = {
    {"of the host", "3,812,5140900,-;Out of memory: Killed process 1000 (cc1)" BEHIND, 1000, "cc1"},
    {"of a group", "3,812,5140900,-;Memory cgroup out of memory: Killed process 7 (a b)" BEHIND, 7, "a b"},
    {"a name with a bracket", "3,1,2,-;Out of memory: Killed process 7 (a) b (c)" BEHIND, 7, "a) b (c"},
    {"with fields behind it", "3,1,2,-,caller=T1;Out of memory: Killed process 7 (x)" BEHIND, 7, "x"},
    {"written by a process", "11,1,2,-;Out of memory: Killed process 7 (x)" BEHIND, 0, ""},
    {"in the middle of a line", "3,1,2,-;init: Out of memory: Killed process 7 (x)" BEHIND, 0, ""},
    {"of another kind", "3,1,2,-;oom_reaper: reaped process 7 (x), now anon-rss:0kB\n", 0, ""},
    {"cut off", "3,1,2,-;Out of memory: Killed process 7 (x", 0, ""},
    {"a number that is none", "3,1,2,-;Out of memory: Killed process x (x)" BEHIND, 0, ""},
    {"a number too large", "3,1,2,-;Out of memory: Killed process 99999999999 (x)" BEHIND, 0, ""},
    {"nothing", "", 0, ""},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oom_kill kill = {0};
        bool is = oom_kill_parse(cases[i].record, &kill);
        check(is == (cases[i].pid != 0) && kill.pid == cases[i].pid && !strcmp(kill.comm, cases[i].comm),
              "%s: who: %u, %s", cases[i].what, kill.pid, kill.comm);
        check(kill.rss_kib == (is ? 524 : 0), "%s: its memory: %d KiB", cases[i].what, (int)kill.rss_kib);
    }
    return done();
}
