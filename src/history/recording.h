/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording is made of: JSON lines,
 *
 *   {"hog":"recording","format":1,...}                the first line of each file
 *   {"view":"top","columns":["rank","pid",...]}       before the first row of a view; "window" is one, too
 *   ["window",1,"2026-01-31T12:00:00.000000Z",...]    then the rows of the window, a list each:
 *   ["top",1,4711,12.5,null,"name"]
 *   ["end"]                                           it is whole
 *
 * What follows the last ["end"] of a file is not read: hog was killed there, or the disk was full. A
 * line that is none of these is passed over.
 */
#ifndef HOG_HISTORY_RECORDING_H
#define HOG_HISTORY_RECORDING_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define RECORD_FORMAT 1
#define RECORD_HEAD   "{\"hog\":\"recording\",\"format\":"
#define RECORD_END    "[\"end\"]\n"

/* Whether the file's first line says that it is a recording which we can read. 0; -ENODATA: it is empty; or
 * another -errno; with a reason. */
int recording_check(int fd, const char *name, struct error *why);

/* Where its last whole window ends, behind the line ["end"]; 0: there is none; -errno. `buffer` is for its
 * use. */
int64_t recording_whole(int fd, uint64_t size, char *buffer, size_t room);

#endif
