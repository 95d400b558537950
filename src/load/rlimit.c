/* SPDX-License-Identifier: GPL-2.0-only */
#include "load/rlimit.h"
#include <errno.h>
#include <sys/resource.h>

bool rlimit_raise_after(int err)
{
    static bool tried;
    struct rlimit old, wanted = {RLIM_INFINITY, RLIM_INFINITY};

    if (err != -EPERM || tried)
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
