// SPDX-License-Identifier: GPL-2.0-only
#include "cli/process_limits.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#define FILES 1024 /* the usual hard limit; a lower one is raised to it if hog may do so */

static struct rlimit files;
static bool limited;
static struct sigaction pipe_action;

void process_limits_change(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit limit;

    sigaction(SIGPIPE, &ignore, &pipe_action);
    limited = !getrlimit(RLIMIT_NOFILE, &files);
    if (!limited)
        return;
    limit = files;
    if (limit.rlim_max < FILES)
        limit.rlim_max = FILES;
    limit.rlim_cur = limit.rlim_max;
    if (!setrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void process_limits_restore(const sigset_t *mask)
{
    sigaction(SIGPIPE, &pipe_action, NULL);
    if (limited)
        setrlimit(RLIMIT_NOFILE, &files);
    sigprocmask(SIG_SETMASK, mask, NULL);
}
