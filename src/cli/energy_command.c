// SPDX-License-Identifier: GPL-2.0-only
#include "cli/energy_command.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "cli/session.h"
#include "cli/process_limits.h"
#include "source/power/meter.h"
#include "source/tasks/tree.h"
#include "cli/run.h"
#include "base/message.h"
#include "cli/hook_names.h"

/* A domain's energy, and the command's part of it. */
struct taken {
    uint64_t uj, all_uj, known_ns;
    int64_t run_ns;
};

struct command {
    const struct options *options;
    struct session session; /* without views */
    const struct meter *meter;
    const struct tree *tree;
    struct tally members; /* tasks of the tree that ran in the window */
    struct taken *taken;  /* one for each domain */
    uint64_t begin_ns;
    sigset_t signals, before;
    pid_t pid;
    int status; /* of waitpid(), once it has exited */
};

/* ---- the command itself ---- */

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

static void block_signals(struct command *c)
{
    sigemptyset(&c->signals);
    sigaddset(&c->signals, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&c->signals, passed_on[i]);
    sigprocmask(SIG_BLOCK, &c->signals, &c->before);
}

/* In the child: waits for the end of file on `go`, then executes the command; writes errno to `failed` if it
 * cannot. */
static void exec_command(const struct command *c, const int go[2], const int failed[2])
{
    char byte;

    close(go[1]);
    while (read(go[0], &byte, 1) < 0 && errno == EINTR)
        ;
    process_limits_restore(&c->before);
    execvp(c->options->command[0], c->options->command);
    int err = errno;
    if (write(failed[1], &err, sizeof err) < 0)
        _exit(126);
    _exit(127);
}

static int fork_command(struct command *c, int go[2], int failed[2])
{
    if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
        return -errno;
    c->pid = fork();
    if (!c->pid)
        exec_command(c, go, failed);
    close(go[0]);
    close(failed[1]);
    return c->pid < 0 ? -errno : 0;
}

/* 0: the command runs; or the errno of execvp(). */
static int start_command(const int go[2], const int failed[2])
{
    int err = 0;

    close(go[1]);
    if (read(failed[0], &err, sizeof err) != (ssize_t)sizeof err)
        err = 0;
    close(failed[0]);
    return err;
}

/* Signals from the terminal (SI_KERNEL) reach the command anyway. */
static void pass_signal_on(const struct command *c, const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD && info->si_code <= 0)
        kill(c->pid, info->si_signo);
}

/* Sleeps until `due`; true if the command has exited. */
static bool sleep_until(struct command *c, uint64_t due)
{
    for (;;) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        struct timespec left = timespec_of(due > now ? due - now : 0);
        siginfo_t info;

        if (waitpid(c->pid, &c->status, WNOHANG) == c->pid)
            return true;
        if (sigtimedwait(&c->signals, &info, &left) > 0)
            pass_signal_on(c, &info);
        else if (errno == EAGAIN && clock_ns(CLOCK_MONOTONIC) >= due)
            return false;
    }
}

/* ---- windows ---- */

static int find_members(struct command *c)
{
    const struct tally *tally = sched_tally(c->meter->sched);
    int err = 0;

    tally_clear(&c->members);
    for (size_t i = 0; i < tally->capacity && !err; i++)
        if (tally->table[i].key && tree_has(c->tree, tally->table[i].key))
            err = tally_add(&c->members, tally->table[i].key, 1, 0);
    return err;
}

static void add_share(const struct command *c, const struct meter_share *share, struct taken *taken)
{
    struct split split = split_begin(share->uj, share->whole);
    int64_t weight = 0;

    for (size_t i = 0; i < share->all.tally->capacity; i++) {
        const struct tally_entry *entry = &share->all.tally->table[i];
        if (entry->key && entry->weight > 0 && tally_find(&c->members, entry->key)) {
            taken->run_ns += meter_run_ns(c->meter, entry);
            weight += entry->weight;
        }
    }
    if (!share->known)
        return;
    taken->uj += split_next(&split, meter_ran(share, weight));
    taken->all_uj += share->uj;
    taken->known_ns += c->meter->window_ns;
}

