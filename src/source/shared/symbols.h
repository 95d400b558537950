/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions: of the kernel, of files that processes have mapped, and of JITs.
 *
 *   symbols_keep, as soon as a process is seen; at the end of a window symbols_want_..., each address
 *   -> symbols_resolve -> symbols_kernel, symbols_user -> symbols_named
 *
 * Files are read by a child process (source/shared/file_reader.h), each once a window for all questions about
 * it.
 */
#ifndef HOG_SOURCE_SHARED_SYMBOLS_H
#define HOG_SOURCE_SHARED_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "source/shared/symbol_name.h"

struct symbols;

/* debug: where files of symbols by build id are, "/usr/lib/debug" if NULL. NULL: out of memory. */
struct symbols *symbols_open(const char *debug);
void symbols_close(struct symbols *s);

/* Reads what a process has mapped executable. `image` stands for the process until its next exec. 0 or
 * -errno: it has ended. */
int symbols_keep(struct symbols *s, uint64_t image, uint32_t process);

/* Addresses that are asked about when symbols_resolve() is called. caller: a return address: the function
 * that contains the byte before it is meant. */
void symbols_want_user(struct symbols *s, uint64_t image, uint64_t address, bool caller);
void symbols_resolve(struct symbols *s);

/* The function at a user address: "name", "file+0x123" (the offset in the file) without symbols, "[vdso]",
 * "[jit]" for code that no file has. false, and "0x...": nothing is mapped there. */
bool symbols_user(struct symbols *s, uint64_t image, uint64_t address, bool caller, char text[SYMBOL_NAME]);

/* All of the window are named: files are closed. */
void symbols_named(struct symbols *s);

/* The function of the kernel at an address; false, and "[kernel]": it is hidden or not known. */
bool symbols_kernel(struct symbols *s, uint64_t address, char text[SYMBOL_NAME]);
bool symbols_kernel_hidden(struct symbols *s);

#endif
