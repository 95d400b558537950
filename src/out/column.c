/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/column.h"
#include <stdbool.h>
#include <string.h>

static const char *const suffixes[UNITS] = {
    [UNIT_COUNT] = "count", [UNIT_PER_S] = "s", [UNIT_US] = "us",   [UNIT_MS] = "ms",
    [UNIT_S] = "s",         [UNIT_PCT] = "pct", [UNIT_KIB] = "kib", [UNIT_KIB_PER_S] = "kib_s",
};

const char *unit_suffix(enum column_unit unit)
{
    return suffixes[unit];
}

static bool is_named(const char *name, const char *like, size_t length)
{
    return !strncmp(name, like, length) && !name[length];
}

const struct schema *schema_find(const struct schema *const *schemas, const char *name, size_t length)
{
    for (; *schemas; schemas++)
        for (const struct schema *schema = *schemas; schema; schema = schema->next)
            if (is_named(schema->name, name, length))
                return schema;
    return NULL;
}

const struct column *column_find(const struct schema *const *schemas, const char *schema_name,
                                 size_t schema_length, const char *name, size_t length)
{
    const struct schema *schema = schema_find(schemas, schema_name, schema_length);

    for (size_t i = 0; schema && i < schema->ncolumns; i++)
        if (is_named(schema->columns[i].name, name, length))
            return &schema->columns[i];
    return NULL;
}

enum column_unit unit_of_field(const char *name)
{
    size_t length = strlen(name);

    for (enum column_unit unit = UNITS - 1; unit > UNIT_PER_S; unit--) {
        const char *suffix = suffixes[unit];
        size_t n = suffix ? strlen(suffix) : 0;
        if (n && length > n && name[length - n - 1] == '_' && !strcmp(name + length - n, suffix))
            return unit;
    }
    return UNIT_NONE;
}
