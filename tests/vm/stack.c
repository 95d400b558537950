// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks on disks, without the programs of device-mapper and md:
 *
 *   stack part DISK NUMBER START SECTORS     a partition
 *   stack dm NAME SECTORS TYPE PARAMETERS    a target of device-mapper, as dmsetup's table has it: /dev/dm-N
 *   stack remove NAME
 *   stack mirror MD SECTORS DISK DISK        md raid1 without superblocks, as of mdadm --build
 *   stack stop MD
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/dm-ioctl.h>
#include <linux/major.h>
#include <linux/raid/md_p.h>
#include <linux/raid/md_u.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int failed(const char *what)
{
    fprintf(stderr, "stack: %s: %s\n", what, strerror(errno));
    return 1;
}

static int part(char **argv)
{
    struct blkpg_partition partition = {
        .start = strtoll(argv[2], NULL, 10) * 512,
        .length = strtoll(argv[3], NULL, 10) * 512,
        .pno = (int)strtol(argv[1], NULL, 10),
    };
    struct blkpg_ioctl_arg argument = {
        .op = BLKPG_ADD_PARTITION, .datalen = sizeof partition, .data = &partition};
    int fd = open(argv[0], O_RDONLY | O_CLOEXEC);

    return fd < 0 || ioctl(fd, BLKPG, &argument) ? failed(argv[0]) : 0;
}

/* The header of each command, the one target, and its parameters. */
struct command {
    struct dm_ioctl header;
    struct dm_target_spec target;
    char parameters[512];
};

static int control(int fd, unsigned long what, struct command *c, const char *name)
{
    c->header = (struct dm_ioctl){
        .version = {DM_VERSION_MAJOR, 0, 0},
        .data_size = sizeof *c,
        .data_start = sizeof c->header,
        .target_count = 1,
    };
    snprintf(c->header.name, sizeof c->header.name, "%s", name);
    return ioctl(fd, what, &c->header);
}

static int mapper(const char *name, char **argv)
{
    struct command c;
    int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);

    memset(&c, 0, sizeof c);
    if (fd < 0)
        return failed("/dev/mapper/control");
    if (!argv)
        return control(fd, DM_DEV_REMOVE, &c, name) ? failed(name) : 0;
    if (control(fd, DM_DEV_CREATE, &c, name))
        return failed(name);
    c.target.length = strtoull(argv[0], NULL, 10);
    snprintf(c.target.target_type, sizeof c.target.target_type, "%s", argv[1]);
    snprintf(c.parameters, sizeof c.parameters, "%s", argv[2]);
    if (control(fd, DM_TABLE_LOAD, &c, name) || control(fd, DM_DEV_SUSPEND, &c, name)) {
        failed(argv[2]);
        control(fd, DM_DEV_REMOVE, &c, name);
        return 1;
    }
    return 0; /* DM_DEV_SUSPEND without its flag resumes */
}

static int mirror(char **argv)
{
    const unsigned long long sectors = strtoull(argv[1], NULL, 10);
    mdu_array_info_t array = {
        .major_version = 0,
        .minor_version = 90,
        .level = 1,
        .size = (int)(sectors / 2),
        .nr_disks = 2,
        .raid_disks = 2,
        .not_persistent = 1,
        .state = 1, /* clean */
        .active_disks = 2,
        .working_disks = 2,
    };
    int fd = open(argv[0], O_RDWR | O_CLOEXEC);

    if (fd < 0 || ioctl(fd, SET_ARRAY_INFO, &array))
        return failed(argv[0]);
    for (int i = 0; i < 2; i++) {
        struct stat stat_of;
        if (stat(argv[2 + i], &stat_of))
            return failed(argv[2 + i]);
        mdu_disk_info_t disk = {
            .number = i,
            .raid_disk = i,
            .major = (int)major(stat_of.st_rdev),
            .minor = (int)minor(stat_of.st_rdev),
            .state = 1 << MD_DISK_ACTIVE | 1 << MD_DISK_SYNC,
        };
        if (ioctl(fd, ADD_NEW_DISK, &disk))
            return failed(argv[2 + i]);
    }
    return ioctl(fd, RUN_ARRAY, NULL) ? failed(argv[0]) : 0;
}

static int stop(const char *md)
{
    int fd = open(md, O_RDWR | O_CLOEXEC);

    return fd < 0 || ioctl(fd, STOP_ARRAY, NULL) ? failed(md) : 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    if (argc == 6 && !strcmp(what, "part"))
        return part(argv + 2);
    if (argc == 6 && !strcmp(what, "dm"))
        return mapper(argv[2], argv + 3);
    if (argc == 3 && !strcmp(what, "remove"))
        return mapper(argv[2], NULL);
    if (argc == 6 && !strcmp(what, "mirror"))
        return mirror(argv + 2);
    if (argc == 3 && !strcmp(what, "stop"))
        return stop(argv[2]);
    fprintf(stderr, "usage: see the source\n");
    return 2;
}
