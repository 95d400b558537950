// SPDX-License-Identifier: GPL-2.0-only
/* Sensors in files: powercap, hwmon, batteries. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/power.h"

#define POWERCAP "/sys/class/powercap"
#define HWMON    "/sys/class/hwmon"
#define SUPPLY   "/sys/class/power_supply"

#define PATH_BYTES 256 /* longer ones are none of the kernel's */

/* Calls fn for each entry of a directory. The first error of fn stays. */
typedef int (*entry_fn)(struct power *power, const char *directory, const char *name);
static int each_entry(struct power *power, const char *directory, entry_fn fn)
{
    char path[512];
    int err = 0;

    if (snprintf(path, sizeof path, "%s%s", power->root, directory) >= (int)sizeof path)
        return -ENAMETOOLONG;
    DIR *dir = opendir(path);
    if (!dir)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        int failed =
            *entry->d_name == '.' || strlen(entry->d_name) > 63 ? 0 : fn(power, directory, entry->d_name);
        err = err ? err : failed;
    }
    closedir(dir);
    return err;
}

static int text_at(const struct power *power, const char *directory, const char *name, const char *file,
                   char *to, size_t size)
{
    char path[PATH_BYTES];

    if (snprintf(path, sizeof path, "%s/%s%s%s", directory, name, *file ? "/" : "", file) >= (int)sizeof path)
        return -ENAMETOOLONG;
    return power_text(power, path, to, size);
}

/* ---- powercap ---- */

/* A number of at most five digits behind the prefix, -1: there is none. *end: what follows. */
static int number_behind(const char *text, const char *prefix, const char **end)
{
    size_t length = strlen(prefix);
    int value = 0;

    *end = text;
    if (strncmp(text, prefix, length) || text[length] < '0' || text[length] > '9')
        return -1;
    for (text += length; *text >= '0' && *text <= '9' && value < 10000; text++)
        value = value * 10 + (*text - '0');
    *end = text;
    return value;
}

/* "package-0", "package-1-die-0", and what is below them. */
static void place(struct power_domain *domain)
{
    const char *end;

    domain->package = number_behind(domain->name, "package-", &end);
    domain->die = number_behind(end, "-die-", &end);
}

/* The zone around a zone: of intel-rapl:0:1 it is intel-rapl:0. Empty: none. */
static void parent_of(const char *zone, char parent[64])
{
    char *last;

    snprintf(parent, 64, "%s", zone);
    last = strrchr(parent, ':');
    if (!last || last == strchr(parent, ':'))
        *parent = '\0';
    else
        *last = '\0';
}

static bool named(const struct power *power, const char *name, size_t but)
{
    for (size_t i = 0; i < power->n; i++)
        if (i != but && !strcmp(power->domains[i].name, name))
            return true;
    return false;
}

/* Zones of the same name are distinguished by their sysfs names. */
static void tell_apart(struct power *power)
{
    for (size_t i = 0; i < power->n; i++) {
        struct power_domain *domain = &power->domains[i];
        if (!named(power, domain->name, i))
            continue;
        for (size_t j = power->n; j-- > i;) {
            struct power_domain *other = &power->domains[j];
            size_t used = strlen(other->name);
            const char *zone = other->counter.path + sizeof POWERCAP;
            if (!strcmp(other->name, domain->name))
                snprintf(other->name + used, sizeof other->name - used, "@%.*s", (int)strcspn(zone, "/"),
                         zone);
        }
    }
}

/* MMIO gives the counters of a package a second time. */
static bool is_again(const struct power *power, const char *zone)
{
    char path[PATH_BYTES], first[64], name[POWER_NAME], other[POWER_NAME];
    const char *behind = strchr(zone, ':');

    if (strncmp(zone, "intel-rapl-mmio:", 16) || !behind)
        return false;
    text_at(power, POWERCAP, zone, "name", name, sizeof name);
    for (int i = 0; i < 64; i++) {
        snprintf(first, sizeof first, "intel-rapl:%d", i);
        snprintf(path, sizeof path, POWERCAP "/%s/name", first);
        if (!power_text(power, path, other, sizeof other) && !strcmp(name, other))
            return true;
    }
    return false;
}

static int add_zone(struct power *power, const char *directory, const char *zone)
{
    char path[PATH_BYTES], text[64], parent[64], around[POWER_NAME / 2] = "", own[POWER_NAME / 2];

    snprintf(path, sizeof path, "%s/%s/energy_uj", directory, zone);
    parent_of(zone, parent);
    if (!strchr(zone, ':') || is_again(power, *parent ? parent : zone))
        return 0;
    struct power_domain *domain = power_add(power, POWER_ENERGY, path);
    if (!domain)
        return -ENOMEM;
    if (text_at(power, directory, zone, "max_energy_range_uj", text, sizeof text) ||
        !power_number(text, &domain->counter.range))
        domain->counter.range = 0;
    int err = power_begin(power, domain);
    if (err)
        return err == -ENOENT ? 0 : err;
    if (text_at(power, directory, zone, "name", own, sizeof own) || !*own)
        snprintf(own, sizeof own, "%.27s", zone);
    if (*parent)
        text_at(power, directory, parent, "name", around, sizeof around);
    snprintf(domain->name, sizeof domain->name, "%s%s%s", around, *around ? "/" : "", own);
    place(domain);
    /* The package does not include memory, though the zone of memory is below its zone. */
    domain->counted = !*parent || !strcmp(own, "dram");
    return 0;
}

