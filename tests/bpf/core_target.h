/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of a kernel other than the one that tests/bpf/core_local.bpf.c was written for. The test includes
 * this, too: relocations must come to what the host's compiler says about these types. TARGET_B is a second
 * kernel, with yet another layout. */
#ifndef HOG_TESTS_CORE_TARGET_H
#define HOG_TESTS_CORE_TARGET_H

enum core_color {
    CORE_RED = 11,
#ifdef TARGET_B
    CORE_BLUE = -7,
#else
    CORE_BLUE = 70000,
    CORE_GREEN = 13,
#endif
};

struct core_inner {
    long before;
    int leaf;
};

struct core_shape {
#ifdef TARGET_B
    char pad[300];
#else
    long pad[3];
#endif
    union {
        struct {
            int unused;
            int deep; /* not in an anonymous member there */
        };
        long wide;
    };
    short narrow;      /* int there */
    unsigned long big; /* unsigned int there */
#ifndef TARGET_B
    int maybe;
#endif
    const volatile struct core_inner *pointer;
    struct core_inner inner[5];
    unsigned int low : 3, mid : 11, high : 18;
    signed int negative : 9;
    unsigned char flag;
    enum core_color color;
    int tail[]; /* flexible there too */
};

typedef struct {
    long x, y, z;
} core_point;

/* Same name except for a flavor, and `where` at the same offset: they agree. `torn` has two offsets:
 * ambiguous. */
struct core_twin {
    int torn;
    int filler;
    int where;
};
struct core_twin___other {
    long torn_filler;
    int where;
    int torn;
};

#endif
