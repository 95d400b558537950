/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An eBPF object on its way from ELF bytes into the kernel.
 *
 *   object_open -> (set globals, resize maps) -> object_relocate -> object_create_maps
 *               -> object_load_program -> program_attach ... -> object_close
 *
 * The first three steps need no privileges and touch no kernel interface. Functions return >= 0 or -errno and
 * put a one-line reason into `struct error`. Nothing here knows of sources or views.
 */
#ifndef HOG_LOADER_KERNEL_OBJECT_H
#define HOG_LOADER_KERNEL_OBJECT_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct target_btf; /* the BTF that CO-RE relocations are resolved against, see loader/target_btf.h */
struct elf_file;
struct btf;
struct btf_ext;

#define MAP_TYPE_ARENA 33 /* BPF_MAP_TYPE_ARENA (6.9), newer than some headers */

/* A map: from `.maps` (BTF-defined), the legacy `maps` section, or a section of global data. */
struct object_map {
    const char *name; /* as the kernel gets it, cut to 15 bytes at creation */
    uint32_t type, key_size, value_size, max_entries, flags;
    uint32_t numa_node;
    uint64_t map_extra;
    uint32_t key_type_id, value_type_id; /* ids in the object's BTF; 0: none */
    bool pin_by_name;                    /* __uint(pinning, LIBBPF_PIN_BY_NAME) */
    /* Set by the caller before object_create_maps: no program that is loaded comes to use this map, so it is
     * not made, and where its number is wanted stands that of another. */
    const struct object_map *instead;
    bool resized;             /* sizes no longer match the BTF types: create without key/value BTF */
    struct object_map *inner; /* template of a map-in-map's inner map, or NULL */
    /* Static initial slots of a map-in-map or program array: */
    struct map_slot {
        uint32_t index;
        struct object_map *map;         /* or NULL */
        struct object_program *program; /* or NULL */
    } * slots;
    size_t nslots;
    /* Global data only: */
    int section; /* ELF section of .rodata/.data/.bss/.kconfig-like data (an arena: of its variables), else -1
                  */
    void *data;  /* initial contents; owned by the object */
    uint32_t data_size; /* bytes of that: the value's size but for an arena, which has no values */
    bool read_only;     /* .rodata: BPF_F_RDONLY_PROG and frozen */
    bool mapped_later;  /* set before object_create_maps: the caller maps it, as far as it needs
                           it */
    /* Set by object_create_maps: */
    int fd;       /* -1 before */
    void *memory; /* the mapping of a BPF_F_MMAPABLE map, else NULL */
    size_t memory_size;
};

/* One instruction that names something that has a number only in the kernel. */
struct insn_ref {
    uint32_t insn; /* index in program->insns */
    enum insn_ref_kind {
        REF_MAP_FD,    /* ldimm64: the map's fd */
        REF_MAP_VALUE, /* ldimm64: address of map value + offset */
        REF_FUNCTION,  /* ldimm64: BPF_PSEUDO_FUNC, insn imm already relative */
        REF_BTF_ID,    /* ldimm64 or call: an extern (ksym or kfunc) of the running kernel, by name */
        REF_KFUNC,
    } kind;
    struct object_map *map;
    uint32_t offset;
    const char *name; /* the extern's */
    bool weak;        /* a missing extern is zero, not an error */
};

/* Helpers that no kernel has: they stand where something is missing, and the verifier names them if it gets
 * there. */
#define CORE_POISON    0x0bad2310 /* + number of the CO-RE relocation; BPF people know it */
#define NO_SUCH_HELPER 0x0badca11 /* a weak function */

/* What became of one CO-RE relocation. */
struct core_result {
    uint32_t insn;      /* index in program->insns */
    uint32_t kind;      /* enum bpf_core_relo_kind, 0..12 */
    const char *type;   /* local root type, "struct task_struct" (owned by the object) */
    const char *access; /* access string, "0:1:2" */
    uint64_t local;     /* value by the object's own types */
    uint64_t target;    /* value by the target's types */
    bool poison;        /* the target has no such thing: the instruction was made invalid */
    bool failed;        /* could not be decided (ambiguous, no target BTF): the program does not load */
};