/* The platform has all in it: it is counted where nothing else is. */
static void leave_out_platform(struct power *power)
{
    bool packages = false;

    for (size_t i = 0; i < power->n; i++)
        packages = packages || (power->domains[i].counted && power->domains[i].package >= 0);
    for (size_t i = 0; i < power->n && packages; i++)
        if (!strncmp(power->domains[i].name, "psys", 4))
            power->domains[i].counted = false;
}

int power_find_powercap(struct power *power)
{
    int err = each_entry(power, POWERCAP, add_zone);

    leave_out_platform(power);
    tell_apart(power);
    return err;
}

/* ---- hwmon ---- */

/* "energy12_input" -> 12. */
static bool input_of(const char *file, const char *kind, const char *last, unsigned *number)
{
    size_t length = strlen(kind);
    char *end;

    if (strncmp(file, kind, length) || file[length] < '0' || file[length] > '9')
        return false;
    *number = (unsigned)strtoul(file + length, &end, 10);
    return !strcmp(end, last);
}

static int add_input(struct power *power, const char *directory, const char *file, const char *kind,
                     enum power_kind what)
{
    char path[PATH_BYTES], name[24], label_file[40], label[24];
    const char *end;
    unsigned number;

    if (!input_of(file, kind, "_input", &number) &&
        (what == POWER_ENERGY || !input_of(file, kind, "_average", &number)))
        return 0;
    text_at(power, directory, "name", "", name, sizeof name);
    snprintf(label_file, sizeof label_file, "%s%u_label", kind, number);
    if (text_at(power, directory, label_file, "", label, sizeof label) || !*label)
        snprintf(label, sizeof label, "%s%u", kind, number);
    if (!strncmp(label, "Ecore", 5)) /* amd_energy: they are in Esocket */
        return 0;
    if (snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path)
        return 0;
    struct power_domain *domain = power_add(power, what, path);
    if (!domain)
        return -ENOMEM;
    snprintf(domain->name, sizeof domain->name, "%s/%s", name, label);
    if (named(power, domain->name, (size_t)(domain - power->domains))) {
        power->n--; /* power1_input and power1_average are the same sensor */
        return 0;
    }
    domain->package = number_behind(label, "Esocket", &end);
    return power_begin(power, domain);
}

static int add_energy(struct power *power, const char *directory, const char *file)
{
    return add_input(power, directory, file, "energy", POWER_ENERGY);
}

static int add_power(struct power *power, const char *directory, const char *file)
{
    return add_input(power, directory, file, "power", POWER_POWER);
}

/* What sits on PCI measures itself: a graphics card, a disk. Its energy has nothing to do with CPU time. */
static bool is_card(const struct power *power, const char *directory)
{
    char text[16];

    return !text_at(power, directory, "device", "class", text, sizeof text) && *text;
}

static int add_energies(struct power *power, const char *directory, const char *name)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return is_card(power, path) ? 0 : each_entry(power, path, add_energy);
}

static int add_powers(struct power *power, const char *directory, const char *name)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return is_card(power, path) ? 0 : each_entry(power, path, add_power);
}

int power_find_hwmon(struct power *power)
{
    int err = each_entry(power, HWMON, add_energies);

    if (power->n)
        return err;
    int second = each_entry(power, HWMON, add_powers);
    return err ? err : second;
}

/* ---- batteries ---- */

static int add_battery(struct power *power, const char *directory, const char *name)
{
    char path[PATH_BYTES], text[32];

    if (text_at(power, directory, name, "type", text, sizeof text) || strcmp(text, "Battery"))
        return 0;
    /* That of a mouse is not the host's. */
    if (!text_at(power, directory, name, "scope", text, sizeof text) && !strcmp(text, "Device"))
        return 0;
    if (text_at(power, directory, name, "status", text, sizeof text) || strcmp(text, "Discharging"))
        return 0;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    struct power_domain *domain = power_add(power, POWER_BATTERY, path);
    if (!domain)
        return -ENOMEM;
    snprintf(domain->name, sizeof domain->name, "%.40s", name);
    return power_begin(power, domain);
}

int power_find_battery(struct power *power)
{
    return each_entry(power, SUPPLY, add_battery);
}
