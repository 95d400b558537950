/* SPDX-License-Identifier: GPL-2.0-only */
/* What is found in compiled objects, and how their parts are linked. Expected values are those of the sources
 * tests/bpf/object_*.bpf.c. */
#include <errno.h>
#include <string.h>
#include "loader/spec/btf.h"
#include "tests/objrun/kconfig.h"
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"

#define PSEUDO_FUNC  4
#define PSEUDO_KFUNC 2

static struct object *opened(const char *name, void **bytes)
{
    size_t size = 0;
    struct object *obj = NULL;
    struct error why = {0};
    *bytes = test_object_bytes(name, &size);
    int err = *bytes ? extras_open(&obj, name, *bytes, size, NULL, NULL, &why) : -ENOENT;
    check(!err, "%s opens: %s", name, why.text);
    return obj;
}

static void map_is(const struct object *obj, const char *name, uint32_t type, uint32_t key, uint32_t value,
                   uint32_t entries, uint32_t flags)
{
    const struct object_map *m = object_map(obj, name);
    check(m && m->type == type && m->key_size == key && m->value_size == value && m->max_entries == entries &&
              m->flags == flags && m->fd == -1,
          "map %s has the sizes of its source", name);
}

static const struct extra_map *extra_of(const struct object *obj, const char *name)
{
    size_t i = 0;
    while (i < obj->nmaps && strcmp(obj->maps[i]->name, name))
        i++;
    return extra_map(obj->spec, i);
}

