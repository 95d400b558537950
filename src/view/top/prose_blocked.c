// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/prose_blocked.h"
#include <stdio.h>
#include <string.h>
#include "host/pidns.h"
#include "host/process.h"

#define STORIES 16 /* things that threads wait for; further ones are not told apart */

struct stories {
    const struct top *top;
    struct blocked_story list[STORIES];
    size_t n, all;
};

static bool is_fault(const struct stuck *stuck)
{
    switch (stuck->kind) {
    case STUCK_FILE_SYSTEM:
    case STUCK_FROZEN:
    case STUCK_CHILD:
    case STUCK_MMAP_LOCK:
    case STUCK_INODE:
    case STUCK_IN_FUNCTION:
        return true;
    case STUCK_PIPE:
    case STUCK_SOCKET:
    case STUCK_FILE_LOCK:
    case STUCK_APART:
    case STUCK_NOT:
        break;
    }
    return false;
}

static bool is_same_story(const struct stuck *a, const struct stuck *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == STUCK_FILE_SYSTEM)
        return a->word == b->word && (!a->device || !b->device || a->device == b->device);
    if (a->kind == STUCK_FROZEN)
        return !a->device || !b->device || a->device == b->device;
    return a->kind == STUCK_IN_FUNCTION ? !strcmp(a->function, b->function) : true;
}

static void add_to_story(void *context, const struct stuck *stuck)
{
    struct stories *stories = context;
    uint64_t asleep = stories->top->now > stuck->since ? stories->top->now - stuck->since : 0;
    size_t i = 0;

    stories->all++;
    while (i < stories->n && !is_same_story(stories->list[i].oldest, stuck))
        i++;
    if (i == STORIES)
        return;
    struct blocked_story *story = &stories->list[i];
    if (i == stories->n) {
        stories->n++;
        *story = (struct blocked_story){.oldest = stuck, .fault = is_fault(stuck)};
    }
    story->threads++;
    /* One with a descriptor knows the mount. */
    if ((stuck->device && !story->oldest->device) ||
        (stuck->since < story->oldest->since && (stuck->device || !story->oldest->device)))
        story->oldest = stuck;
    if (story->longest < asleep)
        story->longest = asleep;
}

void blocked_story(const struct top *top, struct blocked_story *story)
{
    struct stories stories = {.top = top, .n = 0};
    const struct stuck_tasks *tasks = top->tasks ? tasks_stuck(top->tasks) : NULL;

    *story = (struct blocked_story){.oldest = NULL};
    if (!tasks)
        return;
    stuck_each(tasks, add_to_story, &stories);
    for (size_t i = 0; i < stories.n; i++)
        if (!story->oldest || stories.list[i].fault > story->fault ||
            (stories.list[i].fault == story->fault && stories.list[i].threads > story->threads))
            *story = stories.list[i];
    story->all = stories.all;
}

void blocked_name(struct paragraph *p, const struct top *top, uint32_t process)
{
    struct process who;

    if (pidns_is_of_proc(top->context->pidns) && !process_read(process, 0, &who)) {
        paragraph_name(p, who.comm, who.comm_length);
        paragraph_add(p, " (%u)", process);
    } else {
        paragraph_add(p, "process %u", process);
    }
}

static void put_mount(struct paragraph *p, const struct stuck_cause *cause)
{
    if (!*cause->path)
        return;
    paragraph_add(p, " ");
    paragraph_name(p, cause->path, strnlen(cause->path, 60));
}

