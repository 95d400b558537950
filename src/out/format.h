/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_OUT_FORMAT_H
#define HOG_OUT_FORMAT_H

/* csv: RFC 4180, of one view, each row with its window, no other lines; what is not known is empty, and no
 * text begins like a formula. prom: OpenMetrics text, units as Prometheus wants them. */
enum out_format {
    OUT_TEXT,
    OUT_TSV,
    OUT_CSV,
    OUT_JSON,
    OUT_PROM,
    OUT_HTML,  /* of a report: src/history/html.h */
    OUT_RECORD /* src/history/recording.h */
};

#endif
