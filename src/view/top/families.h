/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that take most of a resource, as one: those below their nearest common ancestor. A build of
 * 41 compilers is "make", workers are their server. */
#ifndef HOG_VIEW_TOP_FAMILIES_H
#define HOG_VIEW_TOP_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;

struct member {
    uint64_t key;
    double weight;                   /* of itself */
    double wants;                    /* how much it would have used, children that have ended included */
    double ended_weight, ended_most; /* of children that have ended: the sum, and the most that one had */
    size_t ended;                    /* how many */
};

struct family {
    uint64_t head; /* key of the process, or of the common ancestor */
    double weight; /* sum of its members */
    double most;   /* that of the heaviest */
    double wants;
    double ended_weight, ended_most;
    size_t n;      /* how many of the members belong to it */
    size_t ended;  /* of these, how many have ended */
    char comm[64]; /* of the head */
    size_t comm_length;
};

struct families;

/* names: of the session; knows the ends of processes. NULL: out of memory. */
struct families *families_open(const struct names *names);
void families_close(struct families *families);

/* The heaviest of these processes or families. Reads /proc for what it does not know, at most twice a second
 * for each process. in: whether a member belongs to it. False: nothing is known of any. */
bool families_heaviest(struct families *families, uint64_t now, const struct names *names,
                       const struct member *members, size_t n, struct family *family, bool *in);

/* Divides processes into families of at least two: then tells of each process its family (NULL: it has none),
 * and the heaviest one. Valid until the next division. */
void families_divide(struct families *families, uint64_t now, const struct names *names,
                     const struct member *members, size_t n);
const struct family *families_of(struct families *families, uint64_t key);
const struct family *families_first(const struct families *families);

#endif
