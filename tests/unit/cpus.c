/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/cpus.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *list;
    int end;          /* what cpus_parse returns */
    const char *mask; /* of the first eight */
} cases[] = {
    {"0\n", 1, "10000000"},
    {"0-3\n", 4, "11110000"},
    {"0,2-3,7", 8, "10110001"},
    {"4-5,200", 201, "00001100"},
    {"", 0, "00000000"},
    {"\n", 0, "00000000"},
    {"3-1", -EINVAL, NULL},
    {"1-", -EINVAL, NULL},
    {"a", -EINVAL, NULL},
    {"1;2", -EINVAL, NULL},
    {"-1", -EINVAL, NULL},
    {"8191", 8192, "00000000"},
    {"8192", -ERANGE, NULL},
    {"0-8192", -ERANGE, NULL},
    {"0-99999999999999999999", -ERANGE, NULL},
    {"0,2,4-5,7,96-127,1024", 1025, "10101101"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t mask[8];
        char text[9] = "";
        int end = cpus_parse(cases[i].list, mask, sizeof mask);
        for (int cpu = 0; cpu < 8; cpu++)
            text[cpu] = mask[cpu] ? '1' : '0';
        check(end == cases[i].end && (end < 0 || strcmp(text, cases[i].mask) == 0), "CPU list %.*s: %d %s",
              (int)strcspn(cases[i].list, "\n"), cases[i].list, end, text);
    }
    check(cpus_possible() == sysconf(_SC_NPROCESSORS_CONF) || cpus_possible() > 0, "possible CPUs: %d",
          cpus_possible());
    uint8_t online[MAX_CPUS];
    int n = cpus_online(online, sizeof online);
    check(n == sysconf(_SC_NPROCESSORS_ONLN) || n > 0, "online CPUs: %d", n);
    struct cpus_watch watch;
    uint8_t again[MAX_CPUS];
    check(!cpus_watch_open(&watch) && cpus_watch(&watch, again, sizeof again) == 1 &&
              !memcmp(again, online, sizeof again),
          "the watch sees the same online CPUs");
    again[0] = 2;
    check(cpus_watch(&watch, again, sizeof again) == 0 && again[0] == 2,
          "the watch keeps the mask when no CPU came or went");
    cpus_watch_close(&watch);
    check(online[cpus_first_online()] == 1, "first online CPU: %d", cpus_first_online());
    return done();
}
