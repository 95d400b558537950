// SPDX-License-Identifier: GPL-2.0-only
/* Energy counters that move at a known rate, as files of a made-up /sys:
 *
 *   zones SECONDS ON_MS:OFF_MS FILE=UW...
 *
 * 0:0: by wall time, once a millisecond. Otherwise this process computes for ON_MS, sleeps for OFF_MS, and
 * the counters follow its own CPU time. They begin with the file's value, and wrap after the value in
 * max_energy_range_uj next to it. Prints the time it used, and each counter's total growth. */
#include "load.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 16

struct zone {
    int fd;
    uint64_t start, range, uw, grown;
};

static uint64_t read_number(int fd)
{
    char text[32] = "";

    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtoull(text, NULL, 10) : 0;
}

static struct zone open_zone(char *argument)
{
    char *uw = strchr(argument, '='), path[512];
    struct zone zone = {.uw = strtoull(uw ? uw + 1 : "0", NULL, 10)};

    if (uw)
        *uw = '\0';
    zone.fd = open(argument, O_RDWR | O_CLOEXEC);
    if (zone.fd < 0) {
        perror(argument);
        exit(1);
    }
    zone.start = read_number(zone.fd);
    snprintf(path, sizeof path, "%.*s/max_energy_range_uj", (int)(strrchr(argument, '/') - argument),
             argument);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        zone.range = read_number(fd);
        close(fd);
    }
    return zone;
}

/* A constant number of digits, in one write: a concurrent reader sees a whole number. */
static void move(struct zone *zone, uint64_t ns)
{
    char text[32];

    zone->grown = (uint64_t)((double)ns * (double)zone->uw / 1e9);
    uint64_t value = zone->start + zone->grown;
    int n = snprintf(text, sizeof text, "%020" PRIu64 "\n", zone->range ? value % zone->range : value);
    if (pwrite(zone->fd, text, (size_t)n, 0) != n)
        perror("write");
}

int main(int argc, char **argv)
{
    struct zone zones[MOST];
    int n = 0;

    if (argc < 4 || argc > 3 + MOST)
        return 2;
    uint64_t length = (uint64_t)(strtod(argv[1], NULL) * 1e9);
    char *colon = strchr(argv[2], ':');
    uint64_t on = strtoull(argv[2], NULL, 10) * 1000000;
    uint64_t off = colon ? strtoull(colon + 1, NULL, 10) * 1000000 : 0;
    for (int i = 3; i < argc; i++)
        zones[n++] = open_zone(argv[i]);
    printf("pid=%d\n", getpid());
    fflush(stdout);
    uint64_t begin = now_ns(CLOCK_MONOTONIC), used = now_ns(CLOCK_PROCESS_CPUTIME_ID), now;
    while ((now = now_ns(CLOCK_MONOTONIC)) - begin < length) {
        if (on && (now - begin) % (on + off) >= on) {
            rest(1000000);
            continue;
        }
        uint64_t ns = on ? now_ns(CLOCK_PROCESS_CPUTIME_ID) - used : now - begin;
        for (int i = 0; i < n; i++)
            move(&zones[i], ns);
        if (!on)
            rest(1000000);
    }
    printf("pid=%d cpu_ms=%.3f\n", getpid(), (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
    for (int i = 0; i < n; i++)
        printf("zone=%d grown_uj=%" PRIu64 "\n", i, zones[i].grown);
    return 0;
}
