#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog calls on functions of libraries whose calls the load counts itself, and on MPI programs.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- a library, and a program that calls it ----

cat >"$TMP/callee.c" <<'SOURCE'
#include <setjmp.h>
#include <stddef.h>
#include <unistd.h>
int callee_put(const void *from, size_t n) { return n % 2 ? -1 : 0; }
long callee_get(size_t n) { return n; }
void *callee_find(int is) { return is ? "x" : NULL; }
int callee_inner(int a) { return a; }
int callee_outer(int a) { return callee_inner(a) + callee_inner(a) + 1; }
int callee_deep(int n) { return n ? callee_deep(n - 1) + 1 : 0; }
void callee_leave(jmp_buf to) { longjmp(to, 1); }
int callee_slow(void) { return usleep(30000); }
SOURCE
cat >"$TMP/caller.c" <<'SOURCE'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int callee_put(const void *, size_t);
long callee_get(size_t);
void *callee_find(int);
int callee_outer(int), callee_deep(int), callee_slow(void);
void callee_leave(jmp_buf);
static void *work(void *argument)
{
    long n = *(long *)argument;
    jmp_buf back;
    for (volatile long i = 0; i < n; i++) {
        callee_put(&n, 1000 + i % 2);
        callee_get(2048);
        callee_find(i % 4 != 0);
        callee_outer(1);
        if (!setjmp(back))
            callee_leave(back);
        if (i % 10 == 0)
            callee_deep(5);
    }
    return NULL;
}
int main(void)
{
    char line[64];
    pthread_t thread[3];
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready\n");
    while (fgets(line, sizeof line, stdin)) {
        long n = strtol(line + strcspn(line, " "), NULL, 10);
        if (!strncmp(line, "work", 4)) {
            for (int i = 0; i < 3; i++)
                pthread_create(&thread[i], NULL, work, &n);
            for (int i = 0; i < 3; i++)
                pthread_join(thread[i], NULL);
        }
        for (long i = 0; i < n && !strncmp(line, "slow", 4); i++)
            callee_slow();
        printf("done %s", line);
    }
}
SOURCE
mkdir "$TMP/lib"
cc -shared -fPIC -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const "$TMP/callee.c" -o "$TMP/lib/libcallee.so.1" -Wl,-soname,libcallee.so.1 &&
    cc -O1 -pthread "$TMP/caller.c" "$TMP/lib/libcallee.so.1" -Wl,-rpath,"$TMP/lib" -o "$TMP/caller" || exit 1

order() { load_order said "$1"; }
begin() { counting calls -k 10000 "$@"; }
# sum COLUMN FUNC [PID]: over all windows.
sum() { column_sum "$TMP/out" calls "$1" func="$2" ${3:+"pid=$3"}; }
is() { # is FUNC COLUMN NUMBER [PID]; decimals were rounded in each window
    local value
    value=$(sum "$2" "$1" "${4-}")
    echo "$2 of $1: $value, not $3"
    [ "$value" = "$3" ] || { [ "$3" != - ] && within "$value" "$(awk -v n="$3" 'BEGIN { print n - 0.02 }')" "$(awk -v n="$3" 'BEGIN { print n + 0.02 }')"; }
}

all_counts() { # 3 threads, 400 each
    is callee_put count 1200 && is callee_get count 1200 && is callee_find count 1200 && is callee_outer count 1200 &&
        is callee_inner count 2400 && is callee_deep count 720 && is callee_leave entered 1200 && is callee_leave count 0
}

# by HOW OPTION...: the counts are the same however the probes are set.
by() {
    local how=$1
    shift
    load_ready said "$TMP/caller"
    check "$how: begins" begin --lib libcallee --func 'callee_*' "${@//PID/$LOAD_PID}" 0.2
    order 'work 400'
    order 'slow 20'
    next_windows 2
    measured
    check "$how: calls are counted exactly, nested, recursive and left by longjmp" all_counts
    check "$how: errors and bytes that were not described are unknown" test "$(sum errors callee_put)$(sum kib callee_put)" = --
    check "$how: half of the slow ones took 30 ms, and little more" \
        within "$(awk "$BY_NAME"'$1 == "calls" && col("func") == "callee_slow" && col("p50_us") != "-" { print col("p50_us") }' "$TMP/out" | sort -n | head -n 1)" 28000 60000
    check "$how: nothing is lost" test "$(window_sum lost)" = 0
    load_end
}
by 'at once'
by 'one by one' --without uprobe_multi
by 'with -p' -p PID

# ---- errors and bytes ----

