/* SPDX-License-Identifier: GPL-2.0-only */
/* What every BPF program needs: short integer names, map definition macros, helpers (by their ids in
 * <linux/bpf.h>) and reads of kernel memory that are relocated to the running kernel's layout. */
#ifndef HOG_BPF_KERNEL_HELPERS_H
#define HOG_BPF_KERNEL_HELPERS_H

#include <linux/bpf.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#define SEC(name) __attribute__((section(name), used))
#undef __always_inline /* <linux/stddef.h> has a weaker one */
#define __always_inline  inline __attribute__((always_inline))
#define __relocated      __attribute__((preserve_access_index))
#define __uint(name, n)  int(*name)[n]
#define __type(name, t)  typeof(t) *name
#define barrier_var(v)   asm volatile("" : "+r"(v))
#define barrier()        asm volatile("" ::: "memory")
#define read_once(x)     (*(const volatile typeof(x) *)&(x))
#define write_once(x, v) (*(volatile typeof(x) *)&(x) = (v))
#define unlikely(x)      __builtin_expect(!!(x), 0)
#define add(word, n)     __sync_fetch_and_add(&(word), n)

/* A choice without a branch gives the verifier, which walks the code after a branch once per way to get
 * there, one way less. Compilers recognize such arithmetic and branch after all, hence the barriers; and
 * verifiers (6.18) walk both ways if a mask that may be -1 or 0 is the destination of an `and`. */

/* 1 if a < b, else 0; both below 2^63. */
static __always_inline u64 is_less(u64 a, u64 b)
{
    u64 difference = a - b;

    barrier_var(difference);
    return difference >> 63;
}

/* 1 if a is not 0, else 0. */
static __always_inline u64 is_set(u64 a)
{
    u64 either = a | -a;

    barrier_var(either);
    return either >> 63;
}

static __always_inline u64 choose(u64 one, u64 if_one, u64 if_zero)
{
    u64 mask = -one, both = if_one ^ if_zero;

    asm volatile("%0 &= %1" : "+r"(both) : "r"(mask));
    return both ^ if_zero;
}

/* The same value, as one unknown to the verifier (`any`: a value unknown to it): paths on which it knew
 * different bounds become one. */
static __always_inline u64 forget(u64 value, u64 any)
{
    value += any;
    barrier_var(value);
    return value - any;
}

/* The n-th argument of a raw or BTF tracepoint. */
#define argument(ctx, n, T) ((T)((u64 *)(ctx))[n])

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         u64 flags) = (void *)BPF_FUNC_map_update_elem;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_delete_elem;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)BPF_FUNC_ktime_get_ns;
static u64 (*const bpf_ktime_get_boot_ns)(void) = (void *)BPF_FUNC_ktime_get_boot_ns;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)BPF_FUNC_get_smp_processor_id;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)BPF_FUNC_get_current_pid_tgid;
static u64 (*const bpf_get_current_uid_gid)(void) = (void *)BPF_FUNC_get_current_uid_gid;
static u64 (*const bpf_get_current_cgroup_id)(void) = (void *)BPF_FUNC_get_current_cgroup_id;
static long (*const bpf_get_current_comm)(void *to, u32 size) = (void *)BPF_FUNC_get_current_comm;
static u64 (*const bpf_get_current_task)(void) = (void *)BPF_FUNC_get_current_task;
static void *(*const bpf_get_current_task_btf)(void) = (void *)BPF_FUNC_get_current_task_btf;
static long (*const bpf_probe_read_kernel)(void *to, u32 size,
                                           const void *from) = (void *)BPF_FUNC_probe_read_kernel;
static long (*const bpf_perf_event_read_value)(void *map, u64 flags, struct bpf_perf_event_value *to,
                                               u32 size) = (void *)BPF_FUNC_perf_event_read_value;
static long (*const bpf_probe_read_user)(void *to, u32 size,
                                         const void *from) = (void *)BPF_FUNC_probe_read_user;
struct task_struct;
struct pt_regs___kernel;
static struct pt_regs___kernel *(*const bpf_task_pt_regs)(struct task_struct *task) = (void *)
    BPF_FUNC_task_pt_regs;
struct seq_file;
static long (*const bpf_seq_write)(struct seq_file *to, const void *from,
                                   u32 size) = (void *)BPF_FUNC_seq_write;

/* 1 if the running kernel's struct has the field, else 0: a constant by the time of verification. */
#define kernel_has(p, field) __builtin_preserve_field_info((p)->field, 2 /* BPF_CORE_FIELD_EXISTS */)

/* The size of a type in the running kernel. */
#define kernel_size(type) __builtin_preserve_type_info(*(typeof(type) *)NULL, 1 /* BPF_TYPE_SIZE */)

/* A field of a kernel struct: a plain load if the pointer has a type that the verifier knows (`direct`,
 * tp_btf), else a checked copy. `direct` must be a compile-time constant. */
#define kernel_field(direct, p, field)                                                                       \
    ({                                                                                                       \
        typeof((p)->field) value_;                                                                           \
        if (direct)                                                                                          \
            value_ = (p)->field;                                                                             \
        else                                                                                                 \
            bpf_probe_read_kernel(&value_, sizeof value_, __builtin_preserve_access_index(&(p)->field));     \
        value_;                                                                                              \
    })

/* The same for a bitfield, of 32 bits at most. */
#define kernel_bit(direct, p, field)                                                                         \
    ({                                                                                                       \
        const void *from_ = (const void *)(p) + __builtin_preserve_field_info((p)->field, 0 /* offset */);   \
        u32 word_;                                                                                           \
        if (direct)                                                                                          \
            word_ = *(const u32 *)from_;                                                                     \
        else                                                                                                 \
            bpf_probe_read_kernel(&word_, sizeof word_, from_);                                              \
        (u64) word_ << __builtin_preserve_field_info((p)->field, 4 /* LSHIFT_U64 */) >>                      \
            __builtin_preserve_field_info((p)->field, 5 /* RSHIFT_U64 */);                                   \
    })

#endif
