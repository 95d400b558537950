// SPDX-License-Identifier: GPL-2.0-only
#include "source/stacks/stacks.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "loader/kernel/iterator.h"
#include "loader/kernel/map_read.h"
#include "source/shared/symbols.h"
#include "source/stacks/kind.h"
#include "source/stacks/load.h"
#include "source/shared/sources.h"
#include "stacks.types.h"
#include "syscall/bpf.h"

#define MOST_STACKS   32768
#define MOST_FRAMES   4096 /* as in bpf/stacks/paths.bpf.h */
#define MANY_FRAMES   3072 /* old ones are deleted then */
#define MOST_SLEEPERS 65536
#define MOST_TASKS    8192

/* A stack and the sum of its time. */
struct sum {
    uint64_t id; /* hash of the key */
    struct hog_stack_key key;
    uint64_t count, ns;
};

/* A task whose sleep the iterator saw. */
struct sleeper {
    uint64_t id;
    uint64_t pass;
};

/* Who had a stack of user space: its name outlives it. */
struct owner {
    uint64_t id; /* key */
    uint64_t seen;
    uint32_t uid;
    char comm[16];
};

struct stacks {
    const struct source_context *context;
    struct stacks_kernel kernel;
    struct symbols *symbols;
    struct hash_table sums, frames, sleepers, owners;
    struct stack *list;
    size_t n, room;
    uint64_t window, begin, before; /* begin, before: on the programs' clock */
    struct hog_stack_lost lost_before;
    uint64_t lost, lost_frames;
    bool frames_missing;
};

struct stacks_options stacks_options;

struct stacks *stacks_of(const struct source_context *context)
{
    return source_state(context, &stacks_source);
}

static void frames_drop(const struct stack_frames *frames)
{
    free(frames->at);
}

static void stacks_close(void *state)
{
    struct stacks *s = state;

    stacks_kernel_close(&s->kernel);
    for (size_t i = 0; i < s->frames.n; i++)
        frames_drop(hash_table_at(&s->frames, i));
    hash_table_free(&s->sums);
    hash_table_free(&s->frames);
    hash_table_free(&s->sleepers);
    hash_table_free(&s->owners);
    symbols_close(s->symbols);
    free(s->list);
    free(s);
}

static int stacks_open(void **state, const struct source_context *context, unsigned needs,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    bool of_subject = context->subject && context->subject->n;

    if (needs & STACKS_OF_SUBJECT && of_subject)
        needs |= STACKS_ON_CPU | STACKS_ASLEEP;
    if (!(needs & (STACKS_ON_CPU | STACKS_ASLEEP)))
        return error_set(why, -ECANCELED, "stacks are not asked for");
    struct stacks *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(why, -ENOMEM, "out of memory");
    s->context = context;
    s->sums = (struct hash_table){.size = sizeof(struct sum), .most = MOST_STACKS};
    s->frames = (struct hash_table){.size = sizeof(struct stack_frames), .most = MOST_FRAMES};
    s->sleepers = (struct hash_table){.size = sizeof(struct sleeper), .most = MOST_SLEEPERS};
    s->owners = (struct hash_table){.size = sizeof(struct owner), .most = MOST_TASKS};
    s->symbols = symbols_open(NULL);
    int err = s->symbols ? stacks_kernel_open(&s->kernel, context, needs, hooks, why)
                         : error_set(why, -ENOMEM, "out of memory");
    if (err) {
        stacks_close(s);
        return err;
    }
    *state = s;
    return 0;
}

/* ---- between flips ---- */

/* What a process has mapped is read as soon as it is seen: it may live for a moment only. */
static int take_news(void *context, const void *data, size_t size)
{
    struct stacks *s = context;
    struct hog_image image;

    if (size < sizeof image)
        return -EPROTO;
    memcpy(&image, data, sizeof image);
    struct owner *owner = hash_table_find_or_add(&s->owners, image.key);
    if (owner) {
        owner->seen = s->window;
        owner->uid = image.uid;
        memcpy(owner->comm, image.comm, sizeof owner->comm);
    }
    if (pidns_is_of_proc(s->context->pidns))
        symbols_keep(s->symbols, image.image, key_process(image.key));
    return 0;
}

static int stacks_wake_fd(void *state)
{
    return ring_buffer_fd(((struct stacks *)state)->kernel.news);
}

static void stacks_wake(void *state)
{
    struct stacks *s = state;

    ring_buffer_drain(s->kernel.news, take_news, s);
}

static void stacks_tick(void *state)
{
    stacks_kernel_follow(&((struct stacks *)state)->kernel);
}

