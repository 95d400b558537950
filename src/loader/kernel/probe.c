/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/probe.h"
#include "loader/kernel/probe_private.h"
#include "loader/kernel/rlimit.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define INSN(c, d, s, o, i)                                                                                  \
    {                                                                                                        \
        .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                                  \
    }
#define RETURN_ZERO INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

int probe_load(const struct bpf_insn *insns, uint32_t n, uint32_t type, const char *name)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = type;
    attr.insns = (uintptr_t)insns;
    attr.insn_cnt = n;
    attr.license = (uintptr_t) "GPL";
    if (name)
        strncpy(attr.prog_name, name, sizeof attr.prog_name - 1);
    int fd = sys_bpf_prog_load(&attr);
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_prog_load(&attr);
    return fd;
}

static int create_map_once(uint32_t type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = type;
    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = entries;
    attr.map_flags = flags;
    return sys_bpf_map_create(&attr);
}

static int create_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags)
{
    int fd = create_map_once(type, key, value, entries, flags);

    while (fd < 0 && rlimit_raise_after(fd))
        fd = create_map_once(type, key, value, entries, flags);
    return fd;
}

/* Was an fd made? It is not kept. */
static bool worked(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* 4.4: eBPF for the privileged (commit 1be7f75d1668). */
static bool probe_bpf(void)
{
    const struct bpf_insn insns[] = {RETURN_ZERO};

    return worked(probe_load(insns, 2, BPF_PROG_TYPE_SOCKET_FILTER, NULL));
}

/* 4.15: commit cb4d2b3f03d8. */
static bool probe_prog_name(void)
{
    const struct bpf_insn insns[] = {RETURN_ZERO};

    return worked(probe_load(insns, 2, BPF_PROG_TYPE_SOCKET_FILTER, "hog_probe"));
}

/* 5.2: direct addresses of map values, commit d8eca5bbb2be. */
static bool probe_global_data(void)
{
    int map = create_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);

    if (map < 0)
        return false;
    const struct bpf_insn insns[] = {
        INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, map),
        INSN(0, 0, 0, 0, 0),
        INSN(BPF_ST | BPF_DW | BPF_MEM, 1, 0, 0, 42),
        RETURN_ZERO,
    };
    bool works = worked(probe_load(insns, 5, BPF_PROG_TYPE_SOCKET_FILTER, NULL));
    close(map);
    return works;
}

/* 5.5: commit fc9702273e2e. */
static bool probe_array_mmap(void)
{
    int map = create_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE);

    if (map < 0)
        return false;
    void *memory = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (memory != MAP_FAILED)
        munmap(memory, getpagesize());
    close(map);
    return memory != MAP_FAILED;
}

/* 5.8: commit 457f44363a88. */
static bool probe_ringbuf(void)
{
    return worked(create_map(BPF_MAP_TYPE_RINGBUF, 0, 0, getpagesize(), 0));
}

/* 5.12: commits 5ca419f2864a and 5ffa25502b5a. The JIT has to know it too: the load runs it. */
static bool probe_atomics(void)
{
    const struct bpf_insn insns[] = {
        INSN(BPF_ST | BPF_DW | BPF_MEM, 10, 0, -8, 1),
        INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
        INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 2),
        INSN(BPF_STX | BPF_DW | BPF_ATOMIC, 10, 1, -8, BPF_ADD | BPF_FETCH),
        INSN(BPF_STX | BPF_DW | BPF_ATOMIC, 10, 1, -8, BPF_CMPXCHG),
        RETURN_ZERO,
    };

    return worked(probe_load(insns, 7, BPF_PROG_TYPE_SOCKET_FILTER, NULL));
}

