// SPDX-License-Identifier: GPL-2.0-only
#include "out/choice.h"
#include <errno.h>
#include <string.h>
#include "base/list.h"
#include "base/quote.h"

#define NAMES 420 /* room for the names of a wide view in a message */

static bool is_named(const struct column *column, const char *name, size_t length)
{
    return strlen(column->name) == length && !memcmp(column->name, name, length);
}

/* A name that is in the list twice counts once. */
static size_t exactly(const char *list, const struct schema *schema, uint8_t columns[CHOICE_COLUMNS])
{
    uint64_t taken = 0;
    size_t n = 0;

    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        for (size_t i = 0; i < schema->ncolumns && i < CHOICE_COLUMNS; i++) {
            if (!is_named(&schema->columns[i], name, length) || taken >> i & 1)
                continue;
            taken |= UINT64_C(1) << i;
            columns[n++] = (uint8_t)i;
        }
    }
    return n;
}

size_t choice_of(const struct column_choice *choice, const struct schema *schema,
                 uint8_t columns[CHOICE_COLUMNS])
{
    const char *more = choice->list && *choice->list == '+' ? choice->list + 1 : NULL;
    size_t n = 0;

    if (choice->list && !more)
        return exactly(choice->list, schema, columns);
    for (size_t i = 0; i < schema->ncolumns && i < CHOICE_COLUMNS; i++) {
        const struct column *column = &schema->columns[i];
        size_t length = strlen(column->name);
        if (choice->wide || column->use & COLUMN_DEFAULT || list_contains(more, column->name, length) ||
            list_contains(choice->also, column->name, length))
            columns[n++] = (uint8_t)i;
    }
    return n;
}

static bool is_column(const struct schema *schema, const char *name, size_t length)
{
    for (; schema; schema = schema->next)
        for (size_t i = 0; i < schema->ncolumns; i++)
            if (is_named(&schema->columns[i], name, length))
                return true;
    return false;
}

static int unknown(const char *option, const char *name, size_t length, const struct schema *const *schemas,
                   struct error *why)
{
    char names[NAMES] = "";

    for (const struct schema *const *s = schemas; *s; s++)
        for (size_t i = 0; i < (*s)->ncolumns; i++) {
            const char *known = (*s)->columns[i].name;
            bool again = false;
            for (const struct schema *const *before = schemas; before != s && !again; before++)
                again = is_column(*before, known, strlen(known));
            if (!again)
                append_name(names, sizeof names, known);
        }
    return error_set(why, -EINVAL, "%s: no column \"%s\": there are %s", option,
                     quote_bytes(name, length).text, names);
}

int choice_check(const char *option, const char *list, const struct schema *const *schemas, struct error *why)
{
    if (list && *list == '+')
        list++;
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        bool found = false;
        for (const struct schema *const *s = schemas; *s && !found; s++)
            found = is_column(*s, name, length);
        if (!found)
            return unknown(option, name, length, schemas, why);
    }
    return 0;
}
