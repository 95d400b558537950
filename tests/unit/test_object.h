/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiled test objects: $HOG_TEST_OBJECTS/NAME.bpf.o. */
#ifndef HOG_TESTS_TEST_OBJECT_H
#define HOG_TESTS_TEST_OBJECT_H

#include <stdio.h>
#include <stdlib.h>
#include "loader/kernel/object.h"
#include "loader/kernel/target_file.h"

__attribute__((unused)) static const char *test_object_path(const char *name)
{
    static char path[512];
    const char *directory = getenv("HOG_TEST_OBJECTS");
    snprintf(path, sizeof path, "%s/%s.bpf.o", directory ? directory : "build/tests/bpf", name);
    return path;
}

/* malloc'ed, NULL if it is not there. */
__attribute__((unused)) static void *test_object_bytes(const char *name, size_t *size)
{
    FILE *f = fopen(test_object_path(name), "r");
    char *bytes = malloc(1 << 20);
    if (f && bytes) {
        *size = fread(bytes, 1, 1 << 20, f);
        fclose(f);
        return bytes;
    }
    free(bytes);
    return NULL;
}

#endif
