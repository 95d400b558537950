/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/rlimit.h"
#include "loader/kernel/locked.h"
#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#define WAIT_NS 20000000
#define WAITS   10

static unsigned waits;

bool rlimit_raise(void)
{
    struct rlimit old, wanted = {RLIM_INFINITY, RLIM_INFINITY};
    static bool tried;

    if (tried)
        return false;
    tried = true;
    if (getrlimit(RLIMIT_MEMLOCK, &old) < 0 || old.rlim_cur == RLIM_INFINITY)
        return false;
    if (setrlimit(RLIMIT_MEMLOCK, &wanted) == 0)
        return true;
    /* No CAP_SYS_RESOURCE: up to the hard limit is still allowed. */
    if (old.rlim_cur == old.rlim_max)
        return false;
    old.rlim_cur = old.rlim_max;
    return setrlimit(RLIMIT_MEMLOCK, &old) == 0;
}

/* A map that is closed is freed, and no longer counted, a grace period later. */
static bool wait_for_freed(void)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    static bool asking; /* the question is itself a call that may be refused */

    if (asking || waits == WAITS)
        return false;
    asking = true;
    bool bounds = locked_memory_bounds();
    asking = false;
    if (!bounds)
        return false;
    waits++;
    nanosleep(&wait, NULL);
    return true;
}

void rlimit_freed(void)
{
    waits = 0;
}

bool rlimit_raise_after(int err)
{
    return err == -EPERM && (rlimit_raise() || wait_for_freed());
}
