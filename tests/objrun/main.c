/* SPDX-License-Identifier: GPL-2.0-only */
/* objrun: puts any eBPF object through hog's loader, as far as asked. See docs/objrun.md. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "loader/kernel/target_file.h"
#include "tests/objrun/extras.h"
#include "tests/objrun/kconfig_text.h"
#include "tests/objrun/objrun.h"

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

struct options {
    const char *btf, *config, *object;
    bool dump, load, run;
};

static int usage(void)
{
    fputs("usage: objrun [--btf FILE|none] [--config FILE|none] [--dump] [--load] [--run] OBJECT\n", stderr);
    return STATUS_USAGE;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {
        {"btf", required_argument, NULL, 'b'}, {"config", required_argument, NULL, 'c'},
        {"dump", no_argument, NULL, 'd'},      {"load", no_argument, NULL, 'l'},
        {"run", no_argument, NULL, 'r'},       {NULL, 0, NULL, 0},
    };
    int c;
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (c) {
        case 'b':
            o->btf = optarg;
            break;
        case 'c':
            o->config = optarg;
            break;
        case 'd':
            o->dump = true;
            break;
        case 'l':
            o->load = true;
            break;
        case 'r':
            o->load = o->run = true;
            break;
        default:
            return false;
        }
    }
    if (optind + 1 != argc)
        return false;
    o->object = argv[optind];
    return true;
}

static void *read_file(const char *path, size_t *size, struct error *why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        error_set(why, -errno, "%s: cannot open it: %s", path, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > 256 << 20) {
        error_set(why, -EINVAL, "%s: not a file, or over 256 MiB", path);
        close(fd);
        return NULL;
    }
    *size = (size_t)st.st_size;
    char *bytes = malloc(*size + 1);
    for (size_t done = 0; bytes && done < *size;) {
        ssize_t n = read(fd, bytes + done, *size - done);
        if (n <= 0) {
            *size = done;
            break;
        }
        done += (size_t)n;
    }
    close(fd);
    if (!bytes)
        error_set(why, -ENOMEM, "%s: out of memory", path);
    return bytes;
}

static int read_config(void *context, char **text, struct error *why)
{
    const char *path = context;
    if (path && !strcmp(path, "none"))
        return 0;
    int err = kconfig_text(path, text, why);
    return !path && err == -ENOENT ? 0 : err; /* a host without a configuration is fine */
}

static int relocate(struct object *obj, const struct options *o, struct error *why)
{
    struct target_btf *target = NULL;
    if (!o->btf || strcmp(o->btf, "none")) {
        int err = target_btf_open(&target, o->btf, why);
        if (err && (o->btf || err != -ENOENT)) /* a host without BTF is fine */
            return err;
    }
    int err = extras_relocate(obj, target, why);
    target_btf_close(target);
    return err;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct error why = {0};
    struct object *obj = NULL;
    size_t size = 0;
    if (!parse_options(argc, argv, &o))
        return usage();
    void *bytes = read_file(o.object, &size, &why);
    int err = bytes ? extras_open(&obj, o.object, bytes, size, read_config, (void *)o.config, &why) : -EIO;
    err = err ? err : relocate(obj, &o, &why);
    int status = err ? STATUS_FAILED : STATUS_OK;
    if (err) {
        fprintf(stderr, "objrun: %s\n", why.text);
    } else {
        if (o.dump)
            objrun_dump(obj, stdout);
        if (o.load)
            status = objrun_load(obj, o.run);
    }
    extras_close(obj);
    free(bytes);
    if (fflush(stdout) || ferror(stdout))
        status = STATUS_FAILED;
    return status;
}
