// SPDX-License-Identifier: GPL-2.0-only
/* Files out of the input of a harness, see fuzz.h. The linker puts these functions in place of libc's
 * (--wrap). */
#include "tests/fuzz/fuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_FD 1000000
#define OPEN     8
#define AT_ONCE  777 /* bytes of a read(): parsers must not expect to get all at once */

struct text {
    const char *at;
    size_t length;
};

static struct text input;
static bool active;
static struct file {
    bool is_open;
    struct text text;
    size_t place;
} files[OPEN];

int __real_open(const char *path, int flags, ...);
int __real_openat(int directory, const char *path, int flags, ...);
ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
off_t __real_lseek(int fd, off_t at, int whence);
int __real_fstat(int fd, struct stat *st);
int __real_close(int fd);
FILE *__real_fopen(const char *path, const char *mode);
int __real_access(const char *path, int mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_openat(int directory, const char *path, int flags, mode_t mode);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
off_t __wrap_lseek(int fd, off_t at, int whence);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_close(int fd);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_access(const char *path, int mode);

static const char *line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));

    return newline ? newline + 1 : end;
}

void files_begin(const uint8_t *bytes, size_t size, int state)
{
    static const char mark[] = "@@\n";
    const char *p = (const char *)bytes, *second = size ? memmem(p, size, mark, strlen(mark)) : NULL;

    memset(files, 0, sizeof files);
    active = true;
    input = (struct text){p, second ? (size_t)(second - p) : size};
    if (second && state)
        input = (struct text){second + strlen(mark), size - input.length - strlen(mark)};
}

void files_end(void)
{
    active = false;
}

size_t files_only(const uint8_t *bytes, size_t size, const char *name)
{
    size_t n = strlen(name) + 2;

    if (size < n || bytes[0] != '@' || memcmp(bytes + 1, name, n - 2) != 0 || bytes[n - 1] != '\n')
        return 0;
    return memmem(bytes, size, "\n@", 2) || memmem(bytes, size, "@@\n", 3) ? 0 : n;
}

/* Whether the path ends in "/NAME". */
static bool fits(const char *path, const char *name, size_t n)
{
    size_t length = strlen(path);

    return n && length > n && path[length - n - 1] == '/' && !memcmp(path + length - n, name, n);
}

static bool find(const char *path, struct text *found)
{
    const char *end = input.at + input.length, *p = input.at;

    while (p < end) {
        const char *next = line_end(p, end);
        bool is = *p == '@' && fits(path, p + 1, (size_t)(next - p - 1) - (next[-1] == '\n'));
        p = next;
        for (next = p; next < end && *next != '@';)
            next = line_end(next, end);
        *found = (struct text){p, (size_t)(next - p)};
        if (is)
            return true;
        p = next;
    }
    errno = ENOENT;
    return false;
}

static int open_text(const char *path)
{
    struct text text;

    if (!find(path, &text))
        return -1;
    for (int i = 0; i < OPEN; i++)
        if (!files[i].is_open) {
            files[i] = (struct file){.is_open = true, .text = text};
            return FIRST_FD + i;
        }
    abort(); /* the parser forgets to close */
}

/* Without its "...": callers pass the mode in the same place, or it does not matter. */
int __wrap_open(const char *path, int flags, mode_t mode)
{
    return active && (flags & O_ACCMODE) == O_RDONLY ? open_text(path) : __real_open(path, flags, mode);
}

int __wrap_openat(int directory, const char *path, int flags, mode_t mode)
{
    return active && (flags & O_ACCMODE) == O_RDONLY ? open_text(path)
                                                     : __real_openat(directory, path, flags, mode);
}

static struct file *file_of(int fd)
{
    must(fd < FIRST_FD + OPEN && files[fd - FIRST_FD].is_open);
    return &files[fd - FIRST_FD];
}

ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    if (fd < FIRST_FD)
        return __real_pread(fd, to, n, at);
    const struct text *text = &file_of(fd)->text;
    size_t left = (size_t)at < text->length ? text->length - (size_t)at : 0;
    n = n < left ? n : left;
    if (n)
        memcpy(to, text->at + at, n);
    return (ssize_t)n;
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    if (fd < FIRST_FD)
        return __real_read(fd, to, n);
    struct file *file = file_of(fd);
    ssize_t got = __wrap_pread(fd, to, n < AT_ONCE ? n : AT_ONCE, (off_t)file->place);
    file->place += (size_t)got;
    return got;
}

/* Only to the begin. */
off_t __wrap_lseek(int fd, off_t at, int whence)
{
    if (fd < FIRST_FD)
        return __real_lseek(fd, at, whence);
    must(!at && whence == SEEK_SET);
    file_of(fd)->place = 0;
    return 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
    if (fd < FIRST_FD)
        return __real_fstat(fd, st);
    *st = (struct stat){.st_mode = S_IFREG | 0644, .st_size = (off_t)file_of(fd)->text.length};
    return 0;
}

int __wrap_close(int fd)
{
    if (fd < FIRST_FD)
        return __real_close(fd);
    file_of(fd)->is_open = false;
    return 0;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    struct text text;

    if (!active || *mode != 'r')
        return __real_fopen(path, mode);
    return find(path, &text) ? fmemopen((void *)text.at, text.length, "r") : NULL;
}

int __wrap_access(const char *path, int mode)
{
    return active ? 0 : __real_access(path, mode);
}
