// SPDX-License-Identifier: GPL-2.0-only
/* What a blocked process waits for, in one word: "fuse:/mnt/x:4711/bindfs". */
#include "view/top/culprit_blocked.h"
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "host/names.h"
#include "host/pidns.h"

#define PATH_CHARACTERS 40 /* of a mount's path; the rest of a longer one is left out */

/* The path is hostile: escaped, and no comma or colon that would end it. */
static void put_path(const char *path, char *to, size_t size)
{
    size_t length = escape_name(to, size, path, strnlen(path, PATH_CHARACTERS));

    for (size_t i = 0; i < length; i++)
        if (to[i] == ',' || to[i] == ':')
            to[i] = '_';
}

bool blocked_cause(const struct top *top, uint64_t key, const struct stuck **stuck, struct stuck_cause *cause)
{
    struct stuck_tasks *tasks = top->tasks ? tasks_stuck(top->tasks) : NULL;

    *stuck = tasks ? stuck_find(tasks, key) : NULL;
    if (*stuck)
        stuck_explain(tasks, *stuck, top->now, cause);
    return *stuck;
}

void blocked_process(const struct top *top, uint32_t process, char *to, size_t size)
{
    struct process who;
    size_t length;

    snprintf(to, size, "%u/", process);
    length = strlen(to);
    if (pidns_is_of_proc(top->context->pidns) && !process_read(process, 0, &who))
        escape_name(to + length, size - length, who.comm, who.comm_length);
    else
        to[length - 1] = '\0';
    for (char *p = to + length; *p; p++)
        if (*p == ',')
            *p = '_';
}

size_t blocked_text(const struct top *top, const struct judged_process *process, char *to, size_t size)
{
    const struct stuck *stuck;
    struct stuck_cause cause;
    char path[4 * PATH_CHARACTERS + 1] = "", who[CULPRIT_NAME] = "";

    if (!blocked_cause(top, process->key, &stuck, &cause)) {
        snprintf(to, size, "[blocked]");
        return strlen(to);
    }
    if (*cause.path)
        put_path(cause.path, path, sizeof path);
    if (cause.process && cause.process != key_process(process->key))
        blocked_process(top, cause.process, who, sizeof who);
    if (cause.word)
        snprintf(to, size, "%s%s%s%s%s", cause.word, *path ? ":" : "", path, *who ? ":" : "", who);
    else
        snprintf(to, size, "[%s]%s%s", stuck->function, *who ? ":" : "", who);
    return strlen(to);
}
