// SPDX-License-Identifier: GPL-2.0-only
#include "pins.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"
#include "embedded.h"
#include "host/numbering.h"
#include "host/targets.h"
#include "load/pin.h"
#include "load/pin_tree.h"
#include "metric/metric.h"
#include "metric/side.h"
#include "pin.types.h"
#include "run.h"
#include "shown.h"
#include "syscall/bpf.h"
#include "tell.h"

/* DIR without slashes at its end. */
static int directory_of(const struct options *options, char to[PATH_MAX], struct why *w)
{
    size_t n = strlen(options->pinned);

    while (n > 1 && options->pinned[n - 1] == '/')
        n--;
    if (n >= PATH_MAX)
        return why(w, -ENAMETOOLONG, "the path is too long");
    memcpy(to, options->pinned, n);
    to[n] = 0;
    return 0;
}

static enum status failed(const char *word, int err, const struct why *w)
{
    tell("%s: %s", word, w->text);
    return err == -ENOMEM || err == -EEXIST || err == -ENOENT || err == -ESRCH || err == -ESTALE ||
                   err == -EBUSY
               ? STATUS_FAILED
               : STATUS_HOST;
}

/* ---- what a directory says of itself ---- */

static int make_info(struct object **obj, const struct options *options, struct why *w)
{
    struct hog_pin pin = {.magic = HOG_PIN_MAGIC, .layout = HOG_PIN_LAYOUT, .version = HOG_VERSION};
    uint32_t zero = 0;
    size_t used = 0;

    for (size_t i = 0; i < options->nviews; i++)
        used += (size_t)snprintf(pin.views + used, sizeof pin.views - used, "%s%s", i ? "," : "",
                                 options->views[i]);
    pin.pinned_ns = clock_ns(CLOCK_REALTIME);
    pin.booted_ns = pin.pinned_ns - clock_ns(CLOCK_BOOTTIME);
    int err = embedded_open(obj, "pin", w);
    if (!err)
        err = object_create_maps(*obj, w);
    if (err)
        return err;
    err = sys_bpf_map_update(object_map(*obj, "hog_info")->fd, &zero, &pin, BPF_ANY);
    return err ? why(w, err, "noting what is pinned: %s", why_errno(err)) : 0;
}

/* Of any layout. */
static int read_info(const char *directory, struct hog_pin *pin, struct why *w)
{
    struct object *obj = NULL;
    uint32_t zero = 0;
    int err = embedded_open(&obj, "pin", w);

    if (err)
        return err;
    struct object_map *map = object_map(obj, "hog_info");
    err = pin_tree_open_info(map, directory, w);
    if (!err && (err = sys_bpf_map_lookup(map->fd, &zero, pin)))
        why(w, err, "%s/" PIN_INFO ": %s", directory, why_errno(err));
    object_close(obj);
    if (err)
        return err;
    pin->version[sizeof pin->version - 1] = pin->views[sizeof pin->views - 1] = 0;
    return pin->magic == HOG_PIN_MAGIC ? 0 : why(w, -EPROTO, "%s was not pinned by hog", directory);
}

static int check_layout(const char *directory, const struct hog_pin *pin, struct why *w)
{
    if (pin->layout != HOG_PIN_LAYOUT)
        return why(w, -EPROTO,
                   "%s was pinned by hog %s in layout %u, and this is hog " HOG_VERSION
                   ", which reads layout %d: read it with that one, or unpin and pin it anew",
                   directory, show(pin->version).text, pin->layout, HOG_PIN_LAYOUT);
    return 0;
}

/* ---- pin ---- */

static const struct metric *metric_named(const char *name, size_t length)
{
    for (const struct metric *const *m = metrics; *m; m++)
        if (strlen((*m)->name) == length && !strncmp((*m)->name, name, length))
            return *m;
    return NULL;
}

