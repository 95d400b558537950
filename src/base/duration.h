/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_BASE_DURATION_H
#define HOG_BASE_DURATION_H

#include <stdint.h>

/* "1", "0.01", ".5" (seconds) or with a unit: ns us ms s m h d; to ns, cut, exact in integers. Digits and one
 * point only: no sign, exponent, hex or space. 0; -EINVAL: not a duration; -ERANGE: does not fit. */
int duration_parse(const char *text, uint64_t *ns);

#endif
