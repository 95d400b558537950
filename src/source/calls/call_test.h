/* SPDX-License-Identifier: GPL-2.0-only */
/* Which results of a call are failures: --error. And where its bytes are: --bytes. */
#ifndef HOG_SOURCE_CALLS_CALL_TEST_H
#define HOG_SOURCE_CALLS_CALL_TEST_H

#include <stdint.h>
#include "base/error.h"

/* As enum hog_call_test of bpf/calls/functions.bpf.h. */
enum { CALL_LESS = 1, CALL_EQUAL = 2, CALL_GREATER = 4, CALL_WIDE = 8 };

struct call_test {
    unsigned test; /* of these; 0: none */
    int64_t value;
};

/* "ret<0", "ret != 1", "ret==NULL"; `ret64` in place of `ret` is the whole register. -EINVAL with a reason.
 */
int call_test_parse(struct call_test *test, const char *text, struct error *why);

/* "1" .. "6": an argument, 1 to 6; "ret": CALL_RESULT. */
#define CALL_RESULT 7
int call_bytes_parse(unsigned *bytes, const char *text, struct error *why);

#endif
