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
    bool scanned;
    struct target_name *next;                  /* with the same hash */
    struct target_name *same_head, *same_tail; /* while scanning */
};

#define TARGET_BUCKETS 256
#define TARGET_STRIDE  64         /* every how many types the index has an entry */
#define TARGET_CHUNK   (16 << 10) /* what is read at a time; one read of sysfs never gives more than a page */
#define TARGET_SLACK   1024       /* of a string that goes on in the next piece */

struct target_btf {
    struct type_source source;
    struct bytes bytes;
    uint64_t types, types_size, strings, strings_size; /* in the file */
    struct budget budget;
    struct arena arena;
    struct target_name *names[TARGET_BUCKETS];
    bool pending;    /* names that were not scanned for yet */
    uint32_t count;  /* types; 0 before the first scan */
    uint32_t *index; /* offset in the types of every TARGET_STRIDE'th */
    struct target_fetched *fetched[TARGET_BUCKETS];
    struct target_string *texts[TARGET_BUCKETS];
    int error; /* of a read or a damaged type on the way */
    uint8_t buffer[TARGET_SLACK + TARGET_CHUNK];
};

/* A place in the types, and the piece around it that was read last. */
struct target_cursor {
    uint64_t at, begin, end;
    const uint8_t *piece;
};
/* Head and size of the record there, which lies inside the types; 0: it does not, or *err. */
size_t target_record(struct target_btf *t, struct target_cursor *c, struct btf_type *head, int *err);

/* The next scan will look for this name (up to its flavor). */
int target_btf_want(struct target_btf *t, const char *name);
/* Reads the strings and types through, if there are names that it was not done for. */
int target_btf_scan(struct target_btf *t, struct error *why);
/* What was found for a wanted name, NULL if it was not wanted. */
const struct target_name *target_btf_name(const struct target_btf *t, const char *name);

#endif
