/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of classic tracepoints, and attaching to one where tracefs is not mounted. */
#include "loader/kernel/attach.h"
#include "loader/kernel/tracefs.h"
#include "tests/live/objects.h"
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS     321
#define TRACEPOINT 2

static uint64_t hits(const struct object *obj, uint32_t hook)
{
    uint64_t n = 0;

    sys_bpf_map_lookup(object_map(obj, "hits")->fd, &hook, &n);
    return n;
}

/* Where tracefs is not mounted: in a mount namespace without it. */
static int attach_unmounted(struct object *obj)
{
    struct link link = {0};
    struct error why = {""};

    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return 2;
    while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0)
        ;
    while (umount2("/sys/kernel/debug", MNT_DETACH) == 0)
        ;
    if (access("/sys/kernel/tracing/events", F_OK) == 0)
        return 3;
    if (link_attach(&link, object_program(obj, "on_tracepoint"), &why) < 0) {
        fprintf(stderr, "%s\n", why.text);
        return 4;
    }
    for (int i = 0; i < EVENTS; i++)
        syscall(SYS_getpgid, 0);
    link_detach(&link);
    return access("/sys/kernel/tracing/events", F_OK) == 0 ? 5 : 0;
}

static void check_unmounted(struct object *obj)
{
    int status = 0;

    if (!program_ready(obj, "on_tracepoint"))
        return;
    pid_t child = fork();
    if (child == 0) {
        GLOBAL(obj, "wanted_tgid", uint32_t) = getpid();
        _exit(attach_unmounted(obj));
    }
    waitpid(child, &status, 0);
    check(status == 0 && hits(obj, TRACEPOINT) == EVENTS,
          "a tracepoint fires without tracefs mounted: status %d, %llu", WEXITSTATUS(status),
          (unsigned long long)hits(obj, TRACEPOINT));
}

/* Names are whole: there are prev_pid and next_pid, but no pid. */
static void check_fields(void)
{
    static const char event[] = "sched/sched_switch";
    uint32_t comm = 0, pid = 0, size = 0;
    struct error why = {""};

    int err = tracefs_field(event, "next_comm", &comm, &size, &why);
    check(!err && size == 16, "an array has its size: %u %s", size, why.text);
    err = tracefs_field(event, "next_pid", &pid, &size, &why);
    check(!err && size == 4 && pid == comm + 16, "a field follows the one before it: %u %u %s", comm, pid,
          why.text);
    check(tracefs_field(event, "pid", &pid, &size, &why) == -ENOENT && strstr(why.text, "has no field pid"),
          "another field is not there: %s", why.text);
    check(tracefs_field("sched/no_such", "pid", &pid, &size, &why) == -ENOENT &&
              strstr(why.text, "none of that name"),
          "nor is another event: %s", why.text);
}

int main(void)
{
    struct object *obj = object_ready("live_attach");

    if (!obj)
        return done();
    GLOBAL(obj, "wanted_tgid", uint32_t) = getpid();
    GLOBAL(obj, "wanted_syscall", uint32_t) = SYS_getpgid;
    check_fields();
    check_unmounted(obj);
    object_close(obj);
    return done();
}
