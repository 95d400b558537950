/* SPDX-License-Identifier: GPL-2.0-only */
/* A refused probe, and type data against the kernel that has to accept it. */
#include "loader/kernel/attach.h"
#include "loader/spec/btf.h"
#include "loader/kernel/probe.h"
#include "loader/spec/sanitize.h"
#include "tests/live/objects.h"
#include <sys/wait.h>
#include <unistd.h>

/* The form for old kernels is right for this one, too. */
static void check_sanitized(struct object *obj)
{
    size_t size;
    void *bytes = btf_sanitize(obj->spec->btf, true, &size);
    int fd = bytes ? sys_bpf_btf_load(bytes, size) : -1;

    check(fd >= 0, "type data without new kinds is taken: %s", fd < 0 ? error_name(fd) : "");
    if (fd >= 0)
        close(fd);
    free(bytes);
}

static void check_new_kinds(void)
{
    const void *bytes;
    struct bpf_map_info info;

    if (!object_bytes("live_btf.clang19", &bytes)) {
        skip("type data of new kinds", "needs CLANG19: the object is not built");
        return;
    }
    struct object *obj = object_ready("live_btf.clang19");
    struct object_program *program = obj ? program_ready(obj, "on_run") : NULL;
    if (!program)
        return;
    check(obj->btf_fd >= 0, "type data of new kinds is taken, whatever the kernel knows");
    sys_bpf_info(object_map(obj, "hog_test_kinds")->fd, &info, sizeof info);
    check(info.btf_id && info.btf_value_type_id, "a map has its types in the kernel: %u", info.btf_id);
    check(run_here(program) == 6 && GLOBAL(obj, "ran", uint32_t) == 1, "its program runs");
    check_sanitized(obj);
    object_close(obj);
}

/* Without privileges: a refusal that says what is missing. */
static void check_unprivileged(void)
{
    int status, answers[2];
    struct error why = {""};

    if (pipe(answers) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        int err = setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534);
        if (!err)
            err = probe_hook("raw_tp", &why);
        _exit(write(answers[1], &why, sizeof why) != sizeof why || err != -1);
    }
    waitpid(child, &status, 0);
    check(read(answers[0], &why, sizeof why) == sizeof why && status == 0 && strstr(why.text, "CAP_BPF"),
          "without privileges the refusal says what is missing: %s", why.text);
    close(answers[0]);
    close(answers[1]);
}

int main(void)
{
    check_unprivileged();
    check_new_kinds();
    return done();
}
