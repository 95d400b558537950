/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that has to be linked: subprograms, callbacks, maps, variables, externs. */
#include <linux/bpf.h>
#include <linux/types.h>

#define SEC(name)           __attribute__((section(name), used))
#define NOINLINE            __attribute__((noinline))
#define EXTERN(name)        __attribute__((section(name)))
#define WEAK                __attribute__((weak))
#define __uint(name, value) int(*name)[value]
#define __type(name, type)  type *name
#define __array(name, type) type *name[]

static void *(*map_lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*tail_call)(void *context, void *map, __u32 index) = (void *)BPF_FUNC_tail_call;
static long (*loop)(__u32 count, void *callback, void *context, __u64 flags) = (void *)BPF_FUNC_loop;

struct inner {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 3);
    __type(key, __u32);
    __type(value, __u64);
};
struct inner link_inner_a SEC(".maps"), link_inner_b SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 4);
    __uint(key_size, 4);
    __array(values, struct inner);
} link_outer SEC(".maps") = {.values = {[1] = &link_inner_b, [3] = &link_inner_a}};

int link_tail(void *context);
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 2);
    __uint(key_size, 4);
    int (*values[])(void *);
} link_tails SEC(".maps") = {.values = {[1] = &link_tail}};

struct pair {
    __u64 a, b;
};
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 77);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(pinning, 1);
    __type(key, __u32);
    __type(value, struct pair);
} link_hash SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __type(value, struct pair);
} link_perf SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
    __type(value, struct pair); /* describes the events; ignored by the kernel */
} link_ring SEC(".maps");

volatile const __u32 link_constant = 0x11223344;
volatile const __u64 link_second = 55;
__u64 link_counter = 7;
__u32 link_zeroed[3];
__u32 link_own EXTERN(".data.own") = 9;
static volatile __u32 link_static = 21;

extern int LINUX_KERNEL_VERSION EXTERN(".kconfig");
extern _Bool LINUX_HAS_SYSCALL_WRAPPER EXTERN(".kconfig");
extern _Bool CONFIG_HOG_NEVER EXTERN(".kconfig") WEAK;
extern void link_kfunc(void *task) EXTERN(".ksyms");
extern int link_ksym EXTERN(".ksyms") WEAK;

static NOINLINE long leaf(long x)
{
    return x * link_second + link_static;
}

static NOINLINE long twig(long x)
{
    return leaf(x + 1) ^ leaf(x + 2);
}

NOINLINE int link_global(int x)
{
    return (int)twig(x) + 1;
}

static long each(__u32 index, void *context)
{
    link_zeroed[1] += index;
    return leaf(index) > 100;
}

SEC("raw_tp/first") int link_first(void *context)
{
    return (int)leaf(link_constant) + link_global(3);
}

SEC("raw_tp/second") int link_second_program(void *context)
{
    __u32 key = 1;
    loop(3, each, 0, 0);
    return map_lookup(&link_hash, &key) != 0;
}

static NOINLINE SEC("raw_tp/second") int neighbour(long x)
{
    return (int)(x + link_zeroed[2]);
}

SEC("raw_tp/second") int link_same_section(void *context)
{
    return neighbour(link_own) + neighbour(link_counter);
}

SEC("tp_btf/sched_switch") int link_tail(void *context)
{
    return LINUX_KERNEL_VERSION > 0 && LINUX_HAS_SYSCALL_WRAPPER && !CONFIG_HOG_NEVER;
}

SEC("fentry/link_kfunc") int link_externs(void *context)
{
    link_kfunc(context);
    return link_ksym;
}

SEC("tp_btf/sched_switch") int link_uses_tails(void *context)
{
    __u32 key = 0;
    tail_call(context, &link_tails, 1);
    return map_lookup(&link_outer, &key) != 0;
}

char link_license[] SEC("license") = "Dual MIT/GPL";
__u32 link_version SEC("version") = 0x50607;
