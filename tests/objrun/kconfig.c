/* SPDX-License-Identifier: GPL-2.0-only */
/* Section .kconfig exists only in the types, so its layout is made here. Externs that are named after options
 * of the kernel's configuration are in kconfig_values.c. */
#include "tests/objrun/kconfig.h"
#include <errno.h>
#include <string.h>
#include "loader/spec/target_btf_private.h"
#include "tests/objrun/kernel_version.h"

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

static bool has_kconfig(const struct spec *spec)
{
    return extras_of(spec) && extras_of(spec)->kconfig.map >= 0;
}

int kconfig_want_functions(const struct spec *spec, struct target_btf *target)
{
    int err = 0;
    for (size_t i = 0; has_kconfig(spec) && i < NKNOWN; i++)
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

void kconfig_set_functions(const struct object *obj, struct target_btf *target)
{
    for (size_t i = 0; i < NKNOWN; i++) {
        uint8_t *value = kconfig_value(obj, by_function[i].name, 1);
        if (value)
            *value = has_function(target, by_function[i].functions);
    }
}

static const struct btf_var_secinfo *find(const struct spec *spec, const char *name, uint32_t *number)
{
    const struct btf_type *sec =
        has_kconfig(spec) ? btf_type(spec->btf, extras_of(spec)->kconfig.type_id) : NULL;
    for (uint32_t i = 0; sec && i < btf_vlen(sec); i++) {
        *number = i;
        if (!strcmp(btf_name(spec->btf, btf_secinfos(sec)[i].type), name))
            return &btf_secinfos(sec)[i];
    }
    return NULL;
}

void *kconfig_value(const struct object *obj, const char *name, size_t size)
{
    uint32_t number;
    const struct btf_var_secinfo *info = find(obj->spec, name, &number);
    return info && info->size == size
               ? (char *)obj->maps[extras_of(obj->spec)->kconfig.map]->data + info->offset
               : NULL;
}

/* `extern int CONFIG_HZ __kconfig`: a value in our own map. */
int kconfig_ref(const struct spec *spec, const struct elf_symbol *symbol, struct insn_ref *ref,
                struct error *why)
{
    const struct kconfig *k = &extras_of(spec)->kconfig;
    uint32_t number;
    const struct btf_var_secinfo *info = find(spec, symbol->name, &number);
    if (!info)
        return -ENOENT;
    const struct kconfig_state *state = &k->states[number];
    if (!state->known && !ref->weak) {
        const char *problem = state->problem ? state->problem
                              : k->given     ? "the kernel's configuration does not mention it"
                                             : "the kernel's configuration is not known";
        return error_set(why, -ENOENT, "extern %s: %s", symbol->name, problem);
    }
    *ref = (struct insn_ref){
        .insn = ref->insn, .kind = REF_MAP_VALUE, .map = (uint32_t)k->map, .offset = info->offset};
    return 0;
}

static int place_variable(struct spec *spec, struct btf_var_secinfo *info, uint32_t *end, struct error *why)
{
    const struct btf_type *var = btf_type(spec->btf, info->type);
    int64_t size = source_size(&spec->btf->source, info->type);
    if (btf_kind(var) != BTF_KIND_VAR || size <= 0 || size > 4096)
        return error_set(why, -EINVAL, "section .kconfig: %s is not a variable of known size",
                         btf_name(spec->btf, info->type));
    uint32_t align = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    info->offset = (*end + align - 1) / align * align;
    info->size = (uint32_t)size;
    *end = info->offset + info->size;
    return *end > (1 << 20) ? -E2BIG : 0;
}

static int add_map(struct spec *spec, struct kconfig *k, uint32_t size)
{
    struct map_spec *map = spec_add_map(spec, ".kconfig");
    k->values = arena_alloc(&spec->arena, size, 1);
    if (!map || !k->values)
        return extras_no_memory(spec);
    map->type = BPF_MAP_TYPE_ARRAY;
    map->key_size = sizeof(uint32_t);
    map->value_size = map->data_size = size;
    map->max_entries = 1;
    map->section = 0; /* global data, but of no section of the file */
    map->read_only = true;
    map->value_type_id = k->type_id;
    map->data = k->values;
    k->map = (int)spec->nmaps - 1;
    return 0;
}

int kconfig_read(struct spec *spec, struct error *why)
{
    struct kconfig *k = &extras_of(spec)->kconfig;
    int id = spec->btf ? btf_find(spec->btf, ".kconfig", BTF_KIND_DATASEC) : -ENOENT;
    if (id <= 0)
        return 0;
    k->type_id = (uint32_t)id;
    struct btf_type *sec = btf_type_mutable(spec->btf, k->type_id);
    struct btf_var_secinfo *infos = (struct btf_var_secinfo *)(sec + 1);
    uint32_t end = 0;
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        int err = place_variable(spec, &infos[i], &end, why);
        if (err)
            return err;
    }
    if (!end)
        return 0;
    sec->size = end;
    int err = add_map(spec, k, end);
    k->states = err ? NULL : arena_alloc(&spec->arena, btf_vlen(sec), sizeof *k->states);
    if (!k->states)
        return err ? err : extras_no_memory(spec);
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        const char *name = btf_name(spec->btf, infos[i].type);
        uint32_t version = kernel_version_code();
        bool is_version = !strcmp(name, "LINUX_KERNEL_VERSION");
        if (is_version && infos[i].size >= sizeof version)
            memcpy(k->values + infos[i].offset, &version, sizeof version);
        k->states[i].known = is_version || is_by_function(name);
    }
    return 0;
}
