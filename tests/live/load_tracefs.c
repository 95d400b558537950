/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes by tracefs: they fire, and nothing of them is left, whatever happens to their creator. */
#include "loader/kernel/attach.h"
#include "loader/kernel/link.h"
#include "loader/kernel/tracefs.h"
#include "tests/live/objects.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS     321
#define TRACEPOINT 2
#define KPROBE     3
#define UPROBE     7
#define URETPROBE  8

__attribute__((noinline)) void hog_test_probed(void);
void hog_test_probed(void)
{
    __asm__ volatile("nop");
}

static uint64_t hits(const struct object *obj, uint32_t hook)
{
    uint64_t n = 0;

    sys_bpf_map_lookup(object_map(obj, "hits")->fd, &hook, &n);
    return n;
}

/* Is there a line with this text in the tracefs file of that name? */
static bool is_defined(const char *file, const char *text)
{
    char content[65536];
    int directory = tracefs_open(NULL), fd = openat(directory, file, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, content, sizeof content - 1);

    close(fd);
    close(directory);
    content[n > 0 ? n : 0] = 0;
    return strstr(content, text) != NULL;
}

static int attach(struct link *link, struct object *obj, const char *program, bool at_return,
                  struct error *why)
{
    uint64_t offset = 0;
    int err = elf_function_offset("/proc/self/exe", "hog_test_probed", &offset, why);

    if (err)
        return err;
    return link_attach_uprobe_by(link, object_program(obj, program), "/proc/self/exe", offset, at_return, -1,
                                 PROBE_BY_TRACEFS, why);
}

static void check_probe(struct object *obj, const char *program, uint32_t hook, bool at_return)
{
    struct link link = {0};
    struct error why = {""};
    char name[64];

    if (!program_ready(obj, program))
        return;
    int err = attach(&link, obj, program, at_return, &why);
    check(!err && link.tracefs_event[0], "%s attaches by tracefs: %s", program, why.text);
    snprintf(name, sizeof name, "uprobes/hog_%d_", (int)getpid());
    check(is_defined("uprobe_events", name), "%s is defined under our PID", program);
    for (int i = 0; i < EVENTS; i++)
        hog_test_probed();
    check(hits(obj, hook) == EVENTS, "%s by tracefs fires once a call: %llu of %d", program,
          (unsigned long long)hits(obj, hook), EVENTS);
    link_detach(&link);
    link_detach(&link);
    hog_test_probed();
    check(hits(obj, hook) == EVENTS && !is_defined("uprobe_events", name), "%s is gone once detached",
          program);
}

/* kprobes by tracefs, if available. */
static void check_kprobe(struct object *obj)
{
    struct link link = {0};
    struct error why = {""};
    struct object_program *program = program_ready(obj, "on_kprobe");
    char reason[400];

    if (!program)
        return;
    int err = link_attach_kprobe(&link, program, program->target, false, PROBE_BY_TRACEFS, &why);
    if (err) {
        snprintf(reason, sizeof reason, "needs KPROBE: %s", why.text);
        skip("a kprobe by tracefs", reason);
        return;
    }
    for (int i = 0; i < EVENTS; i++)
        syscall(SYS_getpgid, 0);
    check(hits(obj, KPROBE) == EVENTS, "a kprobe by tracefs fires once a call: %llu of %d",
          (unsigned long long)hits(obj, KPROBE), EVENTS);
    link_detach(&link);
    check(!is_defined("kprobe_events", "/hog_"), "a kprobe by tracefs is gone once detached");
}

/* A process is killed with a probe in place; a later one cleans up. */
static void check_killed(struct object *obj)
{
    struct link link = {0};
    struct error why = {""};
    char name[64];
    int status;

    if (!program_ready(obj, "on_uprobe"))
        return;
    pid_t child = fork();
    if (child == 0) {
        attach(&link, obj, "on_uprobe", false, &why);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    snprintf(name, sizeof name, "uprobes/hog_%d_", (int)child);
    check(is_defined("uprobe_events", name), "a probe of a killed process is left behind");
    pid_t second = fork();
    if (second == 0) {
        int err = attach(&link, obj, "on_uprobe", false, &why);
        link_detach(&link);
        _exit(err != 0);
    }
    waitpid(second, &status, 0);
    check(status == 0 && !is_defined("uprobe_events", name), "the next process removes it");
    check(!is_defined("uprobe_events", "/hog_"), "and nothing else is left");
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

int main(void)
{
    struct object *obj = object_ready("live_attach");

    if (!obj)
        return done();
    GLOBAL(obj, "wanted_tgid", uint32_t) = getpid();
    GLOBAL(obj, "wanted_syscall", uint32_t) = SYS_getpgid;
    check_killed(
        obj); /* first: a process cleans up when it makes its first probe, and children inherit that */
    check_probe(obj, "on_uprobe", UPROBE, false);
    check_probe(obj, "on_uretprobe", URETPROBE, true);
    check_kprobe(obj);
    check_unmounted(obj);
    object_close(obj);
    return done();
}
