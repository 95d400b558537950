/* SPDX-License-Identifier: GPL-2.0-only */
/* What objrun does for objects of others: slots, maps of maps, pins by name, arenas. */
#include "tests/live/objects.h"
#include "tests/objrun/extras.h"
#include <errno.h>
#include <unistd.h>

static struct object *prepare(const char *name)
{
    struct error why = {""};
    struct object *obj = NULL;
    const void *bytes = NULL;
    size_t size = object_bytes(name, &bytes);
    int err = extras_open(&obj, name, bytes, size, NULL, NULL, &why);

    err = err ? err : extras_relocate(obj, NULL, &why);
    check(!err, "%s opens: %s", name, why.text);
    return err ? NULL : obj;
}

static void slots(void)
{
    struct error why = {""};
    struct object *obj = prepare("live_extras");
    struct object_program *program = obj ? object_program(obj, "on_run") : NULL;
    uint32_t first = 0, value = 0;

    if (!program)
        return;
    int err = extras_create_maps(obj, &why);
    check(!err, "its maps are made: %s", why.text);
    err = err ? err : extras_load_program(obj, program, &why);
    err = err ? err : extras_load_program(obj, object_program(obj, "tail"), &why);
    check(!err, "its programs load: %s", why.text);
    int result = err ? err : run_here(program);
    check(result == 11 && GLOBAL(obj, "tail_ran", uint32_t) == 1, "the program array was filled: %d", result);
    sys_bpf_map_lookup(object_map(obj, "hog_test_inner")->fd, &first, &value);
    check(value == 5, "the map in a map is the one that was named: %u", value);
    check(access("/sys/fs/bpf/hog_test_by_name", F_OK) < 0, "nothing is pinned");
    extras_close(obj);
}

static void arena(void)
{
    const void *bytes;
    struct error why = {""};
    char reason[640];

    if (!object_bytes("object_arena.clang19", &bytes)) {
        skip("variables in an arena", "needs CLANG19: its object was not built");
        return;
    }
    struct object *obj = prepare("object_arena.clang19");
    int err = obj ? extras_create_maps(obj, &why) : 0;
    if (!obj || err) {
        snprintf(reason, sizeof reason, "needs a kernel with arenas (6.9): %s", why.text);
        if (err == -EINVAL)
            skip("variables in an arena", reason);
        else
            check(!err, "the arena is made: %s", why.text);
        extras_close(obj);
        return;
    }
    check(GLOBAL(obj, "arena_given", int) == 42, "a variable in the arena has its value: %d",
          GLOBAL(obj, "arena_given", int));
    GLOBAL(obj, "arena_given", int) = 100;
    struct object_program *program = program_ready(obj, "arena_add");
    if (program) {
        int result = run_here(program);
        check(result == 105, "the program sees what we wrote: %d", result);
        check(GLOBAL(obj, "arena_result", int) == 105, "and we what it wrote: %d",
              GLOBAL(obj, "arena_result", int));
    }
    extras_close(obj);
}

int main(void)
{
    slots();
    arena();
    return done();
}
