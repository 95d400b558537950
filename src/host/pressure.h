/* SPDX-License-Identifier: GPL-2.0-only */
/* Pressure stall information: how long tasks could not go on for want of CPU, memory or I/O
 * (Documentation/accounting/psi.rst), of the host or of a control group of version 2. */
#ifndef HOG_HOST_PRESSURE_H
#define HOG_HOST_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

enum pressure_resource { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURES };

/* Since boot, or since the group was made. Not known: no PSI in this kernel, switched off (at boot, or for
 * the group by cgroup.pressure), no such group (any more). */
struct pressure {
    bool known, full_known;
    uint64_t some_us; /* at least one task waited */
    uint64_t full_us; /* all that were not idle waited. Means nothing for the CPUs of a host: not known */
};

/* The files of the host, which stay open. All zero: closed. */
struct pressures {
    int fd[PRESSURES];
};

/* root: in front of /proc; "" but for tests. What cannot be opened will not be known. */
void pressures_open(struct pressures *files, const char *root);
void pressures_read(const struct pressures *files, struct pressure out[PRESSURES]);
void pressures_close(struct pressures *files);

/* Of the group of version 2 in that directory. */
void pressure_of_group(const char *directory, struct pressure out[PRESSURES]);

/* The share of span_ns in which some tasks (all tasks) waited, in percent, 0..100; -1: not known. */
double pressure_pct(const struct pressure *before, const struct pressure *now, uint64_t span_ns);
double pressure_full_pct(const struct pressure *before, const struct pressure *now, uint64_t span_ns);

/* The text of one such file; what has no line "some ... total=N" is not known. */
struct pressure pressure_parse(const char *text);

#endif
