// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/probes.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "calls.types.h"
#include "base/clock.h"
#include "host/targets.h"
#include "loader/kernel/attach.h"
#include "source/calls/found.h"
#include "source/calls/rules.h"
#include "source/shared/mapped.h"
#include "source/shared/self_probe.h"
#include "syscall/bpf.h"

#define LIBRARY_NS 1000000000ull /* to read a file in a library directory */
#define ASKED_NS   5000000000ull /* or one that was asked for by its path */

#define NUMBER 0x0ca11bad /* placeholder for the function's number in bpf/calls.bpf.c */

struct calls_probes {
    const struct source_context *context;
    struct object *obj;
    struct mapped mapped;
    struct object_program *entry, *at_return;
    bool at_once; /* one program for all entries, which gets the function by cookie; else one copy per
                     function */
    struct hog_function *functions;
    size_t nfunctions;
    struct link *links;
    size_t nlinks;
    size_t files, matched;          /* files with such functions; files with such a name */
    uint64_t device[64], inode[64]; /* files in library directories that have been probed */
    size_t ndone;
    char near[NEAR][80]; /* names like those asked for, in the last file without a match */
    size_t nnear;
    struct link self; /* the probe on hog itself, until the end */
    int error;
    struct error reason;
};

/* ---- programs ---- */

static struct bpf_insn *placeholder_in(const struct object_program *program)
{
    static const uint8_t codes[] = {BPF_ALU64 | BPF_MOV | BPF_K, BPF_ALU | BPF_MOV | BPF_K};

    for (size_t c = 0; c < sizeof codes; c++)
        for (size_t i = 0; i < program->code.ninsns; i++)
            if (program->code.insns[i].code == codes[c] && program->code.insns[i].imm == NUMBER)
                return &program->code.insns[i];
    return NULL;
}

static int load_call_program(struct calls_probes *p, const char *name, struct object_program **program,
                             struct error *why)
{
    *program = object_program(p->obj, name);
    if (!*program)
        return error_set(why, -ENOENT, "%s: no program %s", p->obj->name, name);
    return (*program)->fd >= 0 ? 0 : object_load_program(p->obj, *program, why);
}

int calls_probes_choose(struct calls_probes *p, bool by_task, bool at_once, struct error *why)
{
    char name[32];
    int err;

    p->at_once = at_once;
    snprintf(name, sizeof name, "hog_call%s_%s", at_once ? "s" : "", by_task ? "task" : "ids");
    err = load_call_program(p, name, &p->entry, why);
    if (!err) {
        snprintf(name, sizeof name, "hog_return%s_%s", at_once ? "s" : "", by_task ? "task" : "ids");
        err = load_call_program(p, name, &p->at_return, why);
    }
    if (!err)
        err = self_probe(&p->self, p->entry, at_once, why);
    if (err) {
        object_program_unload(p->entry);
        object_program_unload(p->at_return);
    }
    return err;
}

/* Loads a copy of the program for that function; it lives as long as its links. */
static int load_call_copy(struct calls_probes *p, uint32_t number, struct object_program *copy,
                          struct error *why)
{
    struct bpf_insn *insns = malloc(p->entry->code.ninsns * sizeof *insns);

    if (!insns)
        return error_set(why, -ENOMEM, "out of memory");
    object_program_copy(copy, p->entry, insns);
    struct bpf_insn *insn = placeholder_in(copy);
    int err = insn ? 0 : error_set(why, -EINVAL, "%s: no number in %s", p->obj->name, p->entry->name);
    if (!err) {
        insn->imm = (int32_t)number;
        err = object_load_program(p->obj, copy, why);
    }
    free(insns);
    copy->code.insns = NULL;
    if (err)
        object_program_unload(copy);
    return err;
}

/* ---- probes ---- */

static struct link *new_link(struct calls_probes *p)
{
    struct link *links = realloc(p->links, (p->nlinks + 1) * sizeof *links);

    if (!links)
        return NULL;
    p->links = links;
    p->links[p->nlinks] = (struct link){0};
    return &p->links[p->nlinks++];
}

