// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "rows/rows_private.h"

size_t schema_column(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        if (!strcmp(schema->columns[i].name, name))
            return i;
    return NO_COLUMN;
}

static size_t column_named(const struct schema *schema, const char *name, size_t length)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        if (strlen(schema->columns[i].name) == length && !memcmp(schema->columns[i].name, name, length))
            return i;
    return NO_COLUMN;
}

void order_parse(struct order *order, const struct schema *schema, const char *spec)
{
    *order = (struct order){.levels = 1};
    for (;;) {
        size_t length = strcspn(spec, "+,"), column = column_named(schema, spec, length);
        if (column != NO_COLUMN)
            order->columns[order->levels - 1] |= UINT64_C(1) << column;
        spec += length;
        if (!*spec || (*spec == ',' && order->levels == LEVELS))
            break;
        order->levels += *spec++ == ',';
    }
    if (!order->columns[0])
        order->levels = 0;
}

void order_default(struct order *order, const struct schema *schema)
{
    *order = (struct order){0};
    for (size_t i = 0; i < schema->ncolumns && !order->levels; i++) {
        if (!column_adds_up(&schema->columns[i]))
            continue;
        order->columns[0] = UINT64_C(1) << i;
        order->levels = 1;
    }
}
