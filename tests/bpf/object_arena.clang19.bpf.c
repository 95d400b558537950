/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables in an arena: one with an initial value, one set by the program. */
#include <linux/bpf.h>
#include <linux/types.h>

#define SEC(name)           __attribute__((section(name), used))
#define ARENA               __attribute__((address_space(1)))
#define __uint(name, value) int(*name)[value]

struct {
    __uint(type, 33); /* BPF_MAP_TYPE_ARENA */
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 4);
} arena_map SEC(".maps");

int ARENA arena_given = 42;
int ARENA arena_result;

SEC("syscall") int arena_add(void *context)
{
    asm volatile(
        "" ::"r"(&arena_map)); /* the verifier accepts such pointers only in programs that use an arena */
    arena_result = arena_given + 5;
    return arena_result;
}

char arena_license[] SEC("license") = "GPL";
