// SPDX-License-Identifier: GPL-2.0-only
#include "source/tasks/proc.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "host/names.h"
#include "host/process.h"
#include "tasks.types.h"

#define NS_PER_TICK  10000000 /* USER_HZ is 100 in every ABI */
#define MOST_THREADS 64       /* threads of larger processes are not read */

/* Reads a file of the process or thread; returns its length. */
static size_t read_text(const char *directory, const char *file, char *to, size_t size)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    long n = file_read(path, to, size);
    return n > 0 ? (size_t)n : 0;
}

static void read_io(const char *directory, struct hog_task *record)
{
    char text[512];
    size_t n = read_text(directory, "io", text, sizeof text);

    if (n && !status_number(text, n, "read_bytes", 0, &record->own.read_bytes) &&
        !status_number(text, n, "write_bytes", 0, &record->own.write_bytes))
        record->flags |= HOG_TASK_IO;
}

static void read_memory(const char *directory, struct hog_task *record)
{
    long page_kib = sysconf(_SC_PAGESIZE) / 1024;
    uint64_t rss, swap = 0;
    char text[4096];
    size_t n = read_text(directory, "status", text, sizeof text);

    if (!n || status_number(text, n, "VmRSS", 0, &rss))
        return;
    status_number(text, n, "VmSwap", 0, &swap);
    record->rss = (int64_t)rss / page_kib;
    record->swap = (int64_t)swap / page_kib;
    record->flags |= HOG_TASK_MEMORY;
}

/* Reports the run time of a thread, with the key of its process. */
static void read_thread_run(const char *directory, uint32_t number, const struct hog_task *of,
                            tasks_proc_fn fn, void *context)
{
    struct hog_task thread = {.key = of->key, .id = of->id, .born = of->born, .flags = of->flags};
    char text[128], *end;

    if (!read_text(directory, "schedstat", text, sizeof text))
        return;
    thread.ran = strtoull(text, &end, 10);
    if (end == text)
        return;
    thread.thread = key_make(number, 0, of->born);
    thread.thread_born = of->born; /* or later */
    fn(context, &thread);
}

static void read_threads_run(uint32_t process, const struct hog_task *of, tasks_proc_fn fn, void *context)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%u/task", process);
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        uint32_t number = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!number)
            continue;
        snprintf(path, sizeof path, "/proc/%u/task/%u", process, number);
        read_thread_run(path, number, of, fn, context);
    }
    closedir(directory);
}

int tasks_proc_read(uint64_t key, tasks_proc_fn fn, void *context)
{
    uint32_t process = key_process(key), number = key_thread(key);
    struct hog_task record = {.key = key, .id = key};
    struct process who;
    char directory[64];

    if (number)
        snprintf(directory, sizeof directory, "/proc/%u/task/%u", process, number);
    else
        snprintf(directory, sizeof directory, "/proc/%u", process);
    int err = process ? process_read(process, number, &who) : -ESRCH;
    if (!err && !key_born_at(key, who.start_ns))
        err = -ESRCH;
    if (err)
        return err;
    record.born = who.start_ns;
    record.own.minor = who.minor;
    record.own.major = who.major;
    record.own.usr = who.usr_ticks * NS_PER_TICK;
    record.own.sys = who.sys_ticks * NS_PER_TICK;
    record.threads = number ? 1 : who.threads;
    record.flags = who.kernel ? HOG_TASK_KERNEL : 0;
    read_io(directory, &record);
    read_memory(directory, &record);
    fn(context, &record);
    if (record.threads == 1)
        read_thread_run(directory, number ? number : process, &record, fn, context);
    else if (record.threads <= MOST_THREADS)
        read_threads_run(process, &record, fn, context);
    return 0;
}
