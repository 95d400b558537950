// SPDX-License-Identifier: GPL-2.0-only
#include "screen/load.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/decimal.h"
#include "screen/text.h"

int load_open(struct load *load)
{
    *load = (struct load){.memory = memory_open("")};
    pressures_open(&load->files, "");
    return load->memory ? 0 : -ENOMEM;
}

void load_close(struct load *load)
{
    if (!load->memory)
        return;
    memory_close(load->memory);
    pressures_close(&load->files);
    load->memory = NULL;
}

/* A number NAME=VALUE of a line, which may be NULL; -1: it is not known. */
static double value_of(const char *line, const char *name)
{
    const char *text;
    size_t length;
    double value;

    return line && text_value(line, name, &text, &length) && decimal_parse(text, length, &value) ? value : -1;
}

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks of all CPUs. */
static void read_ticks(struct load *load)
{
    char text[256];
    uint64_t all = 0, idle = 0;
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *p = text + strcspn(text, " \n");
    for (unsigned i = 0; i < 8 && *p == ' '; i++) {
        uint64_t ticks = strtoull(p, &p, 10);
        all += ticks;
        idle += i == 3 || i == 4 ? ticks : 0;
    }
    uint64_t passed = all - load->all, idled = idle - load->idle;
    bool known = load->all && passed && all > load->all && idled <= passed;
    load->cpus = known ? (double)sysconf(_SC_NPROCESSORS_ONLN) : 0;
    load->busy_cpus = known ? load->cpus * (double)(passed - idled) / (double)passed : 0;
    load->all = all;
    load->idle = idle;
}

static void read_pressure(struct load *load, uint64_t now)
{
    struct pressure pressure[PRESSURES];

    pressures_read(&load->files, pressure);
    for (int i = 0; i < PRESSURES; i++)
        load->pressure[i] = load->before_ns && pressure[i].known
                                ? pressure_pct(&load->before[i], &pressure[i], now - load->before_ns)
                                : -1;
    memcpy(load->before, pressure, sizeof pressure);
    load->before_ns = now;
}

void load_begin(struct load *load, uint64_t now)
{
    read_ticks(load);
    read_pressure(load, now);
}

void load_read(struct load *load, const char *window, const char *totals, const char *psi, uint64_t now)
{
    static const char *const names[PRESSURES] = {"cpu_pct", "mem_pct", "io_pct"};
    double length = value_of(window, "dur_ms"), idle = value_of(totals, "idle_ms"),
           cpus = value_of(totals, "cpus");

    if (length > 0 && idle >= 0 && cpus > 0) {
        load->cpus = cpus;
        load->busy_cpus = idle < cpus * length ? cpus - idle / length : 0;
    } else {
        read_ticks(load);
    }
    const struct memory *memory = memory_read(load->memory, now);
    load->memory_total = memory->known ? memory->total : 0;
    load->memory_used =
        memory->known && memory->available < memory->total ? memory->total - memory->available : 0;
    if (!psi)
        read_pressure(load, now);
    for (int i = 0; i < PRESSURES && psi; i++)
        load->pressure[i] = value_of(psi, names[i]);
}
