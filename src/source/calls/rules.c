// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/rules.h"
#include <string.h>
#include "base/glob.h"
#include "calls.types.h"

struct calls_options calls_options;

_Static_assert((unsigned)CALL_LESS == HOG_TEST_LESS && (unsigned)CALL_EQUAL == HOG_TEST_EQUAL &&
                   (unsigned)CALL_GREATER == HOG_TEST_GREATER && (unsigned)CALL_WIDE == HOG_TEST_WIDE,
               "tests");

bool calls_of_functions(const struct calls_options *o)
{
    return o->lib || o->preset;
}

/* ---- names ---- */

int calls_fits(const char *patterns, const char *name)
{
    for (int number = 0;; number++) {
        size_t n = strcspn(patterns, ",");
        if (n && glob_part_matches(patterns, n, name, strlen(name)))
            return number;
        if (!patterns[n])
            return -1;
        patterns += n + 1;
    }
}

/* "c", "libc" and "libc.so" all match libc.so.6 and libc-2.31.so. */
static bool begins_with(const char *name, const char *wanted)
{
    size_t n = strlen(wanted);

    if (strncmp(name, wanted, n) != 0)
        return false;
    return !name[n] || name[n] == '.' || (name[n] == '-' && name[n + 1] >= '0' && name[n + 1] <= '9');
}

bool calls_wants_file(const struct calls_options *o, const char *name)
{
    const char *patterns = o->lib                        ? o->lib
                           : o->preset == PRESET_LIBC_IO ? "libc.so*,libc-2.*.so,ld-musl-*.so*"
                                                         : "libmpi*.so*,libpmpi*.so*";

    if (!o->lib || strpbrk(o->lib, "*?,"))
        return calls_fits(patterns, name) >= 0;
    return begins_with(name, o->lib) || (!strncmp(name, "lib", 3) && begins_with(name + 3, o->lib));
}

const char *calls_lib(const struct calls_options *o)
{
    return o->lib ? o->lib : o->preset == PRESET_LIBC_IO ? "libc" : "libmpi";
}

bool calls_lib_is_path(const struct calls_options *o)
{
    return o->lib && strchr(o->lib, '/');
}

bool calls_must_not_probe(const char *name)
{
    static const char patterns[] =
        "*setjmp*,*longjmp*,*vfork*,*getcontext*,*setcontext*,*swapcontext*,*makecontext*,_start,_dl_start*,"
        "_init,_fini,__restore_rt,*clone*,__cxa_throw,__cxa_rethrow,*_Unwind_*,_dl_runtime_resolve*,"
        "*__tls_get_addr*,__fentry__,mcount,_mcount,__libc_start_*,pthread_exit,__pthread_exit";

    return calls_fits(patterns, name) >= 0;
}

/* ---- the C library's I/O ---- */

struct libc_rule {
    const char *names; /* a list; names with the same code are one function */
    enum hog_call_bytes bytes;
    unsigned test;
};
/* A failed fread looks like the end of a file. */
static const struct libc_rule libc_rules[] = {
    {"read,write,pread,pread64,pwrite,pwrite64,readv,writev,preadv,preadv64,pwritev,pwritev64,preadv2,"
     "preadv64v2,"
     "pwritev2,pwritev64v2,recv,send,recvfrom,sendto,recvmsg,sendmsg,sendfile,sendfile64,splice,copy_file_"
     "range",
     HOG_BYTES_RESULT, HOG_TEST_LESS},
    {"fread,fread_unlocked", HOG_BYTES_ITEMS, 0},
    {"fwrite,fwrite_unlocked", HOG_BYTES_ITEMS, HOG_TEST_SHORT},
    {"open,open64,openat,openat64,creat,creat64,close,lseek,lseek64,fsync,fdatasync,sync_file_range",
     HOG_BYTES_NONE, HOG_TEST_LESS},
    {"fopen,fopen64,fdopen,freopen,freopen64", HOG_BYTES_NONE, HOG_TEST_EQUAL},
    {"fflush,fflush_unlocked,fclose,fseek,fseeko,fseeko64", HOG_BYTES_NONE, HOG_TEST_LESS | HOG_TEST_GREATER},
};
#define LIBC_RULES (sizeof libc_rules / sizeof *libc_rules)

