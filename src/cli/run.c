// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run.h"
#include "cli/run_private.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "loader/kernel/embedded.h"
#include "loader/kernel/target_file.h"
#include "host/names.h"
#include "loader/kernel/attach.h"
#include "base/quote.h"
#include "source/shared/prefilter.h"
#include "source/shared/sketch.h"
#include "base/message.h"
#include "cli/hook_names.h"
#include "cli/leave.h"
#include "cli/why_target.h"

#define LATE_IN_A_ROW  20
#define SCREEN_WAKE_NS 100000000ull /* the screen waits for keys alone */

static enum status add_targets(const struct session *session, struct targets *targets, const uint32_t *pids,
                               size_t n)
{
    const struct pidns *pidns = &session->pidns;
    struct error why;

    if (n && !pidns->inode) {
        message("processes cannot be asked for by number: %s", pidns->reason.text);
        return STATUS_HOST;
    }
    targets->foreign = !pidns->ours;
    targets->inside = pidns->translate;
    for (size_t i = 0; i < n; i++) {
        int err = targets_add(targets, pids[i], &why);
        if (err)
            message("%s", why.text);
        if (err && err != -ESRCH && err != -EINVAL)
            return STATUS_FAILED;
    }
    /* A message was printed for each. */
    return n && !targets->n ? STATUS_FAILED : STATUS_DONE;
}

static enum status open_targets(struct run *run)
{
    const struct options *options = run->options;
    struct session *session = &run->session;
    enum status status = add_targets(session, &session->targets, options->pids, options->npids);

    uint32_t pids[MAX_PIDS];
    size_t n = 0;
    if (status != STATUS_DONE || !options->why_target)
        return status;
    if (why_target_find(options->why_target, pids, MAX_PIDS, &n)) {
        message("why: no process, name or unit \"%s\"", quote(options->why_target).text);
        return STATUS_FAILED;
    }
    return add_targets(session, &session->subject, pids, n);
}

static void view_opened(void *context, const struct view *view, const struct hook_report hooks[MAX_HOOKS],
                        int err, const struct error *why)
{
    const struct run *run = context;

    if (run->options->run.verbose)
        print_hooks(view->name, hooks);
    if (err)
        message("%s: %s", view->name, why->text);
}

enum status run_open_views(struct run *run)
{
    int err = session_open(&run->session, view_opened, run);

    embedded_close();
    target_btf_drop();
    if (err)
        return err == -ENOMEM || err == -ESRCH ? STATUS_FAILED : STATUS_HOST;
    const struct pidns *pidns = &run->session.pidns;
    if (!pidns_is_of_proc(pidns) && run->rows)
        rows_without_proc(run->rows);
    if (!pidns_is_of_proc(pidns))
        message("PIDs are the kernel's own, and the living have no names%s: %s",
                run->options->run.no_kernel
                    ? " (nor is it known which are kernel threads: --no-kernel hides none)"
                    : "",
                pidns->reason.text);
    return STATUS_DONE;
}

void wake_on_time(void)
{
    const struct sched_param lowest = {.sched_priority = 1};

    prctl(PR_SET_TIMERSLACK, 1UL);
    /* Not sched_setscheduler() of musl: it always fails with ENOSYS, since POSIX sets a process and Linux a
     * thread. */
    if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest))
        setpriority(PRIO_PROCESS, 0, -20);
}

/* If windows keep ending late, there is more work than fits in one: with real-time priority hog would take a
 * whole CPU from the host. */
static void drop_priority_when_late(struct run *run)
{
    const struct sched_param none = {0};

    run->late = run->skipped ? run->late + 1 : 0;
    if (run->late != LATE_IN_A_ROW)
        return;
    syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
    message(
        "windows of %.3f ms cannot be kept: there is too much to show, or the host is too busy; see skipped=",
        (double)run->options->interval_ns / 1e6);
}

