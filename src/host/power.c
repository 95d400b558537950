// SPDX-License-Identifier: GPL-2.0-only
#include "host/power.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "host/process.h"

#define FULL_PATH 512

bool power_number(const char *text, uint64_t *value)
{
    const char *p = text;

    *value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
            return false;
    return p > text && (!*p || (*p == '\n' && !p[1]));
}

int power_text(const struct power *power, const char *path, char *to, size_t size)
{
    char full[FULL_PATH];

    *to = '\0';
    if (snprintf(full, sizeof full, "%s%s", power->root, path) >= (int)sizeof full)
        return -ENAMETOOLONG;
    long n = file_read(full, to, size);
    to[n > 0 ? strcspn(to, "\n") : 0] = '\0';
    return n < 0 ? (int)n : 0;
}

static int place_part(const char *root, int cpu, const char *what)
{
    const struct power power = {.root = root};
    char path[96], text[32];
    uint64_t value;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    if (power_text(&power, path, text, sizeof text) || !power_number(text, &value) || value > 65535)
        return -1;
    return (int)value;
}

void power_place(const char *root, int cpu, int *package, int *die)
{
    *package = place_part(root, cpu, "physical_package_id");
    *die = place_part(root, cpu, "die_id");
}

struct power_domain *power_add(struct power *power, enum power_kind kind, const char *path)
{
    if (power->n == POWER_DOMAINS || strlen(path) >= sizeof power->domains->counter.path)
        return NULL;
    struct power_domain *more = realloc(power->domains, (power->n + 1) * sizeof *more);
    if (!more)
        return NULL;
    power->domains = more;
    struct power_domain *domain = &more[power->n++];
    *domain = (struct power_domain){.package = -1, .die = -1, .counted = true, .counter = {.kind = kind}};
    snprintf(domain->counter.path, sizeof domain->counter.path, "%s", path);
    return domain;
}

/* ---- reading ---- */

