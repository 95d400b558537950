/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel symbols in a program, against /proc/kallsyms. */
#include "loader/kernel/attach.h"
#include "tests/live/objects.h"
#include "tests/objrun/extras.h"
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the kernel lists a symbol, and its address. */
static bool listed(const char *name, unsigned long long *address)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], symbol[256], type;
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%llx %c %255s", address, &type, symbol) == 3 && strcmp(symbol, name) == 0;
    if (f)
        fclose(f);
    return found;
}

/* Addresses are what objrun has besides hog's own loader. */
static struct object *open_with_addresses(void)
{
    struct error why = {""};
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    const void *bytes = NULL;
    size_t size = object_bytes("live_extern", &bytes);

    int err = extras_open(&obj, "live_extern", bytes, size, NULL, NULL, &why);
    if (!err && target_btf_open(&target, NULL, NULL) < 0)
        target = NULL;
    err = err ? err : extras_relocate(obj, target, &why);
    err = err ? err : extras_create_maps(obj, &why);
    target_btf_close(target);
    check(!err, "an object with names of the kernel is opened: %s", why.text);
    return err ? NULL : obj;
}

int main(void)
{
    struct link link = {0};
    struct error why = {""};
    unsigned long long address = 0, ignored;
    char reason[640];
    struct object *obj = open_with_addresses();
    struct object_program *program = obj ? object_program(obj, "on_run") : NULL;

    if (!program)
        return done();
    int err = object_load_program(obj, program, &why);
    if (err && access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
        snprintf(reason, sizeof reason, "needs BTF: %s", why.text);
        skip("names of the kernel", reason);
        return done();
    }
    if (!err)
        err = link_attach(&link, program, &why);
    check(!err, "a program with names of the kernel attaches: %s", why.text);
    syscall(SYS_getppid);
    bool found = listed("schedule", &address);
    check(found && address && GLOBAL(obj, "schedule_address", uint64_t) == address,
          "an address is the kernel's own: %#llx", address);
    check(GLOBAL(obj, "missing", uint32_t) == 2, "weak names that it lacks are zero: %u",
          GLOBAL(obj, "missing", uint32_t));
    check((GLOBAL(obj, "called", uint32_t) > 0) == listed("bpf_rcu_read_lock", &ignored),
          "a function is called if it exists: %u", GLOBAL(obj, "called", uint32_t));
    link_detach(&link);
    program = object_program(obj, "on_missing");
    check(object_load_program(obj, program, &why) == -2 && strstr(why.text, "hog_not_there"),
          "a name that is not weak and not there is refused: %s", why.text);
    extras_close(obj);
    return done();
}
