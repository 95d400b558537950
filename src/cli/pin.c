// SPDX-License-Identifier: GPL-2.0-only
#include "cli/pin.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/list.h"
#include "loader/kernel/embedded.h"
#include "cli/session.h"
#include "loader/kernel/pin.h"
#include "source/shared/collector.h"
#include "pin.types.h"
#include "cli/run.h"
#include "base/quote.h"
#include "syscall/bpf.h"
#include "base/message.h"
#include "cli/hook_names.h"

/* DIR without trailing slashes. */
static int directory_of(const struct options *options, char to[PATH_MAX], struct error *why)
{
    size_t n = strlen(options->run.pinned);

    while (n > 1 && options->run.pinned[n - 1] == '/')
        n--;
    if (n >= PATH_MAX)
        return error_set(why, -ENAMETOOLONG, "the path is too long");
    memcpy(to, options->run.pinned, n);
    to[n] = 0;
    return 0;
}

static enum status pin_failed(const char *word, int err, const struct error *why)
{
    message("%s: %s", word, why->text);
    return err == -ENOMEM || err == -EEXIST || err == -ENOENT || err == -ESRCH || err == -ESTALE ||
                   err == -EBUSY
               ? STATUS_FAILED
               : STATUS_HOST;
}

/* ---- the description of a directory ---- */

static int make_info(struct object **obj, const struct options *options, struct error *why)
{
    struct hog_pin pin = {.magic = HOG_PIN_MAGIC, .layout = HOG_PIN_LAYOUT, .version = HOG_VERSION};
    uint32_t zero = 0;
    size_t used = 0;

    for (size_t i = 0; i < options->nviews; i++)
        used += (size_t)snprintf(pin.views + used, sizeof pin.views - used, "%s%s", i ? "," : "",
                                 options->views[i]);
    pin.pinned_ns = clock_ns(CLOCK_REALTIME);
    pin.booted_ns = pin.pinned_ns - clock_ns(CLOCK_BOOTTIME);
    int err = embedded_open(obj, "pin", why);
    if (!err)
        err = object_create_maps(*obj, why);
    if (err)
        return err;
    err = sys_bpf_map_update(object_map(*obj, "hog_info")->fd, &zero, &pin, BPF_ANY);
    return err ? error_set(why, err, "writing what is pinned: %s", error_name(err)) : 0;
}

/* The layout may be any. */
static int read_info(const char *directory, struct hog_pin *pin, struct error *why)
{
    struct object *obj = NULL;
    uint32_t zero = 0;
    int err = embedded_open(&obj, "pin", why);

    if (err)
        return err;
    struct object_map *map = object_map(obj, "hog_info");
    err = pin_open(map, directory, NULL, why);
    if (!err && (err = sys_bpf_map_lookup(map->fd, &zero, pin)))
        error_set(why, err, "%s/" PIN_INFO ": %s", directory, error_name(err));
    object_close(obj);
    if (err)
        return err;
    pin->version[sizeof pin->version - 1] = pin->views[sizeof pin->views - 1] = 0;
    return pin->magic == HOG_PIN_MAGIC ? 0 : error_set(why, -EPROTO, "%s was not pinned by hog", directory);
}

static int check_layout(const char *directory, const struct hog_pin *pin, struct error *why)
{
    if (pin->layout != HOG_PIN_LAYOUT)
        return error_set(why, -EPROTO,
                         "%s was pinned by hog %s in layout %u, and this is hog " HOG_VERSION
                         ", which reads layout %d: read it with that one, or unpin and pin it anew",
                         directory, quote(pin->version).text, pin->layout, HOG_PIN_LAYOUT);
    return 0;
}

/* ---- pin ---- */

static int check_pinnable(const struct options *options, struct error *why)
{
    char which[80] = "";

    for (const struct view *const *m = views; *m; m++)
        if ((*m)->pinned && strlen(which) + strlen((*m)->name) + 3 < sizeof which)
            snprintf(which + strlen(which), sizeof which - strlen(which), "%s%s", *which ? ", " : "",
                     (*m)->name);
    for (size_t i = 0; i < options->nviews; i++) {
        const struct view *view = view_named(options->views[i], strlen(options->views[i]));
        if (!view || !view->pinned)
            return error_set(why, -EINVAL, "%s cannot be pinned%s; what can: %s", options->views[i],
                             view && view->unpinnable ? view->unpinnable : "", which);
    }
    return 0;
}

/* What is loaded and attached, but not pinned yet. */
struct loaded {
    struct collector collectors[MAX_VIEWS];
    size_t n;
    struct object *info;
};

static int load_all(struct loaded *loaded, const struct options *options, struct error *why)
{
    static struct hook_report hooks[MAX_HOOKS];
    struct session session;
    int err = session_init(&session, options, PURPOSE_PIN) ? error_set(why, -ENOMEM, "out of memory") : 0;

    session.pidns = (struct pidns){0}; /* by the kernel's own numbers */
    if (!err)
        err = make_info(&loaded->info, options, why);
    for (size_t i = 0; i < options->nviews && !err; i++) {
        const struct view *view = view_named(options->views[i], strlen(options->views[i]));
        memset(hooks, 0, sizeof hooks);
        loaded->n++;
        err = view->pinned->pin(&loaded->collectors[i], &session.context, hooks, why);
        if (options->run.verbose)
            print_hooks(view->name, hooks);
    }
    session_close(&session);
    return err;
}

