// SPDX-License-Identifier: GPL-2.0-only
/* Files of thresholds: reading gives values within their bounds or a reason, and what was read is printed so
 * that it can be read again. */
#include "tests/fuzz/fuzz.h"
#include "cli/thresholds_print.h"
#include "verdict/thresholds.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t fuzz_taken;

static size_t print(const struct thresholds *t, char *text, size_t size)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("thresholds", MFD_CLOEXEC);
    must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET) && !thresholds_print(t, fd));
    ssize_t n = pread(fd, text, size, 0);
    return n > 0 ? (size_t)n : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char printed[THRESHOLDS_MOST];
    struct thresholds t, again;
    struct error why = {""};

    thresholds_default(&t);
    int err = thresholds_parse(&t, (const char *)bytes, size, &why);
    must(!err || !strncmp(why.text, "line ", 5));
    for (size_t i = 0; i < THRESHOLDS; i++)
        must(t.value[i] >= threshold_table[i].least && t.value[i] <= threshold_table[i].most);
    if (err)
        return 0;
    fuzz_taken++;
    thresholds_default(&again);
    size_t n = print(&t, printed, sizeof printed);
    must(!thresholds_parse(&again, printed, n, &why));
    for (size_t i = 0; i < THRESHOLDS; i++)
        must(t.value[i] == again.value[i]);
    return 0;
}
