// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/symbols.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash_table.h"
#include "host/process.h"
#include "source/shared/file_reader.h"
#include "source/shared/symbols_file.h"
#include "source/shared/symbols_kernel.h"

#define MOST_IMAGES   4096
#define MOST_MAPPINGS 512 /* of an image */
#define MOST_FILES    8192
#define MOST_NAMES    32768
#define FILE_NS       200000000ull /* to read one file */
#define WINDOW_NS     400000000ull /* to read files in a window */

enum { FILE_NONE, FILE_VDSO = 1, FILE_JIT = 2, FIRST_FILE = 16 };

/* A file that processes have mapped. */
struct mapped_file {
    uint64_t id; /* of device and inode */
    uint64_t device, inode;
    char *path;       /* as the process saw that mapped it last */
    uint32_t process; /* that one */
    uint32_t major, minor;
    uint64_t start, end, offset; /* where */
    bool failed;                 /* it cannot be read, or takes too long */
};

struct image_mapping {
    uint64_t start, end, offset;
    uint64_t file; /* id, or FILE_... */
};

struct image {
    uint64_t id;
    uint64_t used; /* window */
    uint32_t process, uid;
    bool stale; /* an address was not found: read again if it can be */
    struct image_mapping *mappings;
    size_t n;
};

/* The name of a place. */
struct named_place {
    uint64_t id; /* of file and offset; of image and address, for a JIT */
    char *name;  /* NULL: it has none */
};

/* What is not named yet. */
struct question {
    uint64_t file, at, place; /* file: or an image, for a JIT */
    bool jit;
};

struct symbols {
    struct kernel_symbols kernel;
    struct hash_table images, files, names, latest;
    struct file_reader reader;
    struct question *questions;
    size_t nquestions, room;
    struct symbols_asked asked; /* the child sees it as it was when it was made: see ask_all() */
    const char *debug;
    uint64_t window, spent;
};

/* Of a process, its image that was kept last. */
struct latest {
    uint64_t id, image;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * 0xc2b2ae3d27d4eb4full) * 0x9e3779b97f4a7c15ull;

    return (hash ^ hash >> 29) | FIRST_FILE;
}

/* ---- the child's side ---- */

/* `argument` is the address of the questions: the child sees hog's memory as it was when it was made. */
static int answer_questions(const char *path, uint64_t argument, void *answer, struct error *why)
{
    return symbols_answer(path, (const struct symbols_asked *)(uintptr_t)argument, answer, why);
}

/* ---- opening ---- */

struct symbols *symbols_open(const char *debug)
{
    struct symbols *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->debug = debug ? debug : "/usr/lib/debug";
    s->images = (struct hash_table){.size = sizeof(struct image), .most = MOST_IMAGES};
    s->files = (struct hash_table){.size = sizeof(struct mapped_file), .most = MOST_FILES};
    s->names = (struct hash_table){.size = sizeof(struct named_place), .most = MOST_NAMES};
    s->latest = (struct hash_table){.size = sizeof(struct latest), .most = MOST_IMAGES};
    file_reader_open(&s->reader, answer_questions, sizeof(struct symbols_answer));
    return s;
}

static bool drop_image(const void *context, const void *entry)
{
    free(((const struct image *)entry)->mappings);
    return false;
}

static bool drop_file(const void *context, const void *entry)
{
    free(((const struct mapped_file *)entry)->path);
    return false;
}

static bool drop_name(const void *context, const void *entry)
{
    free(((const struct named_place *)entry)->name);
    return false;
}

static bool drop(const void *context, const void *entry)
{
    return false;
}

/* All at once: what is asked about next is kept again. */
static void forget(struct hash_table *table, hash_table_fn how)
{
    hash_table_keep(table, how, NULL);
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    forget(&s->images, drop_image);
    forget(&s->files, drop_file);
    forget(&s->names, drop_name);
    hash_table_free(&s->images);
    hash_table_free(&s->files);
    hash_table_free(&s->names);
    hash_table_free(&s->latest);
    file_reader_close(&s->reader);
    kernel_symbols_free(&s->kernel);
    free(s->questions);
    free(s);
}

/* ---- what processes have mapped ---- */

