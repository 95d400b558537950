// SPDX-License-Identifier: GPL-2.0-only
/* Makes known numbers of calls: a command per line on its input, and a line `done` on its output after each.
 *
 * calls N: N times getppid, a write of 100 bytes and a read of 64; N / 2 times a close that fails.
 *
 * threads N: the same in four threads, N each.
 *
 * hang: a thread that reads a pipe without a writer. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int null, zero, endless[2];

static void *calls(void *argument)
{
    long n = *(long *)argument;
    char buffer[100] = {0};

    for (long i = 0; i < n; i++) {
        syscall(SYS_getppid);
        if (write(null, buffer, sizeof buffer) != sizeof buffer || read(zero, buffer, 64) != 64)
            exit(1);
        if (i % 2 == 0 && close(-1) != -1)
            exit(1);
    }
    return NULL;
}

static void *hang(void *argument)
{
    char byte;

    return read(endless[0], &byte, 1) == 1 ? argument : NULL;
}

static void threads(long n)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, calls, &n))
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

int main(void)
{
    char line[64];
    pthread_t thread;

    null = open("/dev/null", O_WRONLY);
    zero = open("/dev/zero", O_RDONLY);
    if (null < 0 || zero < 0 || pipe(endless))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready\n");
    while (fgets(line, sizeof line, stdin)) {
        long n = strtol(line + strcspn(line, " "), NULL, 10);
        if (!strncmp(line, "calls ", 6))
            calls(&n);
        else if (!strncmp(line, "threads ", 8))
            threads(n);
        else if (!strncmp(line, "hang", 4) && pthread_create(&thread, NULL, hang, NULL))
            return 1;
        printf("done %s", line);
    }
    _exit(0);
}
