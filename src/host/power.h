/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this host's sensors say of the energy that it takes: domains as the kernel names them, none known
 * beforehand. Of these kinds of sensors the first that there is, never two at once:
 *
 *   powercap   /sys/class/powercap: RAPL zones of Intel and AMD, and whatever else counts energy_uj
 *   perf       the PMU `power`
 *   hwmon      energyN_input, else powerN_input or powerN_average of what is no PCI device (those measure a
 * card) battery    what it gives, while it is discharging
 *
 *   power_open -> each window: power_take, and power_sample every some seconds -> power_close
 */
#ifndef HOG_HOST_POWER_H
#define HOG_HOST_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define POWER_NAME    56
#define POWER_DOMAINS 256

/* Counters wrap: one of 32 bits in units of 15 uJ does after 65 kJ. One that has moved by more than half of
 * its range is taken for one that was set back. So it must be read more often than it does half of that. */

/* Where a domain's energy is read. */
struct power_counter {
    enum power_kind {
        POWER_ENERGY,  /* a file, uJ */
        POWER_PERF,    /* a perf event, in units of `scale` J */
        POWER_POWER,   /* a file, uW */
        POWER_BATTERY, /* a directory of power_supply */
    } kind;
    int fd; /* 0: closed */
    char path[192];
    uint64_t range; /* the counter wraps after it; 0: not known */
    double scale;
    uint64_t last;       /* uJ or uW */
    uint64_t last_ns;    /* when */
    bool begun, unknown; /* `last` is something; part of the window is not known */
    uint64_t sum;        /* uJ since the last power_take() */
};

struct power_domain {
    char name[POWER_NAME]; /* "package-0", "package-0/core": hostile */
    int package, die;      /* the CPUs it covers; -1: all */
    bool counted; /* none of its energy is in another domain that is counted: these may be added up */
    bool known;   /* of the window that power_take() ended: uj is something */
    uint64_t uj;
    struct power_counter counter;
};

struct power {
    const char *source;           /* "powercap", ... */
    const char *root;             /* in front of /sys */
    struct power_domain *domains; /* by name */
    size_t n;
};

/* root: in front of /sys; "" but for tests; stays the caller's. -ENODEV: no sensor; -EACCES: there are some,
 * and none may be read; both with what would help. */
int power_open(struct power *power, const char *root, struct error *why);
void power_sample(struct power *power); /* reads all */
void power_take(struct power *power);   /* reads all, and ends a window */
void power_close(struct power *power);  /* may be opened again */

/* Which package and die a CPU is of, by sysfs; -1: it does not say (also of CPUs that are offline). */
void power_place(const char *root, int cpu, int *package, int *die);

/* ---- for the ways to find sensors, and tests ---- */

/* A new domain; NULL: no room. */
struct power_domain *power_add(struct power *power, enum power_kind kind, const char *path);
/* One that cannot be read at all does not stay. 0 or -errno. */
int power_begin(struct power *power, struct power_domain *domain);
int power_text(const struct power *power, const char *path, char *to, size_t size); /* first line of a file */
bool power_number(const char *text, uint64_t *value); /* digits and nothing else */

int power_find_powercap(struct power *power);
int power_find_perf(struct power *power);
int power_find_hwmon(struct power *power);
int power_find_battery(struct power *power);

#endif
