/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that open and relocate an object share. Everything but `log`s, mappings and fds lives in the
 * arena. */
#ifndef HOG_LOADER_SPEC_OBJECT_PRIVATE_H
#define HOG_LOADER_SPEC_OBJECT_PRIVATE_H

#include "loader/spec/arena.h"
#include "loader/spec/btf.h"
#include "loader/spec/btf_ext.h"
#include "loader/spec/elf.h"
#include "loader/kernel/object.h"
#include "loader/spec/section.h"

/* A hostile object must not make hog allocate without bound: 32 MiB of instructions in all programs. */
#define MAX_INSNS (4u << 20)

/* A function of a section of code: a program, a subprogram, or both. */
struct function {
    const char *name;
    uint32_t section;
    uint32_t start, count; /* in instructions of the section */
    bool global;
};

/* Where in the file a map is described, for relocations to find it. */
struct map_place {
    uint32_t section;
    uint64_t offset, values; /* of the variable, and of its static slots behind that */
    struct object_map *map;
};

struct section_relocs {
    struct elf_reloc *relocs;
    size_t count;
};

/* A program's own part that is not in the interface. */
struct program {
    struct object_program pub;
    const struct function *function;
    const struct section_kind *kind;
    struct bpf_core_relo *relos; /* set by object_link_program; insn_off is an index in pub.insns */
    size_t nrelos;
};

/* How many things may be looked through to find others, in all: no real object comes near, a hostile one
 * would take minutes. What is then not found is an error anyway. */
#define OBJECT_STEPS (100u << 20)

struct object_private {
    struct object pub;
    uint32_t steps; /* left of these */
    struct arena arena;
    struct function *functions; /* sorted by section, then start */
    size_t nfunctions;
    uint32_t ksyms_id, kconfig_id; /* DATASECs of externs; 0: none */
    struct section_relocs *relocs; /* by section; of code and of .maps */
    struct map_place *places;
    size_t nplaces;
    struct object_map *kconfig; /* NULL: none */
    bool kconfig_given;         /* object_set_kconfig was called */
    struct kconfig_state {
        bool known;
        const char *problem; /* why it has no value; NULL: nothing was said of it */
    } * kconfig_states;      /* by number in the DATASEC */
};

static inline struct object_private *object_private(const struct object *obj)
{
    return (struct object_private *)((char *)obj - offsetof(struct object_private, pub));
}

static inline bool object_step(struct object_private *o)
{
    o->steps -= o->steps != 0;
    return o->steps != 0;
}

static inline struct program *program_private(const struct object_program *p)
{
    return (struct program *)((char *)p - offsetof(struct program, pub));
}

/* The function that begins there, or NULL. */
const struct function *object_function(const struct object_private *o, uint32_t section, uint32_t start);

/* Sizes of keys and values that follow from the type of a map, whatever the object says. */
void object_settle_map(struct object_map *map); /* maps.c */
/* Appends a map; NULL when out of memory. */
struct object_map *object_add_map(struct object_private *o, const char *name);
int object_add_place(struct object_private *o, uint32_t section, uint64_t offset, uint64_t values,
                     struct object_map *map);
/* The map that is described at this place; *rest is how far behind its beginning it lies. NULL: none. */
const struct map_place *object_place(struct object_private *o, uint32_t section, uint64_t offset);

int object_read_btf_maps(struct object_private *o, struct error *why);    /* maps.c */
int object_read_map_slots(struct object_private *o, struct error *why);   /* maps.c */
int object_read_legacy_maps(struct object_private *o, struct error *why); /* data_maps.c */
int object_read_data_maps(struct object_private *o, struct error *why);   /* data_maps.c */
int object_read_kconfig(struct object_private *o, struct error *why);     /* kconfig.c */
/* kconfig.c: values that only the target knows. */
int object_want_kconfig(const struct object_private *o, struct target_btf *target);
void object_fill_kconfig(const struct object_private *o, struct target_btf *target);
int object_fill_datasecs(struct object_private *o, struct error *why); /* datasec.c */

/* Copies a program's subprograms behind it and resolves all that does not need a target. */
int object_link_program(struct object_private *o, struct program *p, struct error *why); /* reloc.c */

/* The name whose id a program attaches to, "btf_trace_sched_switch", and its kind; NULL: none is needed or it
 * cannot be found. The arena owns the name. */
const char *program_attach_name(struct object_private *o, const struct program *p, uint32_t *kind);

#endif