static int open_below(const struct power *power, const char *path)
{
    char full[FULL_PATH];

    if (snprintf(full, sizeof full, "%s%s", power->root, path) >= (int)sizeof full)
        return -ENAMETOOLONG;
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int read_file(const struct power *power, struct power_counter *c, uint64_t *value)
{
    char text[32];

    if (!c->fd) {
        int fd = open_below(power, c->path);
        if (fd < 0)
            return fd;
        c->fd = fd;
    }
    ssize_t n = pread(c->fd, text, sizeof text - 1, 0);
    int err = n < 0 ? -errno : 0;
    if (n <= 0) { /* a zone that went away may come again, as another file */
        close(c->fd);
        c->fd = 0;
        return err ? err : -ENODATA;
    }
    text[n] = '\0';
    return power_number(text, value) ? 0 : -EBADMSG;
}

static int read_perf(struct power_counter *c, uint64_t *value)
{
    uint64_t count;

    if (read(c->fd, &count, sizeof count) != (ssize_t)sizeof count)
        return -EIO;
    double uj = (double)count * c->scale * 1e6;
    if (!(uj >= 0 && uj < 9e18))
        return -EBADMSG;
    *value = (uint64_t)uj;
    return 0;
}

static bool battery_number(const struct power *power, const char *directory, const char *what,
                           uint64_t *value)
{
    char path[256], text[32];

    snprintf(path, sizeof path, "%s/%s", directory, what);
    /* Some drivers report discharge as a negative number. */
    return !power_text(power, path, text, sizeof text) && power_number(text + (*text == '-'), value) &&
           *value < UINT64_C(1) << 40;
}

/* uW. A battery that is charging or full does not show what the host draws. */
static int read_battery(const struct power *power, const struct power_counter *c, uint64_t *value)
{
    char path[256], text[32];
    uint64_t ua, uv;

    snprintf(path, sizeof path, "%s/status", c->path);
    int err = power_text(power, path, text, sizeof text);
    if (err)
        return err;
    if (strcmp(text, "Discharging"))
        return -ENODATA;
    if (battery_number(power, c->path, "power_now", value))
        return 0;
    if (!battery_number(power, c->path, "current_now", &ua) ||
        !battery_number(power, c->path, "voltage_now", &uv))
        return -ENODATA;
    *value = (uint64_t)((double)ua * (double)uv / 1e6);
    return 0;
}

static int read_counter(const struct power *power, struct power_counter *c, uint64_t *value)
{
    switch (c->kind) {
    case POWER_PERF:
        return read_perf(c, value);
    case POWER_BATTERY:
        return read_battery(power, c, value);
    case POWER_ENERGY:
    case POWER_POWER:
        break;
    }
    return read_file(power, c, value);
}

/* The growth of a counter; false: not known. */
static bool grown(const struct power_counter *c, uint64_t now, uint64_t *uj)
{
    *uj = now - c->last;
    if (now >= c->last)
        return true;
    *uj = c->range - c->last + now;
    return c->last <= c->range && now <= c->range && *uj <= c->range / 2;
}

static void sample(const struct power *power, struct power_counter *c)
{
    uint64_t value, uj = 0, now = clock_ns(CLOCK_MONOTONIC);
    bool gauge = c->kind == POWER_POWER || c->kind == POWER_BATTERY;
    bool read = !read_counter(power, c, &value) && !(c->range && value > c->range);

    if (read && c->begun && gauge)
        uj = (uint64_t)(((double)c->last + (double)value) / 2 * (double)(now - c->last_ns) / 1e9);
    else if (!read || !c->begun || !grown(c, value, &uj))
        c->unknown = true;
    c->begun = read;
    if (!read)
        return;
    c->last = value;
    c->last_ns = now;
    c->sum += c->unknown ? 0 : uj;
}

void power_sample(struct power *power)
{
    for (size_t i = 0; i < power->n; i++)
        sample(power, &power->domains[i].counter);
}

void power_take(struct power *power)
{
    power_sample(power);
    for (size_t i = 0; i < power->n; i++) {
        struct power_domain *domain = &power->domains[i];
        domain->known = !domain->counter.unknown;
        domain->uj = domain->known ? domain->counter.sum : 0;
        domain->counter.unknown = false;
        domain->counter.sum = 0;
    }
}

/* ---- opening ---- */

int power_begin(struct power *power, struct power_domain *domain)
{
    uint64_t value;
    int err = read_counter(power, &domain->counter, &value);

    /* What is nonsense, or silent just now, may not be so later. */
    if (err == -EBADMSG || err == -ENODATA)
        err = 0;
    if (err) {
        if (domain->counter.fd > 0)
            close(domain->counter.fd);
        *domain = power->domains[--power->n];
    }
    return err;
}

static bool before(const struct power_domain *a, const struct power_domain *b)
{
    return strverscmp(a->name, b->name) < 0;
}

static void sort(struct power *power)
{
    for (size_t i = 1; i < power->n; i++) {
        struct power_domain domain = power->domains[i];
        size_t j = i;
        for (; j && before(&domain, &power->domains[j - 1]); j--)
            power->domains[j] = power->domains[j - 1];
        power->domains[j] = domain;
    }
}

int power_open(struct power *power, const char *root, struct error *why)
{
    static const struct {
        const char *source;
        int (*find)(struct power *power);
    } ways[] = {
        {"powercap", power_find_powercap},
        {"perf", power_find_perf},
        {"hwmon", power_find_hwmon},
        {"battery", power_find_battery},
    };
    const char *refused = NULL;

    *power = (struct power){.root = root};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int err = ways[i].find(power);
        if (power->n) {
            power->source = ways[i].source;
            sort(power);
            return 0;
        }
        if ((err == -EACCES || err == -EPERM) && !refused)
            refused = ways[i].source;
    }
    power_close(power);
    if (refused)
        return error_set(why, -EACCES, "the power sensors (%s) may not be read: be root, or have CAP_%s",
                         refused, strcmp(refused, "perf") ? "DAC_READ_SEARCH" : "PERFMON");
    return error_set(
        why, -ENODEV,
        "no power sensor: there is none in /sys/class/powercap (modprobe intel_rapl_msr), in the PMU "
        "`power`, in hwmon, and no battery that is discharging; virtual machines have none. "
        "--model busy=W,idle=W estimates from CPU time");
}

void power_close(struct power *power)
{
    for (size_t i = 0; i < power->n; i++)
        if (power->domains[i].counter.fd > 0)
            close(power->domains[i].counter.fd);
    free(power->domains);
    power->domains = NULL;
    power->n = 0;
}
