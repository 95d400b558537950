/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/memory.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define MIB     1048576ull
#define SECOND  1000000000ull
#define MEMINFO "MemTotal:        1024000 kB\nMemFree:          10240 kB\nMemAvailable:     204800 kB\n"
#define SWAP    "SwapCached:            0 kB\nSwapTotal:        102400 kB\nSwapFree:          51200 kB\n"
#define SWAPS   "Filename\tType\tSize\tUsed\tPriority\n"

static uint64_t now;

static const struct memory *read_anew(struct memory_source *source)
{
    return memory_read(source, now += SECOND);
}

static void check_swap(struct memory_source *source)
{
    const struct memory *m = read_anew(source);

    check(m->known && m->total == 1000 * MIB && m->available == 200 * MIB && m->headroom == 200 * MIB,
          "without swap, the headroom is what is available: %llu", (unsigned long long)m->headroom);
    check(!m->groups_swap, "nor do groups swap");
    tree_file("/proc/meminfo", MEMINFO SWAP);
    tree_file("/proc/swaps", SWAPS "/dev/sda2 partition\t102400\t51200\t-2\n");
    m = read_anew(source);
    check(m->swap_used == 50 * MIB && m->headroom == 250 * MIB, "free swap is headroom: %llu",
          (unsigned long long)m->headroom);
    check(m->groups_swap, "by default, groups swap");
    tree_file("/proc/sys/vm/swappiness", "0\n");
    check(!read_anew(source)->groups_swap, "with vm.swappiness=0 they do not");
    tree_file("/proc/sys/vm/swappiness", "60\n");
    check(read_anew(source)->groups_swap, "with 60 they do");
}

static void check_zram(struct memory_source *source)
{
    tree_file("/proc/swaps", SWAPS "/dev/zram0 partition\t102400\t51200\t100\n");
    tree_file("/sys/block/zram0/mm_stat", "52428800 10000000 13107200 0 13107200 0 0 0\n");
    const struct memory *m = read_anew(source);
    check(m->headroom / 1000 == (200 * MIB + 50 * MIB * 3 / 4) / 1000,
          "swap in memory that shrinks to a quarter saves three quarters: %llu",
          (unsigned long long)m->headroom);
    tree_file("/sys/block/zram0/mm_stat", "52428800 99999999 99999999 0\n");
    check(read_anew(source)->headroom == 200 * MIB, "if nothing shrinks, it saves nothing");
    tree_file("/sys/block/zram0/mm_stat", "0 0 0\n");
    m = read_anew(source);
    check(m->headroom > 232 * MIB && m->headroom < 234 * MIB,
          "while it is empty, a third is taken for the usual: %llu", (unsigned long long)m->headroom);
    tree_file("/sys/block/zram0/mm_stat", "what\n");
    check(read_anew(source)->headroom < 234 * MIB, "and of garbage");
    tree_file("/proc/swaps", SWAPS "/dev/zram0 partition\t100\t200\t100\n/dev/zram\n\n/dev/zramx a b c\n");
    check(read_anew(source)->headroom == 250 * MIB, "lines that cannot be are passed over");
}

static void check_bad(struct memory_source *source)
{
    tree_file("/proc/meminfo", MEMINFO "SwapTotal: 5 kB\nSwapFree: 9 kB\n");
    check(read_anew(source)->headroom == 200 * MIB, "more free swap than there is counts for none");
    tree_file("/proc/meminfo", "MemTotal: 1024000 kB\nMemFree: 5 kB\n");
    check(!read_anew(source)->known, "no MemAvailable: not known");
    tree_file("/proc/meminfo", "MemTotal: 18446744073709551615 kB\nMemAvailable: 18446744073709551615 kB\n");
    check(!read_anew(source)->known, "more than can be: not known");
    tree_file("/proc/meminfo", "MemTotal: many\nMemAvailable:\n");
    check(!read_anew(source)->known, "garbage: not known");
    tree_remove("/proc");
    const struct memory *m = read_anew(source);
    check(!m->known && !m->headroom, "no /proc: not known");
}

int main(void)
{
    tree_begin();
    tree_file("/proc/meminfo", MEMINFO);
    struct memory_source *source = memory_open(tree_root);
    check_swap(source);
    tree_file("/proc/meminfo", MEMINFO);
    check(memory_read(source, now + SECOND / 10)->swap_used == 50 * MIB,
          "a tenth of a second later nothing is read");
    check(memory_read(source, now + SECOND / 2)->swap_used == 0, "half a second later it is");
    now += SECOND;
    tree_file("/proc/meminfo", MEMINFO SWAP);
    check_zram(source);
    check_bad(source);
    memory_close(source);
    return done();
}
