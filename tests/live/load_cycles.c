/* SPDX-License-Identifier: GPL-2.0-only */
/* A thousand times (or HOG_TEST_CYCLES) open, load, attach, close: nothing is left, and a killed process
 * leaves nothing. */
#include "loader/kernel/attach.h"
#include "loader/kernel/probe.h"
#include "tests/live/objects.h"
#include <dirent.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CYCLES     1000
#define MIN_CYCLES 100 /* fewer would prove nothing: one-time allocations are done after 60 */

static const char *const programs[] = {"on_raw_tp", "on_tracepoint", "on_uprobe", "on_uretprobe"};
#define UPROBE    2 /* the first of these */
#define NPROGRAMS (sizeof programs / sizeof *programs)

static unsigned count_fds(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static long resident_kib(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f) {
        if (fscanf(f, "%ld %ld", &size, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return resident * (getpagesize() / 1024);
}

/* Programs and maps with the names of these objects, whichever process has them. */
static unsigned count_programs(void)
{
    unsigned n = 0;
    uint32_t id = 0;

    while (sys_bpf_next_id(BPF_PROG_GET_NEXT_ID, id, &id) == 0) {
        struct bpf_prog_info info;
        int fd = sys_bpf_fd_by_id(BPF_PROG_GET_FD_BY_ID, id);

        if (fd >= 0 && sys_bpf_info(fd, &info, sizeof info) == 0)
            for (size_t i = 0; i < NPROGRAMS; i++)
                n += strcmp(info.name, programs[i]) == 0;
        if (fd >= 0)
            close(fd);
    }
    return n;
}

static unsigned count_maps(void)
{
    unsigned n = 0;
    uint32_t id = 0;

    while (sys_bpf_next_id(BPF_MAP_GET_NEXT_ID, id, &id) == 0) {
        struct bpf_map_info info;
        int fd = sys_bpf_fd_by_id(BPF_MAP_GET_FD_BY_ID, id);

        if (fd >= 0 && sys_bpf_info(fd, &info, sizeof info) == 0)
            n += strcmp(info.name, "hits") == 0;
        if (fd >= 0)
            close(fd);
    }
    return n;
}

/* The kernel frees closed objects a little later. */
static unsigned settled(unsigned (*count)(void), unsigned wanted)
{
    unsigned n = count();

    for (int i = 0; i < 50 && n != wanted; i++) {
        usleep(100000);
        n = count();
    }
    return n;
}

__attribute__((noinline)) void hog_test_probed(void);
void hog_test_probed(void)
{
    __asm__ volatile("nop");
}

/* One life of an object with its first `wanted` programs and one for perf events attached at once. */
static int cycle(const void *bytes, size_t size, size_t wanted, struct error *why)
{
    struct link links[NPROGRAMS + 1];
    struct object *obj;
    size_t n = 0;

    memset(links, 0, sizeof links);
    int err = object_open(&obj, "live_attach", bytes, size, why);
    if (err)
        return err;
    err = object_relocate(obj, NULL, why);
    if (!err)
        err = object_create_maps(obj, why);
    for (; n < wanted && !err; n++) {
        struct object_program *program = object_program(obj, programs[n]);
        err = object_load_program(obj, program, why);
        if (!err)
            err = n < UPROBE
                      ? link_attach(&links[n], program, why)
                      : link_attach_uprobe(&links[n], program, "/proc/self/exe",
                                           own_offset((uintptr_t)hog_test_probed), n > UPROBE, -1, why);
    }
    struct object_program *perf = object_program(obj, "on_perf");
    if (!err)
        err = object_load_program(obj, perf, why);
    if (!err)
        err = link_attach_perf(&links[NPROGRAMS], perf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000,
                               why);
    for (size_t i = 0; i <= NPROGRAMS; i++)
        link_detach(&links[i]);
    object_close(obj);
    return err;
}

static void check_cycles(const void *bytes, size_t size)
{
    struct error why = {""};
    const char *asked = getenv("HOG_TEST_CYCLES");
    unsigned cycles = asked ? (unsigned)atoi(asked) : CYCLES, done_cycles = 0, fds = 0, progs = 0, maps = 0;
    long memory = 0;

    for (; done_cycles < cycles; done_cycles++) {
        /* The kernel takes 100 ms to detach anything but raw tracepoints: not every time. */
        if (cycle(bytes, size, done_cycles % 50 ? 1 : NPROGRAMS, &why) < 0)
            break;
        if (done_cycles == 60) { /* all one-time allocations are done now */
            fds = count_fds();
            memory = resident_kib();
            progs = settled(count_programs, 0);
            maps = settled(count_maps, 0);
        }
    }
    check(done_cycles >= MIN_CYCLES && done_cycles == cycles, "%u of %u cycles: %s", done_cycles, cycles,
          why.text);
    unsigned now = settled(count_programs, progs);
    check(now == progs, "no program is left: %u, were %u", now, progs);
    now = settled(count_maps, maps);
    check(now == maps, "no map is left: %u, were %u", now, maps);
    now = count_fds();
    check(now == fds, "no fd is left: %u, were %u", now, fds);
    long grown = resident_kib() - memory;
    check(grown < 256, "no memory is left: %ld KiB more", grown);
}

/* SIGKILL in the middle of it. */
static void check_killed(const void *bytes, size_t size)
{
    unsigned progs = count_programs(), maps = count_maps();
    int status, killed = 0;

    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            while (cycle(bytes, size, NPROGRAMS, NULL) == 0)
                ;
            _exit(1); /* no cycle may fail: it would not be killed */
        }
        usleep(1000 + 3000 * i);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        killed += WIFSIGNALED(status);
    }
    check(killed == 10, "10 processes were killed at work: %d", killed);
    check(settled(count_programs, progs) == progs && settled(count_maps, maps) == maps,
          "killed processes leave no programs and no maps");
}

int main(void)
{
    const void *bytes;
    size_t size = object_bytes("live_attach", &bytes);

    hog_test_probed(); /* or the linker leaves it out */
    if (!size) {
        check(false, "object live_attach is there");
        return done();
    }
    check_cycles(bytes, size);
    check_killed(bytes, size);
    return done();
}
