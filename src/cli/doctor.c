// SPDX-License-Identifier: GPL-2.0-only
#include "cli/doctor.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/embedded.h"
#include "loader/kernel/target_file.h"
#include "cli/doctor_host.h"
#include "cli/session.h"
#include "loader/kernel/probe.h"
#include "base/message.h"

/* An item is a word. Its value is a sentence that ends the line, so text and tsv need no quoting. */
static void put_item(struct out *out, const struct options *options, const char *item, const char *value)
{
    const struct field fields[] = {{"item", cell_string(item)}, {"value", cell_sentence(value)}};

    if (options->format == OUT_JSON) {
        out_note(out, "doctor", fields, 2);
        return;
    }
    char line[512];
    snprintf(line, sizeof line, "%-18s %s", item, value);
    out_line(out, line);
}

static void put_host(struct out *out, const struct options *options)
{
    static const struct {
        const char *item;
        void (*describe)(char *to, size_t size);
    } items[] = {
        {"kernel", describe_kernel},
        {"cpus", describe_cpus},
        {"btf", describe_btf},
        {"jit", describe_jit},
        {"lockdown", describe_lockdown},
        {"cgroup", describe_cgroups},
        {"capabilities", describe_capabilities},
        {"seccomp", describe_seccomp},
        {"memlock", describe_locked_memory},
        {"tracefs", describe_tracefs},
    };
    char text[256];

    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        items[i].describe(text, sizeof text);
        if (*text)
            put_item(out, options, items[i].item, text);
    }
}

static void put_hook_kinds(struct out *out, const struct options *options)
{
    char item[64];
    struct error why;

    for (size_t i = 0; hook_kind(i); i++) {
        snprintf(item, sizeof item, "hook.%s", hook_kind(i));
        put_item(out, options, item, probe_hook(hook_kind(i), &why) ? why.text : "ok");
    }
}

static void put_view_hooks(struct out *out, const struct options *options, const char *view,
                           const struct hook_report hooks[MAX_HOOKS])
{
    char item[64], text[400];

    for (int i = 0; i < MAX_HOOKS && hooks[i].what; i++) {
        snprintf(item, sizeof item, "view.%s.%s", view, hooks[i].what);
        snprintf(text, sizeof text, "%s", hooks[i].hook ? hooks[i].hook : "no hook works");
        put_item(out, options, item, text);
        for (size_t j = 0; j < hooks[i].choice.nrefused; j++) {
            const struct refusal *refusal = &hooks[i].choice.refused[j];
            snprintf(text, sizeof text, "not %s: %s", refusal->hook, refusal->reason.text);
            put_item(out, options, item, text);
        }
    }
}

struct trial {
    struct out *out;
    const struct options *options;
    struct session session; /* of one view */
    bool works;
};

static void put_view(void *context, const struct view *view, const struct hook_report hooks[MAX_HOOKS],
                     int err, const struct error *why)
{
    struct trial *trial = context;
    struct error reason = *why;
    char item[64];

    trial->works = !err;
    if (!err && view->of_targets && !pidns_is_of_proc(&trial->session.pidns)) {
        error_set(&reason, 0, "processes cannot be asked for by number: %s",
                  trial->session.pidns.reason.text);
        trial->works = false;
    }
    snprintf(item, sizeof item, "view.%s", view->name);
    put_item(trial->out, trial->options, item, trial->works ? "ok" : reason.text);
    put_view_hooks(trial->out, trial->options, view->name, hooks);
}

/* Opens the view as if to measure all processes, and closes it. A view that cannot use the PIDs of
 * /proc leaves the PID namespace that it uses in `found`. */
static bool try_view(struct trial *trial, const struct view *view, struct pidns *found)
{
    struct session *session = &trial->session;

    if (session_init(session, trial->options, PURPOSE_TRY)) {
        message("out of memory");
        return false;
    }
    session_add(session, view);
    session_open(session, put_view, trial);
    if (!pidns_is_of_proc(&session->pidns))
        *found = session->pidns;
    session_close(session);
    return trial->works || view->of_sensors;
}

enum status doctor(const struct options *options)
{
    struct out *out = out_open(STDOUT_FILENO, options->format, false);
    struct trial trial = {.out = out, .options = options};
    struct pidns found;
    char text[512];
    bool all = true;

    pidns_read(&found);
    if (!out) {
        message("out of memory");
        return STATUS_FAILED;
    }
    put_host(out, options);
    put_hook_kinds(out, options);
    for (const struct view *const *view = views; *view; view++)
        all &= try_view(&trial, *view, &found);
    embedded_close();
    target_btf_drop();
    pidns_describe(&found, text, sizeof text); /* as opening the views showed */
    put_item(out, options, "pids", text);
    int err = out_flush(out);
    out_close(out);
    if (err && err != -EPIPE) {
        message("cannot write to stdout: %s (%s)", strerror(-err), error_name(err));
        return STATUS_FAILED;
    }
    return all ? STATUS_DONE : STATUS_HOST;
}
