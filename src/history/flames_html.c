/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/flames_html.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "history/flames.h"

#define WIDTH     1000
#define ROW       16   /* height of a function */
#define MOST_RECT 400  /* the heaviest */
#define VISIBLE   1000 /* so small a part of the width is not seen */
#define LETTER    6    /* width of one, about */

struct rect {
    const struct flame *flame;
    double x, used; /* used: the part that what it called takes */
};

struct drawing {
    const struct flame_tree *tree;
    struct rect rects[MOST_RECT];
    size_t n;
    unsigned rows;
};

static int compare_flames(const struct flame *a, const struct flame *b)
{
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Callers first; of one depth, the heaviest first. */
static int by_depth(const void *x, const void *y)
{
    const struct flame *a = ((const struct rect *)x)->flame, *b = ((const struct rect *)y)->flame;

    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return compare_flames(a, b);
}

/* The heaviest: with each its caller, which is no lighter. */
static void choose_rects(struct drawing *d)
{
    for (size_t i = 0; i < d->tree->flames.n; i++) {
        const struct flame *flame = hash_table_at(&d->tree->flames, i);
        size_t at = d->n;
        if (flame->weight < d->tree->weight / VISIBLE)
            continue;
        while (at && compare_flames(flame, d->rects[at - 1].flame) < 0)
            at--;
        if (at == MOST_RECT)
            continue;
        d->n += d->n < MOST_RECT;
        memmove(&d->rects[at + 1], &d->rects[at], (d->n - 1 - at) * sizeof *d->rects);
        d->rects[at] = (struct rect){.flame = flame};
    }
    qsort(d->rects, d->n, sizeof *d->rects, by_depth);
    d->rows = d->n ? d->rects[d->n - 1].flame->depth + 1 : 0;
}

static double rounded(double x)
{
    return round(x * 100) / 100;
}

static void put_flame(struct page *p, const struct drawing *d, const struct rect *r)
{
    const struct flame *flame = r->flame;
    size_t length = strlen(flame->name), room;
    double share = flame->weight / d->tree->weight, x = rounded(r->x),
           width = rounded(r->x + share * WIDTH) - x;
    unsigned y = (d->rows - 1 - flame->depth) * ROW, hue = flame->depth * 7 % 30 + (unsigned)flame->id % 25;
    bool kernel = length > 4 && !strcmp(flame->name + length - 4, "_[k]");
    char name[FLAMES_NAME];

    page_put(p, "<g><title>");
    page_name(p, flame->name);
    page_put(
        p,
        " %.2f%%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%u,70%%,72%%)\"/>",
        100 * share, x, y, width, ROW - 1, kernel ? 190 + hue : hue);
    room = (size_t)(width / LETTER);
    if (room >= 3) {
        room = room < length ? room : length;
        while (room < length && room && ((unsigned char)flame->name[room] & 0xc0) == 0x80)
            room--; /* no half a character */
        memcpy(name, flame->name, room);
        name[room] = '\0';
        page_put(p, "<text x=\"%.2f\" y=\"%u\">", x + 2, y + ROW - 5);
        page_name(p, name);
        page_put(p, "</text>");
    }
    page_put(p, "</g>\n");
}

static struct rect *caller_of(struct drawing *d, const struct rect *r)
{
    for (struct rect *at = d->rects; at < r; at++)
        if (at->flame->id == r->flame->caller)
            return at;
    return NULL;
}

static void put_flames(struct page *p, struct drawing *d)
{
    double first = 0; /* where the next that none called begins */

    choose_rects(d);
    page_put(p, "<svg class=\"f\" viewBox=\"0 0 %d %u\" role=\"img\">\n", WIDTH, d->rows * ROW);
    for (size_t i = 0; i < d->n; i++) {
        struct rect *r = &d->rects[i], *caller = caller_of(d, r);
        double width = r->flame->weight / d->tree->weight * WIDTH;
        if (!caller && r->flame->depth)
            continue;
        r->x = caller ? caller->x + caller->used : first;
        *(caller ? &caller->used : &first) += width;
        put_flame(p, d, r);
    }
    page_put(p, "</svg>\n");
}

void flames_html(struct page *p)
{
    static struct drawing d;

    for (unsigned i = 0; p->d->flames && i < p->d->flames->n; i++) {
        const struct flame_tree *tree = &p->d->flames->trees[i];
        d = (struct drawing){.tree = tree};
        page_put(p, "<h2>");
        page_name(p, tree->view);
        page_put(p,
                 " by %s</h2><p>Callers are below. Functions with less than 0.1 %% are not drawn, "
                 "nor more than the %d heaviest.\n",
                 tree->weighs->name, MOST_RECT);
        put_flames(p, &d);
    }
}