static void maps(const struct object *obj)
{
    map_is(obj, "link_inner_a", BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0);
    map_is(obj, "link_outer", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 4, 0);
    map_is(obj, "link_tails", BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0);
    map_is(obj, "link_hash", BPF_MAP_TYPE_HASH, 4, 16, 77, BPF_F_NO_PREALLOC);
    map_is(obj, "link_perf", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 0, 0);
    map_is(obj, "link_ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
    const struct object_map *hash = object_map(obj, "link_hash");
    const struct extra_map *outer = extra_of(obj, "link_outer"), *tails = extra_of(obj, "link_tails");
    check(extra_of(obj, "link_hash")->pinned && !outer->pinned, "the map that is pinned by name says so");
    check(outer->inner && outer->inner->type == BPF_MAP_TYPE_ARRAY && outer->inner->max_entries == 3,
          "the inner map is described");
    bool slots = outer->nslots == 2;
    for (size_t i = 0; slots && i < 2; i++) {
        const struct extra_slot *s = &outer->slots[i];
        slots = (s->index == 1 || s->index == 3) && s->map >= 0 &&
                obj->maps[s->map] == object_map(obj, s->index == 1 ? "link_inner_b" : "link_inner_a");
    }
    check(slots, "slots 1 and 3 of the outer map are set");
    check(tails->nslots == 1 && tails->slots[0].index == 1 && tails->slots[0].program >= 0 &&
              obj->programs[tails->slots[0].program] == object_program(obj, "link_tail"),
          "slot 1 of the program array is set");
    check(hash && !strcmp(btf_name(obj->spec->btf, hash->spec->value_type_id), "pair"),
          "the value's type is struct pair");
}

static void globals(struct object *obj)
{
    uint32_t *constant = object_global(obj, "link_constant", 4), *own = object_global(obj, "link_own", 4);
    uint64_t *counter = object_global(obj, "link_counter", 8);
    uint32_t *zeroed = object_global(obj, "link_zeroed", 12);
    check(constant && *constant == 0x11223344, "a constant");
    check(counter && *counter == 7, "a variable");
    check(own && *own == 9, "a variable in a section of its own");
    check(zeroed && !zeroed[0] && !zeroed[1] && !zeroed[2], "a variable without a value is zero");
    check(!object_global(obj, "link_constant", 8), "the size must be right");
    check(!object_global(obj, "link_hash", 4) && !object_global(obj, "no_such", 4), "others are not found");
    const struct object_map *rodata = object_map(obj, ".rodata"), *data = object_map(obj, ".data");
    check(rodata && rodata->spec->read_only && data && !data->spec->read_only, "only .rodata is read-only");
    uint32_t *version = kconfig_value(obj, "LINUX_KERNEL_VERSION", 4);
    check(version && *version >= 4 << 16, "LINUX_KERNEL_VERSION is known");
}

/* clang leaves sizes and offsets of DATASECs to be filled in; the symbols have them. */
static void datasecs(const struct object *obj)
{
    const struct btf_type *bss = btf_type(obj->spec->btf, object_map(obj, ".bss")->spec->value_type_id);
    const struct btf_type *rodata = btf_type(obj->spec->btf, object_map(obj, ".rodata")->spec->value_type_id);
    check(bss && btf_kind(bss) == BTF_KIND_DATASEC && bss->size == 12, "DATASEC .bss got its size");
    bool found = false;
    for (uint32_t i = 0; rodata && i < btf_vlen(rodata); i++) {
        const struct btf_var_secinfo *v = &btf_secinfos(rodata)[i];
        if (!strcmp(btf_name(obj->spec->btf, v->type), "link_second"))
            found = v->offset == 8 && v->size == 8;
    }
    check(found, "the second constant stands at 8");
}

/* Every call and function pointer leads to the first instruction of a function that func_info knows. */
static bool calls_lead_to_functions(const struct object_program *p)
{
    for (uint32_t i = 0; i < p->code.ninsns; i++) {
        const struct bpf_insn *insn = &p->code.insns[i];
        bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
        bool call = insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
        if (call || (wide && insn->src_reg == PSEUDO_FUNC)) {
            bool known = false;
            for (size_t f = 0; f < p->code.nfunc_info; f++)
                known |= *(uint32_t *)((char *)p->code.func_info + f * p->code.func_info_size) ==
                         i + 1 + (uint32_t)insn->imm;
            if (!known)
                return false;
        }
        i += wide;
    }
    return true;
}

static void functions(const struct object *obj)
{
    static const struct {
        const char *name;
        size_t functions; /* itself and what it calls, each once */
    } programs[] = {
        {"link_first", 4},          /* leaf, link_global, twig */
        {"link_second_program", 3}, /* each, leaf */
        {"link_same_section", 2},   /* neighbour */
        {"link_tail", 1},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct object_program *p = object_program(obj, programs[i].name);
        check(p && p->code.nfunc_info == programs[i].functions && p->code.func_info_size >= 8,
              "%s consists of %zu functions", programs[i].name, programs[i].functions);
        check(p && calls_lead_to_functions(p), "calls of %s lead to beginnings of functions",
              programs[i].name);
        const uint32_t *first = p ? p->code.func_info : NULL, *line = p ? p->code.line_info : NULL;
        check(first && !*first && line && !*line && p->code.nline_info > p->code.nfunc_info,
              "%s has its functions and lines from 0 on", programs[i].name);
    }
    check(!object_program(obj, "link_global") && !object_program(obj, "leaf") &&
              !object_program(obj, "neighbour"),
          "subprograms are no programs");
    check(obj->nprograms == 6, "there are 6 programs: %zu", obj->nprograms);
}

static const struct insn_ref *first_ref(const struct object_program *p, enum insn_ref_kind kind)
{
    for (size_t i = 0; p && i < p->code.nrefs; i++)
        if (p->code.refs[i].kind == kind)
            return &p->code.refs[i];
    return NULL;
}

static void references(const struct object *obj)
{
    const struct object_program *p = object_program(obj, "link_second_program");
    const struct insn_ref *map = first_ref(p, REF_MAP_FD), *function = first_ref(p, REF_FUNCTION);
    check(map && obj->maps[map->map] == object_map(obj, "link_hash") &&
              p->code.insns[map->insn].src_reg == BPF_PSEUDO_MAP_FD,
          "a map is referred to");
    check(function && p->code.insns[function->insn].src_reg == PSEUDO_FUNC, "a callback is referred to");
    p = object_program(obj, "link_same_section");
    const struct insn_ref *value = first_ref(p, REF_MAP_VALUE);
    check(value && obj->maps[value->map] == object_map(obj, ".data.own") && !value->offset &&
              p->code.insns[value->insn].src_reg == BPF_PSEUDO_MAP_VALUE,
          "a variable is referred to");
    p = object_program(obj, "link_first");
    value = first_ref(p, REF_MAP_VALUE);
    check(value && obj->maps[value->map] == object_map(obj, ".rodata"), "a constant is referred to");
    p = object_program(obj, "link_externs");
    const struct insn_ref *kfunc = first_ref(p, REF_KFUNC), *ksym = first_ref(p, REF_BTF_ID);
    check(kfunc && !strcmp(kfunc->name, "link_kfunc") && !kfunc->weak &&
              p->code.insns[kfunc->insn].src_reg == PSEUDO_KFUNC,
          "a kernel function is referred to by name");
    check(ksym && !strcmp(ksym->name, "link_ksym") && ksym->weak,
          "a weak kernel symbol is referred to by name");
}

/* hog's own loader says so, rather than to load only a part. */
static void without_extras(void)
{
    static const char *const names[] = {"object_link", "live_extras"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        struct object *obj = NULL;
        struct error why = {0};
        void *bytes = test_object_bytes(names[i], &size);
        check(bytes && object_open(&obj, names[i], bytes, size, &why) == -ENOTSUP,
              "%s has more than the loader knows: %s", names[i], why.text);
        object_close(obj);
        free(bytes);
    }
}

static void link_object(void)
{
    void *bytes;
    struct object *obj = opened("object_link", &bytes);
    struct error why = {0};
    if (!obj)
        return;
    check(!strcmp(obj->license, "Dual MIT/GPL"), "the licence is %s", obj->license);
    const struct object_program *tail = object_program(obj, "link_tail");
    check(tail && tail->type == BPF_PROG_TYPE_TRACING && tail->expected_attach_type == BPF_TRACE_RAW_TP &&
              !strcmp(tail->target, "sched_switch") && tail->fd == -1,
          "the section's name says type and target");
    maps(obj);
    globals(obj);
    datasecs(obj);
    object_resize_map(object_map(obj, "link_hash"), 0, 5);
    check(object_map(obj, "link_hash")->max_entries == 5 && !object_map(obj, "link_hash")->resized,
          "a map is resized in entries, its types stay");
    object_resize_map(object_map(obj, "link_hash"), 24, 0);
    check(object_map(obj, "link_hash")->value_size == 24 && object_map(obj, "link_hash")->resized,
          "a map is resized in value, its types do not fit any more");
    int err = extras_relocate(obj, NULL, &why);
    check(!err, "it is relocated without a target: %s", why.text);
    check(tail->error == -ENODATA && *tail->reason.text, "what attaches by BTF cannot then: %s",
          tail->reason.text);
    check(!object_program(obj, "link_first")->error, "others can");
    functions(obj);
    references(obj);
    check(extras_relocate(obj, NULL, &why) == -EALREADY, "but once");
    extras_close(obj);
    free(bytes);
}

static void legacy_object(void)
{
    void *bytes;
    struct object *obj = opened("object_legacy", &bytes);
    struct error why = {0};
    if (!obj)
        return;
    map_is(obj, "legacy_array", BPF_MAP_TYPE_ARRAY, 4, 16, 5, 0);
    map_is(obj, "legacy_hash", BPF_MAP_TYPE_HASH, 8, 24, 1000, BPF_F_NO_PREALLOC);
    map_is(obj, "legacy_perf", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 16, 0);
    check(!extras_relocate(obj, NULL, &why), "legacy maps are relocated: %s", why.text);
    const struct object_program *p = object_program(obj, "legacy_program");
    check(p && p->code.nrefs == 2 && obj->maps[p->code.refs[0].map] == object_map(obj, "legacy_hash") &&
              obj->maps[p->code.refs[1].map] == object_map(obj, "legacy_array"),
          "both legacy maps are referred to");
    check(p && p->type == BPF_PROG_TYPE_KPROBE && !strcmp(p->target, "vfs_read"), "a kprobe program");
    extras_close(obj);
    free(bytes);
}

/* As the kernel's own list of symbols has it. */
static bool host_has_syscall_wrapper(void)
{
    static const char *const names[] = {" __x64_sys_bpf\n", " __arm64_sys_bpf\n", " __riscv_sys_bpf\n"};
    char line[512];
    bool found = false;
    FILE *f = fopen("/proc/kallsyms", "r");
    while (f && fgets(line, sizeof line, f))
        for (size_t i = 0; i < 3; i++)
            found = found || strstr(line, names[i]);
    if (f)
        fclose(f);
    return found;
}

/* The host's own kernel, where it has BTF. */
static void attach_ids(void)
{
    void *bytes;
    struct target_btf *target = NULL;
    struct error why = {0};
    if (target_btf_open(&target, NULL, &why) == -ENOENT) {
        skip("attach id of tp_btf", "needs BTF: this kernel has none");
        return;
    }
    struct object *obj = opened("object_link", &bytes);
    int err = obj && target ? extras_relocate(obj, target, &why) : -EINVAL;
    check(!err, "relocated against this kernel: %s", why.text);
    const struct object_program *tail = err ? NULL : object_program(obj, "link_tail");
    int id = target ? target_btf_find(target, "btf_trace_sched_switch", BTF_KIND_TYPEDEF) : -1;
    check(tail && !tail->error && id > 0 && tail->attach_btf_id == (uint32_t)id,
          "tp_btf/sched_switch has id %d", id);
    const struct object_program *externs = err ? NULL : object_program(obj, "link_externs");
    check(externs && externs->error == -ENOENT, "fentry of a function that does not exist has none: %s",
          externs ? externs->reason.text : "");
    const bool *wrapper = err ? NULL : kconfig_value(obj, "LINUX_HAS_SYSCALL_WRAPPER", 1);
    check(wrapper && *wrapper == host_has_syscall_wrapper(),
          "LINUX_HAS_SYSCALL_WRAPPER is as /proc/kallsyms says");
    target_btf_close(target);
    extras_close(obj);
    free(bytes);
}

int main(void)
{
    without_extras();
    link_object();
    legacy_object();
    attach_ids();
    return done();
}