static void stacks_flip(void *state)
{
    struct stacks *s = state;

    s->before = s->begin;
    s->begin = stacks_kernel_flip(&s->kernel);
}

/* ---- the sums of a window ---- */

static uint64_t hash_of(const struct hog_stack_key *key)
{
    uint64_t words[sizeof *key / 8], hash = 0;

    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / 8; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash | 1;
}

static void add_time(struct stacks *s, const struct hog_stack_key *key, uint64_t count, uint64_t ns)
{
    struct sum *sum = hash_table_find_or_add(&s->sums, hash_of(key));

    if (!sum) {
        s->lost += count;
        return;
    }
    sum->key = *key;
    sum->count += count;
    sum->ns += ns;
}

static int add_sum(void *context, const void *key, const void *value)
{
    struct hog_stack_key k;
    struct hog_stack_sum sum;

    memcpy(&k, key, sizeof k);
    memcpy(&sum, value, sizeof sum);
    add_time(context, &k, sum.count, sum.ns);
    return 0;
}

static void add_sleeper(void *context, const void *record)
{
    struct stacks *s = context;
    const struct hog_sleeper *asleep = record;

    uint64_t from = asleep->at > s->before ? asleep->at : s->before;
    uint64_t until = asleep->until < s->begin ? asleep->until : s->begin;

    if (from >= until)
        return;
    struct sleeper *sleeper = hash_table_find_or_add(&s->sleepers, asleep->task);
    if (!sleeper) {
        s->lost++;
        return;
    }
    sleeper->pass = s->window;
    add_time(s, &asleep->key, 1, until - from);
}

/* It woke before the iterator came to it, or after. */
static int add_late(void *context, const void *key, const void *value)
{
    struct stacks *s = context;
    struct hog_late late;
    uint64_t task;

    memcpy(&task, key, sizeof task);
    memcpy(&late, value, sizeof late);
    const struct sleeper *sleeper = hash_table_find(&s->sleepers, task);
    if (!sleeper)
        add_time(s, &late.key, 1, late.ns);
    return 0;
}

static bool keep_none(const void *context, const void *entry)
{
    return false;
}

static int read_sums(struct stacks *s, struct error *why)
{
    const struct stacks_kernel *k = &s->kernel;
    int n = 0;

    hash_table_keep(&s->sums, keep_none, NULL);
    hash_table_keep(&s->sleepers, keep_none, NULL);
    if (k->sleepers >= 0 && s->before)
        iterator_read(k->sleepers, sizeof(struct hog_sleeper), add_sleeper, s);
    stacks_kernel_settled(k);
    n = map_drain(k->sums[(k->flip - 1) & 1]->fd, sizeof(struct hog_stack_key), sizeof(struct hog_stack_sum),
                  add_sum, s, why);
    if (n >= 0)
        n = map_drain(k->late->fd, sizeof(uint64_t), sizeof(struct hog_late), add_late, s, why);
    return n < 0 ? n : 0;
}

/* ---- frames ---- */

static const struct stack_frames *frames_of(struct stacks *s, uint64_t id)
{
    struct hog_frames frames;

    if (id == HOG_FRAMES_NONE || id == HOG_FRAMES_LOST)
        return NULL;
    struct stack_frames *known = hash_table_find(&s->frames, id);
    if (!known) {
        if (sys_bpf_map_lookup(s->kernel.frames->fd, &id, &frames)) {
            s->frames_missing = true;
            return NULL;
        }
        size_t n = frames.n < sizeof frames.at / 8 ? frames.n : sizeof frames.at / 8;
        uint64_t *at = malloc(n * sizeof *at + 1);
        known = at ? hash_table_find_or_add(&s->frames, id) : NULL;
        if (!known) {
            free(at);
            return NULL;
        }
        memcpy(at, frames.at, n * sizeof *at);
        known->at = at;
        known->n = (uint32_t)n;
    }
    known->seen = s->window;
    return known;
}

static bool is_recent(const void *context, const void *entry)
{
    const struct stacks *s = context;
    const struct stack_frames *frames = entry;

    if (frames->seen + 1 >= s->window)
        return true;
    sys_bpf_map_delete(s->kernel.frames->fd, &frames->id);
    frames_drop(frames);
    return false;
}

static bool is_owner_recent(const void *context, const void *entry)
{
    return ((const struct owner *)entry)->seen + 2 >= ((const struct stacks *)context)->window;
}

