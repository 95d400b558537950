/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables in an arena, seen from both sides. */
#include <errno.h>
#include "tests/live/objects.h"

int main(void)
{
    const void *bytes;
    struct error why = {""};
    char reason[400];

    if (!object_bytes("object_arena.clang19", &bytes)) {
        skip("variables in an arena", "needs CLANG19: its object was not built");
        return done();
    }
    struct object *obj = object_prepare("object_arena.clang19");
    int err = obj ? object_create_maps(obj, &why) : 0;
    if (!obj || err) {
        snprintf(reason, sizeof reason, "needs a kernel with arenas (6.9): %s", why.text);
        if (err == -EINVAL)
            skip("variables in an arena", reason);
        else
            check(!err, "the arena is made: %s", why.text);
        object_close(obj);
        return done();
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
    object_close(obj);
    return done();
}