struct keeping {
    struct symbols *s;
    struct image *image;
    uint32_t process;
};

static uint64_t keep_file(struct keeping *k, const struct mapping *m)
{
    uint64_t device = (uint64_t)m->major << 32 | m->minor, id = mix(m->inode, device);

    struct mapped_file *file = hash_table_find_or_add(&k->s->files, id);
    if (!file)
        return FILE_NONE;
    if (!file->path || file->process != k->process) {
        char *path = strdup(m->path);
        if (!path)
            return FILE_NONE;
        free(file->path);
        file->path = path;
    }
    file->process = k->process;
    file->device = device;
    file->major = m->major;
    file->minor = m->minor;
    file->inode = m->inode;
    file->start = m->start;
    file->end = m->end;
    file->offset = m->offset;
    return id;
}

static int keep_mapping(void *context, const struct mapping *m)
{
    struct keeping *k = context;
    struct image *image = k->image;

    if (!m->executable || image->n == MOST_MAPPINGS)
        return 0;
    if (!(image->n & (image->n - 1))) {
        struct image_mapping *more = realloc(image->mappings, (image->n ? 2 * image->n : 1) * sizeof *more);
        if (!more)
            return -ENOMEM;
        image->mappings = more;
    }
    uint64_t file = m->inode ? keep_file(k, m) : !strcmp(m->path, "[vdso]") ? FILE_VDSO : FILE_JIT;
    image->mappings[image->n++] =
        (struct image_mapping){.start = m->start, .end = m->end, .offset = m->offset, .file = file};
    return 0;
}

static uint32_t owner_of(uint32_t process)
{
    char path[32];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%u", process);
    return stat(path, &st) ? UINT32_MAX : st.st_uid;
}

static int read_image(struct symbols *s, struct image *image)
{
    struct image before = *image;
    struct keeping k = {s, image, image->process};

    image->mappings = NULL;
    image->n = 0;
    image->stale = false;
    image->uid = owner_of(image->process);
    int err = mappings_read(image->process, keep_mapping, &k);
    if (err || !image->n) { /* it has ended: what was known of it is all there is */
        free(image->mappings);
        image->mappings = before.mappings;
        image->n = before.n;
        return err ? err : -ESRCH;
    }
    free(before.mappings);
    return 0;
}

int symbols_keep(struct symbols *s, uint64_t id, uint32_t process)
{
    if (s->images.n == MOST_IMAGES || s->files.n == MOST_FILES) {
        forget(&s->images, drop_image);
        forget(&s->files, drop_file);
        forget(&s->latest, drop);
    }
    struct image *image = hash_table_find_or_add(&s->images, id);
    struct latest *latest = hash_table_find_or_add(&s->latest, process);
    if (!image || !latest)
        return -ENOMEM;
    latest->image = id;
    image->process = process;
    image->used = s->window;
    return read_image(s, image);
}

static const struct image_mapping *mapping_of(const struct image *image, uint64_t address)
{
    for (size_t i = 0; image && i < image->n; i++)
        if (address >= image->mappings[i].start && address < image->mappings[i].end)
            return &image->mappings[i];
    return NULL;
}

/* A library that was loaded since: if the process still is what it was, it is read again. */
static const struct image_mapping *find_mapping(struct symbols *s, struct image *image, uint64_t address)
{
    const struct image_mapping *m = mapping_of(image, address);

    if (m || !image || image->stale)
        return m;
    const struct latest *latest = hash_table_find(&s->latest, image->process);
    if (latest && latest->image == image->id)
        read_image(s, image);
    image->stale = true; /* once a window */
    return mapping_of(image, address);
}

/* ---- questions ---- */

static uint64_t place_of(const struct image *image, const struct image_mapping *m, uint64_t address)
{
    return m->file == FILE_JIT ? mix(image->id ^ 0x717, address)
                               : mix(m->file, address - m->start + m->offset);
}

