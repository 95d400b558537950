/* SPDX-License-Identifier: GPL-2.0-only */
/* What options mean beside each other and beside the views that were asked for. */
#include "cli/options_views.h"
#include <errno.h>
#include <string.h>

bool options_is_view(const struct options *o, const char *name)
{
    return o->nviews == 1 && !strcmp(o->views[0], name);
}

static bool has_view(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->nviews; i++)
        if (!strcmp(o->views[i], name))
            return true;
    return false;
}

/* `option`: what was given that is of this view; NULL: nothing. */
static int check_view(const struct options *o, const char *option, const char *view, struct error *why)
{
    if (!option || has_view(o, view))
        return 0;
    return error_set(why, -EINVAL, "%s needs the view %s: hog %s %s ..", option, view, view, option);
}

static int check_alloc(struct options *o, struct error *why)
{
    return check_view(o, o->pointers ? "--pointers" : o->leaks_ns ? "--leaks" : NULL, "alloc", why);
}

static int check_block(struct options *o, struct error *why)
{
    return check_view(o, o->devices ? "--device" : NULL, "block", why);
}

/* What is of the view `calls`: one of its ways to say which calls. */
static int check_calls(struct options *o, struct error *why)
{
    const char *option = o->syscalls     ? "--syscalls"
                         : o->mpi        ? "--mpi"
                         : o->libc_io    ? "--libc-io"
                         : o->lib        ? "--lib"
                         : o->func       ? "--func"
                         : o->error.test ? "--error"
                         : o->bytes      ? "--bytes"
                                         : NULL;
    int err = check_view(o, option, "calls", why);

    if (err)
        return err;
    if (o->syscalls + o->mpi + o->libc_io + (o->func != NULL) > 1)
        return error_set(why, -EINVAL, "only one of --syscalls, --mpi, --libc-io and --func is possible");
    if ((o->error.test || o->bytes) && !o->func)
        return error_set(why, -EINVAL, "%s is about functions that --func names",
                         o->error.test ? "--error" : "--bytes");
    if ((o->func && !o->lib) || (o->lib && !o->func && !o->mpi && !o->libc_io))
        return error_set(why, -EINVAL, "--lib and --func go together: hog calls --lib libc --func 'get*'");
    if ((o->lib && !*o->lib) || (o->func && !*o->func))
        return error_set(why, -EINVAL, "%s needs a value that is not empty",
                         o->lib && !*o->lib ? "--lib" : "--func");
    return 0;
}

/* Verdicts are what `top` shows. */
static int check_verdicts(struct options *o, struct error *why)
{
    const char *option = o->alert ? "--alert" : o->explain ? "--explain" : NULL;

    if (o->alert_for && !o->alert)
        return error_set(why, -EINVAL,
                         "--alert-for says how many windows in a row --alert waits for: it needs --alert");
    if (o->why_pid && o->npids)
        return error_set(why, -EINVAL, "--why judges one process among all: -p is not possible beside it");
    if (o->why_pid && !options_is_view(o, "top"))
        return error_set(why, -EINVAL, "--why is of the view top alone: hog top --why PID");
    int err = check_view(o, option, "top", why);
    if (err)
        return err;
    o->alert_for += !o->alert_for;
    o->explain = o->explain || o->why_pid;
    return 0;
}

static int check_energy(struct options *o, struct error *why)
{
    const char *option = o->total ? "--total" : o->idle ? "--idle" : o->model.given ? "--model" : NULL;

    if (o->command && (!options_is_view(o, "energy") || o->npids || o->total || o->threads || o->exact))
        return error_set(
            why, -EINVAL,
            "a command is what the view energy measures alone, without -p, -t, --exact and --total: "
            "hog energy -- COMMAND ARGUMENTS..");
    if (o->model.given && has_view(o, "top") && !o->total && !o->idle)
        return 0;
    o->by_cpu = o->by == ROWS_CPU && options_is_view(o, "energy");
    if (o->weight == WEIGHT_CYCLES && (!options_is_view(o, "energy") || o->model.given || o->exact))
        return error_set(why, -EINVAL,
                         "--weight=cycles is of the view energy alone, without --model and --exact");
    if (o->by_cpu && (o->total || o->command))
        return error_set(why, -EINVAL, "--by cpu goes with neither --total nor a command");
    if (o->by_cpu)
        o->by = 0;
    return check_view(o, option, "energy", why);
}

static int check_memory(struct options *o, struct error *why)
{
    const char *option = o->vm ? "--vm" : o->peak ? "--peak" : o->pss ? "--pss" : NULL;

    return check_view(o, option, "mem", why);
}

static int check_file(struct options *o, struct error *why)
{
    const char *option = o->top_files ? "--top-files" : o->all_files ? "--all-files" : NULL;

    o->by_mount = o->by == ROWS_MOUNT;
    if (o->by_mount && (o->nviews != 1 || !options_is_view(o, "file")))
        return error_set(why, -EINVAL, "--by mount needs the view file alone: hog file --by mount ..");
    if (o->by_mount && (o->threads || o->comms.n || o->users.n || o->cgroups.n || o->containers.n))
        return error_set(why, -EINVAL,
                         "--by mount adds up all processes: -p chooses some, and nothing else does");
    if (o->by_mount)
        o->by = 0;
    return check_view(o, option, "file", why);
}

/* What stands between views and lines. */
static int check_rows(struct options *o, struct error *why)
{
    bool waits = o->by || o->sort || o->format == OUT_PROM || o->textfile;

    if (o->inverted && !(o->comms.n || o->users.n || o->cgroups.n || o->containers.n))
        return error_set(why, -EINVAL, "--not turns -c, -u, -g and --container round: it needs one of them");
    if (o->explain && (waits || o->format == OUT_CSV))
        return error_set(why, -EINVAL,
                         "%s stands below each row: --by, --sort, csv and prom have no place for it",
                         o->why_pid ? "--why" : "--explain");
    if (options_is_view(o, "doctor") && (o->format == OUT_CSV || o->format == OUT_PROM))
        return error_set(why, -EINVAL, "doctor says sentences: -o text, tsv or json");
    if (o->textfile && o->format != OUT_TEXT && o->format != OUT_PROM)
        return error_set(why, -EINVAL, "--textfile is in the format prom: -o says another one");
    if (o->textfile)
        o->format = OUT_PROM;
    if (o->format == OUT_CSV && (o->nviews > 1 || o->leaks_ns))
        return error_set(why, -EINVAL, "csv has the columns of one view: ask for one, or use -o tsv or json");
    if (o->human && (o->format != OUT_TEXT || o->record || o->mode == RUN_REPORT || o->mode == RUN_DIFF))
        return error_set(why, -EINVAL,
                         "-h/--human is for people who read text: other formats keep their units");
    if (o->by == ROWS_THREAD)
        o->threads = true;
    return 0;
}

int options_check_views(struct options *o, struct error *why)
{
    static int (*const checks[])(struct options *,
                                 struct error *) = {check_verdicts, check_memory, check_alloc,  check_block,
                                                    check_file,     check_rows,   check_energy, check_calls};

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        int err = checks[i](o, why);
        if (err)
            return err;
    }
    return 0;
}
