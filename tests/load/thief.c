// SPDX-License-Identifier: GPL-2.0-only
/* Plays a hypervisor: for the one hog that runs, a part of a CPU's time is stolen.
 *
 *   thief CPU PERCENT
 *
 * The program on switches notes how much time had been stolen from a CPU at the last switch; any more at the
 * next one was stolen in between. So each ms the thief lowers that note by its share. Prints `ready`, and
 * goes on until it is killed. Ends with 3 if less than ENOUGH_NS was ever stolen from that CPU, as far as the
 * kernel has reported: the note cannot go back further. */
#include "load.h"
#include "sched.types.h"
#include "syscall/bpf.h"
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENOUGH_NS 150000000 /* for timeslices of a third of a second, and has.sh STEAL */

/* hog's largest sketch: those of other views are smaller. Its file descriptor; info from the kernel. */
static int sketch_of_hog(struct bpf_map_info *info)
{
    int largest = -1;

    for (uint32_t id = 0; !sys_bpf_next_id(BPF_MAP_GET_NEXT_ID, id, &id);) {
        struct bpf_map_info of;
        int fd = sys_bpf_fd_by_id(BPF_MAP_GET_FD_BY_ID, id);
        if (fd < 0)
            continue;
        if (sys_bpf_info(fd, &of, sizeof of) || strcmp(of.name, "hog_sketch") != 0 ||
            of.value_size < offsetof(struct hog_cpu, slots) ||
            (largest >= 0 && of.value_size < info->value_size)) {
            close(fd);
            continue;
        }
        if (largest >= 0)
            close(largest);
        largest = fd;
        *info = of;
    }
    return largest;
}

int main(int argc, char **argv)
{
    struct bpf_map_info info;

    if (argc != 3)
        return 2;
    size_t cpu = strtoul(argv[1], NULL, 10);
    double part = strtod(argv[2], NULL) / 100;
    int fd = sketch_of_hog(&info);
    if (fd < 0 || cpu >= info.max_entries) {
        fputs("no hog with a sketch of that CPU\n", stderr);
        return 1;
    }
    size_t stride = (info.value_size + 7u) & ~(size_t)7;
    unsigned char *all = mmap(NULL, stride * info.max_entries, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    volatile uint64_t *taken = &((struct hog_cpu *)(all + cpu * stride))->taken;
    uint64_t begin = now_ns(CLOCK_MONOTONIC), before = begin;
    while (*taken < ENOUGH_NS && before - begin < 1000000000) {
        rest(10000000);
        before = now_ns(CLOCK_MONOTONIC);
    }
    if (*taken < ENOUGH_NS)
        return 3;
    puts("ready");
    fflush(stdout);
    for (;;) {
        rest(1000000);
        uint64_t now = now_ns(CLOCK_MONOTONIC), note = *taken,
                 more = (uint64_t)((double)(now - before) * part);
        before = now;
        *taken = note > more ? note - more : 1;
    }
}
