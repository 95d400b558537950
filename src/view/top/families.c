// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/families.h"
#include <stdlib.h>
#include <string.h>
#include "host/identity.h"
#include "host/names.h"

#define NODES   1024
#define KEPT_NS 5000000000 /* how long a parent is believed: to ask costs two system calls */
#define DEPTH   24         /* ancestors of a process */
#define MOSTLY  0.9        /* of an ancestor's weight: its child is the nearer common ancestor */
#define NO_NODE SIZE_MAX

/* A process, or an ancestor of one. */
struct node {
    uint64_t key;    /* PID and birth; of an ancestor the birth that /proc has */
    uint64_t member; /* the same as the kernel has it; 0: it was no member yet */
    uint64_t asked;  /* when its parent was looked up; 0: not yet */
    size_t parent;
    double weight; /* of all members at or below it */
    size_t members;
    char comm[64];
    size_t comm_length;
    bool starts_others; /* a shell, a login, a supervisor: what it starts has nothing in common */
};

struct families {
    struct identities *identities;
    struct node nodes[NODES];
    size_t n;
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

/* By PID only: births of /proc are less exact than those of the kernel. */
static size_t node_of(struct families *f, uint64_t key)
{
    for (size_t i = 0; i < f->n; i++)
        if (key_process(f->nodes[i].key) == key_process(key))
            return i;
    if (f->n == NODES)
        return NO_NODE;
    f->nodes[f->n] = (struct node){.key = key, .parent = NO_NODE};
    return f->n++;
}

/* Nothing is known of the process that had this PID before. */
static void check_member(struct node *node, uint64_t key)
{
    if (node->member && node->member != key)
        *node = (struct node){.parent = NO_NODE};
    node->key = node->member = key;
}

static void name_node(struct node *node, const char *comm, size_t length)
{
    node->comm_length = length < sizeof node->comm ? length : sizeof node->comm;
    memcpy(node->comm, comm, node->comm_length);
    node->starts_others = starts_others(key_process(node->key), comm, length);
}

/* Adds a member and the ancestors that are not there yet. */
static void add_member(struct families *f, const struct names *names, uint64_t now,
                       const struct member *member)
{
    size_t at = node_of(f, member->key);
    const struct name *name = names_told(names, member->key);

    if (at != NO_NODE)
        check_member(&f->nodes[at], member->key);
    if (at != NO_NODE && name)
        name_node(&f->nodes[at], name->comm, name->comm_length);
    for (size_t depth = 0; at != NO_NODE && depth < DEPTH; depth++) {
        struct node *node = &f->nodes[at];
        struct identity identity;
        node->weight += member->weight;
        node->members++;
        bool known = node->asked && now - node->asked < KEPT_NS;
        if (!known)
            node->asked = now;
        if (!known && key_process(node->key) > 2 && identity_of(f->identities, node->key, now, &identity) &&
            identity.parent_known && identity.parent) {
            size_t parent = node_of(f, key_make(identity.parent, 0, identity.parent_start));
            if (parent == at || parent == NO_NODE)
                return;
            node->parent = parent;
            if (!f->nodes[parent].comm_length)
                name_node(&f->nodes[parent], identity.parent_comm, identity.parent_comm_length);
        }
        at = node->parent;
    }
}

/* The heaviest child of a node; of NO_NODE: of those without a parent, or with one that starts all. */
static size_t heaviest_child(const struct families *f, size_t parent)
{
    size_t best = NO_NODE;

    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i].members && f->nodes[i].parent == parent &&
            (best == NO_NODE || f->nodes[i].weight > f->nodes[best].weight))
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

bool families_heaviest(struct families *f, uint64_t now, const struct names *names,
                       const struct member *members, size_t n, struct family *family, bool *in)
{
    if (f->n > NODES / 2)
        f->n = 0;
    for (size_t i = 0; i < f->n; i++)
        f->nodes[i].weight = 0, f->nodes[i].members = 0;
    identities_begin(f->identities);
    for (size_t i = 0; i < n; i++)
        add_member(f, names, now, &members[i]);
    size_t at = heaviest_child(f, NO_NODE), child;
    while (at != NO_NODE && (child = heaviest_child(f, at)) != NO_NODE &&
           (f->nodes[at].starts_others || f->nodes[child].weight >= MOSTLY * f->nodes[at].weight))
        at = child;
    if (at == NO_NODE)
        return false;
    const struct node *node = &f->nodes[at];
    *family = (struct family){.head = node->key, .weight = node->weight, .n = node->members};
    family->comm_length = node->comm_length;
    memcpy(family->comm, node->comm, node->comm_length);
    for (size_t i = 0; i < n; i++)
        in[i] = is_below(f, node_of(f, members[i].key), at);
    return true;
}
