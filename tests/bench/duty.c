// SPDX-License-Identifier: GPL-2.0-only
/* A load of known CPU time per process: N processes, process i busy for a share of each period that falls
 * with i^-EXPONENT, DEMAND percent of one CPU in all; and, if RATE is not 0, one more process that starts
 * that many short processes a second.
 *
 *   duty N EXPONENT DEMAND SECONDS RATE
 *
 * Prints `ready` when all wait, begins when it reads a line, and prints when all have stopped, a line each:
 * PID, CPU time by its own clock and by /proc/PID/schedstat, in ns. They stay until stdin is closed. */
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCESSES 4096
#define PERIOD_NS     40000000
#define SHORT_NS      60000

struct worker {
    pid_t pid;
    uint64_t cpu_ns;       /* between the marks, by its own clock */
    uint64_t scheduler_ns; /* by schedstat, read by the parent */
};

static struct shared {
    atomic_int done;
    uint64_t begin_ns; /* when to begin, CLOCK_MONOTONIC */
    struct worker workers[MAX_PROCESSES];
} * shared;

static uint64_t clock_now(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t when)
{
    struct timespec t = {(time_t)(when / 1000000000), (long)(when % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void burn(uint64_t ns)
{
    uint64_t end = clock_now(CLOCK_PROCESS_CPUTIME_ID) + ns;

    while (clock_now(CLOCK_PROCESS_CPUTIME_ID) < end)
        ;
}

static void cycle(int i, double share, uint64_t end)
{
    uint64_t next = shared->begin_ns + (uint64_t)i * 7919 * 1000 % PERIOD_NS;

    for (; next < end; next += PERIOD_NS) {
        sleep_until(next);
        burn((uint64_t)(share * PERIOD_NS));
    }
}

/* Short processes, one after the other's due time, each with a little CPU time of its own. */
static void storm(unsigned rate, uint64_t end)
{
    for (uint64_t next = shared->begin_ns; next < end; next += 1000000000 / rate) {
        sleep_until(next);
        pid_t pid = fork();
        if (!pid) {
            burn(SHORT_NS);
            _exit(0);
        }
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    while (wait(NULL) > 0)
        ;
}

static void worker(int i, int go, double share, unsigned rate, double seconds)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(go, &byte, 1) != 1)
        _exit(1);
    uint64_t end = shared->begin_ns + (uint64_t)(seconds * 1e9);
    uint64_t before = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    if (rate)
        storm(rate, end);
    else
        cycle(i, share, end);
    shared->workers[i].cpu_ns = clock_now(CLOCK_PROCESS_CPUTIME_ID) - before;
    atomic_fetch_add(&shared->done, 1);
    for (;;)
        pause();
}

static uint64_t schedstat(pid_t pid)
{
    char path[64];
    unsigned long long ns = 0;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &ns) != 1)
        perror(path);
    if (file)
        fclose(file);
    return ns;
}

static void start(int n, double exponent, double demand, double seconds, unsigned rate, int go)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += pow(i + 1, -exponent);
    for (int i = 0; i < n + (rate > 0); i++) {
        struct worker *w = &shared->workers[i];
        pid_t pid = fork();
        if (pid < 0) {
            perror("fork");
            exit(1);
        }
        if (pid)
            w->pid = pid; /* shared memory: the child must not write its 0 */
        else
            worker(i, go, demand / 100 * pow(i + 1, -exponent) / sum, i == n ? rate : 0, seconds);
    }
}

static void run(int n, int go)
{
    char line[16], *bytes = calloc(1, (size_t)n);

    sleep(1); /* all are in read() by now */
    puts("ready");
    fflush(stdout);
    if (!bytes || !fgets(line, sizeof line, stdin))
        exit(1);
    for (int i = 0; i < n; i++)
        shared->workers[i].scheduler_ns = schedstat(shared->workers[i].pid);
    shared->begin_ns = clock_now(CLOCK_MONOTONIC) + 50000000;
    if (write(go, bytes, (size_t)n) != n)
        exit(1);
    while (atomic_load(&shared->done) < n)
        usleep(50000);
    usleep(50000);
    for (int i = 0; i < n; i++) {
        struct worker *w = &shared->workers[i];
        printf("%d %llu %llu\n", (int)w->pid, (unsigned long long)w->cpu_ns,
               (unsigned long long)(schedstat(w->pid) - w->scheduler_ns));
    }
    puts("end");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
    for (int i = 0; i < n; i++)
        kill(shared->workers[i].pid, SIGKILL);
    free(bytes);
}

int main(int argc, char **argv)
{
    int n = argc == 6 ? atoi(argv[1]) : 0, go[2]; // NOLINT(cert-err34-c)
    unsigned rate = argc == 6 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;

    if (n < 1 || n >= MAX_PROCESSES || pipe(go)) {
        fputs("usage: duty N EXPONENT DEMAND SECONDS RATE\n", stderr);
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    start(n, atof(argv[2]), atof(argv[3]), atof(argv[4]), rate, go[0]); // NOLINT(cert-err34-c)
    run(n + (rate > 0), go[1]);
    return 0;
}
