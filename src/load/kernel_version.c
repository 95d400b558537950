/* SPDX-License-Identifier: GPL-2.0-only */
#include "load/kernel_version.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

uint32_t version_code_in(const char *text)
{
    unsigned major, minor, patch = 0;

    if (sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2 || major > 255 || minor > 255)
        return 0;
    return major << 16 | minor << 8 | (patch > 255 ? 255 : patch);
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
