/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What objects of others have besides what hog's own have: legacy maps, maps in maps, slots that are set,
 * pins, arenas, and values of the kernel's configuration. Read by hooks of spec_open():
 *
 *   extras_open -> extras_relocate -> extras_create_maps -> extras_load_program -> extras_close
 *
 * instead of object_open and so on.
 */
#ifndef HOG_TESTS_OBJRUN_EXTRAS_H
#define HOG_TESTS_OBJRUN_EXTRAS_H

#include "loader/kernel/object.h"

#define MAP_TYPE_ARENA 33 /* BPF_MAP_TYPE_ARENA (6.9), newer than some headers */

/* Of a map, by its number. */
struct extra_map {
    bool pinned;            /* it asks to be pinned by its name */
    bool has_values;        /* its variable ends in slots, */
    uint32_t values;        /* here */
    struct map_spec *inner; /* the template of a map of maps */
    struct extra_slot {
        uint32_t index;
        int map, program; /* numbers; -1: it is the other */
    } * slots;
    size_t nslots;
};

struct extras {
    struct spec_extras hooks;
    struct extra_map *maps;
    size_t nmaps; /* may be less than the spec has */
    struct kconfig {
        int map;          /* number of the map .kconfig; -1: no program asks for such values */
        uint32_t type_id; /* of its DATASEC */
        uint8_t *values;  /* contents of the map */
        bool given;       /* kconfig_set() was called */
        struct kconfig_state {
            bool known;
            const char *problem; /* why it has no value; NULL: nothing was said of it */
        } * states;              /* by number in the DATASEC */
    } kconfig;
};

/* Gives the text of a kernel's configuration, malloc'ed, to an object that asks for it; *text stays NULL:
 * there is none. */
typedef int (*config_fn)(void *context, char **text, struct error *why);

int extras_open(struct object **out, const char *name, const void *bytes, size_t size, config_fn config,
                void *context, struct error *why); /* config NULL: there is none */
int extras_relocate(struct object *obj, struct target_btf *target, struct error *why);
/* With templates for maps of maps, arenas and their variables, and the slots that are maps. */
int extras_create_maps(struct object *obj, struct error *why);
/* And sets the slots that are this program. */
int extras_load_program(struct object *obj, struct object_program *program, struct error *why);
void extras_close(struct object *obj); /* NULL is fine */

static inline struct extras *extras_of(const struct spec *spec)
{
    return (struct extras *)spec->extras;
}

const struct extra_map *extra_map(const struct spec *spec, size_t map);
/* The same, to be filled in; NULL: no memory. */
struct extra_map *extra_map_new(struct spec *spec, size_t map);
int extras_no_memory(const struct spec *spec); /* -ENOMEM, or -E2BIG if the budget is spent */

/* Maps that are structs in section "maps" (legacy.c). */
int legacy_read_maps(struct spec *spec, struct error *why);

#endif
