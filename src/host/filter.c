// SPDX-License-Identifier: GPL-2.0-only
#include "host/filter.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/glob.h"
#include "base/list.h"
#include "base/quote.h"
#include "base/regex.h"
#include "host/container.h"
#include "host/pods.h"
#include "host/users.h"

#define KINDS      6
#define MOST_REGEX 128

/* One value. */
struct value {
    enum filter_kind kind;
    bool negated, known; /* known: `number` is that of the user */
    uint32_t number;
    const char *text;
    size_t length;
    struct regex *regex; /* or NULL */
};

struct filter {
    unsigned kinds[2]; /* with values without `!`, and with */
    const struct users *users;
    struct pods *pods; /* NULL: not asked for */
    size_t n, room;
    struct value *values;
};

static const struct option {
    enum filter_kind kind;
    size_t offset;
    const char *label, *name;
    bool list; /* a value is a comma list */
} options_of_kinds[KINDS - 1] = {
    {FILTER_COMM, offsetof(struct filter_options, comms), "-c/--comm", "-c", false},
    {FILTER_USER, offsetof(struct filter_options, users), "-u/--user", "-u", true},
    {FILTER_CGROUP, offsetof(struct filter_options, cgroups), "-g/--cgroup", "-g", false},
    {FILTER_CONTAINER, offsetof(struct filter_options, containers), "--container", "--container", false},
    {FILTER_POD, offsetof(struct filter_options, pods), "--pod", "--pod", false},
};

static const struct texts *texts_of(const struct filter_options *options, const struct option *option)
{
    return (const void *)((const char *)options + option->offset);
}

unsigned filter_kinds(const struct filter_options *options)
{
    unsigned kinds = options->nnot_pids || options->npids ? FILTER_PID : 0;

    for (size_t i = 0; i < KINDS - 1; i++)
        if (texts_of(options, &options_of_kinds[i])->n)
            kinds |= options_of_kinds[i].kind;
    return kinds;
}

/* ---- values ---- */

static struct value *add_value(struct filter *filter, enum filter_kind kind, bool negated)
{
    if (filter->n == filter->room) {
        size_t room = filter->room ? 2 * filter->room : 8;
        struct value *values = realloc(filter->values, room * sizeof *values);
        if (!values)
            return NULL;
        filter->values = values;
        filter->room = room;
    }
    filter->kinds[negated] |= kind;
    filter->values[filter->n] = (struct value){.kind = kind, .negated = negated};
    return &filter->values[filter->n++];
}

static bool number_of(const char *text, size_t length, uint32_t *value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || sum > UINT32_MAX)
            return false;
        sum = 10 * sum + (uint64_t)(text[i] - '0');
    }
    *value = (uint32_t)sum;
    return length && sum <= UINT32_MAX;
}

static int take_comm(struct value *value, struct error *why)
{
    const char *text = value->text;
    size_t n = value->length;
    struct error reason = {""};

    if (text[0] != '/')
        return 0;
    if (n < 2 || text[n - 1] != '/')
        return error_set(why, -EINVAL, "-c/--comm: \"%s\": a regular expression is /%s/", quote(text).text,
                         quote(text + 1).text);
    int err = n - 2 <= MOST_REGEX ? regex_open(&value->regex, text + 1, n - 2, &reason)
                                  : error_set(&reason, -EINVAL, "longer than %d bytes", MOST_REGEX);
    return err ? error_set(why, err, "-c/--comm: \"%s\": %s", quote(text).text, reason.text) : 0;
}

static int take_user(const struct filter *filter, struct value *value, bool foreign, struct error *why)
{
    value->known = users_find(filter->users, value->text, value->length, &value->number) ||
                   number_of(value->text, value->length, &value->number);
    return value->known || foreign
               ? 0
               : error_set(why, -EINVAL, "-u/--user: \"%s\" is neither a user in /etc/passwd nor a number",
                           quote_bytes(value->text, value->length).text);
}