told() { # told NAME FUNC ERRORS KIB OPTION...
    local name=$1 func=$2 errors=$3 kib=$4
    shift 4
    load_ready said "$TMP/caller"
    begin --lib "$TMP/lib/libcallee.so.1" --func "$func" "$@" 0.2
    order 'work 400'
    next_windows 2
    measured
    load_end
    is "$func" errors "$errors" && is "$func" kib "$kib"
}
check 'an int below zero, and the bytes of an argument' told int callee_put 600 585.938 --error 'ret<0' --bytes 2
check 'NULL' told NULL callee_find 300 - --error ret==NULL
check 'bytes of the result' told result callee_get 1200 0 --error 'ret64 >= 2048' --bytes ret
check 'bytes of calls that do not fail' told result callee_get 0 2400 --error 'ret > 2048' --bytes ret

# ---- files that come and go ----

begin --lib "$TMP/lib/libcallee.so.1" --func callee_get 0.2
load_ready said "$TMP/caller"
order 'work 100'
next_windows 2
measured
check 'a program that begins after hog is seen from its first call on' is callee_get count 300 "$LOAD_PID"
check 'and has its name' grep -q "^calls .* callee_get .* caller\$" "$TMP/out"
cat >"$TMP/contain" <<SCRIPT
#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs none "$TMP/lib" && cp "$TMP/copy" "$TMP/lib/libcallee.so.1" && exec "$TMP/caller"'
SCRIPT
chmod +x "$TMP/contain"
load_end
cp "$TMP/lib/libcallee.so.1" "$TMP/copy"
load_ready said "$TMP/contain"
begin --lib callee --func callee_get 0.2
order 'work 100'
next_windows 2
measured
check 'a library in a mount namespace of its own' is callee_get count 300
load_end

# ---- refusals ----

calls_refuses() { refuses "$1" "$2" calls "${@:3}" 0.1 1; }
check 'no such library' calls_refuses 1 'nosuchlib: no process has mapped' --lib nosuchlib --func x
check 'no such file' calls_refuses 1 '/nosuch/lib.so: ENOENT' --lib /nosuch/lib.so --func x
check 'no ELF file' calls_refuses 1 'not an ELF file' --lib /etc/passwd --func x
check 'no such function: near ones are named' calls_refuses 1 'near that are .*callee_put' --lib "$TMP/lib/libcallee.so.1" --func callee_putt
check 'too many functions: how many they are, and the limit' calls_refuses 1 '\* fits [0-9]+ functions: at most 512' --lib libc.so.6 --func '*'
check 'a function that a probe would break' calls_refuses 1 'none of its functions' --lib libc.so.6 --func vfork
check '--func without --lib' calls_refuses 2 'go together' --func x
check '--lib without --func' calls_refuses 2 'go together' --lib libc
check 'a preset and functions' calls_refuses 2 'only one of' --preset mpi --lib libc --func read
check 'no test of a result' calls_refuses 2 "like 'ret<0'" --lib libc --func read --error 'result<0'
check 'no argument' calls_refuses 2 '1 to 6' --lib libc --func read --bytes 0
other_view() { "$HOG" cpu --preset mpi 0.1 1 2>&1 | grep -q 'needs the view calls'; }
check 'another view' other_view

# ---- the C library's I/O ----

cat >"$TMP/io.c" <<'SOURCE'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    static char bytes[4096];
    int null = open("/dev/null", O_WRONLY);
    FILE *file = fopen("/dev/zero", "r"), *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    for (int i = 0; i < 1000; i++) {
        if (write(null, bytes, 1024) != 1024 || write(-1, bytes, 1) != -1 || pread(0, bytes, 1, -1) != -1)
            return 1;
        if (fread(bytes, 8, 256, file) != 256 || fwrite(bytes, 4, 512, full) != 0)
            return 1;
    }
    return fclose(file);
}
SOURCE
cc -O1 "$TMP/io.c" -o "$TMP/io_caller" || exit 1
begin --preset libc-io 0.2
"$TMP/io_caller"
next_windows 2
measured
pid=$(awk "$BY_NAME"'$1 == "calls" && col("comm") == "io_caller" { print col("pid"); exit }' "$TMP/out")
libc_counts() {
    is fread count 1000 "$pid" && is fread kib 2000 "$pid" && is fread errors - "$pid" && is fwrite count 1000 "$pid" &&
        is fwrite errors 1000 "$pid" && is fwrite kib 0 "$pid" && is pread errors 1000 "$pid" && is fclose errors 0 "$pid"
}
check '--preset libc-io: counts, errors and bytes' libc_counts
# fwrite calls write, once or several times; fread reads whole blocks.
check '--preset libc-io: a function that another one calls is counted, too' within "$(sum count write "$pid")" 3000 4000
check '--preset libc-io: bytes' is write kib 1000 "$pid"

# ---- MPI-IO ----

mpi() { mpirun --allow-run-as-root --oversubscribe "$@"; }
if ! scripts/has.sh OPENMPI; then
    skip '--preset mpi' 'needs OPENMPI: mpicc, mpif90 and mpirun'
else
    cat >"$TMP/mpi.c" <<'SOURCE'
