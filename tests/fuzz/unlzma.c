// SPDX-License-Identifier: GPL-2.0-only
/* LZMA streams, behind two bytes that say how much is wanted of them (in 16 bytes): unpacking gives as many
 * bytes or an error, and reads and writes nowhere else. */
#include "tests/fuzz/fuzz.h"
#include "base/unlzma.h"
#include <stdbool.h>
#include <string.h>

uint64_t fuzz_taken;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct unlzma *u = NULL;
    struct error why = {""};
    const char *out = NULL, *half;

    if (size < 2)
        return 0;
    size_t wanted = (size_t)(bytes[0] | bytes[1] << 8) * 16;
    int err = unlzma_open(&u, bytes + 2, size - 2, wanted, &why);
    if (!err) {
        err = unlzma_until(u, wanted / 2, &out, &why);
        if (!err)
            fuzz_touch(out, wanted / 2);
        half = out;
        err = err ? err : unlzma_until(u, wanted, &out, &why);
        must(err || half == out);
        if (!err)
            fuzz_touch(out, wanted);
        must(!err || unlzma_until(u, wanted, &out, NULL)); /* damage must stay damage */
    }
    must(!err || *why.text);
    fuzz_taken += !err;
    unlzma_close(u);
    return 0;
}
