// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/verdict.h"

const char *const verdict_names[VERDICTS + 1] = {
    [VERDICT_IDLE] = "idle",
    [VERDICT_OK] = "ok",
    [VERDICT_CPU_BOUND] = "cpu-bound",
    [VERDICT_STARVED] = "starved",
    [VERDICT_THROTTLED] = "throttled",
    [VERDICT_IO_BOUND] = "io-bound",
    [VERDICT_THRASHING] = "thrashing",
    [VERDICT_OOM_RISK] = "oom-risk",
    [VERDICT_LOCK_BOUND] = "lock-bound",
    [VERDICT_BLOCKED] = "blocked",
    [VERDICT_NOISY_NEIGHBOR] = "noisy",
};
