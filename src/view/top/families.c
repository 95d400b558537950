// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/families.h"
#include <stdlib.h>
#include <string.h>
#include "host/identity.h"
#include "host/names.h"

#define NODES     1024
#define PLACES    2048
#define FAMILIES  64
#define KEPT_NS   15000000000ull /* how long a parent is believed at first: to ask costs system calls */
#define LONGEST   60000000000ull /* and in the end: parents hardly ever change */
#define DEPTH     24             /* ancestors of a process */
#define MOSTLY    0.9            /* of an ancestor's weight: its child is the nearer common ancestor */
#define STORM     8 /* ended children in a window: one loop starts them, even if it is a shell's */
#define NO_NODE   SIZE_MAX
#define NO_FAMILY UINT32_MAX

/* Of a process, or of it and all below it. */
struct sums {
    double weight, most, wants, ended_weight, ended_most;
    size_t n, ended;
};

/* A process, or an ancestor of one. */
struct node {
    uint64_t key;    /* PID and birth; of an ancestor the birth that /proc has */
    uint64_t member; /* the same as the kernel has it; 0: it was no member yet */
    uint64_t asked;  /* when its parent was looked up; 0: not yet */
    uint64_t kept;   /* for how long that is believed */
    size_t parent;
    struct sums own, sums;
    double heaviest; /* of the weights of its children */
    uint32_t family; /* number; of the last division */
    char comm[64];
    size_t comm_length;
    bool starts_others; /* a shell, a login, a supervisor: what it starts has nothing in common */
    bool leads;         /* its session: as starting others it is no part of what it runs in, as a terminal */
};

struct families {
    struct identities *identities;
    uint64_t now;
    struct node nodes[NODES];
    size_t n;
    uint16_t places[PLACES]; /* of nodes by PID: 1 + number */
    struct family list[FAMILIES];
    size_t nfamilies;
};

struct families *families_open(const struct names *names)
{
    struct families *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->identities = identities_open(IDENTITY_PARENT);
    if (!f->identities) {
        free(f);
        return NULL;
    }
    identities_of_dead(f->identities, names);
    return f;
}

void families_close(struct families *f)
{
    if (!f)
        return;
    identities_close(f->identities);
    free(f);
}

static bool is_one_of(const char *const *list, const char *comm, size_t length)
{
    for (; *list; list++)
        if (strlen(*list) == length && !memcmp(*list, comm, length))
            return true;
    return false;
}

static bool starts_others(uint32_t pid, const char *comm, size_t length)
{
    static const char *const starters[] = {"bash",
                                           "sh",
                                           "dash",
                                           "ash",
                                           "zsh",
                                           "fish",
                                           "ksh",
                                           "busybox",
                                           "sshd",
                                           "login",
                                           "su",
                                           "sudo",
                                           "doas",
                                           "systemd",
                                           "init",
                                           "tmux",
                                           "screen",
                                           "cron",
                                           "crond",
                                           "xargs",
                                           "timeout",
                                           "nohup",
                                           "env",
                                           "tini",
                                           "runc",
                                           "conmon",
                                           "dockerd",
                                           "containerd",
                                           "setsid",
                                           "nice",
                                           "chrt",
                                           "taskset",
                                           "containerd-shim",
                                           "sshd-session",
                                           "kubelet",
                                           "script",
                                           NULL};

    return pid == 1 || pid == 2 || is_one_of(starters, comm, length);
}

/* Where the node of this process stands, or would. By PID only: births of /proc are less exact than those of
 * the kernel. */
static uint16_t *place_of(struct families *f, uint32_t process)
{
    size_t i = process * 0x9e3779b1u % PLACES;

    while (f->places[i] && key_process(f->nodes[f->places[i] - 1].key) != process)
        i = (i + 1) % PLACES;
    return &f->places[i];
}

static size_t node_of(struct families *f, uint64_t key)
{
    uint16_t *place = place_of(f, key_process(key));

    if (*place)
        return *place - 1u;
    if (f->n == NODES)
        return NO_NODE;
    f->nodes[f->n] = (struct node){.key = key, .parent = NO_NODE, .family = NO_FAMILY};
    *place = (uint16_t)++f->n;
    return f->n - 1;
}

/* Nothing is known of the process that had this PID before. */
static void check_member(struct node *node, uint64_t key)
{
    if (node->member && node->member != key)
        *node = (struct node){.parent = NO_NODE, .family = NO_FAMILY};
    node->key = node->member = key;
}

