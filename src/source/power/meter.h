/* SPDX-License-Identifier: GPL-2.0-only */
/* The energy of each power domain in a window, and each process's part: the growth of the domain's counter in
 * proportion to the time each process ran on the domain's CPUs. */
#ifndef HOG_SOURCE_POWER_METER_H
#define HOG_SOURCE_POWER_METER_H

#include "host/power.h"
#include "source/power/split.h"
#include "source/sched/sched.h"

/* What some CPUs did in a window. */
struct meter_time {
    const struct tally *tally;            /* ns by key; NULL: of several tallies */
    int64_t run_ns;                       /* of the tally */
    int64_t idle_ns, other_ns, unseen_ns; /* not in the tally; unseen: lost or missed */
    int64_t ran;                          /* weight of the tally and others: ns or cycles */
};

/* How a domain's energy is distributed: weights are ns, or ns * uW with a model. By cycles: [idle] and
 * [unattributed] get their part by time, and processes share the rest by cycles. */
struct meter_share {
    struct meter_time all; /* of the domain's CPUs */
    uint64_t uj;           /* 0 if it is not known */
    bool known;
    uint64_t rate;           /* per unit of weight in the tally */
    uint64_t idle_rate;      /* per idle ns; 0 with --idle=share */
    uint64_t unseen_rate;    /* per ns lost or missed */
    unsigned __int128 whole; /* weight of all */
};

struct meter {
    const struct source_context *context;
    struct power power;
    bool model;  /* no sensor is read: the only domain is an estimate */
    bool by_cpu; /* parts are CPUs; else places of domains */
    bool apart;  /* time is summed by part */
    size_t parts, places;
    uint16_t *part_of; /* a possible CPU */
    uint16_t
        *place_of; /* by possible CPU: 1 + number of a place; 0: not known. NULL: all domains have all CPUs */
    struct meter_place {
        int package, die;
    } * spots;
    struct sched *sched;
    uint64_t window_ns;
    uint64_t read_ns;           /* CLOCK_MONOTONIC, when the counters had been read */
    uint64_t skew_ns;           /* of that to the end of the window */
    struct meter_share *shares; /* a domain, of the window */
    unsigned cpus;              /* online when places were last read */
};

/* It uses sched. open: -ENODEV, -EACCES: no (readable) sensor and no model. */
enum power_needs {
    POWER_PARTS = 1, /* shares by what a domain's CPUs did, also for processes asked for, or by cycles: adds
                        these needs of sched */
};
/* Of the command line. */
extern struct power_options {
    struct power_model {
        bool given, percpu;
        uint64_t busy_uw, idle_uw;                   /* all CPUs busy, all idle; percpu: of each CPU */
    } model;                                         /* the power of a host without sensors */
    enum idle_energy { IDLE_ROW, IDLE_SHARED } idle; /* where energy of idle CPUs goes */
    enum energy_weight { WEIGHT_TIME, WEIGHT_CYCLES } weight; /* what energy is divided by */
    bool by_cpu;                                              /* rows by CPU */
    bool total;                                               /* since the start of the run */
} power_options;

/* busy=W,idle=W[,percpu]. 0, or -EINVAL with a reason that begins with the label. */
int power_model_parse(struct power_model *model, const char *label, const char *text, struct error *why);

extern const struct source power_source;

/* The session's; NULL: it is not open. */
struct meter *meter_of(const struct source_context *context);

/* What one CPU did in the window, if domain i includes it and parts are CPUs. */
bool meter_cpu(const struct meter *meter, size_t i, int cpu, struct meter_time *time);

/* Weights in meter_share.whole. */
unsigned __int128 meter_idle(const struct meter_share *share, const struct meter_time *time);
unsigned __int128 meter_unseen(const struct meter_share *share, const struct meter_time *time);
unsigned __int128 meter_ran(const struct meter_share *share, int64_t weight); /* of a tally's weight */
int64_t meter_run_ns(const struct meter *meter, const struct tally_entry *entry);

/* W of a key in the window, over all domains that may be added up; < 0: not known. */
double meter_watts(const struct meter *meter, uint64_t key);

#endif
