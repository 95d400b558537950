// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zones of the kernel's powercap with counters whose rate a test sets: what hog reads from them is known.
 *
 *   hogcap:0    package-0     hogcap:0:0  core, a part of it     hogcap:1    package-1
 *
 * A counter is uj + uw * (seconds of CLOCK_MONOTONIC), and wraps after range_uj. Parameters, in this
 * order of the zones, of which uj may be changed while it runs: uj, uw, range_uj.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/powercap.h>

MODULE_LICENSE("GPL v2");
MODULE_DESCRIPTION("power zones for tests");

#define ZONES 3

static unsigned long uj[ZONES], uw[ZONES], range_uj = 65712999613;
module_param_array(uj, ulong, NULL, 0644);
module_param_array(uw, ulong, NULL, 0444);
module_param(range_uj, ulong, 0444);

static struct powercap_control_type *type;
static struct powercap_zone zones[ZONES];
static const struct {
    const char *name;
    int parent;
} plan[ZONES] = {{"package-0", -1}, {"core", 0}, {"package-1", -1}};

static int get_range(struct powercap_zone *zone, u64 *value)
{
    *value = range_uj;
    return 0;
}

static int get_energy(struct powercap_zone *zone, u64 *value)
{
    long i = zone - zones;
    u64 grown = READ_ONCE(uj[i]) + mul_u64_u64_div_u64(ktime_get_ns(), uw[i], NSEC_PER_SEC);
    u64 rest;

    div64_u64_rem(grown, range_uj, &rest);
    *value = rest;
    return 0;
}

static int released(struct powercap_zone *zone)
{
    return 0;
}

static const struct powercap_zone_ops ops = {
    .get_max_energy_range_uj = get_range,
    .get_energy_uj = get_energy,
    .release = released,
};

/* There are no constraints, but a zone cannot be registered without the functions for them. */
static int get_nothing(struct powercap_zone *zone, int id, u64 *value)
{
    return -EINVAL;
}

static int set_nothing(struct powercap_zone *zone, int id, u64 value)
{
    return -EINVAL;
}

static const struct powercap_zone_constraint_ops no_constraints = {
    .set_power_limit_uw = set_nothing,
    .get_power_limit_uw = get_nothing,
    .set_time_window_us = set_nothing,
    .get_time_window_us = get_nothing,
};

static void leave(int n)
{
    while (n--)
        powercap_unregister_zone(type, &zones[n]);
    powercap_unregister_control_type(type);
}

static int __init begin(void)
{
    int i;

    if (!range_uj)
        return -EINVAL;
    type = powercap_register_control_type(NULL, "hogcap", NULL);
    if (IS_ERR_OR_NULL(type))
        return type ? PTR_ERR(type) : -EINVAL;
    for (i = 0; i < ZONES; i++) {
        struct powercap_zone *zone = powercap_register_zone(
            &zones[i], type, plan[i].name, plan[i].parent < 0 ? NULL : &zones[plan[i].parent], &ops, 0,
            &no_constraints);
        if (IS_ERR(zone)) {
            leave(i);
            return PTR_ERR(zone);
        }
    }
    return 0;
}

static void __exit end(void)
{
    leave(ZONES);
}

module_init(begin);
module_exit(end);
