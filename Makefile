# SPDX-License-Identifier: GPL-2.0-only
# hog: two commands do everything on a fresh Debian machine: `sudo make run` and `sudo make test`.
CC      := musl-gcc
CLANG   := clang
STRIP   := llvm-strip
HOSTCC  := cc
ARCH    := $(shell uname -m)
BUILD   := build
VERSION := 0.1.0

WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CFLAGS  := -std=gnu11 -Os -g $(WARN) -ffunction-sections -fdata-sections -D_GNU_SOURCE -DHOG_VERSION='"$(VERSION)"' \
           -I. -Isrc -I$(BUILD)/gen -idirafter $(BUILD)/uapi
LDFLAGS := -static -Wl,--gc-sections
BPFARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
BPFFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -D__TARGET_ARCH_$(BPFARCH) -Ibpf -idirafter $(BUILD)/uapi

LIB_SRC := $(filter-out src/main.c,$(wildcard src/*.c src/*/*.c syscall/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
BPF_OBJ := $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))

all: $(BUILD)/hog

# musl has no kernel headers of its own: give it the machine's, and nothing else of /usr/include.
$(BUILD)/uapi:
	mkdir -p $@.tmp
	ln -sfn /usr/include/linux $@.tmp/linux
	ln -sfn /usr/include/asm-generic $@.tmp/asm-generic
	ln -sfn $$(dirname $$(echo 'int x;' | $(HOSTCC) -include asm/types.h -E -M -x c - | tr ' ' '\n' | grep 'asm/types.h' | head -1)) $@.tmp/asm
	mv $@.tmp $@

$(BUILD)/obj/%.o: %.c | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -MMD -MP -c $< -o $@
	$(STRIP) -g $@

$(BUILD)/libhog.a: $(LIB_OBJ)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/tests/objrun: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/objrun/*.c)) $(BUILD)/libhog.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libhog.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
