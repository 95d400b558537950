/* SPDX-License-Identifier: GPL-2.0-only */
/* OpenMetrics text (Prometheus and its textfile collector read it too): everything a gauge, named
 * hog_VIEW_COLUMN with the units that Prometheus wants: seconds, bytes, ratios. */
#ifndef HOG_OUT_PROM_H
#define HOG_OUT_PROM_H

#include "out/lines.h"
#include "out/cell.h"
#include "out/column.h"

#define PROM_NAME 128

/* The metric of a column (view's name, or that of a note), and by what its values are multiplied. */
double prom_name(const char *schema, const char *column, enum column_unit unit, char name[PROM_NAME]);

void prom_note(struct lines *lines, const char *name, const struct field *fields, size_t n);

/* The rows, and behind them as many sums of those that are not among them. */
void prom_table(struct lines *lines, const struct schema *schema, const struct cell *const *rows, size_t n,
                size_t others);

void prom_end(struct lines *lines);

#endif
