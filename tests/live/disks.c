/* SPDX-License-Identifier: GPL-2.0-only */
/* Which disk a process uses, against what it knows it did: direct I/O on a file and on a loop device. */
#include "source/disks/disks.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"
#include "tests/unit/tap.h"
#include "tests/live/one_source.h"

#define BLOCK     65536
#define BLOCKS    256
#define FILE_PATH "/var/tmp/hog-disks-XXXXXX"

static struct run_options options;
static struct targets targets;
static struct pidns pidns;

/* ---- the process that does I/O ---- */

struct order {
    int fd;
    int reads, writes; /* of a block */
};

static unsigned char block[BLOCK] __attribute__((aligned(4096)));

static bool obey(const struct order *order)
{
    for (int i = 0; i < order->writes; i++)
        if (pwrite(order->fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK)
            return false;
    for (int i = 0; i < order->reads; i++)
        if (pread(order->fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK)
            return false;
    return true;
}

/* A process that obeys commands, and ends when the pipe does. */
struct worker {
    pid_t pid;
    int to, from;
};

static struct worker hire(void)
{
    struct worker worker = {0};
    struct order order;
    int to[2], from[2];

    if (pipe(to) || pipe(from))
        exit(1);
    worker.pid = fork();
    if (!worker.pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (read(to[0], &order, sizeof order) == sizeof order) {
            bool done = obey(&order);
            if (write(from[1], &done, sizeof done) != sizeof done)
                break;
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    worker.to = to[1];
    worker.from = from[0];
    return worker;
}

static void dismiss(const struct worker *worker)
{
    kill(worker->pid, SIGKILL);
    close(worker->to);
    close(worker->from);
    waitpid(worker->pid, NULL, 0);
}

static void order(const struct worker *worker, int fd, int reads, int writes)
{
    struct order order = {fd, reads, writes};
    bool done = false;

    if (write(worker->to, &order, sizeof order) != sizeof order ||
        read(worker->from, &done, sizeof done) != sizeof done || !done)
        check(false, "the load does its I/O");
}

/* ---- what the source reports about it ---- */

static uint64_t key_of(pid_t pid)
{
    struct process process = {0};

    process_read((uint32_t)pid, 0, &process);
    return key_make((uint32_t)pid, 0, process.start_ns);
}

/* A key from /proc has a resolution of 10 ms. */
static bool find(const struct disks *d, pid_t pid, struct disk_use *use)
{
    uint64_t key = key_of(pid);

    for (uint64_t birth = 0; birth < 4; birth++)
        if (disks_of(d, key + birth, use))
            return true;
    return false;
}

static void flip(void)
{
    struct error why = {""};

    sources_flip(&opened);
    usleep(1000);
    int err = sources_collect(&opened, &(struct window){0}, &why);
    if (err)
        check(false, "a window is collected: %s", why.text);
}

/* The name of the whole disk with a device number, from sysfs. "": there is none (btrfs, overlayfs). */
static void disk_of(dev_t dev, char name[64])
{
    char path[PATH_MAX], real[PATH_MAX], partition[PATH_MAX + 16];

    snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(dev), minor(dev));
    *name = '\0';
    if (!realpath(path, real))
        return;
    snprintf(partition, sizeof partition, "%s/partition", real);
    char *slash = strrchr(real, '/');
    if (!access(partition, F_OK)) {
        *slash = '\0';
        slash = strrchr(real, '/');
    }
    snprintf(name, 64, "%s", slash + 1);
}

static void check_use(const struct disks *d, const struct worker *worker, const char *what, const char *name,
                      int reads, int writes)
{
    struct disk_use use = {.disk.name = "none"};
    uint64_t bytes = (uint64_t)(reads + writes) * BLOCK;

    flip();
    bool found = find(d, worker->pid, &use);
    check(found && (!*name || !strcmp(use.disk.name, name)), "%s: it is on %s: %s", what, name,
          use.disk.name);
    check(use.bytes == bytes && use.reads >= (unsigned)reads && use.writes >= (unsigned)writes &&
              !use.reads == !reads && !use.writes == !writes,
          "%s: it is what was done: %llu bytes of %llu, %llu reads of %d, %llu writes of %d", what,
          (unsigned long long)use.bytes, (unsigned long long)bytes, (unsigned long long)use.reads, reads,
          (unsigned long long)use.writes, writes);
}

static int open_file(void)
{
    char path[] = FILE_PATH;
    struct statfs fs;
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0)
        return -1;
    if (fstatfs(fd, &fs) || fs.f_type == TMPFS_MAGIC) {
        unlink(path);
        close(fd);
        return -1;
    }
    for (int i = 0; i < BLOCKS; i++)
        if (write(fd, block, BLOCK) != BLOCK)
            exit(1);
    fsync(fd);
    close(fd);
    fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
    unlink(path);
    return fd;
}

/* Backed by the file; the device goes with its last user. */
static int open_loop(int backing, char name[32])
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    struct loop_info64 info = {.lo_flags = LO_FLAGS_AUTOCLEAR};

    for (int tries = 0; control >= 0 && tries < 10; tries++) {
        char path[64];
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(name, 32, "loop%d", number);
        snprintf(path, sizeof path, "/dev/%s", name);
        int fd = number < 0 ? -1 : open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
        if (fd < 0)
            break;
        if (!ioctl(fd, LOOP_SET_FD, backing)) {
            ioctl(fd, LOOP_SET_STATUS64, &info);
            close(control);
            return fd;
        }
        close(fd);
        if (errno != EBUSY)
            break;
    }
    if (control >= 0)
        close(control);
    return -1;
}

static void check_by(const char *without, bool exact, int file, int loop, const char *loop_name)
{
    struct source_context context = {.options = &options, .targets = &targets, .pidns = &pidns};
    struct hook_report hooks[MAX_HOOKS] = {0};
    struct disk_use use;
    struct error why = {""};
    struct stat st;
    char disk[64], what[64];

    options.without = without;
    options.exact = exact;
    int err = source_open(&context, &disks_source, 0, hooks, &why);
    check(!err, "opens%s%s%s%s", without ? " without " : "", without ? without : "", err ? ": " : "",
          err ? why.text : "");
    if (err)
        return;
    const struct disks *d = disks_of_session(&context);
    snprintf(what, sizeof what, "%s%s", hooks[0].hook, exact ? ", exactly" : "");
    struct worker worker = hire(), other = hire();
    fstat(file, &st);
    disk_of(st.st_dev, disk);
    flip();
    order(&worker, file, 100, 0);
    check_use(d, &worker, what, disk, 100, 0);
    order(&worker, file, 30, 50);
    check_use(d, &worker, what, disk, 30, 50);
    check(!find(d, other.pid, &use), "%s: an idle process has no disk", what);
    flip();
    check(!find(d, worker.pid, &use), "%s: what was before the window does not count", what);
    if (loop >= 0) {
        order(&worker, loop, 20, 20);
        order(&other, loop, 10, 10);
        order(&other, file, 40, 0);
        check_use(d, &worker, what, loop_name, 20, 20);
        use = (struct disk_use){.disk.name = "none"};
        find(d, other.pid, &use);
        check(strcmp(use.disk.name, loop_name) && use.bytes == 40 * BLOCK,
              "%s: of two disks the one with more I/O: %s, %llu bytes", what, use.disk.name,
              (unsigned long long)use.bytes);
    }
    check(!sources_lost(&opened), "%s: none was lost", what);
    dismiss(&worker);
    dismiss(&other);
    sources_close(&opened);
}

int main(void)
{
    char loop_name[32] = "";
    int file = open_file(), loop = file < 0 ? -1 : open_loop(file, loop_name);

    if (access("/sys/kernel/btf/vmlinux", R_OK)) {
        skip("disks", "needs BTF: this kernel does not describe its types");
        return done();
    }
    if (file < 0) {
        skip("disks", "needs DISK: no direct I/O on " FILE_PATH);
        return done();
    }
    if (loop < 0)
        skip("a loop device", "needs LOOP: there is none to be had");
    pidns_read(&pidns);
    check_by(NULL, false, file, loop, loop_name);
    check_by("tp_btf", false, file, loop, loop_name);
    check_by(NULL, true, file, loop, loop_name);
    return done();
}
