/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/objrun/kernel_version.h"
#include "tests/unit/tap.h"

#define CODE(a, b, c) ((a) << 16 | (b) << 8 | (c))

static const struct {
    const char *text;
    uint32_t code;
} cases[] = {
    {"4.15.18", CODE(4, 15, 18)},
    {"4.19.316-1 (2024-06-25)", CODE(4, 19, 255)},
    {"6.1.0-49-amd64", CODE(6, 1, 0)},
    {"5.4", CODE(5, 4, 0)},
    {"4.9.337", CODE(4, 9, 255)},
    {"", 0},
    {"linux", 0},
    {"999.1.1", 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code = version_code_in(cases[i].text);
        check(code == cases[i].code, "version code of '%s': %#x", cases[i].text, code);
    }
    check(kernel_version_code() >= CODE(3, 0, 0), "version code of this kernel: %#x", kernel_version_code());
    return done();
}
