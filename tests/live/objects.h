/* SPDX-License-Identifier: GPL-2.0-only */
/* Test objects for live tests of the loader: $HOG_TEST_OBJECTS/NAME.bpf.o, else $BUILD/tests/bpf. */
#ifndef HOG_TESTS_LIVE_OBJECTS_H
#define HOG_TESTS_LIVE_OBJECTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loader/kernel/object.h"
#include "loader/kernel/target_file.h"
#include "syscall/bpf.h"
#include "tests/unit/tap.h"

#define OBJECT_ROOM (256 << 10)

/* Reads an object file; its bytes stay until the process ends. 0 if there is none. */
TAP_UNUSED static size_t object_bytes(const char *name, const void **bytes)
{
    char path[512];
    const char *directory = getenv("HOG_TEST_OBJECTS"), *build = getenv("BUILD");

    if (directory)
        snprintf(path, sizeof path, "%s/%s.bpf.o", directory, name);
    else
        snprintf(path, sizeof path, "%s/tests/bpf/%s.bpf.o", build ? build : "build", name);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    void *room = malloc(OBJECT_ROOM);
    size_t size = room ? fread(room, 1, OBJECT_ROOM, f) : 0;
    fclose(f);
    *bytes = room;
    return size;
}

/* Opens and relocates; NULL (and a failed check) if it cannot. */
TAP_UNUSED static struct object *object_prepare(const char *name)
{
    struct error why = {""};
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    const void *bytes;
    size_t size = object_bytes(name, &bytes);

    int err = size ? object_open(&obj, name, bytes, size, &why) : error_set(&why, -2, "no such file");
    if (!err && target_btf_open(&target, NULL, NULL) < 0)
        target = NULL; /* no BTF on this host: programs that need it say so */
    if (!err)
        err = object_relocate(obj, target, &why);
    if (target)
        target_btf_close(target);
    if (!err)
        return obj;
    check(false, "object %s is opened: %s", name, why.text);
    object_close(obj);
    return NULL;
}

/* The same with maps in the kernel. */
TAP_UNUSED static struct object *object_ready(const char *name)
{
    struct error why = {""};
    struct object *obj = object_prepare(name);

    if (!obj || object_create_maps(obj, &why) == 0)
        return obj;
    check(false, "maps of %s are created: %s", name, why.text);
    object_close(obj);
    return NULL;
}

/* Loads a program; NULL and a failed check if that fails. */
TAP_UNUSED static struct object_program *program_ready(struct object *obj, const char *name)
{
    struct error why = {""};
    struct object_program *program = object_program(obj, name);

    if (program && object_load_program(obj, program, &why) == 0)
        return program;
    check(false, "program %s loads: %s", name, program ? why.text : "there is none");
    return NULL;
}

/* One run of a raw_tp program, on this CPU; its return value, or -errno. */
TAP_UNUSED static int run_here(const struct object_program *program)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = program->fd;
    int err = sys_bpf_test_run(&attr);
    return err ? err : (int)attr.test.retval;
}

#define GLOBAL(obj, name, type) (*(volatile type *)object_global(obj, name, sizeof(type)))

#endif
