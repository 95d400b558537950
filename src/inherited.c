// SPDX-License-Identifier: GPL-2.0-only
#include "inherited.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

static struct rlimit files;
static bool limited;
static struct sigaction pipe_action;

void inherited_change(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit limit;

    sigaction(SIGPIPE, &ignore, &pipe_action);
    limited = !getrlimit(RLIMIT_NOFILE, &files);
    if (!limited)
        return;
    limit = files;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void inherited_give_back(const sigset_t *mask)
{
    sigaction(SIGPIPE, &pipe_action, NULL);
    if (limited)
        setrlimit(RLIMIT_NOFILE, &files);
    sigprocmask(SIG_SETMASK, mask, NULL);
}
