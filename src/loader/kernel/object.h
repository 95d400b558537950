/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An eBPF object on its way into the kernel: what its spec (loader/spec/spec.h) says, with the changes that
 * the caller wants.
 *
 *   object_open -> (set globals, resize maps) -> object_relocate -> object_create_maps
 *               -> object_load_program -> link_attach ... -> object_close
 *
 * The first three steps need no privileges and touch no kernel interface. Functions return >= 0 or -errno and
 * put a one-line reason into `struct error`. Nothing here knows of sources or views.
 */
#ifndef HOG_LOADER_KERNEL_OBJECT_H
#define HOG_LOADER_KERNEL_OBJECT_H

#include "loader/spec/spec.h"

struct target_btf; /* the BTF that CO-RE relocations are resolved against, see loader/spec/target_btf.h */

struct object_map {
    const struct map_spec *spec;
    const char *name;
    /* As the spec says, unless the caller changes it before object_create_maps: */
    uint32_t type, key_size, value_size, max_entries, flags;
    bool resized; /* sizes no longer match the BTF types: create without key/value BTF */
    void *data;   /* initial contents of global data, own copy; NULL: none */
    /* Set by the caller before object_create_maps: */
    const struct object_map *instead; /* no program that is loaded uses this map: it is not made, and where
                                         its number is wanted stands that of this one */
    bool mapped_later;                /* the caller maps it, as far as it needs it */
    int inner_fd;                     /* of a map-in-map: the template; -1: none */
    /* Set by object_create_maps: */
    int fd;       /* -1 before; a caller that makes the map itself sets it */
    void *memory; /* the mapping of a BPF_F_MMAPABLE map, else NULL */
    size_t memory_size;
};

struct object_program {
    const struct program_spec *spec;
    const char *name, *section, *target;
    uint32_t type, expected_attach_type, load_flags; /* BPF_PROG_TYPE_UNSPEC: unknown section */
    struct program_code code;                        /* linked and relocated by object_relocate */
    uint32_t attach_btf_id; /* set by object_relocate for types that need one; 0: none or not found */
    int error;              /* 0, or why the program cannot be or was not loaded, -errno */
    struct error reason;    /* text for `error` */
    char *log;              /* verifier log of a failed load, or NULL; owned */
    int fd;                 /* -1 while not loaded */
};

struct object {
    const char *name, *license;
    struct spec *spec; /* owned */
    struct object_map **maps;
    size_t nmaps;
    struct object_program **programs;
    size_t nprograms;
    int btf_fd; /* the object's BTF in the kernel; -1: none */
    bool relocated;
    struct arena arena; /* all of the above, and the programs' code */
    struct budget budget;
    void *bytes; /* what it was parsed from, if that is to be freed with it; else NULL */
};

/* Parses as spec_open() does, with hog's own kinds of sections; the bytes must outlive the object. */
int object_open(struct object **out, const char *name, const void *bytes, size_t size, struct error *why);
/* An object of that spec, which it owns from now on, also if this fails. -ENOMEM */
int object_new(struct object **out, struct spec *spec, struct error *why);
void object_close(struct object *obj); /* closes fds, unmaps, frees; NULL is fine */

struct object_map *object_map(const struct object *obj, const char *name);         /* or NULL */
struct object_program *object_program(const struct object *obj, const char *name); /* or NULL */

/* Address of a global variable: in the initial contents before object_create_maps, afterwards in the mapping
 * (NULL if that map could not be mapped). `size` must be the variable's; NULL if there is none such. */
void *object_global(const struct object *obj, const char *variable, size_t size);

/* Changes a map's sizes before creation; 0 keeps a value. */
void object_resize_map(struct object_map *map, uint32_t value_size, uint32_t max_entries);

/* Links all programs and does all relocations; also resolves attach_btf_id. Everything `target` is asked for
 * is collected first, so that it is read once. target == NULL: no BTF on this host; programs that need it get
 * error = -ENODATA and a reason, others go on. Fails as a whole only on a damaged target or no memory. A
 * program that cannot be linked or relocated gets its own `error`. */
int object_relocate(struct object *obj, struct target_btf *target, struct error *why);

/* ---- from here on, the kernel is involved ---- */

/* Uploads the BTF (sanitized to what the kernel knows; going on without it if refused), creates maps, fills,
 * freezes and maps globals. */
int object_create_maps(struct object *obj, struct error *why);

/* Loads one program; if it is refused, once more to get the verifier's log. program->error/reason/log/fd are
 * set. */
int object_load_program(struct object *obj, struct object_program *program, struct error *why);

/* A copy of a program that was relocated, with instructions of its own in `insns` (room for code.ninsns), to
 * be changed, loaded and closed apart from the first. Errors of the copy are not the first one's. The caller
 * calls object_program_unload() for it. */
void object_program_copy(struct object_program *copy, const struct object_program *from,
                         struct bpf_insn *insns);

/* Takes it out of the kernel, as far as nothing is attached; frees its log. NULL is fine. */
void object_program_unload(struct object_program *program);

#endif
