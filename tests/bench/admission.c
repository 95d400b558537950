// SPDX-License-Identifier: GPL-2.0-only
/* How well sketches of several shapes and admission rules find the heaviest keys of a stream that is too wide
 * for them. A table on stdout: mean precision of the Top-K over all repeats, in percent (and the worst for K
 * = 30), and the error of the values of the 30 heaviest, in percent.
 *
 *   admission [--long] [RECORD...]
 *
 * Without --long only the first two rules and shapes, in shorter and fewer streams.
 *
 * RECORD: lines `KEY WEIGHT`, one per event, as tests/bench/record.sh writes them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "admission.h"

#define KEYS        20000
#define SIZE(array) (sizeof(array) / sizeof *(array))

struct event {
    uint32_t key;
    uint64_t weight;
};

struct stream {
    struct event *events;
    size_t n;
    uint64_t *truth; /* by key */
    uint32_t keys;
};

typedef void add_fn(struct model *, uint64_t key, uint64_t weight, uint64_t count);

static const struct rule {
    const char *name;
    add_fn *add;
} rules[] = {
    {"pipe", model_add_pipe},           {"aged", model_add},          {"half", model_add_half},
    {"pipe+aged", model_add_pipe_aged}, {"chance", model_add_chance}, {"parallel", model_add_parallel},
};
static const unsigned shapes[][2] = {{4, 64}, {4, 512}, {2, 1024}, {8, 256}};
static const unsigned ranks[] = {1, 5, 10, 20, 30, 50, 100};

static uint64_t random_state = 88172645463325252;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (!memory)
        abort();
    return memory;
}

/* Like the kernel's keys: a process id in the upper bits, a start time in the lower ones. */
static uint64_t sketch_key(uint32_t key)
{
    return ((uint64_t)key + 1000) << 42 | (key * 97u + 12345u) % (1u << 20);
}

/* ---- synthetic streams ---- */

struct kind {
    const char *name;
    double zipf;
    double spread; /* how much of a key's weight is in the size of its events; the rest is in their number */
    bool jitter;   /* sizes vary from event to event, exponentially */
    bool late;     /* a key runs from a random moment on for half of the window's length at most */
    bool storm;    /* every second event is a key that comes once, with a large weight */
};
static const struct kind kinds[] = {
    {"zipf1.0 equal", 1.0, 0, false, false, false}, {"zipf1.1 equal", 1.1, 0, false, false, false},
    {"zipf1.3 equal", 1.3, 0, false, false, false}, {"zipf1.0 slices", 1.0, 0, true, false, false},
    {"zipf1.1 slices", 1.1, 0, true, false, false}, {"zipf1.3 slices", 1.3, 0, true, false, false},
    {"zipf1.0 hogs", 1.0, 0.5, true, false, false}, {"zipf1.1 hogs", 1.1, 0.5, true, false, false},
    {"zipf1.3 hogs", 1.3, 0.5, true, false, false}, {"zipf1.1 late", 1.1, 0.3, true, true, false},
    {"zipf1.1 storm", 1.1, 0, true, false, true},   {"zipf1.1 hogstorm", 1.1, 0.2, true, false, true},
    {"zipf1.0 late", 1.0, 0.5, true, true, false},  {"zipf1.3 late", 1.3, 0, true, true, false},
};