/* Waits for a signal that ends the run, a source that has something, or the time. */
static enum screen_event wait_for_sources(struct run *run, uint64_t left_ns)
{
    struct pollfd polls[MAX_SOURCES + 1];
    int fds[MAX_SOURCES];
    uint64_t now = clock_ns(CLOCK_MONOTONIC), next;
    size_t n = sources_wake_fds(&run->session.sources, now, fds, &next);

    if (next - now < left_ns)
        left_ns = next - now;
    if (run->ending_fd < 0)
        run->ending_fd = signalfd(-1, &run->ending, SFD_CLOEXEC);
    struct timespec left = timespec_of(left_ns);
    polls[0] = (struct pollfd){.fd = run->ending_fd, .events = POLLIN};
    for (size_t i = 0; i < n; i++)
        polls[i + 1] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    return ppoll(polls, n + 1, &left, NULL) > 0 && polls[0].revents ? SCREEN_END : SCREEN_ON;
}

/* Waits for a signal or a key that ends the run or the session, at most that long. */
static enum screen_event wait_for(struct run *run, uint64_t left_ns)
{
    struct timespec left = timespec_of(left_ns);
    bool can_wake = sources_can_wake(&run->session.sources);

    if (run->screen)
        return screen_wait(run->screen, can_wake && left_ns > SCREEN_WAKE_NS ? SCREEN_WAKE_NS : left_ns);
    if (can_wake)
        return wait_for_sources(run, left_ns);
    return sigtimedwait(&run->ending, NULL, &left) > 0 ? SCREEN_END : SCREEN_ON;
}

/* Sleeps until `due`, or until a signal or a key ends the run or the session. *err: -errno of the output. */
static enum screen_event sleep_until(struct run *run, uint64_t due, int *err)
{
    uint64_t ticked = clock_ns(CLOCK_MONOTONIC);

    for (uint64_t now = ticked;; now = clock_ns(CLOCK_MONOTONIC)) {
        uint64_t left_ns = due > now ? due - now : 0;
        enum screen_event event = wait_for(run, left_ns < SOURCE_TICK_NS ? left_ns : SOURCE_TICK_NS);
        if (event != SCREEN_ON)
            return event;
        now = clock_ns(CLOCK_MONOTONIC);
        sources_wake(&run->session.sources, now);
        *err = run_print_now(run);
        if (*err || now >= due)
            return event;
        if (now - ticked >= SOURCE_TICK_NS) {
            sources_tick(&run->session.sources);
            ticked = now;
        }
    }
}

static enum status output_failed(const struct options *options, int err)
{
    if (err == -EPIPE && !options->textfile)
        return STATUS_DONE; /* the reader is gone */
    message("cannot write to %s: %s (%s)", options->textfile ? quote(options->textfile).text : "stdout",
            strerror(-err), error_name(err));
    return STATUS_FAILED;
}

/* Whether --alert ends the run now. A window cut short by a signal is not checked. */
static bool is_alarmed(struct run *run)
{
    bool alert = false;

    const struct session *s = &run->session;

    for (size_t i = 0; i < s->n && run->options->run.alert; i++)
        alert = alert || (s->views[i]->alert && s->views[i]->alert(s->states[i]));
    run->alerts = alert ? run->alerts + 1 : 0;
    return alert && run->alerts >= run->options->run.alert_for;
}

/* Window n begins at start + n * interval, however long the previous ones took. *reopen: another session is
 * wanted. */
static enum status windows(struct run *run, bool *reopen)
{
    const uint64_t interval = run->options->interval_ns, count = run->options->count;
    struct error why = {""};
    int err = session_flip(&run->session, &why);
    uint64_t start = run->session.window.end_mono, grid = 0;
    bool ending = false;

