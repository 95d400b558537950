// SPDX-License-Identifier: GPL-2.0-only
#include "loader/kernel/embedded.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/unlzma.h"

static struct unlzma *stream; /* NULL: nothing is unpacked */

static const struct embedded_object *find(const char *name)
{
    for (const struct embedded_object *object = embedded_objects; object->name; object++)
        if (!strcmp(object->name, name))
            return object;
    return NULL;
}

static size_t size_of_all(void)
{
    size_t size = 0;

    for (const struct embedded_object *object = embedded_objects; object->name; object++)
        size = object->at + object->size;
    return size;
}

int embedded_open(struct object **out, const char *name, struct error *why)
{
    const struct embedded_object *object = find(name);
    const char *all;

    if (!object)
        return error_set(why, -EINVAL, "this binary has no object %s", name);
    int err = stream ? 0 : unlzma_open(&stream, embedded_stream, embedded_stream_size, size_of_all(), why);
    if (!err)
        err = unlzma_until(stream, object->at + object->size, &all, why);
    if (err)
        return err;
    char *bytes = malloc(object->size);
    if (!bytes)
        return error_set(why, -ENOMEM, "out of memory");
    memcpy(bytes, all + object->at, object->size);
    err = object_open(out, object->name, bytes, object->size, why);
    if (err)
        free(bytes);
    else
        (*out)->bytes = bytes;
    return err;
}

void embedded_close(void)
{
    unlzma_close(stream);
    stream = NULL;
}