static int flip(struct command *c, struct error *why)
{
    int err = session_flip(&c->session, why);

    if (err)
        return err;
    sources_shown(&c->session.sources);
    if (!c->session.window.begin_mono)
        return 0;
    if (find_members(c))
        return error_set(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < c->meter->power.n; i++)
        add_share(c, &c->meter->shares[i], &c->taken[i]);
    return 0;
}

/* ---- the report ---- */

static struct cell known(const struct taken *taken, double value, unsigned digits)
{
    return taken->known_ns ? cell_decimal(value, digits) : cell_unknown();
}

static void print_energy(const struct command *c, int status)
{
    double length = (double)(c->session.window.end_mono - c->begin_ns);
    struct out *out = out_open(STDERR_FILENO, c->options->format, true);

    for (size_t i = 0; i < c->meter->power.n && out; i++) {
        const struct taken *taken = &c->taken[i];
        double span = (double)taken->known_ns;
        const struct field fields[] = {
            {"domain", cell_string(c->meter->power.domains[i].name)},
            {"joules", known(taken, (double)taken->uj / 1e6, 6)},
            {"time_s", cell_decimal(length / 1e9, 3)},
            {"watts", known(taken, (double)taken->uj * 1e3 / span, 3)},
            {"cpu_s", cell_decimal((double)taken->run_ns / 1e9, 3)},
            {"domain_joules", known(taken, (double)taken->all_uj / 1e6, 6)},
            {"known_s", cell_decimal(span / 1e9, 3)},
            {"power", cell_string(c->meter->power.source)},
            {"lost", cell_unsigned(tree_lost(c->tree))},
            {"status", cell_signed(status)},
            {"command", cell_string(c->options->command[0])},
        };
        out_note(out, "command", fields, sizeof fields / sizeof *fields);
    }
    out_close(out);
}

static int measure(struct command *c, struct error *why)
{
    int go[2], failed[2];
    bool ended = false;

    block_signals(c); /* until there is a command to pass them on to, they end hog */
    int err = fork_command(c, go, failed);
    if (err) {
        error_set(why, err, "cannot start a process: %s", error_name(err));
        return STATUS_FAILED;
    }
    wake_on_time();
    err = flip(c, why);
    c->begin_ns = c->session.window.end_mono;
    int refused = err ? 0 : start_command(go, failed);
    for (uint64_t due = c->begin_ns; !err && !refused && !ended;) {
        due += c->options->interval_ns;
        ended = sleep_until(c, due);
        err = flip(c, why);
    }
    if (err && !ended)
        kill(c->pid, SIGTERM);
    if (!ended)
        waitpid(c->pid, &c->status, 0);
    if (err)
        return STATUS_FAILED;
    if (refused) {
        error_set(why, -refused, "%s: %s (%s)", c->options->command[0], strerror(refused),
                  error_name(refused));
        return refused == ENOENT ? 127 : 126;
    }
    int status = WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
    print_energy(c, status);
    return status;
}

static int open_all(struct command *c, struct error *why)
{
    static const struct source_use uses[] = {
        {&power_source, POWER_PARTS, false}, {&tree_source, 0, false}, {NULL, 0, false}};
    struct hook_report hooks[MAX_HOOKS] = {0};
    int err = session_init(&c->session, c->options, PURPOSE_MEASURE)
                  ? error_set(why, -ENOMEM, "out of memory")
                  : sources_open(&c->session.sources, uses, hooks, why);

    if (c->options->run.verbose)
        print_hooks(c->options->views[0], hooks);
    if (err)
        return err;
    c->meter = meter_of(&c->session.context);
    c->tree = tree_of(&c->session.context);
    c->taken = calloc(c->meter->power.n, sizeof *c->taken);
    return c->taken ? 0 : error_set(why, -ENOMEM, "out of memory");
}

int energy_command(const struct options *options)
{
    struct command *c = calloc(1, sizeof *c);
    struct error why = {""};

    if (!c) {
        message("out of memory");
        return STATUS_FAILED;
    }
    c->options = options;
    int err = open_all(c, &why);
    if (!err)
        *why.text = '\0'; /* it may name refused hooks */
    int status = !err ? measure(c, &why) : err == -ENOMEM ? STATUS_FAILED : STATUS_HOST;
    if (*why.text)
        message("%s: %s", options->views[0], why.text);
    session_close(&c->session);
    tally_free(&c->members);
    free(c->taken);
    free(c);
    return status;
}
