/* SPDX-License-Identifier: GPL-2.0-only */
/* Quantiles of a log-linear histogram (bpf/lib/histogram.bpf.h), to 6.25 %. */
#ifndef HOG_SOURCE_SHARED_HISTOGRAM_H
#define HOG_SOURCE_SHARED_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 240 /* asserted to be HOG_HISTOGRAM_BUCKETS */

/* The middle of a bucket, ns. */
uint64_t histogram_middle(unsigned bucket);

/* The quantile q (0..1), ns. false: nothing was counted. */
bool histogram_quantile(const uint32_t counts[HISTOGRAM_BUCKETS], double q, uint64_t *ns);

#endif