#include <mpi.h>
int main(int argc, char **argv)
{
    static int numbers[1000];
    static double doubles[100];
    MPI_Datatype vector;
    MPI_File file;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 50; i++)
        MPI_File_write_at_all(file, (rank * 50 + i) * 4000, numbers, 1000, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++)
        MPI_File_read_at(file, rank * 4000, doubles, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_vector(8, 4, 6, MPI_INT, &vector); /* 128 bytes of data in each */
    MPI_Type_commit(&vector);
    for (int i = 0; i < 8; i++)
        MPI_File_write_at(file, 0, numbers, 3, vector, MPI_STATUS_IGNORE);
    for (int i = 0; i < 7; i++)
        MPI_File_write_at(file, 0, numbers, -1, MPI_INT, MPI_STATUS_IGNORE); /* fails */
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
SOURCE
    mpicc "$TMP/mpi.c" -o "$TMP/mpi_caller" || exit 1
    begin --preset mpi 0.2
    check '--preset mpi: the program runs' mpi -n 2 "$TMP/mpi_caller" "$TMP/mpi.data"
    next_windows 2
    measured
    mpi_counts() {
        is MPI_File_write_at_all count 100 && is MPI_File_read_at count 40 && is MPI_File_open count 2 && is MPI_File_close count 2 &&
            is MPI_File_write_at count 30 && is MPI_File_write_at errors 14 && is MPI_File_write_at_all errors 0
    }
    check '--preset mpi: calls of two ranks' mpi_counts
    check '--preset mpi: a row a process' test "$(awk "$BY_NAME"'$1 == "calls" && / MPI_File_open / { print col("pid") }' "$TMP/out" | sort -u | wc -l)" = 2
    check '--preset mpi: bytes are those of the count and the datatype' within "$(sum kib MPI_File_write_at_all)" 390.6 390.7
    check '--preset mpi: those of another datatype' within "$(sum kib MPI_File_read_at)" 31.2 31.3
    check '--preset mpi: those of a datatype that the program has made' within "$(sum kib MPI_File_write_at)" 5.9 6.1
fi
if ! scripts/has.sh OPENMPI; then
    skip '--preset mpi: Fortran' 'needs OPENMPI: mpicc, mpif90 and mpirun'
else
    cat >"$TMP/mpi.f90" <<'SOURCE'
program caller
  use mpi
  integer :: ierr, file, i
  integer :: numbers(1000)
  numbers = 1
  call MPI_Init(ierr)
  call MPI_File_open(MPI_COMM_WORLD, "mpi_fortran.data", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
  do i = 1, 32
    call MPI_File_write(file, numbers, 1000, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)
end program
SOURCE
    mpif90 "$TMP/mpi.f90" -o "$TMP/mpi_fortran" 2>"$TMP/fortran.log" || cat "$TMP/fortran.log"
    begin --preset mpi 0.2
    check '--preset mpi: a Fortran program runs' mpi --wdir "$TMP" -n 1 "$TMP/mpi_fortran"
    next_windows 2
    measured
    fortran_counts() {
        is mpi_file_write_ count 32 && is mpi_file_write_ errors 0 && is mpi_file_write_ kib 125 && is MPI_File_write count 32 &&
            is MPI_File_write kib 125
    }
    check '--preset mpi: Fortran functions by their own names, with the bytes of the C functions that they call' fortran_counts
fi

# In MPICH a datatype is a number: for built-in types its second byte is the size.
cat >"$TMP/mpich.c" <<'SOURCE'
int MPI_File_write(void *file, const void *from, int count, int datatype, void *status) { return count < 0; }
SOURCE
cat >"$TMP/mpich_main.c" <<'SOURCE'
int MPI_File_write(void *file, const void *from, int count, int datatype, void *status);
int main(void)
{
    for (int i = 0; i < 64; i++) {
        MPI_File_write(0, 0, 100, 0x4c000405, 0); /* MPI_INT */
        MPI_File_write(0, 0, 100, 0x4c00080b, 0); /* MPI_DOUBLE */
        MPI_File_write(0, 0, 100, (int)0x8c000001, 0); /* of its own making */
        MPI_File_write(0, 0, -1, 0x4c000405, 0);
    }
}
SOURCE
cc -shared -fPIC -O1 "$TMP/mpich.c" -o "$TMP/lib/libmpich.so.12" -Wl,-soname,libmpich.so.12 &&
    cc "$TMP/mpich_main.c" "$TMP/lib/libmpich.so.12" -Wl,-rpath,"$TMP/lib" -o "$TMP/mpich_caller" || exit 1
LD_LIBRARY_PATH=$TMP/lib begin --preset mpi 0.2
"$TMP/mpich_caller"
next_windows 2
measured
mpich_counts() {
    is MPI_File_write count 256 && is MPI_File_write errors 64 && is MPI_File_write unsized 64 && is MPI_File_write kib 75
}
check '--preset mpi: MPICH' mpich_counts
done_testing