static void name_node(struct node *node, const char *comm, size_t length)
{
    node->comm_length = length < sizeof node->comm ? length : sizeof node->comm;
    memcpy(node->comm, comm, node->comm_length);
    node->starts_others = starts_others(key_process(node->key), comm, length);
}

static void add_sums(struct sums *sums, const struct sums *more)
{
    sums->weight += more->weight;
    sums->most = more->most > sums->most ? more->most : sums->most;
    sums->wants += more->wants;
    sums->ended_weight += more->ended_weight;
    sums->ended_most = more->ended_most > sums->ended_most ? more->ended_most : sums->ended_most;
    sums->n += more->n;
    sums->ended += more->ended;
}

/* Asks for the parent, if the answer is not recent. False: it is its own, or there is no room. */
static bool ask_parent(struct families *f, size_t at, uint64_t now)
{
    struct node *node = &f->nodes[at];
    struct identity identity;

    if (node->asked && now - node->asked < node->kept)
        return true;
    node->kept = !node->kept                ? KEPT_NS + (node->key * 0x9e3779b97f4a7c15ull >> 31)
                 : 2 * node->kept < LONGEST ? 2 * node->kept
                                            : LONGEST;
    node->asked = now;
    if (key_process(node->key) <= 2 || (node->leads && node->starts_others) ||
        !identity_of(f->identities, node->key, now, &identity) || !identity.parent_known || !identity.parent)
        return true;
    size_t parent = node_of(f, key_make(identity.parent, 0, identity.parent_start));
    if (parent == at || parent == NO_NODE)
        return false;
    node->parent = parent;
    f->nodes[parent].leads = identity.parent_leads;
    if (identity.parent_comm_length)
        name_node(&f->nodes[parent], identity.parent_comm, identity.parent_comm_length);
    return true;
}

/* Adds a member and the ancestors that are not there yet. */
static void add_member(struct families *f, const struct names *names, uint64_t now,
                       const struct member *member)
{
    const struct sums sums = {.weight = member->weight + member->ended_weight,
                              .most =
                                  member->weight > member->ended_most ? member->weight : member->ended_most,
                              .wants = member->wants,
                              .ended_weight = member->ended_weight,
                              .ended_most = member->ended_most,
                              .n = (member->weight > 0) + member->ended,
                              .ended = member->ended};
    size_t at = node_of(f, member->key);
    const struct name *name = names_told(names, member->key);

    if (at == NO_NODE)
        return;
    check_member(&f->nodes[at], member->key);
    if (name)
        name_node(&f->nodes[at], name->comm, name->comm_length);
    add_sums(&f->nodes[at].own, &sums);
    for (size_t depth = 0; at != NO_NODE && depth < DEPTH; depth++) {
        add_sums(&f->nodes[at].sums, &sums);
        if (!ask_parent(f, at, now))
            return;
        at = f->nodes[at].parent;
    }
}

static void add_members(struct families *f, uint64_t now, const struct names *names,
                        const struct member *members, size_t n)
{
    if (f->now != now && f->n > NODES / 2) {
        f->n = 0;
        memset(f->places, 0, sizeof f->places);
    }
    f->now = now;
    for (size_t i = 0; i < f->n; i++) {
        f->nodes[i].own = f->nodes[i].sums = (struct sums){0};
        f->nodes[i].heaviest = 0;
    }
    identities_begin(f->identities);
    for (size_t i = 0; i < n; i++)
        add_member(f, names, now, &members[i]);
}

/* The heaviest child of a node; of NO_NODE: of those without a parent, or with one that starts all. */
static size_t heaviest_child(const struct families *f, size_t parent)
{
    size_t best = NO_NODE;

    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i].sums.n && f->nodes[i].parent == parent &&
            (best == NO_NODE || f->nodes[i].sums.weight > f->nodes[best].sums.weight))
            best = i;
    return best;
}

static bool is_below(const struct families *f, size_t node, size_t ancestor)
{
    for (size_t depth = 0; node != NO_NODE && depth <= DEPTH; depth++, node = f->nodes[node].parent)
        if (node == ancestor)
            return true;
    return false;
}

static struct family family_of_node(const struct node *node, const struct sums *sums)
{
    struct family family = {.head = node->key,
                            .weight = sums->weight,
                            .most = sums->most,
                            .wants = sums->wants,
                            .ended_weight = sums->ended_weight,
                            .ended_most = sums->ended_most,
                            .n = sums->n,
                            .ended = sums->ended,
                            .comm_length = node->comm_length};

    memcpy(family.comm, node->comm, node->comm_length);
    return family;
}

