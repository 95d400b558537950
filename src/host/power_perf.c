// SPDX-License-Identifier: GPL-2.0-only
/* Sensors of the perf PMU `power`: an event of each kind on one CPU of each package. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpus.h"
#include "host/power.h"
#include "syscall/perf.h"

#define PMU "/sys/bus/event_source/devices/power"

struct event {
    char name[32];
    uint32_t type;
    uint64_t config;
    double scale; /* J */
};

static int number_at(const struct power *power, const char *path, uint32_t *number)
{
    char text[32];
    uint64_t value;
    int err = power_text(power, path, text, sizeof text);

    if (err)
        return err;
    if (!power_number(text, &value) || value > UINT32_MAX)
        return -EBADMSG;
    *number = (uint32_t)value;
    return 0;
}

/* "2.3283064365386962890625e-10"; 0: it is none. */
static double parse_scale(const char *text)
{
    double value = 0, unit = 1;
    bool point = false;
    unsigned exponent = 0;

    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        value = value * 10 + (*text - '0');
        unit *= point ? 10 : 1;
    }
    if (*text == 'e' && text[1] == '-') {
        for (text += 2; *text >= '0' && *text <= '9' && exponent < 30; text++)
            exponent = exponent * 10 + (unsigned)(*text - '0');
        while (exponent--)
            unit *= 10;
    }
    return *text ? 0 : value / unit;
}

/* "event=0x02", in Joules. */
static bool describe(const struct power *power, const char *file, struct event *event)
{
    char path[128], text[64], *end;

    snprintf(event->name, sizeof event->name, "%.31s", file);
    snprintf(path, sizeof path, PMU "/events/%s", event->name);
    if (power_text(power, path, text, sizeof text) || strncmp(text, "event=", 6))
        return false;
    event->config = strtoull(text + 6, &end, 0);
    if (end == text + 6 || *end)
        return false;
    snprintf(path, sizeof path, PMU "/events/%s.unit", event->name);
    if (power_text(power, path, text, sizeof text) || strcmp(text, "Joules"))
        return false;
    snprintf(path, sizeof path, PMU "/events/%s.scale", event->name);
    if (power_text(power, path, text, sizeof text))
        return false;
    event->scale = parse_scale(text);
    return event->scale > 0 && event->scale < 1;
}

/* By the names that powercap has for them. */
static void name_domain(struct power_domain *domain, const char *event, int package, int die)
{
    static const char *const parts[][2] = {
        {"energy-pkg", ""}, {"energy-cores", "/core"}, {"energy-ram", "/dram"}, {"energy-gpu", "/uncore"}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(event, parts[i][0]))
            continue;
        domain->package = package;
        domain->die = die;
        domain->counted = !i || i == 2;
        if (package < 0)
            snprintf(domain->name, sizeof domain->name, "package%s", parts[i][1]);
        else if (die < 0)
            snprintf(domain->name, sizeof domain->name, "package-%d%s", package, parts[i][1]);
        else
            snprintf(domain->name, sizeof domain->name, "package-%d-die-%d%s", package, die, parts[i][1]);
        return;
    }
    /* psys, and what may come: of all, and not to be added to the packages. */
    domain->counted = false;
    snprintf(domain->name, sizeof domain->name, "%s", strncmp(event, "energy-", 7) ? event : event + 7);
}

static int add_event(struct power *power, const struct event *event, int cpu, bool dies)
{
    struct perf_event_attr attr = {.type = event->type, .size = sizeof attr, .config = event->config};
    int package, die;

    power_place(power->root, cpu, &package, &die);
    struct power_domain *domain = power_add(power, POWER_PERF, event->name);
    if (!domain)
        return -ENOMEM;
    name_domain(domain, event->name, package, dies ? die : -1);
    for (size_t i = 0; i + 1 < power->n; i++)
        if (!strcmp(power->domains[i].name, domain->name)) {
            power->n--; /* a second die of the same package has counters of its own, which cannot be
                           distinguished */
            return 0;
        }
    domain->counter.scale = event->scale;
    domain->counter.fd = sys_perf_event_open(&attr, -1, cpu);
    if (domain->counter.fd < 0) {
        int err = domain->counter.fd;
        power->n--;
        return err;
    }
    return power_begin(power, domain);
}

/* Whether two of the CPUs are of the same package: then each die has counters of its own. */
static bool has_dies(const struct power *power, const uint8_t *cpus, int n)
{
    uint8_t seen[256] = {0};
    int package, die;

    for (int cpu = 0; cpu < n; cpu++) {
        if (!cpus[cpu])
            continue;
        power_place(power->root, cpu, &package, &die);
        if (package >= 0 && package < (int)sizeof seen && seen[package]++)
            return true;
    }
    return false;
}

static int add_events(struct power *power, uint32_t type, const uint8_t *cpus, int n)
{
    char path[512];
    bool dies = has_dies(power, cpus, n);
    int err = 0;

    snprintf(path, sizeof path, "%s" PMU "/events", power->root);
    DIR *dir = opendir(path);
    if (!dir)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        struct event event = {.type = type};
        if (strlen(entry->d_name) > 31 || strchr(entry->d_name, '.') ||
            !describe(power, entry->d_name, &event))
            continue;
        for (int cpu = 0; cpu < n; cpu++) {
            int failed = cpus[cpu] ? add_event(power, &event, cpu, dies) : 0;
            err = err ? err : failed;
        }
    }
    closedir(dir);
    return err;
}

int power_find_perf(struct power *power)
{
    char list[512];
    uint8_t cpus[1024];
    uint32_t type;
    int err = number_at(power, PMU "/type", &type);

    if (!err)
        err = power_text(power, PMU "/cpumask", list, sizeof list);
    int n = err ? 0 : cpus_parse(list, cpus, sizeof cpus);
    if (err || n < 0)
        return err ? err : n;
    return add_events(power, type, cpus, n > (int)sizeof cpus ? (int)sizeof cpus : n);
}
