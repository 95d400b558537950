// SPDX-License-Identifier: GPL-2.0-only
/* Page faults of every thread since it was pinned, for any number of readers. The hooks are those of
 * faults.bpf.c, as far as they can be pinned; what is said there about begins, tries and ends holds here,
 * too. A fault counts when it has ended. */
#include <linux/bpf_perf_event.h>
#include "kernel/mm.bpf.h"
#include "lib/exited_threads.bpf.h"
#include "lib/threads.bpf.h"

char gpl[] SEC("license") = "GPL";

#ifdef __TARGET_ARCH_arm64
#define from_kernel(context) (((context)->pstate & 0xf) != 0) /* another mode than EL0t */
#else
#define from_kernel(context) (!((context)->cs & 3))
#endif

struct hog_thread_sums {
    u64 minor, major; /* faults without and with I/O */
    u64 in_kernel;    /* of both, taken in kernel mode */
    u64 timed, ns;    /* of both, those whose begin was seen, and how long they took */
    u64 since_ns;     /* CLOCK_MONOTONIC when the current one began; 0: none, or its begin was not seen */
    u64 major_at;     /* address of the latest major one */
    struct hog_thread_name name;
};

struct hog_cpu_sums {
    struct hog_exits exits;
    u64 faults; /* all, including those without room */
};

EXITED_THREADS(struct hog_thread_sums, struct hog_cpu_sums)

/* Only the thread itself writes its sums. */
static __attribute__((noinline)) struct hog_thread_sums *current_sums(struct hog_cpu_sums *c)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    u64 both = bpf_get_current_pid_tgid();
    struct hog_thread key = {
        .pid = both >> 32, .tid = both, .born_ns = kernel_field(false, task, start_boottime)};
    struct hog_thread_sums *sums = sums_of(c, &key);

    if (sums && !sums->name.process_born_ns)
        thread_name(false, &sums->name, task, kernel_field(false, task, group_leader),
                    kernel_field(false, task, real_cred));
    return sums;
}

/* tried: the fault continues. */
static __always_inline void begin(bool tried)
{
    struct hog_cpu_sums *c = this_cpu();
    struct hog_thread_sums *sums = c ? current_sums(c) : NULL;

    if (sums && !(tried && sums->since_ns))
        sums->since_ns = bpf_ktime_get_ns();
}

static __attribute__((noinline)) int end(u64 address, bool major, bool in_kernel)
{
    struct hog_cpu_sums *c = this_cpu();

    if (!c)
        return 0;
    c->faults++;
    struct hog_thread_sums *sums = current_sums(c);
    if (!sums) {
        c->exits.lost++;
        return 0;
    }
    if (major) {
        sums->major++;
        sums->major_at = address;
    } else {
        sums->minor++;
    }
    sums->in_kernel += in_kernel;
    if (sums->since_ns) {
        sums->ns += bpf_ktime_get_ns() - sums->since_ns;
        sums->timed++;
        sums->since_ns = 0;
    }
    bpf_get_current_comm(sums->name.comm, sizeof sums->name.comm); /* exec changes it */
    return 0;
}

SEC("fentry/handle_mm_fault")
int hog_begin_fentry(void *ctx)
{
    begin(argument(ctx, 2, u64) & FAULT_FLAG_TRIED);
    return 0;
}

SEC("tp_btf/page_fault_user")
int hog_begin_user(void *ctx)
{
    begin(false);
    return 0;
}

SEC("tp_btf/page_fault_kernel")
int hog_begin_kernel(void *ctx)
{
    begin(false);
    return 0;
}

/* Like mm_account_fault: see faults.bpf.c. */
SEC("fexit/handle_mm_fault")
int hog_end_fexit(void *ctx)
{
    u32 flags = argument(ctx, 2, u64), result = argument(ctx, 4, u64);

    if (result & VM_FAULT_RETRY)
        return 0;
    if (result & VM_FAULT_ERROR) {
        struct hog_cpu_sums *c = this_cpu();
        struct hog_thread_sums *sums = c ? current_sums(c) : NULL;
        if (sums)
            sums->since_ns = 0;
        return 0;
    }
    return end(argument(ctx, 1, u64), (result & VM_FAULT_MAJOR) || (flags & FAULT_FLAG_TRIED),
               !(flags & FAULT_FLAG_USER));
}

SEC("perf_event/minor")
int hog_minor(struct bpf_perf_event_data *ctx)
{
    return end(ctx->addr, false, from_kernel(&ctx->regs));
}

SEC("perf_event/major")
int hog_major(struct bpf_perf_event_data *ctx)
{
    return end(ctx->addr, true, from_kernel(&ctx->regs));
}

/* When the task is freed: an exiting thread still has faults until late. */
static __always_inline void on_free(bool direct, struct task_struct *task)
{
    struct hog_thread key = {.pid = kernel_field(direct, task, tgid),
                             .tid = kernel_field(direct, task, pid),
                             .born_ns = kernel_field(direct, task, start_boottime)};
    struct hog_thread_sums *sums = bpf_map_lookup_elem(&hog_threads, &key);
    struct hog_cpu_sums *c = this_cpu();

    if (sums && c)
        move_to_exited(c, &key, sums);
}

SEC("tp_btf/sched_process_free")
int hog_free_btf(void *ctx)
{
    on_free(true, argument(ctx, 0, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_free")
int hog_free_raw(void *ctx)
{
    on_free(false, argument(ctx, 0, struct task_struct *));
    return 0;
}
