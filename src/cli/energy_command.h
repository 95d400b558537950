/* SPDX-License-Identifier: GPL-2.0-only */
/* hog energy -- COMMAND ARGUMENTS..: the energy used by a command and its descendants. */
#ifndef HOG_CLI_ENERGY_COMMAND_H
#define HOG_CLI_ENERGY_COMMAND_H

#include "cli/options.h"

/* Runs the command until it exits, and prints its energy on stderr. Returns its exit status, 128 + the signal
 * that killed it, 127 if it was not found, 126 if it cannot be executed; or one of enum status. Signals sent
 * to hog are passed on to the command. */
int energy_command(const struct options *options);

#endif