bool families_heaviest(struct families *f, uint64_t now, const struct names *names,
                       const struct member *members, size_t n, struct family *family, bool *in)
{
    add_members(f, now, names, members, n);
    size_t at = heaviest_child(f, NO_NODE), child;
    while (at != NO_NODE && (child = heaviest_child(f, at)) != NO_NODE &&
           (f->nodes[at].starts_others || f->nodes[child].sums.weight >= MOSTLY * f->nodes[at].sums.weight))
        at = child;
    if (at == NO_NODE)
        return false;
    *family = family_of_node(&f->nodes[at], &f->nodes[at].sums);
    for (size_t i = 0; i < n; i++)
        in[i] = is_below(f, node_of(f, members[i].key), at);
    return true;
}

/* ---- division into families ---- */

static bool is_head(const struct node *node)
{
    return node->comm_length && !node->starts_others && node->sums.n > 1 &&
           node->heaviest < MOSTLY * node->sums.weight;
}

/* A loop of a shell that starts short-lived commands: these are one with it, others that it started not. */
static bool is_storm(const struct node *node)
{
    return node->comm_length && node->starts_others && key_process(node->key) > 2 &&
           node->own.ended >= STORM && node->own.ended_weight * 2 >= node->own.weight;
}

static uint32_t new_family(struct families *f, const struct node *node, const struct sums *sums)
{
    if (f->nfamilies == FAMILIES)
        return NO_FAMILY;
    f->list[f->nfamilies] = family_of_node(node, sums);
    return (uint32_t)f->nfamilies++;
}

/* The farthest ancestor that is the head of a family. */
static size_t head_of(const struct families *f, size_t node)
{
    size_t head = NO_NODE;

    for (size_t at = node, depth = 0; at != NO_NODE && depth <= DEPTH; depth++, at = f->nodes[at].parent)
        if (is_head(&f->nodes[at]))
            head = at;
    return head == NO_NODE && is_storm(&f->nodes[node]) ? node : head;
}

/* Several such loops that one script has begun are one family. */
static uint32_t join_storms(struct families *f, size_t node)
{
    const struct node *storm = &f->nodes[node];

    for (size_t i = 0; i < f->n; i++) {
        const struct node *other = &f->nodes[i];
        if (i == node || other->family == NO_FAMILY || other->parent != storm->parent || !is_storm(other) ||
            other->comm_length != storm->comm_length || memcmp(other->comm, storm->comm, other->comm_length))
            continue;
        struct family *family = &f->list[other->family];
        family->weight += storm->own.weight;
        family->most = storm->own.most > family->most ? storm->own.most : family->most;
        family->wants += storm->own.wants;
        family->ended_weight += storm->own.ended_weight;
        family->ended_most =
            storm->own.ended_most > family->ended_most ? storm->own.ended_most : family->ended_most;
        family->n += storm->own.n;
        family->ended += storm->own.ended;
        return other->family;
    }
    return new_family(f, storm, &storm->own);
}

void families_divide(struct families *f, uint64_t now, const struct names *names,
                     const struct member *members, size_t n)
{
    add_members(f, now, names, members, n);
    f->nfamilies = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct node *node = &f->nodes[i];
        node->family = NO_FAMILY;
        if (node->sums.n && node->parent != NO_NODE && f->nodes[node->parent].heaviest < node->sums.weight)
            f->nodes[node->parent].heaviest = node->sums.weight;
    }
    for (size_t i = 0; i < f->n; i++) { /* heads first */
        struct node *node = &f->nodes[i];
        if (!node->sums.n || head_of(f, i) != i)
            continue;
        node->family = node->starts_others ? join_storms(f, i) : new_family(f, node, &node->sums);
    }
    for (size_t i = 0; i < f->n; i++) {
        size_t head = f->nodes[i].sums.n ? head_of(f, i) : NO_NODE;
        if (head != NO_NODE && head != i)
            f->nodes[i].family = f->nodes[head].family;
    }
}

const struct family *families_of(struct families *f, uint64_t key)
{
    const uint16_t *place = place_of(f, key_process(key));
    uint32_t family = *place ? f->nodes[*place - 1].family : NO_FAMILY;

    return family != NO_FAMILY ? &f->list[family] : NULL;
}

const struct family *families_first(const struct families *f)
{
    const struct family *first = NULL;

    for (size_t i = 0; i < f->nfamilies; i++)
        if (!first || f->list[i].weight > first->weight)
            first = &f->list[i];
    return first;
}