/* Why a view cannot be, where there is more to say than that it cannot. */
static const char *reason_of(const char *view)
{
    static const char *const reasons[][2] = {
        {"energy", ": its sensors are read by a process, and what nobody reads they do not keep"},
        {"mem", ": the kernel keeps it by itself, in /proc/PID/status (VmRSS, VmHWM)"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strcmp(reasons[i][0], view))
            return reasons[i][1];
    return "";
}

static int check_views(const struct options *options, struct why *w)
{
    char which[80] = "";

    for (const struct metric *const *m = metrics; *m; m++)
        if ((*m)->pin && strlen(which) + strlen((*m)->name) + 3 < sizeof which)
            snprintf(which + strlen(which), sizeof which - strlen(which), "%s%s", *which ? ", " : "",
                     (*m)->name);
    for (size_t i = 0; i < options->nviews; i++) {
        const struct metric *metric = metric_named(options->views[i], strlen(options->views[i]));
        if (!metric || !metric->pin)
            return why(w, -EINVAL, "%s cannot be pinned%s; what can: %s", options->views[i],
                       reason_of(options->views[i]), which);
    }
    return 0;
}

/* What hangs in the kernel until it is pinned. */
struct hung {
    struct side sides[MAX_VIEWS];
    size_t n;
    struct object *info;
};

static int hang_up(struct hung *hung, const struct options *options, struct why *w)
{
    static struct hook_report hooks[MAX_HOOKS];
    struct targets targets = {0};
    struct numbering numbering = {0}; /* by the kernel's own numbers */
    struct metric_context context = {.options = options, .targets = &targets, .numbering = &numbering};
    int err = make_info(&hung->info, options, w);

    for (size_t i = 0; i < options->nviews && !err; i++) {
        const struct metric *metric = metric_named(options->views[i], strlen(options->views[i]));
        memset(hooks, 0, sizeof hooks);
        hung->n++;
        err = metric->pin(&hung->sides[i], &context, hooks, w);
        if (options->verbose)
            tell_hooks(metric->name, hooks);
    }
    return err;
}

static void take_down(struct hung *hung)
{
    for (size_t i = 0; i < hung->n; i++)
        side_close(&hung->sides[i]);
    object_close(hung->info);
}

/* Pins all in a directory that nobody knows, and gives it its name when it is whole. */
static int pin_all(const struct hung *hung, const struct options *options, const char *new,
                   const char *directory, struct why *w)
{
    int err = mkdir(new, 0700) ? -errno : 0;

    if (err)
        return why(w, err, "%s: %s", new, strerror(-err));
    for (size_t i = 0; i < hung->n && !err; i++)
        err = pin_tree_add(new, options->views[i], hung->sides[i].obj, hung->sides[i].links, SIDE_LINKS, w);
    if (!err)
        err = pin_tree_add(new, NULL, hung->info, NULL, 0, w);
    if (!err && rename(new, directory)) {
        err = errno == ENOTEMPTY ? -EEXIST : -errno;
        why(w, err, "%s: %s", directory, strerror(-err));
    }
    return err;
}

/* A process that waits for us to say that the new directory is whole, or to end without a word, killed:
 * then it removes what there is of it. Its end of the pipe; or -errno. */
static int start_guard(const char *new, const struct hung *hung, pid_t *guard)
{
    int ends[2];
    char word;
    sigset_t all;

    if (pipe(ends))
        return -errno;
    sigfillset(&all);
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
    sigprocmask(SIG_BLOCK, &all, NULL);
    close(ends[1]);
    if (read(ends[0], &word, 1) != 1)
        pin_tree_remove(new, NULL, NULL);
    _exit(0);
}

static int pin_guarded(const struct hung *hung, const struct options *options, const char *directory,
                       struct why *w)
{
    char new[PATH_MAX];
    const char *slash = strrchr(directory, '/');
    pid_t guard = -1;
    int length = snprintf(new, sizeof new, "%.*shog_new_%d", slash ? (int)(slash + 1 - directory) : 0,
                          directory, (int)getpid());

    if (length < 0 || (size_t)length >= sizeof new)
        return why(w, -ENAMETOOLONG, "the path is too long");
    int pipe_end = start_guard(new, hung, &guard);
    if (pipe_end < 0)
        return why(w, pipe_end, "cannot start a process: %s", why_errno(pipe_end));
    int err = pin_all(hung, options, new, directory, w);
    if (!err && write(pipe_end, "", 1) != 1)
        err = why(w, -EIO, "the process that looks after what is not whole has ended");
    close(pipe_end); /* without a word it cleans up */
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
        ;
    return err;
}

enum status pin_views(const struct options *options)
{
    static struct hung hung;
    char directory[PATH_MAX];
    struct why w = {""};
    int err = check_views(options, &w);

    if (err) {
        tell("pin: %s", w.text);
        return STATUS_USAGE;
    }
    err = directory_of(options, directory, &w);
    if (!err)
        err = pin_tree_check(directory, &w);
    if (!err)
        err = hang_up(&hung, options, &w);
    if (!err)
        err = pin_guarded(&hung, options, directory, &w);
    take_down(&hung);
    return err ? failed("pin", err, &w) : STATUS_DONE;
}

/* ---- read ---- */

static int take_views(struct options *options, const char *views, struct why *w)
{
    for (; *views; views += strcspn(views, ","), views += *views == ',') {
        size_t length = strcspn(views, ",");
        const struct metric *metric = metric_named(views, length);
        if (!metric || !metric->pin || options->nviews == MAX_VIEWS)
            return why(w, -EPROTO, "this hog cannot read the pinned view %s", show_bytes(views, length).text);
        options->views[options->nviews++] = metric->name;
    }
    return 0;
}

enum status read_views(struct options *options)
{
    static char directory[PATH_MAX];
    struct hog_pin pin;
    struct why w = {""};
    int err = directory_of(options, directory, &w);

    if (!err)
        err = read_info(directory, &pin, &w);
    if (!err)
        err = check_layout(directory, &pin, &w);
    if (!err)
        err = take_views(options, pin.views, &w);
    if (err)
        return failed("read", err, &w);
    if (options->format == OUT_CSV && options->nviews > 1) {
        tell("csv has the columns of one view, and %s are pinned here: use -o tsv or json", pin.views);
        return STATUS_USAGE;
    }
    options->pinned = directory;
    return run_views(options);
}

/* ---- unpin ---- */

static void tell_foreign(const char *path)
{
    tell("unpin: %s is not of hog: left as it is", show(path).text);
}

enum status unpin_views(const struct options *options)
{
    char directory[PATH_MAX];
    struct hog_pin pin;
    struct why w = {""};
    int left = directory_of(options, directory, &w);

    if (!left)
        left = bpf_pin_check(directory, &w);
    if (!left)
        left = read_info(directory, &pin, &w);
    if (!left)
        left = pin_tree_remove(directory, tell_foreign, &w);
    if (left < 0)
        return failed("unpin", left, &w);
    return left ? STATUS_FAILED : STATUS_DONE;
}
