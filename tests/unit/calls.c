/* SPDX-License-Identifier: GPL-2.0-only */
/* Selected calls, failed calls, and names of system calls. */
#include "source/calls/call_test.h"
#include "calls.types.h"
#include "host/syscalls.h"
#include "source/calls/rules.h"
#include "tests/unit/tap.h"
#include <string.h>
#include <sys/syscall.h>

static void check_tests(void)
{
    struct call_test t;
    unsigned bytes;

    check(!call_test_parse(&t, "ret<0", NULL) && t.test == CALL_LESS && t.value == 0, "ret<0");
    check(!call_test_parse(&t, " ret != -5 ", NULL) && t.test == (CALL_LESS | CALL_GREATER) && t.value == -5,
          "blanks, and numbers below zero");
    check(!call_test_parse(&t, "ret64>=0x10", NULL) && t.test == (CALL_WIDE | CALL_GREATER | CALL_EQUAL) &&
              t.value == 16,
          "64 bits, and hexadecimal numbers");
    check(!call_test_parse(&t, "ret==NULL", NULL) && t.test == CALL_EQUAL && t.value == 0, "NULL");
    static const char *const wrong[] = {
        "",       "ret",     "ret<",    "<0",      "ret=0",
        "ret<0x", "ret<1 2", "ret<NUL", "ret32<0", "ret<99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check(call_test_parse(&t, wrong[i], NULL) < 0, "\"%s\" is no test", wrong[i]);
    check(!call_bytes_parse(&bytes, "6", NULL) && bytes == 6, "an argument");
    check(!call_bytes_parse(&bytes, "ret", NULL) && bytes == CALL_RESULT, "the result");
    check(call_bytes_parse(&bytes, "7", NULL) < 0 && call_bytes_parse(&bytes, "", NULL) < 0, "no argument");
}

static void check_names(void)
{
    struct calls_options libc = {.lib = "libc"}, c = {.lib = "c"}, version = {.lib = "libmpi.so.40"},
                         mpi = {.preset = PRESET_MPI};

    check(calls_fits("a*c,x?z", "abbc") == 0 && calls_fits("a*c,x?z", "xyz") == 1, "patterns");
    check(calls_fits("a*c,x?z", "ab") < 0 && calls_fits("", "") < 0 && calls_fits("x?", "x") < 0,
          "no pattern");
    check(calls_wants_file(&libc, "libc.so.6") && calls_wants_file(&libc, "libc-2.31.so"), "libc");
    check(!calls_wants_file(&libc, "libcrypt.so.1") && !calls_wants_file(&libc, "libc-client.so"),
          "not libcrypt");
    check(calls_wants_file(&c, "libc.so.6") && calls_wants_file(&version, "libmpi.so.40.30.4"),
          "short and long names");
    check(calls_wants_file(&mpi, "libmpich.so.12") && !calls_wants_file(&mpi, "libc.so.6"),
          "a preset's files");
    check(calls_must_not_probe("__sigsetjmp") && calls_must_not_probe("vfork") &&
              !calls_must_not_probe("read"),
          "what returns twice is not probed");
}

static void check_mpi(void)
{
    struct calls_options mpi = {.preset = PRESET_MPI};
    struct hog_function rule;

    calls_rule(&mpi, "MPI_File_write_at_all", &rule);
    check(rule.bytes == HOG_BYTES_ELEMENTS && rule.bytes_at == 3 && !rule.wide_count,
          "MPI_File_write_at_all");
    calls_rule(&mpi, "MPI_File_iread_shared_c", &rule);
    check(rule.bytes == HOG_BYTES_ELEMENTS && rule.bytes_at == 2 && rule.wide_count,
          "MPI_File_iread_shared_c");
    calls_rule(&mpi, "MPI_File_read_all_end", &rule);
    check(rule.bytes == HOG_BYTES_NONE && rule.error_test, "MPI_File_read_all_end");
    calls_rule(&mpi, "MPI_File_get_size", &rule);
    check(rule.bytes == HOG_BYTES_NONE, "MPI_File_get_size");
    calls_rule(&mpi, "mpi_file_write_", &rule);
    check(rule.bytes == HOG_BYTES_INNER, "mpi_file_write_");
    check(calls_wants_function(&mpi, "mpi_file_write_") < calls_wants_function(&mpi, "MPI_File_write_f"),
          "a name of Fortran is better");
    check(calls_wants_function(&mpi, "MPI_File_f2c") < 0, "conversions of handles are no I/O");
}

int main(void)
{
    uint64_t bits[8] = {0};

    check_tests();
    check_names();
    check_mpi();
    check(!strcmp(syscall_name(SYS_openat, false), "openat") &&
              !strcmp(syscall_name(SYS_execve, false), "execve"),
          "names are those of the numbers that this machine has");
    check(!syscall_name(100000, false) && !syscall_name(UINT32_MAX, true), "numbers without a call");
    syscall_bytes(bits, 8, false);
    check(bits[SYS_read / 64] >> SYS_read % 64 & 1 && bits[SYS_sendfile / 64] >> SYS_sendfile % 64 & 1,
          "those of bytes");
    check(!(bits[SYS_openat / 64] >> SYS_openat % 64 & 1), "and those that are not");
    return done();
}