/* Return before entry: every call seen to begin is seen to end. */
static int attach_call(struct calls_probes *p, const char *path, uint64_t offset, uint32_t number, int pid,
                       struct error *why)
{
    struct object_program copy;
    struct link *link = new_link(p);
    int err = link ? link_attach_uprobe(link, p->at_return, path, offset, true, pid, why)
                   : error_set(why, -ENOMEM, "out of memory");

    if (!err)
        err = load_call_copy(p, number, &copy, why);
    if (err)
        return err;
    link = new_link(p);
    err = link ? link_attach_uprobe(link, &copy, path, offset, false, pid, why)
               : error_set(why, -ENOMEM, "out of memory");
    object_program_unload(&copy);
    return err;
}

static int attach_calls_at_once(struct calls_probes *p, const char *path, const struct all_found *all,
                                const uint64_t *numbers, int pid, struct error *why)
{
    uint64_t *offsets = calloc(all->n, sizeof *offsets);
    struct link *link = offsets ? new_link(p) : NULL;
    int err = link ? 0 : error_set(why, -ENOMEM, "out of memory");

    for (size_t i = 0; i < all->n && !err; i++)
        offsets[i] = all->list[i].offset;
    if (!err)
        err = link_attach_uprobes(link, p->at_return, path, offsets, NULL, all->n, true, pid, why);
    if (!err && !(link = new_link(p)))
        err = error_set(why, -ENOMEM, "out of memory");
    if (!err)
        err = link_attach_uprobes(link, p->entry, path, offsets, numbers, all->n, false, pid, why);
    free(offsets);
    return err;
}

/* Number of a function, assigned on first use. */
static int number_of(struct calls_probes *p, const char *lib, size_t lib_length, const char *name,
                     unsigned size_at, uint64_t *number, struct error *why)
{
    struct hog_function rule;

    calls_rule(&calls_options, name, &rule);
    snprintf(rule.lib, sizeof rule.lib, "%.*s", (int)lib_length, lib);
    snprintf(rule.name, sizeof rule.name, "%s", name);
    rule.size_at = (uint8_t)size_at;
    for (*number = 0; *number < p->nfunctions; ++*number)
        if (!memcmp(&p->functions[*number], &rule, sizeof rule))
            return 0;
    if (p->nfunctions == MOST_FUNCTIONS)
        return error_set(why, -EOVERFLOW, "more than %d functions", MOST_FUNCTIONS);
    uint32_t key = (uint32_t)*number;
    int err = sys_bpf_map_update(object_map(p->obj, "hog_functions")->fd, &key, &rule, BPF_ANY);
    if (err)
        return error_set(why, err, "cannot register function %s: %s", rule.name, error_name(err));
    p->functions[p->nfunctions++] = rule;
    return 0;
}

static int attach_found(struct calls_probes *p, const char *path, const char *lib, size_t lib_length,
                        const struct all_found *all, int pid, struct error *why)
{
    uint64_t *numbers = calloc(all->n, sizeof *numbers);
    int err = numbers ? 0 : error_set(why, -ENOMEM, "out of memory");

    for (size_t i = 0; i < all->n && !err; i++)
        err = number_of(p, lib, lib_length, all->list[i].name, all->size_at, &numbers[i], why);
    if (!err && p->at_once)
        err = attach_calls_at_once(p, path, all, numbers, pid, why);
    for (size_t i = 0; i < all->n && !err && !p->at_once; i++)
        err = attach_call(p, path, all->list[i].offset, (uint32_t)numbers[i], pid, why);
    free(numbers);
    return err;
}

/* 0, or -errno: then no probe of it stays. */
static int probe_call_file(struct calls_probes *p, const char *path, const char *lib, size_t lib_length,
                           const struct all_found *all, int pid, struct error *why)
{
    size_t before = p->nlinks;
    int err = attach_found(p, path, lib, lib_length, all, pid, why);

    if (err)
        while (p->nlinks > before)
            link_detach(&p->links[--p->nlinks]);
    p->files += !err;
    return err;
}

static void note_near(struct calls_probes *p, const struct all_found *all)
{
    if (!all->nnear)
        return;
    memcpy(p->near, all->near, sizeof p->near);
    p->nnear = all->nnear;
}

static void note_probe_error(struct calls_probes *p, int err, const char *lib, size_t lib_length,
                             const struct error *why)
{
    p->error = error_set(&p->reason, err, "%.*s: %s", (int)lib_length, lib, why->text);
}

