/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process with an arbitrary name.
 *
 *   named HEX MS [LINGER_MS]      the name's bytes in hex; burns for MS, then sleeps before it ends
 *
 * After burning: `pid=N cpu_ms=N`.
 */
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char name[16] = "";

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof name - 1 && strlen(argv[1]) >= 2 * i + 2; i++) {
        const char digits[] = {argv[1][2 * i], argv[1][2 * i + 1], 0};
        name[i] = (char)strtoul(digits, NULL, 16);
    }
    if (prctl(PR_SET_NAME, name))
        return 1;
    burn(strtoull(argv[2], NULL, 10) * 1000000);
    printf("pid=%d cpu_ms=%.3f\n", getpid(), (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
    fflush(stdout);
    if (argc > 3)
        rest(strtoull(argv[3], NULL, 10) * 1000000);
    return 0;
}
