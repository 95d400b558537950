/* SPDX-License-Identifier: GPL-2.0-only */
/* Power sensors of made-up hosts. */
#include "host/power.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include <inttypes.h>
#include <time.h>

#define CAP "/sys/class/powercap/"

static void put_zone(const char *zone, const char *name, const char *uj, const char *range)
{
    const struct {
        const char *file, *text;
    } files[] = {{"name", name}, {"energy_uj", uj}, {"max_energy_range_uj", range}};
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, CAP "%s/%s", zone, files[i].file);
        if (files[i].text)
            tree_file(path, files[i].text);
    }
}

static void set(const char *zone, const char *uj)
{
    put_zone(zone, "package-0\n", uj, NULL);
}

/* "name[package.die]c ..." of all domains, in order; c: counted. */
static const char *all(const struct power *power)
{
    static char text[1024];

    *text = '\0';
    for (size_t i = 0; i < power->n; i++) {
        const struct power_domain *d = &power->domains[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s[%d.%d]%s", i ? " " : "", d->name,
                 d->package, d->die, d->counted ? "+" : "");
    }
    return text;
}

/* The sensors found on the host. */
static void check_host(const char *what, const char *source, const char *domains)
{
    struct power power;
    struct error why = {""};
    int err = power_open(&power, tree_root, &why);
    const char *found = err ? error_name(err) : all(&power);

    check(!strcmp(found, domains) && (err || !strcmp(power.source, source)), "%s: %s", what, found);
    power_close(&power);
}

static void check_hosts(void)
{
    check_host("a host without sensors has none", "", "ENODEV");
    put_zone("intel-rapl:0", "package-0\n", "100\n", "262143328850\n");
    put_zone("intel-rapl:0:0", "core\n", "50\n", "262143328850\n");
    put_zone("intel-rapl:0:1", "dram\n", "20\n", "65712999613\n");
    tree_file(CAP "intel-rapl/enabled", "1\n");
    check_host("one socket of Intel", "powercap",
               "package-0[0.-1]+ package-0/core[0.-1] package-0/dram[0.-1]+");
    put_zone("intel-rapl:1", "psys\n", "100\n", "262143328850\n");
    put_zone("intel-rapl-mmio:0", "package-0\n", "100\n", "262143328850\n");
    check_host("the platform is not counted a second time, nor are the same zones by MMIO", "powercap",
               "package-0[0.-1]+ package-0/core[0.-1] package-0/dram[0.-1]+ psys[-1.-1]");
    tree_remove(CAP);
    put_zone("intel-rapl:0", "psys\n", "100\n", "262143328850\n");
    check_host("unless there is nothing else", "powercap", "psys[-1.-1]+");
    tree_remove(CAP);
    put_zone("intel-rapl:0", "package-1-die-0\n", "1\n", "9\n");
    put_zone("intel-rapl:1", "package-1-die-1\n", "1\n", "9\n");
    put_zone("intel-rapl:10", "package-10\n", "1\n", "9\n");
    put_zone("intel-rapl:2", "package-2\n", "1\n", "9\n");
    check_host("dies, in the order of their numbers", "powercap",
               "package-1-die-0[1.0]+ package-1-die-1[1.1]+ package-2[2.-1]+ package-10[10.-1]+");
    tree_remove(CAP);
    put_zone("dtpm:0", "cpu\n", NULL, NULL);
    check_host("zones that count nothing are no sensors", "", "ENODEV");
    tree_remove(CAP);
    put_zone("x:0", "package-0\n", "1\n", NULL);
    put_zone("x:1", "package-0\n", "1\n", NULL);
    check_host("two zones with one name are distinguished", "powercap",
               "package-0@x:0[0.-1]+ package-0@x:1[0.-1]+");
    tree_remove(CAP);
}

