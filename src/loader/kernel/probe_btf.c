/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/probe.h"
#include "syscall/bpf.h"
#include <linux/btf.h>
#include <string.h>
#include <unistd.h>

/* Kinds that the headers of distributions still in use lack. */
#define KIND_FLOAT    16
#define KIND_DECL_TAG 17
#define KIND_TYPE_TAG 18
#define KIND_ENUM64   19

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

/* Type 1 of each probe: int. */
#define INT_TYPE 1, INFO(BTF_KIND_INT, 0), 4, BTF_INT_SIGNED << 24 | 32

/* Offsets in the strings: "int" 1, "x" 5, "a" 7, ".x" 9. */
static const char strings[] = "\0int\0x\0a\0.x";

static bool loads(const uint32_t *types, uint32_t size)
{
    struct {
        struct btf_header header;
        uint8_t rest[128];
    } raw = {.header = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof raw.header}};

    raw.header.type_len = raw.header.str_off = size;
    raw.header.str_len = sizeof strings;
    memcpy(raw.rest, types, size);
    memcpy(raw.rest + size, strings, sizeof strings);
    int fd = sys_bpf_btf_load(&raw, sizeof raw.header + size + sizeof strings, NULL, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* void x(int a); 5.0: commit 2667a2626f4d. */
static bool probe_func_linkage(uint32_t linkage)
{
    const uint32_t types[] = {
        INT_TYPE,                                        /* 1 */
        0,        INFO(BTF_KIND_FUNC_PROTO, 1), 0, 7, 1, /* 2: void (int a) */
        5,        INFO(BTF_KIND_FUNC, linkage), 2,       /* 3 */
    };

    return loads(types, sizeof types);
}

static bool probe_btf_func(void)
{
    return probe_func_linkage(BTF_FUNC_STATIC);
}

/* 5.6: commit 51c39bb1d5d1. */
static bool probe_btf_func_global(void)
{
    return probe_func_linkage(BTF_FUNC_GLOBAL);
}

/* static int x; in a section. 5.2: commit f063c889c9458. */
static bool probe_btf_datasec(void)
{
    const uint32_t types[] = {
        INT_TYPE, /* 1 */
        5,        INFO(BTF_KIND_VAR, 0),
        1,        BTF_VAR_STATIC, /* 2 */
        9,        INFO(BTF_KIND_DATASEC, 1),
        4,        2,
        0,        4, /* 3: ".x" */
    };

    return loads(types, sizeof types);
}

/* 5.14: commit b1828f0b0482. */
static bool probe_btf_float(void)
{
    const uint32_t types[] = {INT_TYPE, 5, INFO(KIND_FLOAT, 0), 8};

    return loads(types, sizeof types);
}

/* A tag "a" on a variable. 5.16: commits b5ea834dde6b and 223f903e9c83. */
static bool probe_btf_decl_tag(void)
{
    const uint32_t types[] = {
        INT_TYPE,                                            /* 1 */
        5,        INFO(BTF_KIND_VAR, 0),  1, BTF_VAR_STATIC, /* 2 */
        7,        INFO(KIND_DECL_TAG, 0), 2, 0xffffffff,     /* 3 */
    };

    return loads(types, sizeof types);
}

/* int tag(a) *. 5.17: commit 8c42d2fa4eeb. */
static bool probe_btf_type_tag(void)
{
    const uint32_t types[] = {
        INT_TYPE,                            /* 1 */
        7,        INFO(KIND_TYPE_TAG, 0), 1, /* 2 */
        0,        INFO(BTF_KIND_PTR, 0),  2, /* 3 */
    };

    return loads(types, sizeof types);
}

/* enum x { a = 1ULL << 32 }; 6.0: commit 6089fb325cf7. */
static bool probe_btf_enum64(void)
{
    const uint32_t types[] = {INT_TYPE, 5, INFO(KIND_ENUM64, 1), 8, 7, 0, 1};

    return loads(types, sizeof types);
}

bool feature(enum feature f)
{
    static bool (*const probes[FEATURE_COUNT])(void) = {
        [FEATURE_BTF_FUNC] = probe_btf_func,
        [FEATURE_BTF_DATASEC] = probe_btf_datasec,
        [FEATURE_BTF_FUNC_GLOBAL] = probe_btf_func_global,
        [FEATURE_BTF_FLOAT] = probe_btf_float,
        [FEATURE_BTF_DECL_TAG] = probe_btf_decl_tag,
        [FEATURE_BTF_TYPE_TAG] = probe_btf_type_tag,
        [FEATURE_BTF_ENUM64] = probe_btf_enum64,
    };
    static signed char known[FEATURE_COUNT]; /* 0: not asked yet, 1: yes, -1: no */

    if (!known[f])
        known[f] = probes[f]() ? 1 : -1;
    return known[f] > 0;
}
