/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel's configuration as text, for object_set_kconfig. */
#ifndef HOG_TESTS_OBJRUN_KCONFIG_TEXT_H
#define HOG_TESTS_OBJRUN_KCONFIG_TEXT_H

#include "base/error.h"

/* From a file, gzip or plain; path NULL: /boot/config-RELEASE, else /proc/config.gz of the running kernel.
 * *text is malloc'ed. -ENOENT: there is none. */
int kconfig_text(const char *path, char **text, struct error *why);

#endif
