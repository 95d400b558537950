/* SPDX-License-Identifier: GPL-2.0-only */
/* Externs named after options of the kernel's configuration: from its text into the variables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/objrun/kconfig.h"

#define PREFIX "CONFIG_"

enum { NO, YES, MODULE }; /* as programs know them: enum libbpf_tristate */

/* What an extern can hold. */
enum kind { OTHER, BOOL, CHARACTER, NUMBER, TRISTATE, TEXT };

struct variable {
    enum kind kind;
    bool is_signed;
    uint32_t size;
    char *at;
};

static bool is_option(const struct spec *spec, const struct btf_var_secinfo *info)
{
    return !strncmp(btf_name(spec->btf, info->type), PREFIX, strlen(PREFIX));
}

static const struct btf_type *section_of(const struct spec *spec)
{
    const struct extras *e = extras_of(spec);
    return e && e->kconfig.map >= 0 ? btf_type(spec->btf, e->kconfig.type_id) : NULL;
}

bool kconfig_wants(const struct spec *spec)
{
    const struct btf_type *sec = section_of(spec);
    for (uint32_t i = 0; sec && i < btf_vlen(sec); i++)
        if (is_option(spec, &btf_secinfos(sec)[i]))
            return true;
    return false;
}

static enum kind int_kind(const struct btf_type *t)
{
    if (BTF_INT_ENCODING(btf_int_data(t)) & BTF_INT_BOOL)
        return t->size == 1 ? BOOL : OTHER;
    if (t->size == 1)
        return CHARACTER;
    return t->size == 2 || t->size == 4 || t->size == 8 ? NUMBER : OTHER;
}

static struct variable describe(const struct spec *spec, const struct btf_var_secinfo *info)
{
    const struct type_source *s = &spec->btf->source;
    const struct btf_type *t = source_skip(s, btf_type(spec->btf, info->type)->type, NULL);
    struct variable v = {.size = info->size, .at = (char *)extras_of(spec)->kconfig.values + info->offset};
    if (t && btf_kind(t) == BTF_KIND_INT) {
        v.kind = int_kind(t);
        v.is_signed = BTF_INT_ENCODING(btf_int_data(t)) & BTF_INT_SIGNED;
    } else if (t && btf_is_enum(t)) {
        bool tristate = !strcmp(s->string(s, t->name_off), "libbpf_tristate");
        v.kind = tristate && t->size == sizeof(uint32_t) ? TRISTATE : OTHER;
    } else if (t && btf_kind(t) == BTF_KIND_ARRAY) {
        t = source_skip(s, btf_array(t)->type, NULL);
        v.kind = t && btf_kind(t) == BTF_KIND_INT && int_kind(t) == CHARACTER ? TEXT : OTHER;
    }
    return v;
}

/* y, m or n. */
static bool set_state(const struct variable *v, char state)
{
    uint32_t number = state == 'y' ? YES : state == 'm' ? MODULE : NO;
    switch (v->kind) {
    case BOOL:
        *v->at = state == 'y';
        return state != 'm'; /* a bool does not expect a module */
    case CHARACTER:
        *v->at = state;
        return true;
    case TRISTATE:
        memcpy(v->at, &number, sizeof number);
        return true;
    default:
        return false;
    }
}

/* What is too long is cut; the last byte is 0. */
static bool set_text(const struct variable *v, const char *value, size_t length)
{
    if (v->kind != TEXT || length < 2 || value[length - 1] != '"')
        return false;
    length -= 2;
    length = length < v->size ? length : v->size - 1;
    memcpy(v->at, value + 1, length);
    return true;
}

static bool fits(const struct variable *v, uint64_t number, bool negative)
{
    unsigned bits = v->size * 8;
    if (v->is_signed)
        return number <= (UINT64_C(1) << (bits - 1)) - !negative;
    return !negative && (bits == 64 || !(number >> bits));
}

static bool set_number(const struct variable *v, const char *value, size_t length)
{
    char text[24] = {0}, *end;
    if ((v->kind != NUMBER && v->kind != CHARACTER) || !length || length >= sizeof text)
        return false;
    memcpy(text, value, length);
    bool negative = *text == '-';
    const char *digits = text + negative;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    uint64_t number = strtoull(digits, &end, 0);
    if (errno || *end || !fits(v, number, negative))
        return false;
    number = negative ? -number : number;
    memcpy(v->at, &number, v->size); /* its low bytes */
    return true;
}

static bool set_value(const struct variable *v, const char *value, size_t length)
{
    if (length == 1 && strchr("ymn", *value))
        return set_state(v, *value);
    return *value == '"' ? set_text(v, value, length) : set_number(v, value, length);
}

/* Where the value of an option stands, up to the end of its line; NULL: nowhere. */
static const char *find_option(const char *text, const char *name, size_t *length)
{
    size_t n = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, n) || line[n] != '=')
            continue;
        const char *value = line + n + 1;
        *length = strcspn(value, "\n");
        while (*length && (value[*length - 1] == '\r' || value[*length - 1] == ' '))
            --*length;
        return value;
    }
    return NULL;
}

int kconfig_set(struct spec *spec, const char *text, struct error *why)
{
    const struct btf_type *sec = section_of(spec);
    if (!strstr(text, PREFIX))
        return error_set(why, -EINVAL, "no line of the kernel's configuration is about a CONFIG_ option");
    extras_of(spec)->kconfig.given = true;
    for (uint32_t i = 0; sec && i < btf_vlen(sec); i++) {
        const struct btf_var_secinfo *info = &btf_secinfos(sec)[i];
        struct kconfig_state *state = &extras_of(spec)->kconfig.states[i];
        size_t length;
        const char *value =
            is_option(spec, info) ? find_option(text, btf_name(spec->btf, info->type), &length) : NULL;
        if (!value)
            continue;
        struct variable v = describe(spec, info);
        state->known = set_value(&v, value, length);
        if (state->known)
            continue;
        memset(v.at, 0, v.size);
        state->problem =
            arena_printf(&spec->arena, "its value %.*s in the kernel's configuration is none of its type",
                         (int)(length < 32 ? length : 32), value);
        if (!state->problem)
            return extras_no_memory(spec);
    }
    return 0;
}