/* ---- files ---- */

/* A library may be both in a library directory and mapped. Probed twice it would count twice. */
static bool is_probed(struct calls_probes *p, bool note)
{
    struct file_identity is = file_reader_identity(&p->mapped.reader);

    for (size_t i = 0; i < p->ndone; i++)
        if (p->device[i] == is.device && p->inode[i] == is.inode)
            return true;
    if (note && p->ndone < sizeof p->inode / sizeof *p->inode) {
        p->device[p->ndone] = is.device;
        p->inode[p->ndone++] = is.inode;
    }
    return false;
}

static bool wants_mapped(void *context, const struct mapping *m)
{
    size_t length;
    const char *name = mapping_name(m, &length);
    char lib[256];

    snprintf(lib, sizeof lib, "%.*s", (int)length, name);
    return calls_wants_file(&calls_options, lib);
}

static bool on_mapped(void *context, const char *path, const void *answer, const struct mapping *m, int pid)
{
    struct calls_probes *p = context;
    struct error reason;
    size_t length;
    const char *name = mapping_name(m, &length);

    if (is_probed(p, false))
        return true;
    int err = probe_call_file(p, path, name, length, answer, pid, &reason);
    if (err)
        note_probe_error(p, err, name, length, &reason);
    return !err;
}

/* A file that was looked at: one without such functions, or that cannot be read. */
static void on_unmatched(void *context, int err, const struct mapping *m, const void *answer,
                         const struct error *why)
{
    struct calls_probes *p = context;
    size_t length;
    const char *name = mapping_name(m, &length);

    p->matched++;
    if (!err)
        note_near(p, answer);
    else
        note_probe_error(p, err, name, length, why);
}

static const struct mapped_user calls_user = {.wants = wants_mapped,
                                              .look = calls_find,
                                              .answer_bytes = sizeof(struct all_found),
                                              .found = on_mapped,
                                              .missed = on_unmatched};

/* What calls_find() says of a file by its path. */
static int look_at(struct calls_probes *p, const char *path, uint64_t limit_ns, const struct all_found **all,
                   struct error *why)
{
    int found = file_reader_ask(&p->mapped.reader, 0, NULL, path, 0, limit_ns, why);

    *all = found >= 0 ? file_reader_answer(&p->mapped.reader) : NULL;
    p->matched++;
    if (!found)
        note_near(p, *all);
    return found;
}

/* A library is probed in its directory before a process maps it, so that every process is seen from its first
 * call. With -p it is probed when the process has mapped it. */