    if (run->options->self) {
        run->self.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        sources_cost(&run->session.sources, &run->self.cost);
    }
    while (!err && !ending && (!count || run->session.window.seq < count)) {
        int written = 0;
        enum screen_event event = sleep_until(run, start + ++grid * interval, &written);
        if (written)
            return output_failed(run->options, written);
        *reopen = event == SCREEN_REOPEN;
        if (*reopen)
            return STATUS_DONE;
        ending = event == SCREEN_END;
        err = session_flip(&run->session, &why);
        if (err)
            break;
        uint64_t reached = (run->session.window.end_mono - start) / interval;
        run->skipped = reached > grid ? reached - grid : 0;
        grid += run->skipped;
        drop_priority_when_late(run);
        run->session.window.begin_offset = run->session.window.begin_mono - start;
        const struct session *session = &run->session;
        bool chosen = session->targets.n + session->subject.n > 0;
        if (run->live)
            live_follow(run);
        written = run_print(run);
        if (written)
            return output_failed(run->options, written);
        if (!ending && is_alarmed(run))
            return STATUS_ALERT;
        if (chosen && session->targets.n + session->subject.n == 0)
            break;
    }
    if (err)
        message("%s", why.text);
    return err || run->ever_lost ? STATUS_FAILED : STATUS_DONE;
}

static void run_close(struct run *run)
{
    session_close(&run->session);
    self_close(&run->self);
    out_close(run->out);
    rows_close(run->rows);
    recorder_close(run->recorder);
    screen_close(run->screen);
    if (run->ending_fd >= 0)
        close(run->ending_fd);
}

static struct rows_options rows_options_of(const struct options *o)
{
    return (struct rows_options){.filters = &o->run.filters,
                                 .with = o->with | rows_words_of_columns(o->show),
                                 .by = o->by,
                                 .sort = o->sort,
                                 .reverse = o->reverse,
                                 .columns = o->show,
                                 .top = o->run.top,
                                 .threads = o->run.threads,
                                 .format = o->format,
                                 .kib = o->rows_kib};
}

/* What processes rows between views and lines; wrong options fail here, before anything is loaded. */
enum status run_open_rows(struct run *run)
{
    struct error why = {""};

    run->rows_options = rows_options_of(run->options);
    if (run->live)
        live_rows_options(run);
    int err = rows_open(&run->rows, &run->rows_options, run->schemas, run->session.context.names,
                        pidns_is_of_proc(&run->session.pidns), &why);
    if (err) {
        message("%s", why.text);
        return err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
    }
    if (run->rows)
        rows_attach(run->rows, run->out);
    return STATUS_DONE;
}

/* What the kernel side leaves out already. */
static enum status open_prefilter(struct run *run)
{
    const struct filter *filter = run->rows ? rows_filter(run->rows) : NULL;
    struct error why = {""};

    if (filter && prefilter_open(&run->session.prefilter, &run->options->run.filters, filter, &why)) {
        message("%s", why.text);
        return STATUS_FAILED;
    }
    prefilter_refresh(run->session.prefilter, clock_ns(CLOCK_MONOTONIC));
    run->session.context.prefilter = run->session.prefilter;
    return STATUS_DONE;
}

/* hog record: opens the file before anything is measured. */
static enum status open_recorder(struct run *run)
{
    const struct options *options = run->options;
    struct error why;

    if (!options->record)
        return STATUS_DONE;
    if (recorder_open(&run->recorder, options->record, options->max_size, options->keep, &why)) {
        message("%s", why.text);
        return STATUS_FAILED;
    }
    out_to_sink(run->out, recorder_sink(run->recorder));
    return STATUS_DONE;
}

/* Before wake_on_time(): the child of the screen must not inherit that. */
static enum status enter_screen(struct run *run)
{
    int err = run->screen ? screen_enter(run->screen) : 0;

    if (err)
        message("the terminal cannot be drawn on: %s (%s)", strerror(-err), error_name(err));
    return err ? STATUS_FAILED : STATUS_DONE;
}

static void end_now(int signal_number)
{
    leave_kernel();
    _exit(STATUS_DONE);
}

