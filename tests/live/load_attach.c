/* SPDX-License-Identifier: GPL-2.0-only */
/* Each kind of program really fires, as often as the event happens. */
#include "base/cpus.h"
#include "loader/kernel/attach.h"
#include "loader/kernel/probe.h"
#include "tests/live/objects.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 1237

enum hook { RAW_TP, TP_BTF, TRACEPOINT, KPROBE, FENTRY, FEXIT, UPROBE, URETPROBE, PERF };

__attribute__((noinline)) void hog_test_probed(void);
void hog_test_probed(void)
{
    __asm__ volatile("nop");
}

static void call_getpgid(int n)
{
    while (n-- > 0)
        syscall(SYS_getpgid, 0);
}

static void call_probed(int n)
{
    while (n-- > 0)
        hog_test_probed();
}

static uint64_t hits(const struct object *obj, uint32_t hook)
{
    uint64_t n = 0;

    sys_bpf_map_lookup(object_map(obj, "hits")->fd, &hook, &n);
    return n;
}

static void clear(const struct object *obj, uint32_t hook)
{
    uint64_t zero = 0;

    sys_bpf_map_update(object_map(obj, "hits")->fd, &hook, &zero, 0);
}

static const struct kind {
    const char *program, *hook, *need; /* need: what the machine may lack, or NULL */
    enum hook index;
    void (*act)(int n);
} kinds[] = {
    {"on_raw_tp", "raw_tp", NULL, RAW_TP, call_getpgid},
    {"on_tp_btf", "tp_btf", "BTF", TP_BTF, call_getpgid},
    {"on_tracepoint", "tracepoint", NULL, TRACEPOINT, call_getpgid},
    {"on_kprobe", "kprobe", "KPROBE", KPROBE, call_getpgid},
    {"on_fentry", "fentry", "FENTRY", FENTRY, call_getpgid},
    {"on_fexit", "fentry", "FENTRY", FEXIT, call_getpgid},
    {"on_uprobe", "uprobe", "UPROBE", UPROBE, call_probed},
    {"on_uretprobe", "uprobe", "UPROBE", URETPROBE, call_probed},
};

static void check_kind(struct object *obj, const struct kind *kind)
{
    struct object_program *program = object_program(obj, kind->program);
    struct link link = {0};
    struct error why = {""};
    char reason[640];

    int err = object_load_program(obj, program, &why);
    if (!err)
        err = kind->act == call_probed ? link_attach_uprobe(&link, program, "/proc/self/exe",
                                                            own_offset((uintptr_t)hog_test_probed),
                                                            kind->index == URETPROBE, getpid(), &why)
                                       : link_attach(&link, program, &why);
    if (err && kind->need) { /* the test runner checks whether this is true */
        snprintf(reason, sizeof reason, "needs %s: %s", kind->need, why.text);
        skip(kind->program, reason);
        check(probe_hook(kind->hook, NULL) < 0, "%s: the probe knows that it cannot attach", kind->program);
        return;
    }
    check(!err, "%s attaches: %s", kind->program, why.text);
    clear(obj, kind->index);
    kind->act(EVENTS);
    uint64_t n = hits(obj, kind->index);
    check(n == EVENTS, "%s fires once an event: %llu of %d", kind->program, (unsigned long long)n, EVENTS);
    link_detach(&link);
    link_detach(&link);
    kind->act(100);
    check(hits(obj, kind->index) == n, "%s is silent once detached (twice)", kind->program);
    check(probe_hook(kind->hook, NULL) == 0, "%s: the probe knows that it can attach", kind->program);
    close(program->fd);
    program->fd = -1;
}

/* Page faults on fresh memory, counted by getrusage. */
static uint64_t fault(size_t pages)
{
    struct rusage before, after;
    size_t page = getpagesize();
    uint8_t *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < pages; i++)
        ((volatile uint8_t *)memory)[i * page] = 1;
    getrusage(RUSAGE_SELF, &after);
    munmap(memory, pages * page);
    return (uint64_t)(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
}

