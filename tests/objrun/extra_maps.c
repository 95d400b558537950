/* SPDX-License-Identifier: GPL-2.0-only */
/* The extras of an object's maps in the kernel. */
#include "tests/objrun/extras.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "loader/kernel/btf_upload.h"
#include "loader/kernel/map.h"
#include "syscall/bpf.h"

#define SEGV_ON_FAULT (1u << 17) /* BPF_F_SEGV_ON_FAULT (6.9), newer than some headers */

static bool is_map_of_maps(uint32_t type)
{
    return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* The kernel wants a map to see what the inner ones are like. */
static int create_template(const struct object *obj, struct object_map *map, struct error *why)
{
    const struct map_spec *inner = extra_map(obj->spec, (size_t)(map->spec - obj->spec->maps))->inner;
    if (!is_map_of_maps(map->type))
        return 0;
    if (!inner)
        return error_set(why, -EINVAL, "map %s: no inner map is described", map->name);
    if (is_map_of_maps(inner->type))
        return error_set(why, -EINVAL, "map %s: maps nest one level deep", map->name);
    struct object_map template = {
        .spec = inner,
        .name = inner->name,
        .type = inner->type,
        .key_size = inner->key_size,
        .value_size = inner->value_size,
        .max_entries = inner->max_entries,
        .flags = inner->flags,
        .mapped_later = true,
        .inner_fd = -1,
        .fd = -1,
    };
    int err = map_create(obj, &template, why);
    map->inner_fd = template.fd;
    return err;
}

/* An arena has the addresses that the object asks for; programs that use it load only once it has some. */
static int map_arena(struct object_map *map, struct error *why)
{
    uint64_t size = (uint64_t)map->max_entries * (uint64_t)getpagesize();
    void *at = (void *)(uintptr_t)map->spec->map_extra;
    void *memory =
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), map->fd, 0);
    if (memory == MAP_FAILED) {
        int err = -errno;
        return error_set(why, err, "map %s: mapping %llu bytes of arena: %s", map->name,
                         (unsigned long long)size, error_name(err));
    }
    map->memory = memory;
    map->memory_size = size;
    if (!map->data)
        return 0;
    if (map->spec->data_size > size || (map->flags & SEGV_ON_FAULT)) /* writing would be a signal */
        return error_set(why, -EFAULT, "map %s: writing its contents: EFAULT", map->name);
    memcpy(memory, map->data, map->spec->data_size);
    return 0;
}

static int create_arena(const struct object *obj, struct object_map *map, struct error *why)
{
    void *data = map->data;
    if (map->type != MAP_TYPE_ARENA)
        return 0;
    map->data = NULL; /* it cannot be written by the number of an element */
    int err = map_create(obj, map, why);
    map->data = data;
    return err ? err : map_arena(map, why);
}

static int fill_slot(const struct object_map *map, uint32_t key, uint32_t fd, struct error *why)
{
    if (map->key_size != sizeof key || map->value_size != sizeof fd)
        return error_set(why, -EINVAL, "map %s: slots need keys and values of 4 bytes", map->name);
    int err = sys_bpf_map_update(map->fd, &key, &fd, 0);
    return err ? error_set(why, err, "map %s: filling slot %u: %s", map->name, key, error_name(err)) : 0;
}

/* The slots that hold maps; with a program: those that hold it. */
static int fill_slots(const struct object *obj, const struct object_program *program, struct error *why)
{
    int err = 0;
    for (size_t i = 0; i < obj->nmaps; i++) {
        const struct extra_map *extra = extra_map(obj->spec, i);
        for (size_t s = 0; s < extra->nslots && !err; s++) {
            const struct extra_slot *slot = &extra->slots[s];
            if (program && slot->program >= 0 && obj->programs[slot->program] == program)
                err = fill_slot(obj->maps[i], slot->index, (uint32_t)program->fd, why);
            else if (!program && slot->map >= 0)
                err = fill_slot(obj->maps[i], slot->index, (uint32_t)obj->maps[slot->map]->fd, why);
        }
    }
    return err;
}

int extras_create_maps(struct object *obj, struct error *why)
{
    int err = 0;
    if (obj->spec->btf) /* templates have types, too */
        obj->btf_fd = btf_upload(obj->spec->btf);
    for (size_t i = 0; i < obj->nmaps && !err; i++)
        err = create_arena(obj, obj->maps[i], why);
    for (size_t i = 0; i < obj->nmaps && !err; i++)
        err = create_template(obj, obj->maps[i], why);
    err = err ? err : object_create_maps(obj, why);
    for (size_t i = 0; i < obj->nmaps; i++)
        if (obj->maps[i]->inner_fd >= 0)
            close(obj->maps[i]->inner_fd);
    return err ? err : fill_slots(obj, NULL, why);
}

int extras_load_program(struct object *obj, struct object_program *program, struct error *why)
{
    int err = object_load_program(obj, program, why);
    return err ? err : fill_slots(obj, program, why);
}
