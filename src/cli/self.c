// SPDX-License-Identifier: GPL-2.0-only
#include "cli/self.h"
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"
#include "host/process.h"
#include "syscall/bpf.h"

void self_open(struct self *self)
{
    self->stats_fd = sys_bpf_enable_stats(BPF_STATS_RUN_TIME);
}

void self_close(struct self *self)
{
    if (self->stats_fd >= 0)
        close(self->stats_fd);
    self->stats_fd = -1;
}

static struct cell resident_kib(void)
{
    char text[4096];
    uint64_t kib;
    long n = file_read("/proc/self/status", text, sizeof text);

    if (n <= 0 || status_number(text, (size_t)n, "VmRSS", 0, &kib))
        return cell_unknown();
    return cell_unsigned(kib);
}

void self_note(struct self *self, struct out *out, uint64_t window_ns, const struct program_cost *cost)
{
    uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    double used = (double)(cpu_ns - self->cpu_ns);
    bool counted = self->stats_fd >= 0;
    const struct field fields[] = {
        {"cpu_ms", cell_decimal(used / 1e6, 3)},
        {"cpu_pct", cell_decimal(100 * used / (double)window_ns, 2)},
        {"rss_kib", resident_kib()},
        {"prog_ns", counted ? cell_unsigned(cost->run_ns - self->cost.run_ns) : cell_unknown()},
        {"events", counted ? cell_unsigned(cost->run_count - self->cost.run_count) : cell_unknown()},
    };

    out_note(out, "self", fields, sizeof fields / sizeof *fields);
    self->cpu_ns = cpu_ns;
    self->cost = *cost;
}