void symbols_want_user(struct symbols *s, uint64_t id, uint64_t address, bool caller)
{
    struct image *image = hash_table_find(&s->images, id);
    uint64_t at = address - caller;
    const struct image_mapping *m = find_mapping(s, image, at);

    if (!m || m->file == FILE_VDSO || m->file == FILE_NONE)
        return;
    image->used = s->window;
    uint64_t place = place_of(image, m, at);
    if (hash_table_find(&s->names, place))
        return;
    if (s->names.n == MOST_NAMES)
        forget(&s->names, drop_name);
    if (s->nquestions == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        struct question *more = room > MOST_NAMES ? NULL : realloc(s->questions, room * sizeof *more);
        if (!more)
            return;
        s->questions = more;
        s->room = room;
    }
    if (!hash_table_find_or_add(&s->names, place))
        return;
    bool jit = m->file == FILE_JIT;
    s->questions[s->nquestions++] = (struct question){
        .file = jit ? id : m->file, .at = jit ? at : at - m->start + m->offset, .place = place, .jit = jit};
}

static int by_file(const void *x, const void *y)
{
    const struct question *a = x, *b = y;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* A process can name a JIT's functions in a file of its own mount namespace, called by its own PID. */
static bool jit_map(const struct image *image, char *path, size_t size)
{
    char status[64], text[4096];

    snprintf(status, sizeof status, "/proc/%u/status", image->process);
    ssize_t n = file_read(status, text, sizeof text);
    const char *line = n > 0 ? strstr(text, "\nNSpid:") : NULL;
    if (!line)
        return false;
    const char *end = strchr(line + 1, '\n'), *pid = end;
    while (pid && pid > line && pid[-1] != '\t' && pid[-1] != ' ')
        pid--;
    if (!end)
        return false;
    snprintf(path, size, "/proc/%u/root/tmp/perf-%.*s.map", image->process, (int)(end - pid), pid);
    return true;
}

static int ask_file(struct symbols *s, const struct symbols_asked *asked, uint64_t id, bool jit)
{
    struct error why;
    char path[96];
    uint64_t argument = (uint64_t)(uintptr_t)asked;

    if (jit) {
        const struct image *image = hash_table_find(&s->images, id);
        if (!image || !jit_map(image, path, sizeof path))
            return -ESRCH;
        return file_reader_ask(&s->reader, 0, NULL, path, argument, FILE_NS, &why);
    }
    struct mapped_file *file = hash_table_find(&s->files, id);
    if (!file || file->failed)
        return -ESRCH;
    const struct mapping m = {.start = file->start,
                              .end = file->end,
                              .offset = file->offset,
                              .major = file->major,
                              .minor = file->minor,
                              .inode = file->inode,
                              .executable = true,
                              .path = file->path};
    int err = file_reader_ask(&s->reader, file->process, &m, NULL, argument, FILE_NS, &why);
    if (err == -ENOENT || err == -ESRCH) { /* the process has ended */
        s->spent += s->reader.cpu_ns;
        err = file_reader_ask(&s->reader, 0, NULL, file->path, argument, FILE_NS, &why);
    }
    file->failed = err == -ETIMEDOUT;
    return err;
}

/* The questions [from, to) about one file. All chunks are prepared before the child is made, which then sees
 * them. */
struct chunk {
    struct symbols_asked asked;
    size_t from;
    char debug[64];
};

static void prepare(const struct symbols *s, struct chunk *chunk, size_t from, size_t to)
{
    const struct question *first = &s->questions[from];
    struct symbols_asked *asked = &chunk->asked;

    chunk->from = from;
    asked->n = to - from;
    asked->jit = first->jit;
    for (size_t i = from; i < to; i++)
        asked->at[i - from] = s->questions[i].at;
    if (first->jit) {
        const struct image *image = hash_table_find(&s->images, first->file);
        asked->uid = image ? image->uid : UINT32_MAX;
        return;
    }
    const struct mapped_file *file = hash_table_find(&s->files, first->file);
    asked->inode = file ? file->inode : 0;
    snprintf(chunk->debug, sizeof chunk->debug, "/proc/%u/root/usr/lib/debug", file ? file->process : 0);
    asked->debug[0] = s->debug;
    asked->debug[1] = chunk->debug;
}

static void take_answers(struct symbols *s, const struct chunk *chunk)
{
    const struct symbols_answer *answer = file_reader_answer(&s->reader);

    for (size_t i = 0; i < chunk->asked.n; i++) {
        struct named_place *named = hash_table_find(&s->names, s->questions[chunk->from + i].place);
        if (named && *answer->names[i] && !named->name)
            named->name = strndup(answer->names[i], SYMBOL_NAME - 1);
    }
}

static void ask_chunks(struct symbols *s, struct chunk *chunks, size_t n)
{
    file_reader_stop(&s->reader);
    for (size_t i = 0; i < n && s->spent < WINDOW_NS; i++) {
        const struct question *first = &s->questions[chunks[i].from];
        if (ask_file(s, &chunks[i].asked, first->file, first->jit) >= 0)
            take_answers(s, &chunks[i]);
        s->spent += s->reader.cpu_ns;
    }
}

void symbols_resolve(struct symbols *s)
{
    size_t n = 0, nchunks = 0;

    if (!s->nquestions)
        return;
    qsort(s->questions, s->nquestions, sizeof *s->questions, by_file);
    for (size_t from = 0, to; from < s->nquestions; from = to, nchunks++)
        for (to = from + 1; to < s->nquestions && to - from < SYMBOLS_ASKED &&
                            s->questions[to].file == s->questions[from].file;)
            to++;
    struct chunk *chunks = calloc(nchunks, sizeof *chunks);
    for (size_t from = 0, to; chunks && from < s->nquestions; from = to) {
        for (to = from + 1; to < s->nquestions && to - from < SYMBOLS_ASKED &&
                            s->questions[to].file == s->questions[from].file;)
            to++;
        prepare(s, &chunks[n++], from, to);
    }
    if (chunks)
        ask_chunks(s, chunks, n);
    free(chunks);
    s->nquestions = 0;
}

/* ---- answers ---- */

static void describe_place(const struct symbols *s, const struct image_mapping *m, uint64_t at, char *text)
{
    const struct mapped_file *file = hash_table_find(&s->files, m->file);
    uint64_t in_file = at - m->start + m->offset;
    size_t length;

    if (m->file == FILE_VDSO || m->file == FILE_JIT || !file) {
        snprintf(text, SYMBOL_NAME, "%s", m->file == FILE_VDSO ? "[vdso]" : "[jit]");
        return;
    }
    const struct mapping named = {.path = file->path};
    const char *name = mapping_name(&named, &length);
    symbol_clean(text, 96, name, length);
    length = strlen(text);
    snprintf(text + length, SYMBOL_NAME - length, "+0x%llx", (unsigned long long)in_file);
}

bool symbols_user(struct symbols *s, uint64_t id, uint64_t address, bool caller, char text[SYMBOL_NAME])
{
    struct image *image = hash_table_find(&s->images, id);
    uint64_t at = address - caller;
    const struct image_mapping *m = mapping_of(image, at);

    if (!m) {
        snprintf(text, SYMBOL_NAME, "0x%llx", (unsigned long long)address);
        return false;
    }
    const struct named_place *named = hash_table_find(&s->names, place_of(image, m, at));
    if (named && named->name)
        snprintf(text, SYMBOL_NAME, "%s", named->name);
    else
        describe_place(s, m, at, text);
    return true;
}

static bool is_used(const void *context, const void *entry)
{
    const struct symbols *s = context;
    const struct image *image = entry;

    if (image->used + 60 >= s->window)
        return true;
    free(image->mappings);
    return false;
}

void symbols_named(struct symbols *s)
{
    file_reader_stop(&s->reader);
    s->spent = 0;
    s->window++;
    for (size_t i = 0; i < s->images.n; i++)
        ((struct image *)hash_table_at(&s->images, i))->stale = false;
    if (s->images.n > MOST_IMAGES / 2)
        hash_table_keep(&s->images, is_used, s);
}

bool symbols_kernel(struct symbols *s, uint64_t address, char text[SYMBOL_NAME])
{
    const char *name = kernel_symbol(&s->kernel, address);

    if (name)
        symbol_clean(text, SYMBOL_NAME, name, strlen(name));
    else
        snprintf(text, SYMBOL_NAME, "[kernel]");
    return name;
}

bool symbols_kernel_hidden(struct symbols *s)
{
    kernel_symbol(&s->kernel, 0);
    return s->kernel.hidden;
}
