// SPDX-License-Identifier: GPL-2.0-only
/* What a directory of pinned views contains: docs/pinned.md. */
#include "kernel/helpers.bpf.h"

char gpl[] SEC("license") = "GPL";

enum hog_pin_layout {
    HOG_PIN_LAYOUT = 4, /* of all pinned maps: another number means another layout */
    HOG_PIN_MAGIC = 0x70676f68,
};
const volatile enum hog_pin_layout pin_layout = HOG_PIN_LAYOUT;

/* Never reordered: any release reads it, to report what it cannot read. */
struct hog_pin {
    u32 magic;
    u32 layout;
    char version[16]; /* of the hog that pinned it */
    char views[64];   /* "cpu,faults": a directory each */
    u64 pinned_ns;    /* when, ns since the epoch */
    u64 booted_ns;    /* add this to `born_ns` to get ns since the epoch */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_pin);
} hog_info SEC(".maps");

/* Never loaded: an object without functions has no type data. */
SEC("raw_tp/none")
int hog_none(void *ctx)
{
    return 0;
}
