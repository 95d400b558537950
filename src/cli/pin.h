/* SPDX-License-Identifier: GPL-2.0-only */
/* Views that stay in the kernel after hog ends, pinned in a directory of the BPF file system: docs/pinned.md.
 */
#ifndef HOG_CLI_PIN_H
#define HOG_CLI_PIN_H

#include "cli/options.h"
#include "base/status.h"

enum status pin_views(const struct options *options);
enum status read_views(struct options *options); /* sets the views to those that are pinned there */
enum status unpin_views(const struct options *options);

#endif
