/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows to a file, of bounded size. Whatever happens, the file holds whole windows and perhaps the
 * beginning of one more: kill -9 costs the window that it hits. Where the disk is full, what was written of a
 * window is taken back, this is said once, and it goes on as soon as there is room.
 */
#ifndef HOG_HISTORY_RECORDER_H
#define HOG_HISTORY_RECORDER_H

#include <stdint.h>
#include "out/out.h"
#include "base/error.h"

struct recorder;

/* Appends to the recording at `path`, or begins it. Beyond max_size bytes it becomes path.1, and so on up to
 * path.keep. 0, or -errno with a reason: no recording, another hog records there, ... */
int recorder_open(struct recorder **recorder, const char *path, uint64_t max_size, unsigned keep,
                  struct error *why);
void recorder_close(struct recorder *recorder);

/* Where the rows of OUT_RECORD go. */
struct lines_sink *recorder_sink(struct recorder *recorder);

/* The window that was written to `out` is whole. Never fails: errors are printed. */
void recorder_end_window(struct recorder *recorder, struct out *out);

#endif
