/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/object.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "loader/spec/relocate.h"

static int add_map(struct object *obj, const struct map_spec *spec)
{
    struct object_map *map = obj->maps[obj->nmaps] = arena_alloc(&obj->arena, 1, sizeof *map);
    if (!map)
        return -ENOMEM;
    obj->nmaps++;
    *map = (struct object_map){
        .spec = spec,
        .name = spec->name,
        .type = spec->type,
        .key_size = spec->key_size,
        .value_size = spec->value_size,
        .max_entries = spec->max_entries,
        .flags = spec->flags,
        .inner_fd = -1,
        .fd = -1,
    };
    if (!spec->data_size)
        return 0;
    map->data = arena_alloc(&obj->arena, spec->data_size, 1);
    if (map->data && spec->data)
        memcpy(map->data, spec->data, spec->data_size);
    return map->data ? 0 : -ENOMEM;
}

static int add_program(struct object *obj, const struct program_spec *spec)
{
    struct object_program *p = obj->programs[obj->nprograms] = arena_alloc(&obj->arena, 1, sizeof *p);
    if (!p)
        return -ENOMEM;
    obj->nprograms++;
    p->spec = spec;
    p->name = spec->name;
    p->section = spec->section;
    p->target = spec->target;
    if (spec->kind) {
        p->type = spec->kind->type;
        p->expected_attach_type = spec->kind->expected_attach_type;
        p->load_flags = spec->kind->load_flags;
    }
    p->fd = -1;
    return 0;
}

int object_new(struct object **out, struct spec *spec, struct error *why)
{
    struct object *obj = calloc(1, sizeof *obj);
    if (!obj) {
        spec_close(spec);
        return error_set(why, -ENOMEM, "out of memory");
    }
    obj->spec = spec;
    obj->name = spec->name;
    obj->license = spec->license;
    obj->btf_fd = -1;
    obj->budget = spec->budget; /* what is left of it */
    obj->arena.budget = &obj->budget;
    obj->maps = arena_alloc(&obj->arena, spec->nmaps, sizeof *obj->maps);
    obj->programs = arena_alloc(&obj->arena, spec->nprograms, sizeof *obj->programs);
    int err = obj->maps && obj->programs ? 0 : -ENOMEM;
    for (size_t i = 0; i < spec->nmaps && !err; i++)
        err = add_map(obj, &spec->maps[i]);
    for (size_t i = 0; i < spec->nprograms && !err; i++)
        err = add_program(obj, &spec->programs[i]);
    if (err) {
        bool spent = obj->budget.spent;
        error_set(why, err, "%s: %s", obj->name, spent ? BUDGET_SPENT : "out of memory");
        object_close(obj);
        return spent ? -E2BIG : err;
    }
    *out = obj;
    return 0;
}

int object_open(struct object **out, const char *name, const void *bytes, size_t size, struct error *why)
{
    struct spec *spec;
    int err = spec_open(&spec, name, bytes, size, NULL, why);
    return err ? err : object_new(out, spec, why);
}

void object_program_unload(struct object_program *program)
{
    if (!program)
        return;
    if (program->fd >= 0)
        close(program->fd);
    program->fd = -1;
    free(program->log);
    program->log = NULL;
}

void object_program_copy(struct object_program *copy, const struct object_program *from,
                         struct bpf_insn *insns)
{
    *copy = *from;
    copy->fd = -1;
    copy->log = NULL;
    copy->error = 0;
    memcpy(insns, from->code.insns, from->code.ninsns * sizeof *insns);
    copy->code.insns = insns;
}

void object_close(struct object *obj)
{
    if (!obj)
        return;
    for (size_t i = 0; obj->maps && i < obj->nmaps; i++) {
        if (obj->maps[i]->memory)
            munmap(obj->maps[i]->memory, obj->maps[i]->memory_size);
        if (obj->maps[i]->fd >= 0)
            close(obj->maps[i]->fd);
    }
    for (size_t i = 0; obj->programs && i < obj->nprograms; i++)
        object_program_unload(obj->programs[i]);
    if (obj->btf_fd >= 0)
        close(obj->btf_fd);
    arena_free(&obj->arena);
    spec_close(obj->spec);
    free(obj->bytes);
    free(obj);
}

struct object_map *object_map(const struct object *obj, const char *name)
{
    for (size_t i = 0; i < obj->nmaps; i++)
        if (!strcmp(obj->maps[i]->name, name))
            return obj->maps[i];
    return NULL;
}

struct object_program *object_program(const struct object *obj, const char *name)
{
    for (size_t i = 0; i < obj->nprograms; i++)
        if (!strcmp(obj->programs[i]->name, name))
            return obj->programs[i];
    return NULL;
}

/* Before the maps exist their initial contents are what counts, afterwards the mapping. */
void *object_global(const struct object *obj, const char *variable, size_t size)
{
    uint32_t offset;
    int number = spec_variable(obj->spec, variable, size, &offset);
    if (number < 0)
        return NULL;
    const struct object_map *map = obj->maps[number];
    char *base = map->fd >= 0 ? map->memory : map->data;
    return base ? base + offset : NULL;
}

void object_resize_map(struct object_map *map, uint32_t value_size, uint32_t max_entries)
{
    if (map->spec->section >= 0)
        return; /* global data is as large as the compiler made it */
    if (value_size && value_size != map->value_size) {
        map->value_size = value_size;
        map->resized = true;
    }
    if (max_entries)
        map->max_entries = max_entries;
}

static int relocate_program(struct object *obj, struct object_program *p, struct core_resolver *resolver,
                            struct error *why)
{
    int err = spec_link(obj->spec, p->spec, &obj->arena, &p->code, why);
    if (err)
        return err;
    int id = spec_attach_id(p->spec, resolver->target, why);
    p->attach_btf_id = id > 0 ? (uint32_t)id : 0;
    struct error second;
    err = spec_relocate(obj->spec, resolver, &p->code, id < 0 ? &second : why);
    return err == -ENOMEM || id >= 0 ? err : id;
}

static int relocate_all(struct object *obj, struct target_btf *target)
{
    struct core_resolver resolver = {obj->spec->btf, target, &obj->arena, NULL, obj->spec->extras};
    for (size_t i = 0; i < obj->nprograms; i++) {
        struct object_program *p = obj->programs[i];
        struct error reason = {0};
        int err = relocate_program(obj, p, &resolver, &reason);
        if (err == -ENOMEM && !obj->budget.spent)
            return err;
        if (!err)
            continue;
        p->error = err;
        error_set(&p->reason, err, "%s: %s", p->name,
                  *reason.text    ? reason.text
                  : err == -E2BIG ? BUDGET_SPENT
                                  : error_name(err));
    }
    return target ? target->error : 0;
}

int object_relocate(struct object *obj, struct target_btf *target, struct error *why)
{
    if (obj->relocated)
        return error_set(why, -EALREADY, "%s: relocated twice", obj->name);
    obj->relocated = true;
    int err = target ? spec_want(obj->spec, target) : 0;
    if (target && !err) {
        err = target_btf_scan(target, why);
        if (err)
            return err;
    }
    err = err ? err : relocate_all(obj, target);
    return err ? error_set(why, err, "%s: %s", obj->name,
                           err == -ENOMEM ? "out of memory" : "the target's BTF is damaged")
               : 0;
}
