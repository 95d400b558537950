// SPDX-License-Identifier: GPL-2.0-only
#include "source/memory/proc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/process.h"

int mem_parse_status(const char *text, size_t length, struct mem_levels *levels)
{
    const struct {
        const char *name;
        uint64_t *to;
    } lines[] = {
        {"VmRSS", &levels->rss},      {"RssAnon", &levels->anon},   {"RssFile", &levels->file},
        {"RssShmem", &levels->shmem}, {"VmSwap", &levels->swap},    {"VmSize", &levels->vm},
        {"VmHWM", &levels->high_rss}, {"VmPeak", &levels->high_vm},
    };
    const size_t n = sizeof lines / sizeof *lines;
    const char *line = text, *all = text + length, *end;
    bool is_status = false, has_memory = false;

    *levels = (struct mem_levels){0};
    for (; line < all; line = end) {
        end = memchr(line, '\n', (size_t)(all - line));
        end = end ? end + 1 : all;
        is_status |= end - line > 4 && !memcmp(line, "Pid:", 4);
        for (size_t i = 0; i < n && (*line == 'V' || *line == 'R'); i++) {
            size_t named = strlen(lines[i].name);
            if ((size_t)(end - line) <= named || line[named] != ':' ||
                memcmp(line, lines[i].name, named) != 0)
                continue;
            int err = status_number(line, (size_t)(end - line), lines[i].name, 0, lines[i].to);
            if (err)
                return -EIO;
            has_memory |= i == 0;
        }
    }
    return !is_status ? -EIO : has_memory ? 0 : -ENODATA;
}

static long read_file(const char *path, char *to, size_t size)
{
    long n = file_read(path, to, size);

    return n == -ENOENT || n == 0 ? -ESRCH : n;
}

static int read_status(const char *path, struct mem_levels *levels)
{
    char text[4096];
    long n = read_file(path, text, sizeof text);

    return n < 0 ? (int)n : mem_parse_status(text, (size_t)n, levels);
}

/* Reads a thread that is alive when the main thread has ended. */
static int read_threads(uint32_t pid, struct mem_levels *levels)
{
    char path[64];
    int err = -ENODATA;

    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    if (!directory)
        return -ESRCH;
    for (const struct dirent *entry; err && (entry = readdir(directory));) {
        uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!thread || thread == pid)
            continue;
        snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, thread);
        err = read_status(path, levels);
    }
    closedir(directory);
    return err;
}

int mem_read_status(uint32_t pid, struct mem_levels *levels)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    int err = read_status(path, levels);
    return err == -ENODATA ? read_threads(pid, levels) : err;
}

/* ---- files that stay open ---- */

static void forget(struct mem_file *file)
{
    close(file->fd);
    *file = (struct mem_file){0};
}

static int read_open(int fd, struct mem_levels *levels)
{
    char text[4096];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return n < 0 ? -errno : -ESRCH;
    text[n] = '\0';
    return mem_parse_status(text, (size_t)n, levels);
}

int mem_files_read(struct mem_files *files, uint64_t key, struct mem_levels *levels)
{
    for (size_t i = 0; i < MEM_FILES; i++) {
        struct mem_file *file = &files->of[i];
        if (file->key != key)
            continue;
        int err = read_open(file->fd, levels);
        file->used = ++files->reads;
        if (err)
            forget(file);
        return err == -ENODATA ? -EAGAIN : err;
    }
    return -EAGAIN;
}

void mem_files_open(struct mem_files *files, uint64_t key, uint32_t pid)
{
    struct mem_file *oldest = &files->of[0];
    char path[64];

    for (size_t i = 1; i < MEM_FILES; i++)
        if (files->of[i].used < oldest->used)
            oldest = &files->of[i];
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (oldest->key)
        forget(oldest);
    *oldest = (struct mem_file){.key = key, .used = ++files->reads, .fd = fd};
}

void mem_files_drop(struct mem_files *files, uint64_t key)
{
    for (size_t i = 0; i < MEM_FILES; i++)
        if (files->of[i].key && (!key || files->of[i].key == key))
            forget(&files->of[i]);
}

int mem_parse_pss(const char *text, size_t length, uint64_t *kib)
{
    return status_number(text, length, "Pss", 0, kib);
}

int mem_read_pss(uint32_t pid, uint64_t *kib)
{
    char path[64], text[4096];

    snprintf(path, sizeof path, "/proc/%u/smaps_rollup", pid);
    long n = read_file(path, text, sizeof text);

    return n < 0 ? (int)n : mem_parse_pss(text, (size_t)n, kib);
}

int mem_each_pid(mem_pid_fn fn, void *context)
{
    DIR *directory = opendir("/proc");

    if (!directory)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid)
            fn(context, pid);
    }
    closedir(directory);
    return 0;
}