/* Makes room for new ones; those of this window stay. */
static void forget_old(struct stacks *s)
{
    if (s->frames.n > MANY_FRAMES || s->frames_missing)
        stacks_kernel_forget(&s->kernel);
    if (s->frames.n > MANY_FRAMES)
        hash_table_keep(&s->frames, is_recent, s);
    s->frames_missing = false;
    if (s->owners.n > MOST_TASKS / 2)
        hash_table_keep(&s->owners, is_owner_recent, s);
}

/* ---- the list ---- */

static int make_list(struct stacks *s)
{
    if (s->room < s->sums.n) {
        struct stack *list = realloc(s->list, s->sums.n * sizeof *list);
        if (!list)
            return -ENOMEM;
        s->list = list;
        s->room = s->sums.n;
    }
    s->n = 0;
    s->lost_frames = 0;
    for (size_t i = 0; i < s->sums.n; i++) {
        const struct sum *sum = hash_table_at(&s->sums, i);
        const struct hog_stack_key *key = &sum->key;
        struct owner *owner = hash_table_find(&s->owners, key->task);
        if (owner)
            owner->seen = s->window;
        if (key->kernel == HOG_FRAMES_LOST || key->user == HOG_FRAMES_LOST)
            s->lost_frames += sum->count;
        s->list[s->n++] = (struct stack){
            .task = key->task,
            .count = sum->count,
            .ns = sum->ns,
            .image = key->image,
            .call = key->call < HOG_STACK_FAULT ? (int)key->call : -1,
        };
    }
    /* Pointers to frames are valid once all are there: entries move. */
    for (size_t i = 0; i < s->sums.n; i++) {
        const struct sum *sum = hash_table_at(&s->sums, i);
        frames_of(s, sum->key.kernel);
        frames_of(s, sum->key.user);
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct sum *sum = hash_table_at(&s->sums, i);
        s->list[i].kernel = hash_table_find(&s->frames, sum->key.kernel);
        s->list[i].user = hash_table_find(&s->frames, sum->key.user);
        s->list[i].kind = kind_of_stack(&sum->key, s->list[i].kernel, s->symbols);
    }
    return 0;
}

static int stacks_collect(void *state, const struct window *window, struct error *why)
{
    struct stacks *s = state;
    struct hog_stack_lost lost;

    s->window = window->seq + 1;
    s->lost = 0;
    stacks_wake(s);
    stacks_kernel_follow(&s->kernel);
    int err = read_sums(s, why);
    if (!err && make_list(s))
        err = error_set(why, -ENOMEM, "out of memory");
    stacks_kernel_lost(&s->kernel, &lost);
    s->lost += lost.sums - s->lost_before.sums + lost.late - s->lost_before.late;
    s->lost_before = lost;
    return err;
}

static void stacks_shown(void *state)
{
    struct stacks *s = state;

    symbols_named(s->symbols);
    s->n = 0;
    forget_old(s);
}

static uint64_t stacks_lost(void *state)
{
    return ((struct stacks *)state)->lost;
}

static void stacks_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct stacks *)state)->kernel.collector, cost);
}

/* ---- asking ---- */

const struct stack *stacks_list(const struct stacks *s, size_t *n)
{
    *n = s->n;
    return s->list;
}

uint64_t stacks_sample_ns(const struct stacks *s, const char **why)
{
    *why = s->kernel.no_samples.text;
    return s->kernel.sample_ns;
}

uint64_t stacks_incomplete(const struct stacks *s)
{
    return s->lost_frames;
}

static bool name_of_dead(void *context, uint64_t key, struct name *name)
{
    const struct stacks *s = context;
    const struct owner *owner = hash_table_find(&s->owners, key);

    if (!owner)
        return false;
    name->comm_length = strnlen(owner->comm, sizeof owner->comm);
    memcpy(name->comm, owner->comm, name->comm_length);
    name->uid = owner->uid;
    name->uid_known = true;
    return true;
}

const struct name *stacks_name(struct stacks *s, uint64_t key, uint64_t now)
{
    return names_find(s->context->names, key, now, name_of_dead, s);
}

struct symbols *stacks_symbols(struct stacks *s)
{
    return s->symbols;
}

const struct source stacks_source = {
    .name = "stacks",
    .ways = stacks_ways,
    .open = stacks_open,
    .flip = stacks_flip,
    .tick = stacks_tick,
    .wake_fd = stacks_wake_fd,
    .wake = stacks_wake,
    .collect = stacks_collect,
    .shown = stacks_shown,
    .lost = stacks_lost,
    .cost = stacks_cost,
    .close = stacks_close,
};