struct object_program {
    const char *name;
    const char *section;    /* whole ELF section name, "tp_btf/sched_switch" */
    struct bpf_insn *insns; /* own copy; subprograms appended; relocated by object_relocate */
    size_t ninsns;
    struct insn_ref *refs;
    size_t nrefs;
    struct core_result *core;
    size_t ncore;
    /* func_info and line_info records with offsets already in instructions of `insns`: */
    void *func_info, *line_info;
    size_t nfunc_info, nline_info;
    uint32_t func_info_size, line_info_size; /* record sizes */
    /* From the section name (loader/section.h): */
    uint32_t type; /* enum bpf_prog_type; BPF_PROG_TYPE_UNSPEC: unknown section */
    uint32_t expected_attach_type;
    uint32_t load_flags;    /* BPF_F_SLEEPABLE, BPF_F_XDP_HAS_FRAGS */
    const char *target;     /* what follows the slash, "sched_switch"; "" if nothing */
    uint32_t attach_btf_id; /* set by object_relocate for types that need one; 0: none or not found */
    /* Results: */
    int error;           /* 0, or why the program cannot be or was not loaded, -errno */
    struct error reason; /* text for `error` */
    char *log;           /* verifier log of a failed load, or NULL; owned */
    int fd;              /* -1 while not loaded */
};

struct object {
    const char *name;
    struct elf_file *elf;
    struct btf *btf;         /* NULL: the object has none */
    struct btf_ext *btf_ext; /* NULL: the object has none */
    char license[64];
    uint32_t kern_version; /* from a `version` section, else 0 */
    struct object_map **maps;
    size_t nmaps;
    struct object_program **programs;
    size_t nprograms;
    int btf_fd; /* the object's BTF in the kernel; -1: none */
    bool relocated;
    void *bytes; /* what it was parsed from, if that is to be freed with it; else NULL */
};

/* Parses `size` bytes at `bytes` (kept by reference; must outlive the object). Damaged input of any kind
 * gives -EINVAL/-ENOEXEC and a reason, never a crash. Big-endian: -ENOTSUP. */
int object_open(struct object **out, const char *name, const void *bytes, size_t size, struct error *why);
void object_close(struct object *obj); /* closes fds, unmaps, frees; NULL is fine */

struct object_map *object_map(const struct object *obj, const char *name);         /* or NULL */
struct object_program *object_program(const struct object *obj, const char *name); /* or NULL */

/* Address of a global variable: in the initial contents before object_create_maps, afterwards in the mapping
 * (NULL if that map could not be mapped). `size` must be the variable's; NULL if there is none such. */
void *object_global(const struct object *obj, const char *variable, size_t size);

/* Changes a map's sizes before creation; 0 keeps a value. */
void object_resize_map(struct object_map *map, uint32_t value_size, uint32_t max_entries);

/* Does the object ask for CONFIG_* externs? They get values, before object_relocate, from the text of a
 * kernel's configuration ("CONFIG_HZ=1000\n..."). Those that it does not mention, or for which it has a value
 * of another type, are zero if weak; if not, programs that use them get an error. -EINVAL: that is no such
 * text. */
bool object_wants_kconfig(const struct object *obj);
int object_set_kconfig(struct object *obj, const char *text, struct error *why);

/* Does all relocations. Everything `target` is asked for is collected first, so that it is read once.
 * target == NULL: no BTF on this host; programs that need it get error = -ENODATA and a reason, others go on.
 * Fails as a whole only on a damaged object or no memory. A program with an unresolvable relocation gets its
 * own `error`. Also resolves attach_btf_id. */
int object_relocate(struct object *obj, struct target_btf *target, struct error *why);

/* ---- from here on, the kernel is involved ---- */

/* Uploads the BTF (sanitized to what the kernel knows; going on without it if refused), creates maps, fills,
 * freezes and maps globals. */
int object_create_maps(struct object *obj, struct error *why);

/* Loads one program; on failure once more with a log. program->error/reason/log/fd are set. */
int object_load_program(struct object *obj, struct object_program *program, struct error *why);

#endif
