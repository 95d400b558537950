/* SPDX-License-Identifier: GPL-2.0-only */
/* The energy of each power domain in a window, and who had which part of it: what a domain's counter grew by,
 * shared out by the time that each process had on the domain's CPUs. */
#ifndef HOG_METRIC_ENERGY_METER_H
#define HOG_METRIC_ENERGY_METER_H

#include "host/power.h"
#include "metric/energy_split.h"
#include "metric/oncpu.h"

/* What a domain's energy is shared out by. Weights are ns, of an estimate ns * uW. */
struct meter_share {
    const struct tally *tally; /* ns on the domain's CPUs, by key */
    uint64_t uj;               /* 0 if it is not known */
    bool known;
    int64_t run_ns;                       /* of the tally */
    int64_t idle_ns, other_ns, unseen_ns; /* beside it; unseen: lost or missed */
    uint64_t rate;                        /* weight of a ns of a process */
    unsigned __int128 idle_weight;        /* with --idle=share none */
    unsigned __int128 whole;              /* weight of all */
};

struct meter {
    const struct metric_context *context;
    struct power power;
    bool model;  /* no sensor is asked: the only domain is an estimate */
    bool by_cpu; /* parts are CPUs; else what domains are of */
    bool apart;  /* the run is added up by parts */
    size_t parts, places;
    uint16_t *part_of;  /* a possible CPU */
    uint16_t *place_of; /* the same: 1 + number of a place; 0: not known. NULL: all are of all domains */
    struct meter_place {
        int package, die;
    } * spots;
    struct oncpu *oncpu;
    uint64_t window_ns;
    uint64_t read_ns;           /* CLOCK_MONOTONIC, when the counters had been read */
    uint64_t skew_ns;           /* of that to the end of the window */
    struct meter_share *shares; /* a domain, of the window */
    unsigned cpus;              /* online when places were last looked for */
};

/* -ENODEV, -EACCES: there is no sensor (that may be read), nor a model; with a reason. */
int meter_open(struct meter *meter, const struct metric_context *context, struct why *w);
unsigned meter_needs(const struct meter *meter); /* enum oncpu_needs */
/* Tells oncpu of the parts; stays its user. */
int meter_join(struct meter *meter, struct oncpu *oncpu, struct why *w);
void meter_close(struct meter *meter);

void meter_turn(struct meter *meter);                                 /* right after oncpu_turn() */
void meter_collect(struct meter *meter, const struct window *window); /* after oncpu_collect() */

bool meter_has_cpu(const struct meter *meter, size_t i, int cpu); /* whether a domain is of it */

/* W of a key in the window, all domains that may be added up; < 0: not known. */
double meter_watts(const struct meter *meter, uint64_t key);

#endif