static const struct libc_rule *libc_rule_of(const char *name, int *number)
{
    for (size_t i = 0; i < LIBC_RULES; i++)
        if ((*number = calls_fits(libc_rules[i].names, name)) >= 0)
            return &libc_rules[i];
    return NULL;
}

/* ---- MPI-IO ---- */

/* Fortran names come first: code that has one is shown under it, and takes its arguments by reference. */
static const char mpi_patterns[] = "mpi_file_*_,mpi_file_*,MPI_FILE_*,MPI_File_*";
#define MPI_C 3

/* Functions like MPI_File_write_at_all_begin that move data, and which argument is the count. */
static bool mpi_moves(const char *name, uint8_t *count_at)
{
    static const char prefix[] = "MPI_File_";
    const char *verb = name + sizeof prefix - 1;

    if (calls_fits("read*,write*,iread*,iwrite*", verb) < 0 || calls_fits("*_end", verb) >= 0)
        return false;
    *count_at = calls_fits("*_at,*_at_*", verb) >= 0 ? 3 : 2;
    return true;
}

static void mpi_rule(const char *name, struct hog_function *rule)
{
    size_t length = strlen(name);

    if (calls_fits(mpi_patterns, name) != MPI_C) {
        rule->bytes = HOG_BYTES_INNER;
        rule->error_test = HOG_TEST_INNER;
        return;
    }
    rule->error_test = HOG_TEST_LESS | HOG_TEST_GREATER;
    if (!mpi_moves(name, &rule->bytes_at))
        return;
    rule->bytes = HOG_BYTES_ELEMENTS;
    rule->wide_count = length > 2 && !strcmp(name + length - 2, "_c");
}

/* ---- */

const char *calls_pattern(const struct calls_options *o)
{
    return o->func ? o->func : o->preset == PRESET_LIBC_IO ? "read,write,.." : "MPI_File_*";
}

int calls_wants_function(const struct calls_options *o, const char *name)
{
    int number = -1;

    if (calls_must_not_probe(name))
        return -1;
    if (o->func) {
        /* __read and __libc_read match "read". */
        number = calls_fits(o->func, name);
        return number < 0 ? -1 : number * 4 + (int)(strspn(name, "_") < 3 ? strspn(name, "_") : 3);
    }
    if (o->preset ==
        PRESET_MPI) /* conversions between C and Fortran handles are no I/O, and return something else */
        return calls_fits("*_f2c*,*_c2f*", name) < 0 ? calls_fits(mpi_patterns, name) : -1;
    return libc_rule_of(name, &number) ? number : -1;
}

void calls_rule(const struct calls_options *o, const char *name, struct hog_function *rule)
{
    const struct libc_rule *libc;
    int number;

    memset(rule, 0, sizeof *rule);
    rule->of_preset = !o->func;
    if (o->func) {
        rule->error_test = (uint8_t)o->error.test;
        rule->error_value = o->error.value;
        rule->bytes = o->bytes == CALL_RESULT ? HOG_BYTES_RESULT
                      : o->bytes              ? HOG_BYTES_ARGUMENT
                                              : HOG_BYTES_NONE;
        rule->bytes_at = (uint8_t)(o->bytes && o->bytes != CALL_RESULT ? o->bytes - 1 : 0);
    } else if (o->preset == PRESET_MPI) {
        mpi_rule(name, rule);
    } else if ((libc = libc_rule_of(name, &number))) {
        rule->error_test = (uint8_t)libc->test;
        rule->bytes = (uint8_t)libc->bytes;
        rule->bytes_at = 1;
        rule->expected_at = 2;
    }
}