static void check_perf(struct object *obj)
{
    struct object_program *program = program_ready(obj, "on_perf");
    struct link link = {0};
    struct error why = {""};

    if (!program)
        return;
    fault(1); /* the pages of getrusage itself are mapped now */
    int err = link_attach_perf(&link, program, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, &why);
    check(!err, "a program attaches to page faults: %s", why.text);
    clear(obj, PERF);
    uint64_t before = hits(obj, PERF), real = fault(500), seen = hits(obj, PERF) - before;
    check(real >= 500 && seen == real, "it sees each page fault: %llu of %llu", (unsigned long long)seen,
          (unsigned long long)real);
    link_detach(&link);
    fault(10);
    check(hits(obj, PERF) - before == seen, "it is silent once detached");
}

static void check_run_on_cpu(struct object *obj)
{
    struct object_program *program = program_ready(obj, "on_run");
    struct error why = {""};
    uint8_t online[MAX_CPUS];
    int bad = 0, n = cpus_online(online, sizeof online);

    if (!program)
        return;
    for (int cpu = 0; cpu < MAX_CPUS; cpu++)
        if (online[cpu])
            bad += program_run_on_cpu(program, cpu, &why) != 0 ||
                   GLOBAL(obj, "ran_on", uint32_t) != (uint32_t)cpu;
    check(bad == 0 && GLOBAL(obj, "runs", uint32_t) == (uint32_t)n, "a run on each of %d CPUs runs there: %s",
          n, why.text);
    check(program_run_on_cpu(program, MAX_CPUS - 1, &why) < 0, "a run on a CPU that is not there fails: %s",
          why.text);
}

static void check_refusals(struct object *obj)
{
    static const struct alternative list[] = {
        {"bad", "bad_program"},        {"missing", "no_such_program"}, {"raw_tp", "on_nothing"},
        {"tracepoint", "on_no_event"}, {"good", "on_raw_tp"},          {"never", "on_tracepoint"},
    };
    struct choice choice;
    struct link link = {0};
    struct error why = {""};

    int err = choose_and_attach(obj, list, 6, NULL, &link, &choice, &why);
    check(!err && choice.chosen == &list[4] && choice.nrefused == 4,
          "the first alternative that works is chosen: %s", why.text);
    for (size_t i = 0; i < choice.nrefused; i++)
        check(choice.refused[i].error < 0 && choice.refused[i].hook == list[i].hook &&
                  choice.refused[i].reason.text[0],
              "refusal of %s: %s", choice.refused[i].hook, choice.refused[i].reason.text);
    const struct object_program *bad = object_program(obj, "bad_program");
    check(bad->log && strstr(bad->log, "R1 invalid mem access") &&
              strstr(choice.refused[0].reason.text, "mem access"),
          "the verifier's words are kept");
    check(object_program(obj, "on_nothing")->fd < 0 && object_program(obj, "on_tracepoint")->fd < 0,
          "nothing that is not used stays loaded");
    check(object_program(obj, "on_raw_tp")->fd > 2, "what is used does");
    link_detach(&link);
    err = choose_and_attach(obj, &list[4], 2, "x,good,tp_btf", &link, &choice, &why);
    check(!err && choice.chosen == &list[5] && choice.refused[0].error == -ECANCELED,
          "--without passes over a hook");
    link_detach(&link);
    err = choose_and_attach(obj, list, 1, NULL, &link, &choice, &why);
    check(err < 0 && !choice.chosen && link.nfds == 0 && why.text[0], "no alternative works: %s", why.text);
}

int main(void)
{
    struct object *obj = object_ready("live_attach");

    if (!obj)
        return done();
    GLOBAL(obj, "wanted_tgid", uint32_t) = getpid();
    GLOBAL(obj, "wanted_syscall", uint32_t) = SYS_getpgid;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(obj, &kinds[i]);
    check_perf(obj);
    check_run_on_cpu(obj);
    check_refusals(obj);
    object_close(obj);
    return done();
}
