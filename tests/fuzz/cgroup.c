// SPDX-License-Identifier: GPL-2.0-only
/* Control groups: the files of one process and of its groups, read twice. Whatever is in them, names are
 * parts of what was read, and numbers are possible ones. */
#include "tests/fuzz/fuzz.h"
#include "host/cgroup.h"
#include "host/cgroup_v1.h"
#include "host/container.h"
#include "host/identity.h"
#include "host/process.h"
#include <string.h>

uint64_t fuzz_taken;

static void judge(const struct cgroup *c)
{
    const struct cgroup_name names[] = {c->unified,          c->cpu.path,    c->cpu.tightest,
                                        c->cpu.throttled,    c->memory.path, c->memory.tightest,
                                        c->memory.reclaiming};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        must(!names[i].length || names[i].text[0] == '/');
        fuzz_touch(names[i].text, names[i].length);
    }
    must(c->cpu.throttled_share >= 0 && c->cpu.throttled_share <= 1);
    must(!c->cpu.tightest.length || c->cpu.cpus > 0);
    must(c->memory.used <= c->memory.usage);
    must(c->cpu.known || (!c->cpu.tightest.length && !c->cpu.throttled.length));
    must(c->memory.known || (!c->memory.tightest.length && !c->memory.reclaiming.length));
    for (int i = 0; i < PRESSURES; i++) {
        double pct = pressure_pct(&c->earlier[i], &c->pressure[i], 1000000);
        must(pct <= 100 && (pct >= 0 || pct == -1));
    }
}

static void judge_container(const char *path, size_t length)
{
    struct container in;

    container_of_path(path, length, &in);
    must(!in.length || (in.id >= path && in.id + in.length <= path + length));
    must(strlen(in.pod) < sizeof in.pod && container_short(&in) <= in.length);
    must(!cgroup_path_is_in(path, length, "/a/", 3) || (length >= 2 && path[1] == 'a'));
    must(!cgroup_path_is_in(path, length, "a", 1) || memchr(path, 'a', length));
    must(!container_id_begins(&in, "0123", 4) || in.length >= 4);
}

/* What else looks at /proc/PID/cgroup. */
static void identities(void)
{
    static char text[64 << 10];
    struct cgroup_v1 v1[CGROUP_V1_MOST];
    struct container container;
    const char *path;
    size_t length;

    size_t n = cgroup_v1_read(v1, "");
    for (size_t i = 0; i < n; i++)
        must(v1[i].number && v1[i].mount.point);
    cgroup_v1_free(v1, n);
    long got = file_read("/proc/7/cgroup", text, sizeof text);
    if (got > 0 && identity_path(text, &path, &length, &container)) {
        must(path >= text && path + length <= text + got && path[0] == '/');
        judge_container(path, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct cgroup *c;

    files_begin(bytes, size, 0);
    struct cgroups *cgroups = cgroups_open("");
    must(cgroups);
    if ((c = cgroups_of(cgroups, 7, 1, 1000000000)))
        judge(c);
    identities();
    files_begin(bytes, size, 1);
    if ((c = cgroups_of(cgroups, 7, 1, 2000000000))) {
        judge(c);
        fuzz_taken += c->cpu.known && c->memory.known;
    }
    files_end();
    cgroups_close(cgroups);
    judge_container((const char *)bytes, size);
    return 0;
}
