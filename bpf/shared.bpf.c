// SPDX-License-Identifier: GPL-2.0-only
/* The types of bpf/lib that src/host and src/source/shared read: it yields shared.types.h, and is neither
 * loaded nor embedded. */
#include "lib/cgroup_ids.bpf.h"
#include "lib/exit_names.bpf.h"
#include "lib/histogram_by_key.bpf.h"
#include "lib/prefilter.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/task_key.bpf.h"
#include "lib/threads.bpf.h"

struct hog_pipe *unused_pipe;
struct hog_slot *unused_slot;
struct hog_exit_name *unused_exit_name;
struct hog_thread *unused_thread;
struct hog_thread_name *unused_thread_name;
struct hog_exits *unused_exits;

/* An object without functions has no type data. */
SEC("raw_tp/none")
int hog_none(void *ctx)
{
    return 0;
}
