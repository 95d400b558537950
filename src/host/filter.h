/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks -p, -c, -u, -g, --container and --pod choose: by what is known of a task, wherever that comes
 * from. */
#ifndef HOG_HOST_FILTER_H
#define HOG_HOST_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/texts.h"

#define FILTER_PIDS 64

/* As on the command line. Of several values of one option, one must match that has no `!` in front, if there
 * are such, and none that has. */
struct filter_options {
    struct texts comms, users, cgroups, containers, pods;
    uint32_t not_pids[FILTER_PIDS];
    size_t nnot_pids;
    const uint32_t *pids; /* only these; NULL: all, or chosen elsewhere */
    size_t npids;
};

enum filter_kind {
    FILTER_PID = 1,
    FILTER_COMM = 2,
    FILTER_USER = 4,
    FILTER_CGROUP = 8,
    FILTER_CONTAINER = 16,
    FILTER_POD = 32,
    FILTER_GROUPS = FILTER_CGROUP | FILTER_CONTAINER | FILTER_POD,
    FILTER_ALL = 63,
};

struct container;

/* What is known of it; 0 and NULL: not known. */
struct filter_task {
    uint32_t pid, uid;
    bool uid_known;
    const char *user; /* by name, where that is known without its number */
    const char *comm, *path;
    size_t comm_length, path_length;
    const struct container *container;
    const char *pod; /* NAMESPACE/NAME or UID */
};

struct filter;
struct users;

/* The kinds that are asked for. */
unsigned filter_kinds(const struct filter_options *options);

/* users: of this host. foreign: users may have names of another host. options must outlive the filter.
 * *filter is NULL where nothing is asked for. -EINVAL with a reason, or -ENOMEM. */
int filter_open(struct filter **filter, const struct filter_options *options, const struct users *users,
                bool foreign, struct error *why);
void filter_close(struct filter *filter);

/* Whether, of each of these kinds, the task matches a value; kinds without values without `!` do not count.
 */
bool filter_wants(const struct filter *filter, unsigned kinds, const struct filter_task *task);

/* Whether, of one of these kinds, it matches a value with `!`. */
bool filter_refuses(const struct filter *filter, unsigned kinds, const struct filter_task *task);

/* Of a row about one task, or about two: one of them is wanted, and neither is refused. */
bool filter_passes(const struct filter *filter, const struct filter_task *task,
                   const struct filter_task *other);

/* The numbers of users with `!`, or of those without; how many: more than `most` are only counted. */
size_t filter_users(const struct filter *filter, bool negated, uint32_t *users, size_t most);

/* Whether a name of a user is not one of this host. */
bool filter_has_foreign_user(const struct filter *filter);

/* The options as they were given: "-c postgres -u !root". Cut to fit. */
void filter_describe(const struct filter_options *options, char *to, size_t size);

#endif