void blocked_words(struct paragraph *p, const struct stuck *stuck, const struct stuck_cause *cause)
{
    switch (stuck->kind) {
    case STUCK_FILE_SYSTEM:
        paragraph_add(p, "the %s file system", cause->word);
        put_mount(p, cause);
        break;
    case STUCK_FROZEN:
        paragraph_add(p, "the frozen file system");
        put_mount(p, cause);
        break;
    case STUCK_PIPE:
        paragraph_add(p, "a pipe");
        break;
    case STUCK_SOCKET:
        paragraph_add(p, "a %s", cause->process ? "unix socket" : "socket");
        break;
    case STUCK_FILE_LOCK:
        paragraph_add(p, "a lock of a file");
        break;
    case STUCK_CHILD:
        paragraph_add(p, "a child of vfork(2) that has not begun a program");
        break;
    case STUCK_MMAP_LOCK:
        paragraph_add(p, "the lock of its address space");
        break;
    case STUCK_INODE:
        paragraph_add(p, "a file or directory that another task holds, in %s()", stuck->function);
        break;
    case STUCK_APART:
        paragraph_add(p, "an event within its own service, while it has a client");
        break;
    case STUCK_IN_FUNCTION:
    case STUCK_NOT:
        paragraph_add(p, "%s() of the kernel", *stuck->function ? stuck->function : "a function");
        break;
    }
}

const char *blocked_role(const struct stuck *stuck)
{
    switch (stuck->kind) {
    case STUCK_FILE_SYSTEM:
        return "its server";
    case STUCK_PIPE:
    case STUCK_SOCKET:
        return "the other end";
    case STUCK_CHILD:
        return "the child";
    default:
        return "the holder";
    }
}

/* ---- sentences ---- */

void blocked_prose(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    const struct stuck *stuck;
    struct stuck_cause cause;

    if (!blocked_cause(top, process->key, &stuck, &cause))
        return;
    paragraph_add(p, " It waits for ");
    blocked_words(p, stuck, &cause);
    paragraph_add(p, ", for ");
    paragraph_time(p, top->now > stuck->since ? (double)(top->now - stuck->since) : 0);
    paragraph_add(p, " now.");
    if (cause.process) {
        paragraph_add(p, " %c%s is ", blocked_role(stuck)[0] - 'a' + 'A', blocked_role(stuck) + 1);
        blocked_name(p, top, cause.process);
        paragraph_add(p, cause.stopped ? ", which is stopped." : ".");
    }
    if (*stuck->function && stuck->kind != STUCK_IN_FUNCTION && stuck->kind != STUCK_INODE)
        paragraph_add(p, " It sleeps in %s().", stuck->function);
}

void blocked_next(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    const struct stuck *stuck;
    struct stuck_cause cause;

    if (!blocked_cause(top, process->key, &stuck, &cause)) {
        paragraph_add(p, "hog stacks -p %u shows where it sleeps.", key_process(process->key));
        return;
    }
    if (cause.process && cause.stopped)
        paragraph_add(p, "kill -CONT %u lets %s go on", cause.process, blocked_role(stuck));
    else if (cause.process)
        paragraph_add(p, "hog why %u shows what %s does", cause.process, blocked_role(stuck));
    else if (stuck->kind == STUCK_APART)
        paragraph_add(
            p, "see what it waits for inside of the service; in PostgreSQL, select pg_blocking_pids(%u)",
            key_process(process->key));
    else if (stuck->kind != STUCK_FROZEN && stuck->kind != STUCK_FILE_SYSTEM)
        paragraph_add(p, "hog stacks -p %u shows the way there", key_process(process->key));
    if (stuck->kind == STUCK_FROZEN) {
        paragraph_add(p, "fsfreeze -u ");
        paragraph_name(p, *cause.path ? cause.path : "MOUNT", *cause.path ? strlen(cause.path) : 5);
        paragraph_add(p, " thaws it");
    } else if (stuck->kind == STUCK_FILE_SYSTEM) {
        paragraph_add(p, "%sumount -f -l ", cause.process ? "; " : "");
        paragraph_name(p, *cause.path ? cause.path : "MOUNT", *cause.path ? strlen(cause.path) : 5);
        paragraph_add(p, " takes the file system away");
    }
    paragraph_add(p, ".");
}