static uint32_t pick(const double *cumulated, double at)
{
    uint32_t low = 0, high = KEYS - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (cumulated[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool alive(const double *begin, uint32_t key, double now)
{
    return now >= begin[key] && now < begin[key] + 0.5;
}

static struct stream generate(const struct kind *kind, size_t n)
{
    struct stream s = {.n = n, .keys = KEYS + (kind->storm ? (uint32_t)n : 0)};
    double *cumulated = allocate(KEYS, sizeof *cumulated), *begin = allocate(KEYS, sizeof *begin), sum = 0;

    s.events = allocate(n, sizeof *s.events);
    s.truth = allocate(s.keys, sizeof *s.truth);
    for (uint32_t i = 0; i < KEYS; i++) {
        cumulated[i] = sum += pow(i + 1, -kind->zipf * (1 - kind->spread));
        begin[i] = uniform() * 1.3 - 0.4;
    }
    for (size_t i = 0; i < n; i++) {
        double now = (double)i / (double)n;
        struct event *e = &s.events[i];
        do {
            e->key = pick(cumulated, uniform() * sum);
        } while (kind->late && !alive(begin, e->key, now));
        double size = 1e6 * pow(e->key + 1, -kind->zipf * kind->spread);
        if (kind->jitter)
            size *= -log(1 - uniform());
        if (kind->storm && i % 2) {
            e->key = KEYS + (uint32_t)i;
            size = 1e6 * uniform();
        }
        e->weight = (uint64_t)size + 1;
        s.truth[e->key] += e->weight;
    }
    free(cumulated);
    free(begin);
    return s;
}

/* ---- recorded streams ---- */

static struct stream read_record(const char *path)
{
    struct stream s = {0};
    size_t room = 0;
    unsigned long key, weight;
    FILE *file = fopen(path, "r");

    while (file && fscanf(file, "%lu %lu", &key, &weight) == 2) {
        if (s.n == room) {
            room = room ? 2 * room : 65536;
            s.events = realloc(s.events, room * sizeof *s.events);
            if (!s.events)
                abort();
        }
        s.events[s.n++] = (struct event){(uint32_t)key, weight};
        if (key >= s.keys)
            s.keys = (uint32_t)key + 1;
    }
    if (file)
        fclose(file);
    s.truth = allocate(s.keys + 1, sizeof *s.truth);
    for (size_t i = 0; i < s.n; i++)
        s.truth[s.events[i].key] += s.events[i].weight;
    return s;
}

static void stream_free(struct stream *s)
{
    free(s->events);
    free(s->truth);
}

/* ---- results ---- */

struct ranked {
    uint64_t weight;
    uint32_t key;
};

static int heavier(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

struct score {
    double precision[SIZE(ranks)], worst_30, error_median, error_max, lost;
    unsigned repeats;
};

static double precision(const struct ranked *truth, const struct ranked *ours, unsigned k)
{
    unsigned common = 0;

    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < k; j++)
            common += ours[i].weight && truth[i].key == ours[j].key;
    return 100.0 * common / k;
}

static int larger(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void judge(const struct stream *s, const struct model *m, struct score *score)
{
    struct ranked *truth = allocate(s->keys, sizeof *truth), *ours = allocate(s->keys, sizeof *ours);
    double errors[30], total = 0;

    for (uint32_t key = 0; key < s->keys; key++) {
        truth[key] = (struct ranked){s->truth[key], key};
        ours[key] = (struct ranked){model_sum(m, sketch_key(key)).weight, key};
        total += (double)s->truth[key];
    }
    qsort(truth, s->keys, sizeof *truth, heavier);
    qsort(ours, s->keys, sizeof *ours, heavier);
    for (size_t i = 0; i < SIZE(ranks); i++) {
        double p = precision(truth, ours, ranks[i]);
        score->precision[i] += p;
        if (ranks[i] == 30 && (!score->repeats || p < score->worst_30))
            score->worst_30 = p;
    }
    for (unsigned i = 0; i < 30; i++) {
        double is = (double)truth[i].weight;
        errors[i] = 100 * fabs((double)model_sum(m, sketch_key(truth[i].key)).weight - is) / is;
    }
    qsort(errors, 30, sizeof *errors, larger);
    score->error_median += errors[15];
    if (errors[29] > score->error_max)
        score->error_max = errors[29];
    score->lost += 100 * (double)m->lost_weight / total;
    score->repeats++;
    free(truth);
    free(ours);
}

static uint64_t total_of(const struct stream *s)
{
    uint64_t total = 0;

    for (size_t i = 0; i < s->n; i++)
        total += s->events[i].weight;
    return total;
}

static void feed(const struct stream *s, const struct rule *rule, const unsigned *shape, struct score *score)
{
    struct model m;

    model_open(&m, shape[0], shape[1]);
    for (size_t i = 0; i < s->n; i++)
        rule->add(&m, sketch_key(s->events[i].key), s->events[i].weight, 1);
    if (model_total(&m).weight + m.lost_weight != total_of(s)) {
        fprintf(stderr, "admission: %s loses weight without saying so\n", rule->name);
        exit(1);
    }
    judge(s, &m, score);
    model_close(&m);
}

static void print(const char *stream, const unsigned *shape, const struct rule *rule, const struct score *s)
{
    printf("%-16s %u x %-4u %-10s", stream, shape[0], shape[1], rule->name);
    for (size_t i = 0; i < SIZE(ranks); i++)
        printf(" %5.1f", s->precision[i] / s->repeats);
    printf(" %8.1f %7.2f %6.1f %6.1f\n", s->worst_30, s->error_median / s->repeats, s->error_max,
           s->lost / s->repeats);
    fflush(stdout);
}

/* Several shapes and rules over the same streams. `file`: a recorded one, instead of `kind`. */
static void compare(const char *name, const struct kind *kind, const char *file, bool thorough)
{
    struct score scores[SIZE(shapes)][SIZE(rules)] = {0};
    size_t nshapes = thorough ? SIZE(shapes) : 2, nrules = thorough ? SIZE(rules) : 2;
    unsigned repeats = !kind ? 1 : thorough ? 5 : 3;

    for (unsigned r = 0; r < repeats; r++) {
        struct stream s = kind ? generate(kind, thorough ? 500000 : 200000) : read_record(file);
        if (s.keys < 100) {
            fprintf(stderr, "admission: %s: fewer than 100 keys\n", name);
            exit(1);
        }
        for (size_t i = 0; i < nshapes; i++)
            for (size_t j = 0; j < nrules; j++)
                feed(&s, &rules[j], shapes[i], &scores[i][j]);
        stream_free(&s);
    }
    for (size_t i = 0; i < nshapes; i++)
        for (size_t j = 0; j < nrules; j++)
            print(name, shapes[i], &rules[j], &scores[i][j]);
}

int main(int argc, char **argv)
{
    bool thorough = argc > 1 && !strcmp(argv[1], "--long");

    printf("%-16s %-8s %-10s", "stream", "shape", "rule");
    for (size_t i = 0; i < SIZE(ranks); i++)
        printf(" K=%-3u", ranks[i]);
    printf(" worst@30 err_med err_max lost\n");
    for (size_t i = 0; i < SIZE(kinds); i++)
        compare(kinds[i].name, &kinds[i], "", thorough);
    for (int i = 1 + thorough; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        compare(slash ? slash + 1 : argv[i], NULL, argv[i], thorough);
    }
    return 0;
}
