/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps in the format that came before BTF definitions. */
#include <linux/bpf.h>
#include <linux/types.h>

#define SEC(name) __attribute__((section(name), used))

static void *(*map_lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;

struct bpf_map_def {
    unsigned int type, key_size, value_size, max_entries, map_flags;
};

struct bpf_map_def SEC("maps") legacy_array = {BPF_MAP_TYPE_ARRAY, 4, 16, 5, 0};
struct bpf_map_def SEC("maps") legacy_hash = {BPF_MAP_TYPE_HASH, 8, 24, 1000, BPF_F_NO_PREALLOC};
struct bpf_map_def SEC("maps") legacy_perf = {BPF_MAP_TYPE_PERF_EVENT_ARRAY, 0, 0, 16, 0};

SEC("kprobe/vfs_read") int legacy_program(void *context)
{
    __u32 key = 0;
    return map_lookup(&legacy_hash, &key) != map_lookup(&legacy_array, &key);
}

char legacy_license[] SEC("license") = "GPL";
