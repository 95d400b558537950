/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/list.h"
#include "loader/kernel/attach.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

bool hook_passed_over(const char *without, const char *hook)
{
    return list_contains(without, hook, strlen(hook));
}

static int try_alternative(struct object *obj, const struct alternative *alternative, const char *without,
                           struct link *link, struct error *why)
{
    struct object_program *program = object_program(obj, alternative->program);

    if (hook_passed_over(without, alternative->hook))
        return error_set(why, -ECANCELED, "passed over by --without");
    if (!program)
        return error_set(why, -ENOENT, "%s: the object has no program %s", obj->name, alternative->program);
    int err = object_load_program(obj, program, why);
    if (err)
        return err;
    err = link ? link_attach(link, program, why) : 0;
    if (err) { /* nothing that is not used stays loaded */
        close(program->fd);
        program->fd = -1;
    }
    return err;
}

int choose_and_attach(struct object *obj, const struct alternative *list, size_t n, const char *without,
                      struct link *link, struct choice *choice, struct error *why)
{
    int err = error_set(why, -EINVAL, "%s: no way to attach is known", obj->name);

    memset(choice, 0, sizeof *choice);
    for (size_t i = 0; i < n; i++) {
        struct error reason = {""};

        err = try_alternative(obj, &list[i], without, link, &reason);
        if (!err) {
            choice->chosen = &list[i];
            return 0;
        }
        if (choice->nrefused < MAX_ALTERNATIVES)
            choice->refused[choice->nrefused++] = (struct refusal){list[i].hook, err, reason};
        error_set(why, err, "%s", reason.text);
    }
    return err;
}

int program_run(const struct object_program *program, const uint64_t *arguments, size_t n, struct error *why)
{
    union bpf_attr attr = {.test = {.prog_fd = (uint32_t)program->fd,
                                    .ctx_in = (uintptr_t)arguments,
                                    .ctx_size_in = (uint32_t)(n * sizeof *arguments)}};
    int err = sys_bpf_test_run(&attr);

    return err ? error_set(why, err, "%s: run: %s", program->name, error_name(err)) : 0;
}

int program_run_on_cpu(const struct object_program *program, int cpu, struct error *why)
{
    union bpf_attr attr = {
        .test = {.prog_fd = (uint32_t)program->fd, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = (uint32_t)cpu}};
    int err = sys_bpf_test_run(&attr);

    return err ? error_set(why, err, "%s: run on CPU %d: %s", program->name, cpu, error_name(err)) : 0;
}
