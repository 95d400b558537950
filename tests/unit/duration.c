/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/duration.h"
#include "tests/unit/tap.h"
#include <errno.h>

static const struct {
    const char *text;
    int error;
    uint64_t ns;
} cases[] = {
    {"1", 0, 1000000000},
    {"0.01", 0, 10000000},
    {".5", 0, 500000000},
    {"2.", 0, 2000000000},
    {"0.001", 0, 1000000},
    {"0.3", 0, 300000000},
    {"0.123456789", 0, 123456789},
    {"0.1234567899999", 0, 123456789},
    {"0.0000000001", 0, 0},
    {"0", 0, 0},
    {"000000000000000000000000000001", 0, 1000000000},
    {"0.99999999999999999999999999999999999999999999", 0, 999999999},
    {"10ms", 0, 10000000},
    {"500us", 0, 500000},
    {"7ns", 0, 7},
    {"1.5us", 0, 1500},
    {"0.9ns", 0, 0},
    {"1s", 0, 1000000000},
    {"2m", 0, 120000000000},
    {"24h", 0, 86400000000000},
    {"0.5h", 0, 1800000000000},
    {"0.1h", 0, 360000000000},
    {"18446744073709551615ns", 0, UINT64_MAX},
    {"18446744073709551615.9ns", 0, UINT64_MAX},
    {"18446744073.709551615", 0, UINT64_MAX},
    {"18446744073709551616ns", -ERANGE, 0},
    {"18446744073.709551616", -ERANGE, 0},
    {"99999999999999999999999999999999", -ERANGE, 0},
    {"18446744074", -ERANGE, 0},
    {"", -EINVAL, 0},
    {".", -EINVAL, 0},
    {"ms", -EINVAL, 0},
    {".ms", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {"1 s", -EINVAL, 0},
    {"1..5", -EINVAL, 0},
    {"1,5", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"1e999", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"1sec", -EINVAL, 0},
    {"1S", -EINVAL, 0},
    {"1d", 0, 86400000000000},
    {"1w", -EINVAL, 0},
    {"1ms\t", -EINVAL, 0},
    {"99999999999999999999999999999999x", -EINVAL, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 0;
        int error = duration_parse(cases[i].text, &ns);
        check(error == cases[i].error && (error || ns == cases[i].ns),
              "duration \"%.40s\": error %d, %llu ns; want %d, %llu", cases[i].text, error,
              (unsigned long long)ns, cases[i].error, (unsigned long long)cases[i].ns);
    }
    return done();
}
