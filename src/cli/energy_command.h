/* SPDX-License-Identifier: GPL-2.0-only */
/* hog energy -- COMMAND ARGUMENTS..: what a command takes, with all that it begins. */
#ifndef HOG_CLI_ENERGY_COMMAND_H
#define HOG_CLI_ENERGY_COMMAND_H

#include "cli/options.h"

/* Runs it until it ends, and says on stderr what it took. Its exit status: 128 + the signal that ended it,
 * 127: it was not found, 126: it cannot be run; or one of enum status. Signals to hog go to the command. */
int energy_command(const struct options *options);

#endif
