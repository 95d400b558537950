/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/tracefs.h"
#include "loader/kernel/privilege.h"
#include "syscall/mount.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

    if (fd < 0)
        return errno == EACCES ? -EACCES : -ENOENT;
    if (has_events(fd))
        return fd;
    int err = errno == EACCES ? -EACCES : -ENOENT;
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

/* One name and a slash and one name, of characters that tracefs uses. */
static bool good_event(const char *event)
{
    const char *slash = strchr(event, '/');

    if (!slash || slash == event || !slash[1] || strchr(slash + 1, '/'))
        return false;
    for (const char *p = event; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == '.')
            return false;
    return true;
}

static int read_id(int directory, const char *event)
{
    char path[256], text[32];
    int length = snprintf(path, sizeof path, "events/%s/id", event);

    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    int err = n < 0 ? -errno : 0;
    close(fd);
    if (err)
        return err;
    text[n] = 0;
    long id = strtol(text, NULL, 10);
    return id > 0 && id <= INT_MAX ? (int)id : -EINVAL;
}

int tracefs_event_id(const char *event, struct error *why)
{
    if (!good_event(event))
        return error_set(why, -EINVAL, "tracepoint \"%s\": CATEGORY/NAME is wanted", event);
    int directory = tracefs_open(why);
    if (directory < 0)
        return directory;
    int id = read_id(directory, event);
    close(directory);
    if (id == -ENOENT)
        return error_set(why, id, "tracepoint %s: this kernel has none of that name", event);
    if (id < 0) {
        error_set(why, id, "tracepoint %s: reading its id: %s", event, error_name(id));
        return explain_permission(id, why);
    }
    return id;
}

static const char *probe_file(bool uprobe)
{
    return uprobe ? "uprobe_events" : "kprobe_events";
}

/* Appends one command: opening with O_TRUNC would remove everybody's probes. */
static int write_command(int directory, bool uprobe, const char *command)
{
    int fd = openat(directory, probe_file(uprobe), O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, command, strlen(command));
    int err = n < 0 ? -errno : 0;
    close(fd);
    return err;
}

static int remove_probe(int directory, const char *event, bool uprobe)
{
    char command[128];

    snprintf(command, sizeof command, "-:%s", event);
    return write_command(directory, uprobe, command);
}

void tracefs_remove_probe(const char *event, bool uprobe)
{
    int directory = tracefs_open(NULL);

    if (directory < 0)
        return;
    remove_probe(directory, event, uprobe);
    close(directory);
}

/* Our probe's PID in a line like "p:kprobes/hog_1234_0 do_exit"; 0: not ours. */
static pid_t owner(char *line, char **event)
{
    char *colon = strchr(line, ':'), *end = colon ? strpbrk(colon, " \n") : NULL;

    if (!end || (line[0] != 'p' && line[0] != 'r'))
        return 0;
    *end = 0;
    *event = colon + 1;
    char *mark = strstr(colon, "/hog_");
    return mark ? (pid_t)strtol(mark + strlen("/hog_"), NULL, 10) : 0;
}

/* Probes of hog processes that no longer exist. One that is in use after all (a process in another PID
 * namespace) the kernel refuses to remove. */
static void remove_leftovers(int directory, bool uprobe)
{
    char line[512], *event;
    int fd = openat(directory, probe_file(uprobe), O_RDONLY | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (fgets(line, sizeof line, f)) {
        pid_t pid = owner(line, &event);
        if (pid > 0 && pid != getpid() && kill(pid, 0) < 0 && errno == ESRCH)
            remove_probe(directory, event, uprobe);
    }
    fclose(f);
}

int tracefs_add_probe(struct link *link, const char *what, bool uprobe, bool at_return, struct error *why)
{
    static unsigned counter;
    static bool cleaned[2];
    char command[PATH_MAX + 256];

    int directory = tracefs_open(why);
    if (directory < 0)
        return directory;
    if (!cleaned[uprobe])
        remove_leftovers(directory, uprobe);
    cleaned[uprobe] = true;
    snprintf(link->tracefs_event, sizeof link->tracefs_event, "%s/hog_%d_%u", uprobe ? "uprobes" : "kprobes",
             (int)getpid(), counter++);
    link->tracefs_uprobe = uprobe;
    int length =
        snprintf(command, sizeof command, "%c:%s %s", at_return ? 'r' : 'p', link->tracefs_event, what);
    int err = length < 0 || (size_t)length >= sizeof command ? -ENAMETOOLONG : 0;
    if (!err)
        err = write_command(directory, uprobe, command);
    if (err == -EEXIST) { /* left by a process that had our PID */
        remove_probe(directory, link->tracefs_event, uprobe);
        err = write_command(directory, uprobe, command);
    }
    close(directory);
    if (!err)
        return 0;
    link->tracefs_event[0] = 0;
    error_set(why, err, "%s %s: %s: %s", uprobe ? "uprobe" : "kprobe", what, probe_file(uprobe),
              error_name(err));
    return explain_permission(err, why);
}
