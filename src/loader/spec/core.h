/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CO-RE: what an instruction assumes about the layout of a type, replaced by the target's layout. The steps
 * of one relocation: core_parse reads what is meant in local types, core_match finds the same in one
 * candidate of the target, core_value computes the number for either, core_patch writes it into the
 * instruction.
 */
#ifndef HOG_LOADER_SPEC_CORE_H
#define HOG_LOADER_SPEC_CORE_H

#include <linux/bpf.h>
#include "loader/spec/btf.h"
#include "loader/spec/spec.h"
#include "loader/spec/target_btf_private.h"

#define CORE_STEPS 64

enum { /* of enum bpf_core_relo_kind; shorter, and there in all headers */
       CORE_BYTE_OFFSET,
       CORE_BYTE_SIZE,
       CORE_FIELD_EXISTS,
       CORE_SIGNED,
       CORE_LSHIFT,
       CORE_RSHIFT,
       CORE_TYPE_ID_LOCAL,
       CORE_TYPE_ID_TARGET,
       CORE_TYPE_EXISTS,
       CORE_TYPE_SIZE,
       CORE_ENUM_EXISTS,
       CORE_ENUM_VALUE,
       CORE_TYPE_MATCHES,
       CORE_KINDS
};

struct core_step {
    uint32_t type;    /* a composite for a member, else the type of the element */
    uint32_t index;   /* of the member, the element or the enumerator */
    const char *name; /* the local member's or enumerator's; NULL: an element */
};

struct core_spec {
    const struct type_source *source;
    uint32_t kind; /* CORE_* */
    uint32_t root;
    struct core_step steps[CORE_STEPS];
    size_t nsteps;
    uint64_t bit_offset;
};

static inline bool core_is_field(uint32_t kind)
{
    return kind <= CORE_RSHIFT;
}
static inline bool core_is_enum(uint32_t kind)
{
    return kind == CORE_ENUM_EXISTS || kind == CORE_ENUM_VALUE;
}

static inline bool core_is_type(uint32_t kind) /* a whole one */
{
    return !core_is_field(kind) && !core_is_enum(kind);
}

/* Length of a name without its flavor: "task_struct___old" is another task_struct. */
size_t core_essential(const char *name);

/* -EINVAL with a reason if the access string does not fit the type. */
int core_parse(struct core_spec *spec, const struct type_source *local, const struct bpf_core_relo *relo,
               const char *access, struct error *why);

/* Whether the candidate has it, *out. Whole types are not compared. Types can be built that never end: what
 * is true or false past the budget of either source counts for nothing. */
bool core_match(const struct core_spec *local, const struct type_source *target, uint32_t candidate,
                struct core_spec *out);

struct core_value {
    uint64_t value;
    uint32_t access_size; /* bytes of the field that the instruction reads or writes; 0: not one */
    bool pointer, integer, is_signed; /* what the field is */
    bool validate;                    /* the instruction is known to hold the local value */
};
/* spec NULL: the target has no such thing. -EUCLEAN: then there is no value either. */
int core_value(uint32_t kind, const struct core_spec *spec, struct core_value *out, struct error *why);

/* Sets result->poison for what only the types forbid. */
int core_patch(struct bpf_insn *insns, size_t ninsns, struct core_result *result,
               const struct core_value *local, const struct core_value *target, uint32_t number,
               struct error *why);

/* The whole of it, for one relocation. w gets a reason if result->failed. target NULL: there is none. */
struct core_resolver {
    const struct btf *btf;
    struct target_btf *target;
    struct arena *arena;                /* for the names in results, and the candidates */
    struct core_candidates *candidates; /* by local type */
    const struct spec_extras *extras;   /* NULL: of whole types, only composites and enums are looked for */
};
int core_resolve(struct core_resolver *r, struct program_code *code, const struct bpf_core_relo *relo,
                 struct core_result *result, uint32_t number, struct error *why);

#endif