static void scan_directory(struct calls_probes *p, const char *directory)
{
    DIR *d = opendir(directory);

    for (const struct dirent *entry; d && (entry = readdir(d));) {
        char path[512], real[PATH_MAX];
        struct error reason;
        const struct all_found *all;
        if (!calls_wants_file(&calls_options, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (!realpath(path, real))
            continue;
        const char *name = strrchr(real, '/') + 1;
        int result = look_at(p, real, LIBRARY_NS, &all, &reason);
        if (result >= 0 && is_probed(p, true))
            continue;
        if (result > 0)
            result = probe_call_file(p, real, name, strlen(name), all, -1, &reason);
        /* Linker scripts (libc.so) have such names, too. */
        if (result < 0 && result != -ENOEXEC && result != -EOPNOTSUPP)
            note_probe_error(p, result, name, strlen(name), &reason);
    }
    if (d)
        closedir(d);
}

#ifdef __x86_64__
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif
static void scan_library_directories(struct calls_probes *p)
{
    static const char *const directories[] = {"/lib",           "/lib64",          "/usr/lib",
                                              "/usr/lib64",     "/lib/" MULTIARCH, "/usr/lib/" MULTIARCH,
                                              "/usr/local/lib", "/usr/local/lib64"};
    const char *more = getenv("LD_LIBRARY_PATH");
    char directory[256];

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        scan_directory(p, directories[i]);
    while (more && *more) {
        size_t n = strcspn(more, ":");
        snprintf(directory, sizeof directory, "%.*s", (int)n, more);
        if (n && n < sizeof directory)
            scan_directory(p, directory);
        more += n + (more[n] == ':');
    }
}

static int probe_path(struct calls_probes *p, struct error *why)
{
    const char *path = calls_options.lib, *name = strrchr(path, '/') + 1;
    struct error reason;
    const struct targets *targets = p->context->targets;
    const struct all_found *all;
    int result = look_at(p, path, ASKED_NS, &all, &reason);

    /* Probes can be restricted to PIDs of our own namespace. */
    for (size_t i = 0; i < (targets->foreign || !targets->n ? 1 : targets->n) && result > 0; i++) {
        int err = probe_call_file(p, path, name, strlen(name), all,
                                  targets->foreign || !targets->n ? -1 : (int)targets->list[i].pid, &reason);
        result = err ? err : result;
    }
    file_reader_stop(&p->mapped.reader);
    return result < 0 ? error_set(why,
                                  result == -ENOENT || result == -ENOEXEC || result == -EOVERFLOW ||
                                          result == -ETIMEDOUT
                                      ? -ESRCH
                                      : result,
                                  "--lib %s: %s", path, reason.text)
                      : 0;
}

/* Explains why no function was found. */
static int explain_none(const struct calls_probes *p, struct error *why)
{
    const struct calls_options *o = &calls_options;
    char near[NEAR * 84] = "";

    if (p->error)
        return error_set(why, p->error == -EOVERFLOW ? -ESRCH : p->error, "%s", p->reason.text);
    if (!p->matched)
        return error_set(
            why, -ESRCH,
            "%s: no process has mapped such a library, and none lies where libraries do: a PATH is taken as "
            "it is, a NAME is what /proc/PID/maps shows or begins with",
            calls_lib(o));
    for (size_t i = 0; i < p->nnear; i++)
        snprintf(near + strlen(near), sizeof near - strlen(near), "%s%s", i ? ", " : "; near that are ",
                 p->near[i]);
    return error_set(why, -ESRCH, "%s: none of its functions is like %s%s", calls_lib(o), calls_pattern(o),
                     near);
}

int calls_probes_begin(struct calls_probes *p, struct error *why)
{
    int err;

    if (calls_lib_is_path(&calls_options)) {
        err = probe_path(p, why);
    } else {
        if (!p->context->targets->n)
            scan_library_directories(p);
        err = mapped_scan(&p->mapped, false, clock_ns(CLOCK_MONOTONIC), why);
    }
    return err < 0 ? err : p->files && p->error != -EOVERFLOW ? 0 : explain_none(p, why);
}

int calls_probes_scan(struct calls_probes *p, uint64_t now, struct error *why)
{
    if (calls_lib_is_path(&calls_options))
        return 0;
    int err = mapped_scan(&p->mapped, true, now, why);
    if (err < 0 || !p->error)
        return err < 0 ? err : 0;
    err = error_set(why, p->error, "%s", p->reason.text);
    p->error = 0;
    return err;
}

/* ---- */

int calls_probes_hand_over(struct calls_probes *p, struct link *to, struct error *why)
{
    int err = 0;

    for (size_t i = 0; i < p->nlinks; i++)
        err = err ? err : link_move(to, &p->links[i]);
    return err ? error_set(why, err, "cannot keep probes: %s", error_name(err)) : 0;
}

const struct hog_function *calls_function(const struct calls_probes *p, uint32_t number)
{
    return number < p->nfunctions ? &p->functions[number] : NULL;
}

size_t calls_probes_skipped(const struct calls_probes *p)
{
    return mapped_skipped(&p->mapped);
}

size_t calls_probes_files(const struct calls_probes *p)
{
    return p->files;
}

size_t calls_probes_functions(const struct calls_probes *p)
{
    return p->nfunctions;
}

struct calls_probes *calls_probes_open(const struct source_context *context, struct object *obj)
{
    struct calls_probes *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->context = context;
    p->obj = obj;
    p->functions = calloc(MOST_FUNCTIONS, sizeof *p->functions);
    mapped_open(&p->mapped, context, &calls_user, p);
    if (p->functions)
        return p;
    free(p);
    return NULL;
}

void calls_probes_close(struct calls_probes *p)
{
    if (!p)
        return;
    struct link *self = new_link(p);
    if (self)
        link_move(self, &p->self);
    link_detach(&p->self);
    links_detach(p->links, p->nlinks);
    free(p->links);
    free(p->functions);
    mapped_close(&p->mapped);
    free(p);
}
