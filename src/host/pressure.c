// SPDX-License-Identifier: GPL-2.0-only
#include "host/pressure.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/process.h"

#define TEXT_BYTES 512 /* two lines of some 70 bytes */
#define PATH_BYTES 4352

static const char *const names[PRESSURES] = {"cpu", "memory", "io"};

/* The number behind " total=" in the line that begins with kind. */
static bool total_of(const char *text, const char *kind, uint64_t *total)
{
    size_t length = strlen(kind);

    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, kind, length) || line[length] != ' ')
            continue;
        const char *number = strstr(line, " total=");
        const char *end = strchr(line, '\n');
        if (!number || (end && number > end) || number[7] < '0' || number[7] > '9')
            return false;
        *total = strtoull(number + 7, NULL, 10);
        return true;
    }
    return false;
}

struct pressure pressure_parse(const char *text)
{
    struct pressure pressure = {0};

    pressure.known = total_of(text, "some", &pressure.some_us);
    pressure.full_known = pressure.known && total_of(text, "full", &pressure.full_us);
    return pressure;
}

void pressures_open(struct pressures *files, const char *root)
{
    char path[PATH_BYTES];

    for (int i = 0; i < PRESSURES; i++) {
        int n = snprintf(path, sizeof path, "%s/proc/pressure/%s", root, names[i]);
        int fd = n < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        files->fd[i] = fd > 0 ? fd : 0;
    }
}

void pressures_read(const struct pressures *files, struct pressure out[PRESSURES])
{
    char text[TEXT_BYTES];

    for (int i = 0; i < PRESSURES; i++) {
        ssize_t n = files->fd[i] ? pread(files->fd[i], text, sizeof text - 1, 0) : -1;
        text[n > 0 ? n : 0] = '\0';
        out[i] = pressure_parse(text);
    }
    /* The kernel prints zeros there, for programs that expect the line. */
    out[PRESSURE_CPU].full_known = false;
}

void pressures_close(struct pressures *files)
{
    for (int i = 0; i < PRESSURES; i++) {
        if (files->fd[i])
            close(files->fd[i]);
        files->fd[i] = 0;
    }
}

void pressure_of_group(const char *directory, struct pressure out[PRESSURES])
{
    char path[PATH_BYTES], text[TEXT_BYTES];

    for (int i = 0; i < PRESSURES; i++) {
        int n = snprintf(path, sizeof path, "%s/%s.pressure", directory, names[i]);
        if (n >= (int)sizeof path || file_read(path, text, sizeof text) < 0)
            text[0] = '\0';
        out[i] = pressure_parse(text);
    }
}

static double share(uint64_t before, uint64_t now, uint64_t span_ns)
{
    if (now < before || !span_ns)
        return -1;
    double pct = (double)(now - before) * 1e5 / (double)span_ns;
    return pct < 100 ? pct : 100;
}

double pressure_pct(const struct pressure *before, const struct pressure *now, uint64_t span_ns)
{
    return before->known && now->known ? share(before->some_us, now->some_us, span_ns) : -1;
}

double pressure_full_pct(const struct pressure *before, const struct pressure *now, uint64_t span_ns)
{
    return before->full_known && now->full_known ? share(before->full_us, now->full_us, span_ns) : -1;
}