static void check_others(void)
{
    tree_file("/sys/class/hwmon/hwmon0/name", "amdgpu\n");
    tree_file("/sys/class/hwmon/hwmon0/power1_average", "5000000\n");
    tree_file("/sys/class/hwmon/hwmon0/device/class", "0x030000\n");
    check_host("a card that measures itself is not the host", "", "ENODEV");
    tree_file("/sys/class/power_supply/BAT0/type", "Battery\n");
    tree_file("/sys/class/power_supply/BAT0/status", "Full\n");
    tree_file("/sys/class/power_supply/BAT0/power_now", "9000000\n");
    check_host("a full battery has no power", "", "ENODEV");
    tree_file("/sys/class/power_supply/BAT0/status", "Discharging\n");
    check_host("one that is discharging does", "battery", "BAT0[-1.-1]+");
    tree_file("/sys/class/hwmon/hwmon1/name", "power_meter\n");
    tree_file("/sys/class/hwmon/hwmon1/power1_average", "200000000\n");
    tree_file("/sys/class/hwmon/hwmon1/power1_input", "200000000\n");
    tree_file("/sys/class/hwmon/hwmon1/power1_cap", "1\n");
    check_host("hwmon comes before the battery", "hwmon", "power_meter/power1[-1.-1]+");
    tree_file("/sys/class/hwmon/hwmon2/name", "amd_energy\n");
    tree_file("/sys/class/hwmon/hwmon2/energy1_input", "7\n");
    tree_file("/sys/class/hwmon/hwmon2/energy1_label", "Ecore000\n");
    tree_file("/sys/class/hwmon/hwmon2/energy9_input", "7\n");
    tree_file("/sys/class/hwmon/hwmon2/energy9_label", "Esocket1\n");
    check_host("counters come before gauges, sockets before their cores", "hwmon",
               "amd_energy/Esocket1[1.-1]+");
    tree_file("/sys/bus/event_source/devices/power/type", "1\n"); /* PERF_TYPE_SOFTWARE */
    tree_file("/sys/bus/event_source/devices/power/cpumask", "0\n");
    tree_file("/sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
    check_host("an event without a unit is none", "hwmon", "amd_energy/Esocket1[1.-1]+");
    tree_remove("/sys");
}

/* ---- counters ---- */

static struct power open_one(const char *uj, const char *range)
{
    struct power power;
    struct error why = {""};

    put_zone("intel-rapl:0", "package-0\n", uj, range);
    if (power_open(&power, tree_root, &why))
        check(false, "opens: %s", why.text);
    power_take(&power);
    return power;
}

/* From one number to another: `want` uJ, -1: unknown. */
static void check_step(const char *what, const char *from, const char *to, const char *range, int64_t want)
{
    struct power power = open_one(from, range);

    set("intel-rapl:0", to);
    power_take(&power);
    const struct power_domain *d = power.domains;
    int64_t got = d->known ? (int64_t)d->uj : -1;
    check(got == want, "%s: %" PRId64 " uJ, not %" PRId64, what, got, want);
    power_close(&power);
}

static void check_wraps(void)
{
    char from[32], to[32];
    unsigned wrong = 0, n = 0;

    for (uint64_t begin = 0; begin <= 60; begin++)
        for (uint64_t grown = 0; grown <= 30; grown++, n++) {
            snprintf(from, sizeof from, "%" PRIu64 "\n", begin);
            snprintf(to, sizeof to, "%" PRIu64 "\n",
                     begin + grown <= 60 ? begin + grown : begin + grown - 60);
            struct power power = open_one(from, "60\n");
            set("intel-rapl:0", to);
            power_take(&power);
            wrong += !power.domains->known || power.domains->uj != grown;
            power_close(&power);
        }
    check(!wrong && n > 1000, "wraps at every point: %u of %u steps are wrong", wrong, n);
}

static void check_counters(void)
{
    check_step("a counter that moves", "5\n", "12\n", "100\n", 7);
    check_step("one that stands still", "5\n", "5\n", "100\n", 0);
    check_step("one that wraps", "95\n", "12\n", "100\n", 17);
    check_step("one that jumps back", "60\n", "50\n", "100\n", -1);
    check_step("one that jumps back, without a range", "60\n", "50\n", "x\n", -1);
    check_step("nonsense", "60\n", "6x\n", "100\n", -1);
    check_step("nothing", "60\n", "", "100\n", -1);
    check_step("a negative number", "60\n", "-6\n", "100\n", -1);
    check_step("more than it can be", "60\n", "101\n", "100\n", -1);
    check_step("more than 64 bits", "60\n", "99999999999999999999\n", "0\n", -1);
    check_step("large ones", "18446744073709551000\n", "18446744073709551615\n", "0\n", 615);
    check_wraps();
}

static void check_absence(void)
{
    struct power power = open_one("5\n", "100\n");

    tree_remove(CAP "intel-rapl:0");
    /* As sysfs does: open files have no values any more. */
    close(power.domains->counter.fd);
    power.domains->counter.fd = 0;
    power_take(&power);
    check(!power.domains->known, "a zone that went away is not known");
    put_zone("intel-rapl:0", "package-0\n", "50\n", "100\n");
    power_take(&power);
    check(!power.domains->known, "nor is the window in which it comes again");
    set("intel-rapl:0", "60\n");
    power_take(&power);
    check(power.domains->known && power.domains->uj == 10, "then it is: %" PRIu64, power.domains->uj);
    set("intel-rapl:0", "99\n");
    power_sample(&power);
    set("intel-rapl:0", "30\n");
    power_sample(&power);
    set("intel-rapl:0", "70\n");
    power_take(&power);
    check(power.domains->known && power.domains->uj == 39 + 31 + 40,
          "samples between windows find all wraps: %" PRIu64, power.domains->uj);
    power_close(&power);
}

static void check_gauge(void)
{
    struct power power;
    struct error why = {""};
    const struct timespec pause = {.tv_nsec = 50000000};

    tree_remove("/sys");
    tree_file("/sys/class/hwmon/hwmon1/name", "power_meter\n");
    tree_file("/sys/class/hwmon/hwmon1/power1_average", "200000000\n");
    if (power_open(&power, tree_root, &why)) {
        check(false, "opens: %s", why.text);
        return;
    }
    power_take(&power);
    uint64_t begin = power.domains->counter.last_ns;
    nanosleep(&pause, NULL);
    power_take(&power);
    double want = (double)(power.domains->counter.last_ns - begin) / 1e9 * 200e6;
    check(power.domains->known && (double)power.domains->uj > want - 2 &&
              (double)power.domains->uj < want + 2,
          "200 W for some time: %" PRIu64 " uJ, not %.0f", power.domains->uj, want);
    power_close(&power);
}

static void check_numbers(void)
{
    uint64_t value;

    check(power_number("12\n", &value) && value == 12 && power_number("0", &value) && !value, "numbers");
    check(!power_number("", &value) && !power_number("\n", &value) && !power_number(" 1", &value) &&
              !power_number("1 ", &value) && !power_number("1\n2", &value) && !power_number("+1", &value) &&
              !power_number("0x1", &value) && !power_number("18446744073709551616", &value),
          "what is no number");
}

int main(void)
{
    tree_begin();
    check_hosts();
    check_others();
    check_counters();
    check_absence();
    check_gauge();
    check_numbers();
    return done();
}
