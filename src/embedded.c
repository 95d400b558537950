/* SPDX-License-Identifier: GPL-2.0-only */
#include "embedded.h"
#include <string.h>

const struct embedded_object *embedded_object(const char *name)
{
    for (const struct embedded_object *object = embedded_objects; object->name; object++) {
        if (!strcmp(object->name, name))
            return object;
    }
    return NULL;
}
