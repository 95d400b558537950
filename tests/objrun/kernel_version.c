/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/objrun/kernel_version.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

uint32_t version_code_in(const char *text)
{
    unsigned long numbers[3] = {0}; /* major, minor, patch */
    unsigned n = 0;

    for (bool more = true; more && n < 3; n++) {
        char *end;
        if (!isdigit((unsigned char)*text))
            break;
        numbers[n] = strtoul(text, &end, 10);
        more = *end == '.';
        text = end + 1;
    }
    if (n < 2 || numbers[0] > 255 || numbers[1] > 255)
        return 0;
    return (uint32_t)(numbers[0] << 16 | numbers[1] << 8 | (numbers[2] > 255 ? 255 : numbers[2]));
}

/* "Ubuntu 4.15.0-213.224-generic 4.15.18": the release hides the patch level, the last word has it. */
static uint32_t ubuntu_version(void)
{
    char text[256];
    int fd = open("/proc/version_signature", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *last = strrchr(text, ' ');
    return last ? version_code_in(last + 1) : 0;
}

uint32_t kernel_version_code(void)
{
    struct utsname host;
    uint32_t code = ubuntu_version();

    if (code || uname(&host) < 0)
        return code;
    /* "#1 SMP Debian 4.19.316-1 (2024-06-25)", with a release of 4.19.0-27 */
    const char *debian = strstr(host.version, "Debian ");
    if (debian)
        code = version_code_in(debian + strlen("Debian "));
    return code ? code : version_code_in(host.release);
}
