/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of variables of the kernel that its types do not have. */
#include "tests/objrun/kernel_address.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "ffffffff81000000 T NAME", and for a module's "\t[MODULE]" behind it. Zero: hidden (kptr_restrict). */
static uint64_t address_in(char *line, const char *wanted)
{
    char *type = strchr(line, ' '), *name = type ? strchr(type + 1, ' ') : NULL;

    if (!name)
        return 0;
    name[1 + strcspn(name + 1, " \t\n")] = 0;
    return strcmp(name + 1, wanted) ? 0 : strtoull(line, NULL, 16);
}

uint64_t kernel_address(const struct spec *spec, const char *name)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    uint64_t address = 0;
    char line[512];

    while (f && !address && fgets(line, sizeof line, f))
        address = address_in(line, name);
    if (f)
        fclose(f);
    return address;
}
