#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The header that gen/structs writes must have the layout that clang gave the BPF side.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

cat >"$TMP/demo.bpf.c" <<'SOURCE'
typedef unsigned long long u64;
enum hog_kind { HOG_NEGATIVE = -3, HOG_SEVEN = 7 };
struct hog_inner { unsigned char a; unsigned int b __attribute__((aligned(16))); };
struct hog_packed { char c; u64 d; } __attribute__((packed));
struct foreign { int x; };
struct hog_slot {
    u64 key;
    _Bool on;
    enum hog_kind kind;
    struct hog_inner in[3][2];
    struct hog_packed packed;
    union { short x; struct { unsigned char lo, hi; } p; };
    void *pointer;
    char comm[16];
    int last[];
} __attribute__((aligned(64)));
struct hog_event { int pid; u64 time; struct hog_slot slot; };
struct hog_event *unused_event;
struct foreign foreign;
SOURCE

# Sizes and offsets as clang itself evaluates them for the kernel's side.
facts=(
    'sizeof(struct hog_slot)'
    'sizeof(struct hog_event)'
    'sizeof(struct hog_packed)'
    'sizeof(struct hog_inner)'
    '__builtin_offsetof(struct hog_slot, in[2][1].b)'
    '__builtin_offsetof(struct hog_slot, packed.d)'
    '__builtin_offsetof(struct hog_slot, p.hi)'
    '__builtin_offsetof(struct hog_slot, pointer)'
    '__builtin_offsetof(struct hog_slot, comm)'
    '__builtin_offsetof(struct hog_event, slot.kind)'
    'HOG_NEGATIVE'
    'HOG_SEVEN'
)

generates() {
    clang -target bpf -g -O2 -c "$TMP/demo.bpf.c" -o "$TMP/demo.bpf.o" &&
        "$BUILD/gen/structs" demo "$TMP/demo.bpf.o" >"$TMP/demo.types.h"
}

# Each value as the kernel's side has it; user space has to agree, at compile time.
agrees() {
    local i value
    cp "$TMP/demo.bpf.c" "$TMP/values.c"
    printf '#include "demo.types.h"\n' >"$TMP/user.c"
    for i in "${!facts[@]}"; do
        echo "long long value_$i __attribute__((section(\"at_$i\"))) = ${facts[i]};" >>"$TMP/values.c"
    done
    clang -target bpf -O2 -c "$TMP/values.c" -o "$TMP/values.o" || return 1
    for i in "${!facts[@]}"; do
        llvm-objcopy -O binary --only-section="at_$i" "$TMP/values.o" "$TMP/value" || return 1
        value=$(od -An -t d8 "$TMP/value")
        echo "_Static_assert(${facts[i]} == ${value:?}, \"${facts[i]}\");" >>"$TMP/user.c"
    done
    cat "$TMP/user.c"
    cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$TMP/user.c"
}

keeps_to_its_own() {
    ! grep foreign "$TMP/demo.types.h"
}

included_twice() {
    printf '#include "demo.types.h"\n#include "other.types.h"\n' >"$TMP/twice.c"
    "$BUILD/gen/structs" other "$TMP/demo.bpf.o" >"$TMP/other.types.h" &&
        cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$TMP/twice.c"
}

notices_difference() {
    sed 's/u64 key;/unsigned int key;/' "$TMP/demo.bpf.c" >"$TMP/other.bpf.c"
    clang -target bpf -g -O2 -c "$TMP/other.bpf.c" -o "$TMP/other.bpf.o" &&
        "$BUILD/gen/structs" other "$TMP/other.bpf.o" >"$TMP/other.types.h" || return 1
    ! cc -std=gnu11 -fsyntax-only "$TMP/twice.c"
}

refuses_foreign() {
    echo 'struct foreign { int x; }; struct hog_a { struct foreign f; } a;' >"$TMP/bad.bpf.c"
    clang -target bpf -g -O2 -c "$TMP/bad.bpf.c" -o "$TMP/bad.bpf.o" || return 1
    ! "$BUILD/gen/structs" bad "$TMP/bad.bpf.o" 2>"$TMP/said" >/dev/null && grep -q 'must be called hog_' "$TMP/said"
}

check 'a header comes out' generates
check 'sizes, offsets and values are those of the BPF side' agrees
check 'what is not called hog_ stays out' keeps_to_its_own
check 'a type of two objects is no clash' included_twice
check 'two objects that differ break the build' notices_difference
check 'a shared struct that holds a foreign one is refused' refuses_foreign
done_testing
