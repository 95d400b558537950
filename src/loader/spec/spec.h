/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an eBPF object says, before any kernel is asked: its maps, its programs, and each program's
 * instructions linked and relocated to the types of a target. Pure: the bytes of the object go in, and
 * nothing here changes once it is made; what is made of it in the kernel, with the changes that a caller
 * wants, is a struct object (loader/kernel/object.h).
 */
#ifndef HOG_LOADER_SPEC_SPEC_H
#define HOG_LOADER_SPEC_SPEC_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "loader/spec/arena.h"
#include "loader/spec/btf.h"
#include "loader/spec/btf_ext.h"
#include "loader/spec/elf.h"
#include "loader/spec/section.h"
#include "loader/spec/target_btf.h"

/* A map: a variable in `.maps`, or a section of global data. */
struct map_spec {
    const char *name; /* whole; the kernel gets 15 bytes of it */
    uint32_t type, key_size, value_size, max_entries, flags, numa_node;
    uint64_t map_extra;
    uint32_t key_type_id, value_type_id; /* in the object's BTF; 0: none */
    int section;                         /* ELF section of global data, -1: the map is none */
    const void *data;                    /* of that section: its contents, NULL: zeros */
    uint32_t data_size;
    bool read_only; /* .rodata */
};

/* A function in a section of code: a program, a subprogram, or both. */
struct spec_function {
    const char *name;
    uint32_t section, start, count; /* start and count in instructions of the section */
    bool global;
};

struct program_spec {
    const char *name;
    const char *section;             /* "tp_btf/sched_switch" */
    const char *target;              /* "sched_switch"; "" if there is none */
    const struct section_kind *kind; /* NULL: the section's name says no known type */
    const struct spec_function *function;
};

struct spec {
    const char *name;
    char license[64];
    struct btf *btf; /* NULL: the object has none */
    struct map_spec *maps;
    size_t nmaps;
    struct program_spec *programs; /* in the order of sections, then of instructions */
    size_t nprograms;
    /* For the files in this folder, and for extras: */
    struct elf_file *elf;
    struct btf_ext *btf_ext;
    struct spec_function *functions; /* in that order, too */
    size_t nfunctions;
    struct section_relocs {
        struct elf_reloc *relocs;
        size_t count;
    } * relocs;              /* by section, sorted by offset: of code and of .maps */
    uint32_t ksyms_id;       /* DATASEC of externs; 0: none */
    int32_t *map_of_section; /* by section, of global data: number of its map, or -1 */
    struct map_place {
        uint32_t section, map;
        uint64_t offset;
    } * places; /* where maps are described, sorted: relocations name them so */
    size_t nplaces;
    const struct spec_extras *extras;
    struct arena arena;
    struct budget budget;
};

/* One instruction that names something that has a number only in the kernel. */
struct insn_ref {
    uint32_t insn; /* index in the program's instructions */
    enum insn_ref_kind {
        REF_MAP_FD,    /* ldimm64: the map's fd */
        REF_MAP_VALUE, /* ldimm64: address of map value + offset */
        REF_FUNCTION,  /* ldimm64: BPF_PSEUDO_FUNC, insn imm already relative */
        REF_BTF_ID,    /* ldimm64 or call: an extern (ksym or kfunc) of the running kernel, by name */
        REF_KFUNC,
    } kind;
    uint32_t map; /* number */
    uint32_t offset;
    const char *name; /* the extern's */
    bool weak;        /* a missing extern is zero, not an error */
    bool function;    /* the extern is declared as one */
};

/* Helpers that no kernel has: they stand where something is missing, and the verifier names them if it gets
 * there. */
#define CORE_POISON    0x0bad2310 /* + number of the CO-RE relocation; BPF people know it */
#define NO_SUCH_HELPER 0x0badca11 /* a weak function */

