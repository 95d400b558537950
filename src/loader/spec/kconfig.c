/* SPDX-License-Identifier: GPL-2.0-only */
/* Section .kconfig: externs whose value the loader knows. It exists only in the types, so its layout
 * is made here. Those that are named after options of the kernel's configuration are in kconfig_values.c. */
#include <errno.h>
#include <string.h>
#include "loader/kernel/kernel_version.h"
#include "loader/spec/object_private.h"
#include "loader/spec/target_btf_private.h"

/* What a kernel has if it has a certain function. */
static const struct {
    const char *name, *functions[3];
} by_function[] = {
    {"LINUX_HAS_SYSCALL_WRAPPER", {"__x64_sys_bpf", "__arm64_sys_bpf", "__riscv_sys_bpf"}}, /* 4.17 */
    {"LINUX_HAS_BPF_COOKIE", {"bpf_get_attach_cookie_trace"}},                              /* 5.15 */
};
#define NKNOWN (sizeof by_function / sizeof *by_function)

static bool is_by_function(const char *name)
{
    for (size_t i = 0; i < NKNOWN; i++)
        if (!strcmp(name, by_function[i].name))
            return true;
    return false;
}

int object_want_kconfig(const struct object_private *o, struct target_btf *target)
{
    int err = 0;
    for (size_t i = 0; o->kconfig && i < NKNOWN; i++)
        for (size_t f = 0; f < 3 && by_function[i].functions[f] && !err; f++)
            err = target_btf_want(target, by_function[i].functions[f]);
    return err;
}

static bool has_function(struct target_btf *target, const char *const functions[3])
{
    for (size_t f = 0; f < 3 && functions[f]; f++)
        if (target_btf_find(target, functions[f], BTF_KIND_FUNC) > 0)
            return true;
    return false;
}

void object_fill_kconfig(const struct object_private *o, struct target_btf *target)
{
    for (size_t i = 0; o->kconfig && i < NKNOWN; i++) {
        uint8_t *value = object_global(&o->pub, by_function[i].name, 1);
        if (value)
            *value = has_function(target, by_function[i].functions);
    }
}

static int place_variable(struct object_private *o, struct btf_var_secinfo *info, uint32_t *end,
                          struct error *why)
{
    const struct btf_type *var = btf_type(o->pub.btf, info->type);
    int64_t size = source_size(btf_source(o->pub.btf), info->type);
    if (btf_kind(var) != BTF_KIND_VAR || size <= 0 || size > 4096)
        return error_set(why, -EINVAL, "section .kconfig: %s is not a variable of known size",
                         btf_name(o->pub.btf, info->type));
    uint32_t align = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    info->offset = (*end + align - 1) / align * align;
    info->size = (uint32_t)size;
    *end = info->offset + info->size;
    return *end > (1 << 20) ? -E2BIG : 0;
}

int object_read_kconfig(struct object_private *o, struct error *why)
{
    if (!o->kconfig_id)
        return 0;
    struct btf_type *sec = btf_type_mutable(o->pub.btf, o->kconfig_id);
    struct btf_var_secinfo *infos = (struct btf_var_secinfo *)(sec + 1);
    uint32_t end = 0;
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        int err = place_variable(o, &infos[i], &end, why);
        if (err)
            return err;
    }
    if (!end)
        return 0;
    sec->size = end;
    struct object_map *map = object_add_map(o, ".kconfig");
    if (!map)
        return -ENOMEM;
    map->type = BPF_MAP_TYPE_ARRAY;
    map->key_size = sizeof(uint32_t);
    map->value_size = map->data_size = end;
    map->max_entries = 1;
    map->section = 0; /* global data, but of no section of the file */
    map->read_only = true;
    map->value_type_id = o->kconfig_id;
    map->data = arena_alloc(&o->arena, end, 1);
    if (!map->data)
        return -ENOMEM;
    o->kconfig = map;
    o->kconfig_states = arena_alloc(&o->arena, btf_vlen(sec), sizeof *o->kconfig_states);
    if (!o->kconfig_states)
        return -ENOMEM;
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        const char *name = btf_name(o->pub.btf, infos[i].type);
        uint32_t version = kernel_version_code();
        bool is_version = !strcmp(name, "LINUX_KERNEL_VERSION");
        if (is_version && infos[i].size >= sizeof version)
            memcpy((char *)map->data + infos[i].offset, &version, sizeof version);
        o->kconfig_states[i].known = is_version || is_by_function(name);
    }
    return 0;
}