static int take_value(struct filter *filter, const struct option *option, const char *text, size_t length,
                      bool foreign, struct error *why)
{
    bool negated = length && *text == '!';
    struct value *value = add_value(filter, option->kind, negated);

    if (!value)
        return error_set(why, -ENOMEM, "out of memory");
    value->text = text + negated;
    value->length = length - negated;
    if (!value->length && option->kind & (FILTER_COMM | FILTER_USER | FILTER_CGROUP))
        return error_set(why, -EINVAL, "%s: the value is empty", option->label);
    if (option->kind == FILTER_COMM)
        return take_comm(value, why);
    return option->kind == FILTER_USER ? take_user(filter, value, foreign, why) : 0;
}

/* "!root,www" would be read in two ways. */
static int take_list(struct filter *filter, const struct option *option, const char *text, bool foreign,
                     struct error *why)
{
    const char *list = text;
    bool negated = *text == '!';

    while (list) {
        const char *word;
        size_t length = list_word(&list, &word);
        if (negated != (length && *word == '!'))
            return error_set(why, -EINVAL, "%s: \"%s\": a ! is in front of each of the list or of none",
                             option->label, quote(text).text);
        int err = take_value(filter, option, word, length, foreign, why);
        if (err)
            return err;
    }
    return 0;
}

static int take_pids(struct filter *filter, const uint32_t *pids, size_t n, bool negated, struct error *why)
{
    for (size_t i = 0; i < n; i++) {
        struct value *value = add_value(filter, FILTER_PID, negated);
        if (!value)
            return error_set(why, -ENOMEM, "out of memory");
        value->number = pids[i];
    }
    return 0;
}

static int take_all(struct filter *filter, const struct filter_options *o, bool foreign, struct error *why)
{
    int err = take_pids(filter, o->not_pids, o->nnot_pids, true, why);

    if (!err)
        err = take_pids(filter, o->pids, o->npids, false, why);
    for (size_t i = 0; i < KINDS - 1; i++) {
        const struct option *option = &options_of_kinds[i];
        const struct texts *texts = texts_of(o, option);
        for (size_t j = 0; j < texts->n && !err; j++)
            err = option->list
                      ? take_list(filter, option, texts->items[j], foreign, why)
                      : take_value(filter, option, texts->items[j], strlen(texts->items[j]), foreign, why);
    }
    return err;
}

int filter_open(struct filter **out, const struct filter_options *options, const struct users *users,
                bool foreign, struct error *why)
{
    *out = NULL;
    if (!filter_kinds(options))
        return 0;
    struct filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return error_set(why, -ENOMEM, "out of memory");
    filter->users = users;
    int err = take_all(filter, options, foreign, why);
    if (!err && options->pods.n && !(filter->pods = pods_open(PODS_DIRECTORY)))
        err = error_set(why, -ENOMEM, "out of memory");
    if (err)
        filter_close(filter);
    else
        *out = filter;
    return err;
}

void filter_close(struct filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->n; i++)
        regex_close(filter->values[i].regex);
    pods_close(filter->pods);
    free(filter->values);
    free(filter);
}

/* ---- tasks ---- */

static bool is_user(const struct filter *filter, const struct value *value, const struct filter_task *task)
{
    uint32_t uid;

    if (task->uid_known && value->known && task->uid == value->number)
        return true;
    if (!task->user)
        return false;
    size_t length = strlen(task->user);
    if (length == value->length && !memcmp(task->user, value->text, length))
        return true;
    return !task->uid_known && value->known && number_of(value->text, value->length, &uid) &&
           users_find(filter->users, task->user, length, &uid) && uid == value->number;
}

static bool begins(const char *name, const struct value *value)
{
    return !strncmp(name, value->text, value->length);
}

