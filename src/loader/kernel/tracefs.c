/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/tracefs.h"
#include "loader/kernel/privilege.h"
#include "syscall/mount.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Not access(2): that asks for the real user, and ignores the capabilities of the effective one. */
static bool has_events(int directory)
{
    struct stat st;

    return !fstatat(directory, "events", &st, 0);
}

/* -ENOENT: nothing there but the mount point; -EACCES: not for us to see. */
static int open_place(const char *place)
{
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && has_events(fd))
        return fd;
    int err = errno == EACCES ? -EACCES : -ENOENT;
    if (fd >= 0)
        close(fd);
    return err;
}

int tracefs_open_mounted(const char **place)
{
    int err = -ENOENT;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int fd = open_place(places[i]);
        if (fd >= 0 || (fd == -EACCES && err == -ENOENT))
            *place = places[i];
        if (fd >= 0)
            return fd;
        err = err == -ENOENT ? fd : err;
    }
    return err;
}

int tracefs_open(struct error *why)
{
    const char *place = NULL;
    int mounted = tracefs_open_mounted(&place);

    if (mounted >= 0)
        return mounted;
    int fd = sys_mount_detached("tracefs");
    if (fd >= 0 && has_events(fd))
        return fd;
    int err = fd < 0 ? fd : -errno;
    if (fd >= 0)
        close(fd);
    if (mounted == -EACCES || err == -EACCES)
        return error_set(why, -EACCES, "%s is closed to this user: needs CAP_DAC_READ_SEARCH",
                         place ? place : "tracefs");
    if (fd >= 0)
        return explain_permission(
            error_set(why, -EPERM, "tracefs is empty: the kernel keeps its events to itself"), why);
    error_set(why, fd,
              "tracefs is not mounted and cannot be (%s): mount -t tracefs tracefs /sys/kernel/tracing",
              error_name(fd));
    return explain_permission(fd, why);
}

/* One of the files that tracefs has of an event, as text. */
static int read_event(const char *event, const char *file, char *text, size_t size, struct error *why)
{
    char path[256];
    int directory = tracefs_open(why);

    if (directory < 0)
        return directory;
    snprintf(path, sizeof path, "events/%s/%s", event, file);
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    int err = n < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    close(directory);
    text[n > 0 ? n : 0] = '\0';
    if (err == -ENOENT)
        return error_set(why, err, "tracepoint %s: this kernel has none of that name", event);
    return err ? explain_permission(
                     error_set(why, err, "tracepoint %s: reading its %s: %s", event, file, error_name(err)),
                     why)
               : 0;
}

int tracefs_event_id(const char *event, struct error *why)
{
    char text[32];
    int err = read_event(event, "id", text, sizeof text, why), id = err ? 0 : atoi(text);

    return err ? err : id > 0 ? id : error_set(why, -EINVAL, "tracepoint %s: its id is no number", event);
}

/* A line is "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;"; arrays have "name[16];". */
int tracefs_field(const char *event, const char *field, uint32_t *offset, uint32_t *size, struct error *why)
{
    char text[4096];
    int err = read_event(event, "format", text, sizeof text, why);
    size_t length = strlen(field);

    if (err)
        return err;
    for (const char *p = text; (p = strstr(p, field)); p += length) {
        if (p == text || p[-1] != ' ' || (p[length] != ';' && p[length] != '['))
            continue;
        const char *at = strstr(p, ";\toffset:"), *bytes = at ? strstr(at, ";\tsize:") : NULL;
        if (!bytes || strcspn(p, "\n") < (size_t)(bytes - p))
            continue;
        *offset = (uint32_t)strtoul(at + strlen(";\toffset:"), NULL, 10);
        *size = (uint32_t)strtoul(bytes + strlen(";\tsize:"), NULL, 10);
        return 0;
    }
    return error_set(why, -ENOENT, "tracepoint %s has no field %s", event, field);
}
