/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's types, for the files that resolve relocations. */
#ifndef HOG_LOADER_SPEC_TARGET_BTF_PRIVATE_H
#define HOG_LOADER_SPEC_TARGET_BTF_PRIVATE_H

#include "loader/spec/arena.h"
#include "loader/spec/btf.h"
#include "loader/spec/target_btf.h"

struct target_candidate {
    uint32_t id, kind;
    bool flavored; /* the target calls it NAME___something */
};

/* A name that someone will ask for. */
struct target_name {
    const char *text; /* without a flavor */
    size_t length;
    struct target_candidate *candidates;
    size_t ncandidates;
    struct target_name *next; /* with the same hash */
    bool scanned;
};

/* A string of the target that is, or begins with, a wanted name. */
struct target_hit {
    uint32_t offset;
    bool flavored;
    struct target_name *name;
};

#define TARGET_PAGE    4096 /* one read of sysfs never gives more */
#define TARGET_PAGES   8
#define TARGET_BUCKETS 64
#define TARGET_STRIDE  64 /* every how many types the index has an entry */

struct target_page {
    uint64_t at; /* offset in the file / TARGET_PAGE + 1; 0: empty */
    uint32_t used;
    uint8_t bytes[TARGET_PAGE];
};

struct target_fetched {
    struct target_fetched *next;
    uint32_t id;
    struct btf_type type; /* its record follows */
};

struct target_string {
    struct target_string *next;
    uint32_t offset;
    char text[];
};

/* The strings of one large struct fit, so that the next relocation in it finds them. */
#define TARGET_STRINGS      256
#define TARGET_STRING_BYTES (48 << 10)

struct target_btf {
    struct type_source source;
    struct bytes bytes;
    uint64_t types, types_size, strings, strings_size; /* in the file */
    struct arena arena;
    struct target_name *names[TARGET_BUCKETS];
    bool pending;    /* names that were not scanned for yet */
    uint32_t count;  /* types; 0 before the first scan */
    uint32_t *index; /* offset in the types of every TARGET_STRIDE'th; malloc'ed */
    struct target_fetched *fetched[TARGET_BUCKETS];
    struct target_page *pages; /* NULL: the bytes are in memory */
    uint32_t clock;
    char string[1024]; /* the last one that was read */
    struct target_string *texts[TARGET_STRINGS];
    struct arena text_arena;
    size_t text_bytes;
    int error; /* of a read or a damaged type on the way */
};

/* The next scan will look for this name (up to its flavor). */
int target_btf_want(struct target_btf *t, const char *name);
/* Reads the strings and types through, if there are names that it was not done for. */
int target_btf_scan(struct target_btf *t, struct error *why);
/* What was found for a wanted name, NULL if it was not wanted. */
const struct target_name *target_btf_name(const struct target_btf *t, const char *name);
const struct type_source *target_btf_source(const struct target_btf *t);

/* Exactly `size` bytes from the file; -EINVAL when it ends before. */
int target_read(struct target_btf *t, void *to, size_t size, uint64_t offset);
/* The same through the page cache. */
int target_cached_read(struct target_btf *t, void *to, size_t size, uint64_t offset);

#endif
