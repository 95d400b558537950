/* SPDX-License-Identifier: GPL-2.0-only */
/* Section .kconfig: externs with a value that the loader knows. */
#ifndef HOG_TESTS_OBJRUN_KCONFIG_H
#define HOG_TESTS_OBJRUN_KCONFIG_H

#include "tests/objrun/extras.h"

/* Hooks of spec_open() and spec_link(). */
int kconfig_read(struct spec *spec, struct error *why);
int kconfig_ref(const struct spec *spec, const struct elf_symbol *symbol, struct insn_ref *ref,
                struct error *why);

/* Does the object ask for CONFIG_* externs? They get values, before the programs are linked, from the text of
 * a kernel's configuration ("CONFIG_HZ=1000\n..."). Those that it does not mention, or for which it has a
 * value of another type, are zero if weak; if not, programs that use them get an error. -EINVAL: that is no
 * such text. */
bool kconfig_wants(const struct spec *spec);
int kconfig_set(struct spec *spec, const char *text, struct error *why);

/* Values that follow from the target's functions: before object_relocate(), the names for the one pass over
 * its types; afterwards, the answers. */
int kconfig_want_functions(const struct spec *spec, struct target_btf *target);
void kconfig_set_functions(const struct object *obj, struct target_btf *target);

/* Where the map's initial contents have the value of an extern; NULL: there is none of that name and size. */
void *kconfig_value(const struct object *obj, const char *name, size_t size);

#endif