/* 5.15: commit b89fbfbb854c. With an fd that is no perf event a kernel that knows the type says EBADF. */
static bool probe_perf_link(void)
{
    const struct bpf_insn insns[] = {RETURN_ZERO};
    int program = probe_load(insns, 2, BPF_PROG_TYPE_TRACEPOINT, NULL);

    if (program < 0)
        return false;
    int link = sys_bpf_link_create(program, -1, BPF_PERF_EVENT, 0, 0);
    close(program);
    return !worked(link) && link == -EBADF;
}

/* 5.11: commit 80ee81e0403c. With a limit of zero only such a kernel makes a map. */
static bool probe_memcg_account(void)
{
    struct rlimit old;

    if (getrlimit(RLIMIT_MEMLOCK, &old) < 0)
        return false;
    struct rlimit none = {0, old.rlim_max};
    if (setrlimit(RLIMIT_MEMLOCK, &none) < 0)
        return false;
    bool works = worked(create_map_once(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0));
    setrlimit(RLIMIT_MEMLOCK, &old);
    return works;
}

/* 5.10: commit 1b4d60ec162f. */
static bool probe_test_run_cpu(void)
{
    const struct bpf_insn insns[] = {RETURN_ZERO};
    union bpf_attr attr;
    int program = probe_load(insns, 2, BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);

    if (program < 0)
        return false;
    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = program;
    attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
    attr.test.cpu = 0; /* cannot be offline where we would notice */
    int err = sys_bpf_test_run(&attr);
    close(program);
    return err == 0 || err == -ENXIO;
}

/* 5.6: commit 057996380a42. An empty map answers ENOENT. */
static bool probe_batch(void)
{
    uint64_t out = 0, keys[2], values[2];
    uint32_t count = 2;
    int map = create_map(BPF_MAP_TYPE_HASH, 8, 8, 2, 0);

    if (map < 0)
        return false;
    int err = sys_bpf_map_lookup_and_delete_batch(map, NULL, &out, keys, values, &count);
    close(map);
    return err == 0 || err == -ENOENT;
}

static const struct {
    const char *name;
    bool (*probe)(void);
} features[FEATURE_COUNT] = {
    [FEATURE_BPF] = {"bpf", probe_bpf},
    [FEATURE_BTF] = {"btf", probe_btf},
    [FEATURE_BTF_FUNC] = {"btf_func", probe_btf_func},
    [FEATURE_BTF_DATASEC] = {"btf_datasec", probe_btf_datasec},
    [FEATURE_BTF_FUNC_GLOBAL] = {"btf_func_global", probe_btf_func_global},
    [FEATURE_BTF_FLOAT] = {"btf_float", probe_btf_float},
    [FEATURE_BTF_DECL_TAG] = {"btf_decl_tag", probe_btf_decl_tag},
    [FEATURE_BTF_TYPE_TAG] = {"btf_type_tag", probe_btf_type_tag},
    [FEATURE_BTF_ENUM64] = {"btf_enum64", probe_btf_enum64},
    [FEATURE_GLOBAL_DATA] = {"global_data", probe_global_data},
    [FEATURE_ARRAY_MMAP] = {"array_mmap", probe_array_mmap},
    [FEATURE_PROG_NAME] = {"prog_name", probe_prog_name},
    [FEATURE_RINGBUF] = {"ringbuf", probe_ringbuf},
    [FEATURE_ATOMICS] = {"atomics", probe_atomics},
    [FEATURE_PERF_LINK] = {"perf_link", probe_perf_link},
    [FEATURE_MEMCG_ACCOUNT] = {"memcg_account", probe_memcg_account},
    [FEATURE_TEST_RUN_CPU] = {"test_run_cpu", probe_test_run_cpu},
    [FEATURE_BATCH] = {"batch", probe_batch},
};

bool feature(enum feature f)
{
    static signed char known[FEATURE_COUNT]; /* 0: not asked yet, 1: yes, -1: no */

    if (!known[f])
        known[f] = features[f].probe() ? 1 : -1;
    return known[f] > 0;
}

const char *feature_name(enum feature f)
{
    return features[f].name;
}