/* While hog starts, the signals that end a run end it wherever it is: there is no window to print yet, and
 * what it has in the kernel goes with its descriptors. */
static void signals_end_at_once(const struct run *run)
{
    const struct sigaction action = {.sa_handler = end_now};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &run->ending, NULL);
}

/* Columns that other options are about are shown without being asked for. */
void run_choose_columns(struct run *run)
{
    const struct options *o = run->options;

    snprintf(run->also, sizeof run->also, "%s%s%s%s", o->run.threads ? "tid,victim_tid," : "",
             o->by & ROWS_CPU ? "cpu," : "", o->with & ROWS_PSS ? "pss_kib," : "", o->sort ? o->sort : "");
    out_choose(run->out, &(struct column_choice){.wide = o->wide, .list = o->show, .also = run->also});
}

static enum status open_output(struct run *run, bool human)
{
    const struct options *options = run->options;

    run->out = out_open(STDOUT_FILENO, options->format, !options->no_header);
    if (!run->out) {
        message("out of memory");
        return STATUS_FAILED;
    }
    run_choose_columns(run);
    if (human)
        out_for_people(run->out);
    int err = options->textfile ? out_to_file(run->out, options->textfile) : 0;
    return err ? output_failed(options, err) : STATUS_DONE;
}

enum status run_open_session(struct run *run)
{
    const struct options *options = run->options;

    run->of_views = *options;
    if (session_init(&run->session, &run->of_views, PURPOSE_MEASURE)) {
        message("out of memory");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < options->nviews; i++) {
        const struct view *view = view_named(options->views[i], strlen(options->views[i]));
        session_add(&run->session, view);
        run->schemas[i] = &view->schema;
    }
    run->schemas[options->nviews] = NULL;
    enum status status = run_open_rows(run);
    /* The screen asks for groups at any time. */
    run->session.context.groups = run->live || rows_want_groups(&run->rows_options);
    if (run->live || rows_want_all(&run->rows_options))
        run->of_views.run.top = ROWS_ALL;
    if (status == STATUS_DONE)
        status = open_prefilter(run);
    return status == STATUS_DONE ? open_targets(run) : status;
}

static enum status open_all(struct run *run)
{
    enum status status = run_open_session(run);

    if (status == STATUS_DONE)
        status = run->live ? live_open(run) : open_recorder(run);
    if (status == STATUS_DONE && run->options->self)
        self_open(&run->self);
    return status == STATUS_DONE ? run_open_views(run) : status;
}

/* The windows of one session after the other: of one, but for what the screen asks for. */
static enum status measure(struct run *run)
{
    enum status status;
    bool reopen = false;

    do
        status = windows(run, &reopen);
    while (status == STATUS_DONE && reopen && (status = live_reopen(run)) == STATUS_DONE);
    return status;
}

enum status run_views(const struct options *asked)
{
    struct live live;

    /* What reads a pipe relies on the unit of the column. */
    if (asked->human && !isatty(STDOUT_FILENO)) {
        message("--human is for people: stdout is no terminal");
        return STATUS_USAGE;
    }
    const bool wanted = live_is_wanted(asked);
    const struct options *options = wanted ? live_options(&live, asked) : asked;
    struct run run = {
        .options = options, .live = wanted ? &live : NULL, .ending_fd = -1, .self = {.stats_fd = -1}};

    sigemptyset(&run.ending);
    sigaddset(&run.ending, SIGINT);
    sigaddset(&run.ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &run.ending, NULL);
    enum status status = open_output(&run, asked->human); /* a file of --textfile is tried out, and removed */
    signals_end_at_once(&run);
    if (status == STATUS_DONE)
        status = open_all(&run);
    sigprocmask(SIG_BLOCK, &run.ending, NULL); /* from here on, windows() sees them */
    if (status == STATUS_DONE)
        status = enter_screen(&run);
    if (status == STATUS_DONE) {
        wake_on_time();
        status = measure(&run);
    }
    run_close(&run);
    return status;
}
