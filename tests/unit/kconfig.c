/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of a kernel's configuration in the externs of object_kconfig, and the effect of a missing one.
 */
#include <errno.h>
#include <string.h>
#include "tests/objrun/kconfig.h"
#include "tests/objrun/kconfig_text.h"
#include "tests/unit/btf_make.h"
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"
#include <unistd.h>

static const char text[] = "#\n# Automatically generated file\n#\n"
                           "CONFIG_BOOL=y\n"
                           "CONFIG_BOOL_NO=n\n"
                           "CONFIG_BOOL_MODULE=m\n"
                           "CONFIG_TRI=y\n"
                           "CONFIG_TRI_M=m\r\n"
                           "CONFIG_CHAR=m\n"
                           "CONFIG_CHAR_NUMBER=-128\n"
                           "CONFIG_INT=250\n"
                           "CONFIG_INT=300\n"
                           "CONFIG_INT_NEGATIVE=-2147483648\n"
                           "CONFIG_INT_LARGE=2147483648\n"
                           "CONFIG_INT_YES=y\n"
                           "CONFIG_HEX=0xffffffff81000000\n"
                           "CONFIG_UNSIGNED_NEGATIVE=-1\n"
                           "CONFIG_SHORT_EDGE=32768\n"
                           "CONFIG_TEXT_CUT=\"longer than it\"\n"
                           "CONFIG_TEXT_OPEN=\"abc\n"
                           "# CONFIG_COMMENTED is not set\n"
                           "CONFIG_INT_=7";

static const struct {
    const char *name;
    size_t size;
    const void *value; /* NULL: the program that uses it is refused */
} expected[] = {
    {"BOOL", 1, "\1"},
    {"BOOL_NO", 1, "\0"},
    {"BOOL_MODULE", 1, NULL},
    {"TRI", 4, "\1\0\0\0"},
    {"TRI_M", 4, "\2\0\0\0"},
    {"CHAR", 1, "m"},
    {"CHAR_NUMBER", 1, "\x80"},
    {"INT", 4, "\xfa\0\0\0"},
    {"INT_NEGATIVE", 4, "\0\0\0\x80"},
    {"INT_LARGE", 4, NULL},
    {"INT_YES", 4, NULL},
    {"HEX", 8, "\0\0\0\x81\xff\xff\xff\xff"},
    {"UNSIGNED_NEGATIVE", 4, NULL},
    {"SHORT_EDGE", 2, NULL},
    {"TEXT_CUT", 6, "longe\0"},
    {"TEXT_OPEN", 6, NULL},
    {"ABSENT", 4, NULL},
    {"COMMENTED", 1, NULL},
    {"INT_", 4, "\7\0\0\0"},
};
#define N (sizeof expected / sizeof *expected)

static const struct object_program *program_for(const struct object *obj, const char *name)
{
    char program[64];
    snprintf(program, sizeof program, "get_%s", name);
    return object_program(obj, program);
}

static void compare(const struct object *obj)
{
    for (size_t i = 0; i < N; i++) {
        const struct object_program *p = program_for(obj, expected[i].name);
        char variable[64];
        snprintf(variable, sizeof variable, "CONFIG_%s", expected[i].name);
        const void *at = kconfig_value(obj, variable, expected[i].size);
        if (!p || !at)
            check(false, "%s is in the object", variable);
        else if (expected[i].value)
            check(!p->error && !memcmp(at, expected[i].value, expected[i].size), "%s has its value: %s",
                  variable, p->reason.text);
        else
            check(p->error == -ENOENT && strstr(p->reason.text, variable), "%s is refused: %s", variable,
                  p->reason.text);
    }
    const struct object_program *weak = program_for(obj, "WEAK_ABSENT");
    const int *value = kconfig_value(obj, "CONFIG_WEAK_ABSENT", sizeof *value);
    check(weak && !weak->error && value && !*value, "a weak one that is not mentioned is zero");
}

/* Gives what `context` is. */
static int give(void *context, char **to, struct error *why)
{
    *to = strdup(context);
    return 0;
}

static int refuse(void *context, char **to, struct error *why)
{
    return error_set(why, -EIO, "asked");
}

static void with_text(const void *bytes, size_t size)
{
    struct object *obj = NULL;
    struct error why = {0};
    check(extras_open(&obj, "object_kconfig", bytes, size, refuse, NULL, &why) == -EIO &&
              strstr(why.text, "asked"),
          "it asks for the configuration: %s", why.text);
    check(extras_open(&obj, "object_kconfig", bytes, size, give, (void *)"any text\n", &why) == -EINVAL,
          "a text without options is refused: %s", why.text);
    int err = extras_open(&obj, "object_kconfig", bytes, size, give, (void *)text, &why);
    check(!err, "the object opens: %s", why.text);
    if (err)
        return;
    err = extras_relocate(obj, NULL, &why);
    check(!err, "it is relocated: %s", why.text);
    compare(obj);
    extras_close(obj);
}

static void without_text(const void *bytes, size_t size)
{
    struct object *obj = NULL;
    if (extras_open(&obj, "object_kconfig", bytes, size, NULL, NULL, NULL))
        return;
    check(!extras_relocate(obj, NULL, NULL), "without a configuration the object as a whole is fine");
    const struct object_program *p = program_for(obj, "INT"), *weak = program_for(obj, "WEAK_ABSENT");
    check(p && p->error == -ENOENT && strstr(p->reason.text, "not known"),
          "a program that needs it is refused: %s", p ? p->reason.text : "");
    check(weak && !weak->error, "one that does not is loaded");
    extras_close(obj);
}

static void others(void)
{
    size_t size;
    void *bytes = test_object_bytes("core_local", &size);
    struct object *obj = NULL;
    check(bytes && !extras_open(&obj, "core_local", bytes, size, refuse, NULL, NULL),
          "an object without such externs does not ask");
    extras_close(obj);
    free(bytes);
}

static void files(void)
{
    char path[] = "/tmp/hog-config-XXXXXX", *got = NULL;
    struct error why = {0};
    bool made = !make_file(text, sizeof text - 1, path);
    check(made && !kconfig_text(path, &got, &why) && !strcmp(got, text), "a text is read from a file: %s",
          why.text);
    free(got);
    got = NULL;
    unlink(path);
    check(kconfig_text(path, &got, &why) == -ENOENT && strstr(why.text, path), "a file that is not there: %s",
          why.text);
    check(kconfig_text("/dev/zero", &got, &why) == -E2BIG, "one without an end is given up: %s", why.text);
}

int main(void)
{
    size_t size;
    void *bytes = test_object_bytes("object_kconfig", &size);
    check(bytes != NULL, "object_kconfig.bpf.o is there: %s", test_object_path("object_kconfig"));
    if (bytes) {
        with_text(bytes, size);
        without_text(bytes, size);
    }
    free(bytes);
    others();
    files();
    return done();
}