static void unload_all(struct loaded *loaded)
{
    for (size_t i = 0; i < loaded->n; i++)
        collector_close(&loaded->collectors[i]);
    object_close(loaded->info);
}

/* Pins everything in a directory of a temporary name, and renames it when it is complete. */
static int pin_all(const struct loaded *loaded, const struct options *options, const char *new,
                   const char *directory, struct error *why)
{
    int err = mkdir(new, 0700) ? -errno : 0;

    if (err)
        return error_set(why, err, "%s: %s", new, strerror(-err));
    for (size_t i = 0; i < loaded->n && !err; i++)
        err = pin_add(new, options->views[i], loaded->collectors[i].obj, loaded->collectors[i].links,
                      COLLECTOR_LINKS, why);
    if (!err)
        err = pin_add(new, NULL, loaded->info, NULL, 0, why);
    if (!err && rename(new, directory)) {
        err = errno == ENOTEMPTY ? -EEXIST : -errno;
        error_set(why, err, "%s: %s", directory, strerror(-err));
    }
    return err;
}

/* Starts a process that removes the incomplete directory if hog is killed before it writes to the pipe.
 * Signals are blocked, also in that process. The write end of the pipe, or -errno. */
static int start_guard(const char *new, const struct loaded *loaded, pid_t *guard)
{
    int ends[2];
    char word;

    if (pipe(ends))
        return -errno;
    *guard = fork();
    if (*guard < 0) {
        int err = -errno;
        close(ends[0]);
        close(ends[1]);
        return err;
    }
    if (*guard) {
        close(ends[0]);
        return ends[1];
    }
    setsid();
    close(ends[1]);
    if (read(ends[0], &word, 1) != 1)
        pin_remove(new, NULL, NULL);
    _exit(0);
}

static int pin_guarded(const struct loaded *loaded, const struct options *options, const char *directory,
                       struct error *why)
{
    char new[PATH_MAX];
    const char *slash = strrchr(directory, '/');
    pid_t guard = -1;
    sigset_t all;
    int length = snprintf(new, sizeof new, "%.*shog_new_%d", slash ? (int)(slash + 1 - directory) : 0,
                          directory, (int)getpid());

    if (length < 0 || (size_t)length >= sizeof new)
        return error_set(why, -ENAMETOOLONG, "the path is too long");
    /* Until now a signal ends hog, and nothing is left. From here on it comes too late. */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int pipe_end = start_guard(new, loaded, &guard);
    if (pipe_end < 0)
        return error_set(why, pipe_end, "cannot start a process: %s", error_name(pipe_end));
    int err = pin_all(loaded, options, new, directory, why);
    if (!err && write(pipe_end, "", 1) != 1)
        err = error_set(why, -EIO, "the process that cleans up after a failed pin has ended");
    close(pipe_end); /* if nothing was written, the guard cleans up */
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
        ;
    return err;
}

enum status pin_views(const struct options *options)
{
    static struct loaded loaded;
    char directory[PATH_MAX];
    struct error why = {""};
    int err = check_pinnable(options, &why);

    if (err) {
        message("pin: %s", why.text);
        return STATUS_USAGE;
    }
    err = directory_of(options, directory, &why);
    if (!err)
        err = pin_check_new(directory, &why);
    if (!err)
        err = load_all(&loaded, options, &why);
    if (!err)
        err = pin_guarded(&loaded, options, directory, &why);
    unload_all(&loaded);
    return err ? pin_failed("pin", err, &why) : STATUS_DONE;
}

/* ---- read ---- */

static int take_pinned_views(struct options *options, const char *list, struct error *why)
{
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        const struct view *view = view_named(name, length);
        if (!view || !view->pinned || options->nviews == MAX_VIEWS)
            return error_set(why, -EPROTO, "this hog cannot read the pinned view %s",
                             quote_bytes(name, length).text);
        options->views[options->nviews++] = view->name;
    }
    return 0;
}

enum status read_views(struct options *options)
{
    static char directory[PATH_MAX];
    struct hog_pin pin;
    struct error why = {""};
    int err = directory_of(options, directory, &why);

    if (!err)
        err = read_info(directory, &pin, &why);
    if (!err)
        err = check_layout(directory, &pin, &why);
    if (!err)
        err = take_pinned_views(options, pin.views, &why);
    if (err)
        return pin_failed("read", err, &why);
    if (options->format == OUT_CSV && options->nviews > 1) {
        message("csv has the columns of one view, and %s are pinned here: use -o tsv or json", pin.views);
        return STATUS_USAGE;
    }
    options->run.pinned = directory;
    return run_views(options);
}

/* ---- unpin ---- */

static void report_foreign(const char *path)
{
    message("unpin: %s was not made by hog: left as it is", quote(path).text);
}

enum status unpin_views(const struct options *options)
{
    char directory[PATH_MAX];
    struct hog_pin pin;
    struct error why = {""};
    int left = directory_of(options, directory, &why);

    if (!left)
        left = pin_check_place(directory, &why);
    if (!left)
        left = read_info(directory, &pin, &why);
    if (!left)
        left = pin_remove(directory, report_foreign, &why);
    if (left < 0)
        return pin_failed("unpin", left, &why);
    return left ? STATUS_FAILED : STATUS_DONE;
}