/* By UID, NAME or NAMESPACE/NAME. */
static bool is_pod(const struct filter *filter, const struct value *value, const struct filter_task *task)
{
    const char *uid = task->container ? task->container->pod : "", *pod = task->pod;
    char name[PODS_NAME];

    if (*uid && begins(uid, value))
        return true;
    if (!pod && *uid && pods_find(filter->pods, uid, name))
        pod = name;
    const char *slash = pod ? strchr(pod, '/') : NULL;
    return pod && (begins(pod, value) || (slash && begins(slash + 1, value)));
}

static bool matches(const struct filter *filter, const struct value *value, const struct filter_task *task)
{
    switch (value->kind) {
    case FILTER_PID:
        return task->pid == value->number;
    case FILTER_COMM:
        if (!task->comm)
            return false;
        return value->regex ? regex_matches(value->regex, task->comm, task->comm_length)
                            : glob_matches(value->text, task->comm, task->comm_length);
    case FILTER_USER:
        return is_user(filter, value, task);
    case FILTER_CGROUP:
        return task->path && cgroup_path_is_in(task->path, task->path_length, value->text, value->length);
    case FILTER_CONTAINER:
        return task->container && container_id_begins(task->container, value->text, value->length);
    case FILTER_POD:
        return is_pod(filter, value, task);
    default:
        return false;
    }
}

/* The kinds of which a value matches. */
static unsigned matching(const struct filter *filter, unsigned kinds, bool negated,
                         const struct filter_task *task)
{
    unsigned found = 0;

    kinds &= filter->kinds[negated];
    for (size_t i = 0; i < filter->n && found != kinds; i++) {
        const struct value *value = &filter->values[i];
        if (value->negated == negated && value->kind & kinds & ~found && matches(filter, value, task))
            found |= value->kind;
    }
    return found;
}

bool filter_wants(const struct filter *filter, unsigned kinds, const struct filter_task *task)
{
    return matching(filter, kinds, false, task) == (filter->kinds[false] & kinds);
}

bool filter_refuses(const struct filter *filter, unsigned kinds, const struct filter_task *task)
{
    return matching(filter, kinds, true, task) != 0;
}

bool filter_passes(const struct filter *filter, const struct filter_task *task,
                   const struct filter_task *other)
{
    return (filter_wants(filter, FILTER_ALL, task) || (other && filter_wants(filter, FILTER_ALL, other))) &&
           !filter_refuses(filter, FILTER_ALL, task) && !(other && filter_refuses(filter, FILTER_ALL, other));
}

size_t filter_users(const struct filter *filter, bool negated, uint32_t *users, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < filter->n; i++) {
        const struct value *value = &filter->values[i];
        if (value->kind != FILTER_USER || value->negated != negated)
            continue;
        if (n < most)
            users[n] = value->number;
        n++;
    }
    return n;
}

bool filter_has_foreign_user(const struct filter *filter)
{
    for (size_t i = 0; i < filter->n; i++)
        if (filter->values[i].kind == FILTER_USER && !filter->values[i].known)
            return true;
    return false;
}

static void append(char *to, size_t size, const char *format, const char *a, const char *b)
{
    size_t used = strlen(to);

    snprintf(to + used, size - used, format, used ? " " : "", a, b);
}

void filter_describe(const struct filter_options *options, char *to, size_t size)
{
    char number[16];

    *to = '\0';
    for (size_t i = 0; i < options->npids; i++) {
        snprintf(number, sizeof number, "%u", options->pids[i]);
        append(to, size, "%s%s %s", "-p", number);
    }
    for (size_t i = 0; i < options->nnot_pids; i++) {
        snprintf(number, sizeof number, "!%u", options->not_pids[i]);
        append(to, size, "%s%s %s", "-p", number);
    }
    for (size_t i = 0; i < KINDS - 1; i++) {
        const struct texts *texts = texts_of(options, &options_of_kinds[i]);
        for (size_t j = 0; j < texts->n; j++)
            append(to, size, "%s%s %s", options_of_kinds[i].name, quote(texts->items[j]).text);
    }
}
