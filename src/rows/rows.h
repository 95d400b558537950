/* SPDX-License-Identifier: GPL-2.0-only */
/* Between views and lines: chooses rows (-c, -u, -g, --container, --not), tells more of whom they are of
 * (--with,
 * --args), groups them (--by) and orders them (--sort), alike in every view. */
#ifndef HOG_ROWS_ROWS_H
#define HOG_ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cli/options.h"
#include "out/out.h"
#include "base/error.h"

/* What views are asked for (struct options, `top`) where rows are chosen, grouped or ordered behind them:
 * all. */
#define ROWS_ALL 65536

struct rows;
struct names;

/* Whether the views must hand out more rows than are shown. */
bool rows_want_all(const struct options *options);

/* Whether control groups, or what is told from them, are asked for. */
bool rows_want_groups(const struct options *options);

/* views: those of the run, NULL at the end; orders: of each, as in struct metric. names: of the run, or NULL.
 * proc: rows bear the numbers of /proc, so that it can be asked who they are. *rows is NULL where nothing of
 * all this was asked for. -EINVAL: it cannot be with these views; -ENOMEM. */
int rows_open(struct rows **rows, const struct options *options, const struct schema *const *views,
              const char *const *orders, const struct names *names, bool proc, struct error *why);
void rows_close(struct rows *rows);

/* Rows bear other numbers than /proc after all: what it says is of others. */
void rows_without_proc(struct rows *rows);

/* The users of -u by number; how many. */
size_t rows_users(const struct rows *rows, const uint32_t **users);

/* Whether a control group is one that -g and --container ask for; path NULL: not known. */
struct container;
bool rows_group_passes(const struct options *options, const char *path, size_t length,
                       const struct container *container);

/* Takes the rows that are written to `out` from now on. */
void rows_attach(struct rows *rows, struct out *out);

/* A window's rows are to come. now: its end, CLOCK_MONOTONIC ns. */
void rows_begin(struct rows *rows, uint64_t now);

/* A view has written its rows: those that were collected go out. */
void rows_flush(struct rows *rows);

/* Rows that found no memory, since this was asked before. */
uint64_t rows_lost(struct rows *rows);

#endif
