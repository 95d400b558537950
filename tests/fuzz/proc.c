// SPDX-License-Identifier: GPL-2.0-only
/* The files of a process that it or its user fills in (name, arguments, status), and other texts of /proc. */
#include "tests/fuzz/fuzz.h"
#include "host/identity.h"
#include "host/memory.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/users.h"
#include "source/memory/proc.h"
#include "source/tasks/proc.h"
#include <string.h>
#include "tasks.types.h"

#define PID 4194303 /* the largest: probably none */

uint64_t fuzz_taken;

static void take(void *context, const void *bytes)
{
    const struct hog_task *record = bytes;

    must(record->key == *(const uint64_t *)context);
}

static void process(void)
{
    struct process p;
    uint32_t number;
    uint64_t kib;
    struct mem_levels levels;

    if (process_read(PID, 0, &p))
        return;
    must(p.comm_length <= sizeof p.comm);
    fuzz_touch(p.comm, p.comm_length);
    uint64_t key = key_make(PID, 0, p.start_ns);
    must(key_born_at(key, p.start_ns));
    fuzz_taken += !tasks_proc_read(key, take, &key);
    process_user(PID, &number);
    process_rss(PID, &number);
    process_of_thread(PID, &number);
    mem_read_pss(PID, &kib);
    mem_read_status(PID, &levels);
}

static void identity(void)
{
    struct identities *identities =
        identities_open(IDENTITY_USER | IDENTITY_GROUP | IDENTITY_PARENT | IDENTITY_ARGS);
    struct process p;
    struct identity is;

    must(identities);
    identities_begin(identities);
    uint64_t key = process_read(PID, 0, &p) ? key_make(PID, 0, 0) : key_make(PID, 0, p.start_ns);
    if (identity_of(identities, key, 1, &is)) {
        must(!is.args || (*is.args && strlen(is.args) <= IDENTITY_ARGS_MOST));
        must(is.parent_comm_length <= sizeof is.parent_comm);
        if (is.group) {
            fuzz_touch(is.group->path, is.group->length);
            fuzz_touch(is.group->container.id, is.group->container.length);
        }
    }
    identities_close(identities);
}

static void others(void)
{
    struct users *users = users_open("");
    struct memory_source *memory = memory_open("");
    static char text[4096];
    uint32_t uid = 0;

    must(users && memory);
    const char *name = users_name(users, 1000);
    must(!name || (*name && users_find(users, name, strlen(name), &uid)));
    users_close(users);
    const struct memory *m = memory_read(memory, 1);
    must(m->swap_free <= m->swap_total);
    memory_close(memory);
    long n = file_read("/proc/1/status", text, sizeof text);
    if (n > 0) {
        int numbers = pidns_by_status(text, (size_t)n);
        must(numbers <= 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    files_begin(bytes, size, 0);
    process();
    identity();
    others();
    files_end();
    return 0;
}
