// SPDX-License-Identifier: GPL-2.0-only
#include "embedded.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "load/inflate.h"

#define LARGEST (4u << 20)

static const struct embedded_object *find(const char *name)
{
    for (const struct embedded_object *object = embedded_objects; object->name; object++)
        if (!strcmp(object->name, name))
            return object;
    return NULL;
}

int embedded_open(struct object **out, const char *name, struct why *w)
{
    const struct embedded_object *packed = find(name);
    char *bytes;
    size_t size;

    if (!packed)
        return why(w, -EINVAL, "this binary has no object %s", name);
    int err = gunzip(packed->bytes, packed->size, LARGEST, &bytes, &size, w);
    if (err)
        return err;
    err = object_open(out, packed->name, bytes, size, w);
    if (err)
        free(bytes);
    else
        (*out)->bytes = bytes;
    return err;
}