/* What became of one CO-RE relocation. */
struct core_result {
    uint32_t insn;      /* index in the program's instructions */
    uint32_t kind;      /* enum bpf_core_relo_kind, 0..12 */
    const char *type;   /* local root type, "struct task_struct" */
    const char *access; /* access string, "0:1:2" */
    uint64_t local;     /* value by the object's own types */
    uint64_t target;    /* value by the target's types */
    bool poison;        /* the target has no such thing: the instruction was made invalid */
    bool failed;        /* could not be decided (ambiguous, no target BTF): the program does not load */
};

/* A program's instructions, its subprograms behind it. The arena that it was linked with owns all of it. */
struct program_code {
    struct bpf_insn *insns;
    size_t ninsns;
    struct insn_ref *refs;
    size_t nrefs;
    struct core_result *core;
    size_t ncore;
    /* Records of .BTF.ext with offsets in `insns`; NULL: there are none, or not for all functions. */
    void *func_info, *line_info;
    size_t nfunc_info, nline_info;
    uint32_t func_info_size, line_info_size; /* of a record */
    struct segment {                         /* a function and where it was put; [0] is the program itself */
        const struct spec_function *function;
        uint32_t at;
    } * segments;
    size_t nsegments;
};

/* Parses `size` bytes at `bytes`, which are kept by reference. Damage of any kind: -EINVAL; more than one
 * file may cost (loader/spec/budget.h): -E2BIG; another kind of file, -ENOTSUP; each with a reason. extras:
 * NULL, or what else objects may have. */
int spec_open(struct spec **out, const char *name, const void *bytes, size_t size,
              const struct spec_extras *extras, struct error *why);
void spec_close(struct spec *spec); /* NULL is fine */

/* Copies a program's subprograms behind it, each once, and resolves all that needs no target. Memory comes
 * from `arena`, steps from its budget. */
int spec_link(const struct spec *spec, const struct program_spec *program, struct arena *arena,
              struct program_code *out, struct error *why);

/* Where a variable lies: the number of its map and *offset. -ENOENT: there is none of that name and size. */
int spec_variable(const struct spec *spec, const char *name, size_t size, uint32_t *offset);

/* The number of the map that is described in that section at that offset; -1: there is none. */
int spec_map_at(const struct spec *spec, uint32_t section, uint64_t offset);

struct core_spec;

/* What only objects of others have; a tool that loads such objects gives it. Functions return 0 or -errno
 * with a reason; each may be NULL. */
struct spec_extras {
    const struct section_kind *sections; /* besides those that hog's own programs use */
    size_t nsections;
    /* Add maps by spec_add_map(), spec_add_place(): before those of global data, and after. */
    int (*read_maps)(struct spec *spec, struct error *why);
    int (*read_data)(struct spec *spec, struct error *why);
    /* A member of a map's description that is not known here. -ENOENT: nor there. */
    int (*map_field)(struct spec *spec, struct map_spec *map, const struct btf_member *member,
                     struct error *why);
    /* Whether a type of the target is what a CO-RE relocation about a whole type asks for. Not
     * NULL. */
    bool (*compare_types)(const struct core_spec *local, const struct type_source *target,
                          uint32_t candidate);
    /* A relocation in .maps. */
    int (*map_slot)(struct spec *spec, const struct elf_reloc *reloc, struct error *why);
    /* An instruction names a symbol that is neither in the object nor in .ksyms: fills in `ref` and returns
     * 0, or -ENOENT. */
    int (*extern_ref)(const struct spec *spec, const struct elf_symbol *symbol, struct insn_ref *ref,
                      struct error *why);
    /* Of a variable in .ksyms without type data; 0: not known. */
    uint64_t (*address)(const struct spec *spec, const char *name);
};

/* For these, while the spec is being made. The map's sizes are completed by spec_settle_map(). */
struct map_spec *spec_add_map(struct spec *spec, const char *name); /* NULL: out of memory or budget */
int spec_add_place(struct spec *spec, uint32_t section, uint64_t offset, uint32_t map);
int spec_read_map(struct spec *spec, struct map_spec *map, uint32_t type_id, struct error *why);
void spec_settle_map(struct map_spec *map);
/* __uint(name, n) and __ulong(name, n): n, by the type of the member. */
int spec_map_number(const struct btf *btf, uint32_t type_id, uint64_t *out);

#endif
