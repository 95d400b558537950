# SPDX-License-Identifier: GPL-2.0-only
# hog: two commands do everything on a fresh Debian machine: `sudo make run` and `sudo make test`.
# docs/hacking.md says what the targets do. Sources are found by their place: nothing is listed here by name.
CLANG   := clang
CLANG19 := $(shell command -v clang-19)
STRIP   := llvm-strip
HOSTCC  := cc
MACHINE := $(shell uname -m)
ARCH    := $(MACHINE)
DEBARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(ARCH)))
VERSION := 0.1.0
PREFIX  := /usr/local
DESTDIR :=
ifeq ($(ARCH),$(MACHINE))
CC      := musl-gcc
AR      := ar
BUILD   := build
else
# For another machine: clang, lld, and a system root of that machine's packages.
ifeq ($(filter x86_64 aarch64,$(ARCH)),)
$(error ARCH=$(ARCH): hog can be built here for x86_64 and aarch64)
endif
ifneq ($(filter run test unit live fuzz fuzz-long bench corpus fleet vm-all,$(MAKECMDGOALS)),)
$(error ARCH=$(ARCH): this machine is $(MACHINE) and cannot run what is built for it; in qemu it runs: make vm ARCH=$(ARCH))
endif
BUILD   := build/$(ARCH)
CROSS   := $(BUILD)/cross
CC       = $(CLANG) --target=$(ARCH)-linux-musl --sysroot=$(CROSS)/x -isystem $(CROSS)/x/usr/include/$(ARCH)-linux-musl
AR      := llvm-ar
endif

WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
INCLUDE := -I. -Isrc -I$(BUILD)/gen
DEFINE  := -D_GNU_SOURCE -DHOG_VERSION='"$(VERSION)"'
# The smallest code that the compiler can make: gcc before 12 has no -Oz.
SMALL   := $(if $(shell echo | $(CC) -Oz -E - 2>/dev/null),-Oz,-Os)
CFLAGS  := -std=gnu11 $(SMALL) -g -fno-pie $(WARN) -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables $(DEFINE) $(INCLUDE) -idirafter $(BUILD)/uapi
# No padding to whole pages between read-only data, code and writable data; no RELRO, which would need it and which musl's
# start code of a static program does not apply.
LDFLAGS := -static -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,common-page-size=64 -Wl,--build-id=none$(if $(CROSS), -fuse-ld=lld -Xlinker -O2 -Xlinker --icf=safe -B$(CROSS)/x/usr/lib/$(ARCH)-linux-musl -L$(CROSS)/x/usr/lib/$(ARCH)-linux-musl)
# Besides the debug sections: relocations of BTF, which are for linkers, and local labels. No loader reads them.
BPFSTRIP := -g --discard-all -R .rel.BTF -R .rel.BTF.ext -R .llvm_addrsig
BPFARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
BPFFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -D__TARGET_ARCH_$(BPFARCH) \
            -Ibpf -idirafter $(BUILD)/uapi
HOSTCFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Werror
# Natively and with glibc: the sanitizers have no musl. tests/fuzz/files.c stands between a parser and the files.
FUZZFLAGS := -std=gnu11 -O1 -g -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -U_FORTIFY_SOURCE -fno-sanitize-recover=all -fno-omit-frame-pointer $(DEFINE) $(INCLUDE)
comma     := ,
FUZZLINK  := $(patsubst %,-Wl$(comma)--wrap=%,open openat read pread lseek fstat close fopen access) -lm

# The flags of the last build: other flags or another compiler rebuild everything.
FLAGS   := $(CC) $(CFLAGS) $(LDFLAGS) $(CLANG) $(BPFFLAGS) $(BPFSTRIP) $(HOSTCC)
ifneq ($(file <$(BUILD)/flags),$(FLAGS))
$(shell mkdir -p $(BUILD))
$(file >$(BUILD)/flags,$(FLAGS))
endif

# bpf/shared.bpf.c is never loaded: only its types are taken.
BPF      := $(filter-out shared,$(patsubst bpf/%.bpf.c,%,$(sort $(wildcard bpf/*.bpf.c))))
SLIM_OBJ := $(BPF:%=$(BUILD)/bpf/%.slim.o)
TYPES    := $(BPF:%=$(BUILD)/gen/%.types.h) $(BUILD)/gen/shared.types.h
VIEW_SRC := $(sort $(shell find src/view -name '*.c'))
LIB_SRC  := $(sort $(filter-out src/main.c,$(shell find src syscall -name '*.c')))
GEN      := objects views syscall_names
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/obj/%.o) $(GEN:%=$(BUILD)/obj/gen/%.o)

programs  = $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/$(1)/*.c)))
UNIT     := $(call programs,unit)
LIVE     := $(call programs,live)
LOAD     := $(call programs,load)
BENCH    := $(call programs,bench)
VM       := $(call programs,vm)
FUZZERS  := $(filter-out %/driver %/files,$(call programs,fuzz))
TEST_BPF := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/bpf/*.bpf.c)))
ifeq ($(CLANG19),)
TEST_BPF := $(filter-out %.clang19.bpf.o,$(TEST_BPF))
endif
OBJRUN   := $(BUILD)/tests/objrun
# What it has besides the loader; the tests of that are unit tests.
EXTRA    := $(filter-out tests/objrun/main.c,$(sort $(wildcard tests/objrun/*.c)))

# `make V=1` shows the commands.
quiet = $(if $(V),,@printf '  %-8s %s\n' $(1) '$(2)';)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all run test unit live fuzz fuzz-long bench corpus fleet vm vm-all vm-programs lint fmt install deb image clean programs setup-build setup-test setup-bench setup-vm setup-fuzz setup-fleet setup-corpus

all: $(BUILD)/hog

# A make within make uses all CPUs, unless -j says how many.
SUBFLAGS = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# If root builds in a user's checkout, the files belong to the user.
GIVE_BACK = if [ -n "$$SUDO_UID" ]; then chown -hR "$$SUDO_UID:$$SUDO_GID" $(BUILD); fi

run: setup-build
	@$(MAKE) $(SUBFLAGS) all
	@$(GIVE_BACK)
	@echo 'Running: $(BUILD)/hog 1 5   (which process is in trouble, why, and what causes it: five windows of one second)'
	@$(BUILD)/hog 1 5
	@echo 'Next: $(BUILD)/hog why          the worst of these in sentences: what it waited for, and what to do'
	@echo '      $(BUILD)/hog block file 1 the disks and the files, or any of the views of $(BUILD)/hog help'
	@echo '      $(BUILD)/hog              without a count, on a terminal: a screen (q ends it, ? explains it)'

# All that the tests need; scripts/test.sh runs them.
programs: all $(BUILD)/gen/options.md $(UNIT) $(LIVE) $(LOAD) $(FUZZERS) $(TEST_BPF) $(OBJRUN)

test: setup-build setup-test setup-vm
	@$(MAKE) $(SUBFLAGS) programs
	@$(VM_BUILD)
	@BUILD=$(BUILD) scripts/test.sh lint unit+format+fuzz calm1+calm2 live vm; status=$$?; $(GIVE_BACK); exit $$status

unit live fuzz:
	@$(MAKE) $(SUBFLAGS) programs
	@BUILD=$(BUILD) scripts/test.sh $(if $(filter live,$@),calm1+calm2) $@

# Each harness, or the one that FUZZ names, for so many minutes of CPU time.
MINUTES := 1
FUZZ    := $(notdir $(FUZZERS))

fuzz-long: setup-build setup-fuzz
	@$(MAKE) $(SUBFLAGS) $(FUZZ:%=$(BUILD)/fuzz/%)
	@BUILD=$(BUILD) scripts/fuzz.sh $(MINUTES) $(FUZZ); status=$$?; $(GIVE_BACK); exit $$status

# Some tools that it compares hog with run only in guests.
bench: setup-build setup-test setup-bench setup-vm
	@$(MAKE) $(SUBFLAGS) all $(BENCH) $(LOAD) vm-programs
	@BUILD=$(BUILD) tests/bench/run.sh; status=$$?; $(GIVE_BACK); exit $$status

# Real programs in a known trouble: is the verdict right?
corpus: setup-build setup-test setup-corpus
	@$(MAKE) $(SUBFLAGS) all $(LOAD)
	@BUILD=$(BUILD) tests/corpus/run.sh; status=$$?; $(GIVE_BACK); exit $$status

# A day of recordings of a hundred hosts, generated with the columns of this hog, and asked by DuckDB.
DUCKDB := @duckdb/node-api@1.5.6-r.1

fleet: setup-build setup-fleet
	@$(MAKE) $(SUBFLAGS) all
	@mkdir -p $(BUILD)/fleet
	@npm install --silent --no-audit --no-fund --prefix $(BUILD)/fleet $(DUCKDB)
	@rm -f $(BUILD)/fleet/own*
	@$(BUILD)/hog record $(BUILD)/fleet/own top 0.1 1
	@node tests/bench/fleet.mjs $(BUILD)/fleet/own $(BUILD)/fleet; status=$$?; $(GIVE_BACK); exit $$status

# Stock kernels of Debian, in software emulation: all boots of one suite (of this ARCH), or all there are. What is booted, and
# what in CI, is in scripts/vm/plans.sh. The programs are built for both kinds of machine.
KERNEL    := bookworm
OTHER     := $(if $(filter x86_64,$(MACHINE)),aarch64,x86_64)
VM_BUILD   = $(MAKE) $(SUBFLAGS) vm-programs && $(MAKE) $(SUBFLAGS) ARCH=$(OTHER) BUILD=$(BUILD)/$(OTHER) vm-programs

vm-programs: all $(LIVE) $(TEST_BPF) $(VM) $(LOAD) $(BUILD)/tests/bench/start

vm: setup-build setup-vm
	@$(MAKE) $(SUBFLAGS) vm-programs
	@BUILD=$(BUILD:%/$(ARCH)=%) VM_PROGRAMS=$(BUILD) scripts/vm/run.sh $(KERNEL)/$(DEBARCH); status=$$?; $(GIVE_BACK); exit $$status

vm-all: setup-build setup-vm
	@$(VM_BUILD)
	@BUILD=$(BUILD) scripts/vm/run.sh all; status=$$?; $(GIVE_BACK); exit $$status

setup-build setup-test setup-bench setup-vm setup-fuzz setup-fleet setup-corpus: setup-%:
	@scripts/setup.sh $*

lint: $(TYPES)
	@BUILD=$(BUILD) scripts/lint.sh

fmt:
	find src syscall bpf gen tests scripts -name '*.[ch]' -exec clang-format -i {} +

SHARE = $(DESTDIR)$(PREFIX)/share

install: all $(BUILD)/gen/hog.bash $(BUILD)/gen/hog.zsh $(BUILD)/gen/hog.fish
	install -D -m 755 $(BUILD)/hog $(DESTDIR)$(PREFIX)/sbin/hog
	install -D -m 644 docs/hog.8 $(SHARE)/man/man8/hog.8
	install -D -m 644 $(BUILD)/gen/hog.bash $(SHARE)/bash-completion/completions/hog
	install -D -m 644 $(BUILD)/gen/hog.zsh $(SHARE)/zsh/site-functions/_hog
	install -D -m 644 $(BUILD)/gen/hog.fish $(SHARE)/fish/vendor_completions.d/hog.fish

# A plain package of Debian, the same bytes from the same sources.
deb:
	@rm -rf $(BUILD)/deb
	@$(MAKE) $(SUBFLAGS) install DESTDIR=$(BUILD)/deb PREFIX=/usr >/dev/null
	@scripts/deb.sh $(BUILD)/deb $(VERSION) $(DEBARCH) $(BUILD)/hog_$(VERSION)_$(DEBARCH).deb
	@echo $(BUILD)/hog_$(VERSION)_$(DEBARCH).deb

# An image with the program in it and nothing else.
image: all
	@scripts/image.sh $(BUILD)/hog $(VERSION) $(DEBARCH) $(BUILD)/hog-image.tar
	@echo $(BUILD)/hog-image.tar

clean:
	rm -rf $(BUILD)

# musl has no kernel headers of its own: give it the machine's, and nothing else of /usr/include. It comes before all
# else, and so it is here that missing tools are found.
# For another machine it is in the system root.
$(BUILD)/uapi:
ifdef CROSS
	@scripts/setup.sh cross
	@scripts/debian.sh own $(DEBARCH) $(CROSS) musl-dev linux-libc-dev '/libgcc-[0-9]+-dev/'
	@mkdir -p $@.tmp
	@ln -sfn $(abspath $(CROSS))/x/usr/include/linux $@.tmp/linux
	@ln -sfn $(abspath $(CROSS))/x/usr/include/asm-generic $@.tmp/asm-generic
	@ln -sfn $(abspath $(CROSS))/x/usr/include/$(ARCH)-linux-gnu/asm $@.tmp/asm
else
	@scripts/setup.sh --check build
	@mkdir -p $@.tmp
	@ln -sfn /usr/include/linux $@.tmp/linux
	@ln -sfn /usr/include/asm-generic $@.tmp/asm-generic
	@ln -sfn "$$(dirname "$$(echo | $(HOSTCC) -include asm/types.h -E -M -x c - | tr ' ' '\n' | grep -m 1 'asm/types.h')")" $@.tmp/asm
endif
	@mv $@.tmp $@

# ---- the kernel's side: object files, and what user space takes from them ----

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,BPF,$<)$(CLANG) $(BPFFLAGS) -MMD -MP -c $< -o $@
	$(if $(V),,@)$(STRIP) $(BPFSTRIP) $@

$(BUILD)/tests/bpf/%.clang19.bpf.o: tests/bpf/%.clang19.bpf.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,BPF,$<)$(CLANG19) $(BPFFLAGS) -MMD -MP -c $< -o $@
	$(if $(V),,@)$(STRIP) -g $@

$(BUILD)/tests/bpf/%.bpf.o: tests/bpf/%.bpf.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,BPF,$<)$(CLANG) $(BPFFLAGS) -MMD -MP -c $< -o $@
	$(if $(V),,@)$(STRIP) -g $@

$(BUILD)/gen/slim $(BUILD)/gen/structs: $(BUILD)/gen/%: gen/%.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,HOSTCC,$<)$(HOSTCC) $(HOSTCFLAGS) $< -o $@

# It reads objects as hog does.
EMBED_SRC := gen/embed.c src/base/error.c $(sort $(wildcard src/loader/spec/*.c))
$(BUILD)/gen/embed: $(EMBED_SRC) $(sort $(wildcard src/loader/spec/*.h)) $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,HOSTCC,$<)$(HOSTCC) $(HOSTCFLAGS) -Wno-unused-parameter $(INCLUDE) -idirafter $(BUILD)/uapi $(EMBED_SRC) -o $@

# All objects are one stream, because they have much in common. It is unpacked from the front as far as needed, so the objects
# that plain hog opens come first. The directories are prerequisites: a source that is removed must leave the tables.
PLAIN  := sched tasks faults memory disks
PACKED := $(PLAIN) $(filter-out $(PLAIN),$(BPF))

$(BUILD)/gen/objects.c: $(BUILD)/gen/embed $(BUILD)/gen/objects.lzma $(SLIM_OBJ)
	@mkdir -p $(@D)
	$(call quiet,GEN,$@)$< $(BUILD)/gen/objects.lzma $(foreach n,$(PACKED),$(n)=$(BUILD)/bpf/$(n).slim.o) >$@

# Eight bytes are an instruction (pb); lc and lp by trying.
$(BUILD)/gen/objects.lzma: $(SLIM_OBJ) bpf
	@mkdir -p $(@D)
	$(call quiet,XZ,$@)cat $(PACKED:%=$(BUILD)/bpf/%.slim.o) | xz -c --format=lzma --lzma1=preset=9e,lc=0,lp=3,pb=3,nice=273 >$@

# For this machine, also where hog is built for another: only the views' tables are read, so what they call is left out.
TABLE_SRC := $(BUILD)/gen/views.c src/cli/options_table.c src/cli/options_verbs.c src/rows/rows.c src/verdict/verdict.c src/verdict/thresholds.c $(VIEW_SRC)

$(BUILD)/gen/completion $(BUILD)/gen/options: $(BUILD)/gen/%: gen/%.c $(TABLE_SRC) $(wildcard src/cli/options*.h src/base/*.h src/view/*.h src/source/*/*.h) $(BUILD)/flags | $(TYPES)
	@mkdir -p $(@D)
	$(call quiet,HOSTCC,$<)$(HOSTCC) -std=gnu11 $(DEFINE) $(INCLUDE) $< $(TABLE_SRC) -static -Wl,--unresolved-symbols=ignore-all -o $@

$(BUILD)/gen/hog.bash $(BUILD)/gen/hog.zsh $(BUILD)/gen/hog.fish: $(BUILD)/gen/hog.%: $(BUILD)/gen/completion
	$(call quiet,GEN,$@)$< $* >$@

# docs/options.md as it should be: tests/unit/options_doc.sh compares.
$(BUILD)/gen/options.md: $(BUILD)/gen/options
	$(call quiet,GEN,$@)$< >$@

# Without source lines, which are a good third of an object.
$(BUILD)/bpf/%.slim.o: $(BUILD)/bpf/%.bpf.o $(BUILD)/gen/slim
	$(call quiet,SLIM,$@)$(BUILD)/gen/slim $< $@

$(BUILD)/gen/views.c: gen/views.sh $(VIEW_SRC) $(sort $(dir $(VIEW_SRC)))
	@mkdir -p $(@D)
	$(call quiet,GEN,$@)$< table $(VIEW_SRC) >$@

$(BUILD)/gen/syscall_names.c: gen/syscalls.sh $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,GEN,$@)$< $(CC) -idirafter $(BUILD)/uapi >$@

$(BUILD)/gen/%.types.h: $(BUILD)/bpf/%.bpf.o $(BUILD)/gen/structs
	@mkdir -p $(@D)
	$(call quiet,GEN,$@)$(BUILD)/gen/structs $* $< >$@

# ---- the user's side ----

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

# They go over megabytes each time that hog starts. For arm64, clang's code at -O2 is too large.
$(BUILD)/obj/src/loader/spec/target_scan.o $(BUILD)/obj/src/base/unlzma.o: CFLAGS += $(if $(CROSS),,-O2)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/uapi $(TYPES)
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libhog.a: $(LIB_OBJ) $(sort $(dir $(LIB_SRC)))
	@mkdir -p $(@D)
	@rm -f $@
	$(call quiet,AR,$@)$(AR) rcs $@ $(filter %.o,$^)

ifdef CROSS
# clang's code for another machine is a twentieth smaller when it sees all of it at once; tests link what is above.
LTO_OBJ := $(LIB_SRC:%.c=$(BUILD)/lto/%.o) $(GEN:%=$(BUILD)/lto/gen/%.o) $(BUILD)/lto/src/main.o

$(BUILD)/lto/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags | $(BUILD)/uapi
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CFLAGS) -flto -MMD -MP -c $< -o $@

$(BUILD)/lto/%.o: %.c $(BUILD)/flags | $(BUILD)/uapi $(TYPES)
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CFLAGS) -flto -MMD -MP -c $< -o $@

$(BUILD)/hog.debug: $(LTO_OBJ)
	$(call quiet,LD,$@)$(CC) $(CFLAGS) -flto $(LDFLAGS) $^ -o $@
else
$(BUILD)/hog.debug: $(BUILD)/obj/src/main.o $(BUILD)/libhog.a
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
endif

$(BUILD)/hog: $(BUILD)/hog.debug
	$(call quiet,STRIP,$@)$(STRIP) -s $< -o $@

# ---- tests ----

$(BUILD)/libobjrun.a: $(EXTRA:%.c=$(BUILD)/obj/%.o) tests/objrun
	@rm -f $@
	$(call quiet,AR,$@)$(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/tests/objrun: $(BUILD)/obj/tests/objrun/main.o $(BUILD)/libobjrun.a $(BUILD)/libhog.a
	@mkdir -p $(@D)
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

$(UNIT) $(LIVE) $(LOAD) $(BENCH) $(VM): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libobjrun.a $(BUILD)/libhog.a
	@mkdir -p $(@D)
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $^ -pthread -lm -o $@

# A fuzz test is a harness with a driver of its own, built by the compiler of the host (asan); or with libFuzzer, built by
# clang with counters of what was covered (cov).
FUZZ_OBJ := $(LIB_SRC:%.c=%.o) $(GEN:%=gen/%.o) $(EXTRA:%.c=%.o) tests/fuzz/files.o

define fuzz_rules
$$(BUILD)/$(1)/gen/%.o: $$(BUILD)/gen/%.c $$(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call quiet,ASAN,$$<)$(2) $$(FUZZFLAGS) $(3) -MMD -MP -c $$< -o $$@

$$(BUILD)/$(1)/%.o: %.c $$(BUILD)/flags | $$(TYPES)
	@mkdir -p $$(@D)
	$$(call quiet,ASAN,$$<)$(2) $$(FUZZFLAGS) $(3) -MMD -MP -c $$< -o $$@

$$(BUILD)/$(1)/libhog.a: $$(FUZZ_OBJ:%=$$(BUILD)/$(1)/%)
	@rm -f $$@
	$$(call quiet,AR,$$@)ar rcs $$@ $$^
endef
$(eval $(call fuzz_rules,asan,$$(HOSTCC),-fsanitize=address$$(comma)undefined))
$(eval $(call fuzz_rules,cov,$$(CLANG),-fsanitize=address$$(comma)undefined$$(comma)fuzzer-no-link))

$(FUZZERS): $(BUILD)/tests/%: $(BUILD)/asan/tests/%.o $(BUILD)/asan/tests/fuzz/driver.o $(BUILD)/asan/libhog.a $(BUILD)/tests/fuzz/seeds
	@mkdir -p $(@D)
	$(call quiet,LD,$@)$(HOSTCC) -fsanitize=address,undefined $(filter %.o %.a,$^) $(FUZZLINK) -o $@

$(FUZZERS:$(BUILD)/tests/fuzz/%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/cov/tests/fuzz/%.o $(BUILD)/cov/libhog.a $(BUILD)/tests/fuzz/seeds
	@mkdir -p $(@D)
	$(call quiet,LD,$@)$(CLANG) -fsanitize=address,undefined,fuzzer $(filter %.o %.a,$^) $(FUZZLINK) -o $@

# Inputs that the build makes: NAME.seeds is a directory with those of NAME.
SEEDS := $(BUILD)/tests/fuzz
$(SEEDS)/seeds: $(TEST_BPF) $(BUILD)/gen/objects.lzma Makefile
	@mkdir -p $(SEEDS)/object.seeds $(SEEDS)/unlzma.seeds $(SEEDS)/btf.seeds
	@cp $(TEST_BPF) $(SEEDS)/object.seeds
	@{ cat $(BUILD)/tests/bpf/core_local.bpf.o; printf TARGET; cat $(BUILD)/tests/bpf/core_target_a.bpf.o; } >$(SEEDS)/object.seeds/target
	@{ printf '\377\377'; cat $(BUILD)/gen/objects.lzma; } >$(SEEDS)/unlzma.seeds/objects
	@for o in core_local core_target_b object_link live_extern; do \
	    llvm-objcopy --dump-section .BTF=$@.btf $(BUILD)/tests/bpf/$$o.bpf.o $@.o && cp $@.btf $(SEEDS)/btf.seeds/$$o; \
	    ! llvm-objcopy --dump-section .BTF.ext=$@.ext $(BUILD)/tests/bpf/$$o.bpf.o $@.o 2>/dev/null || { printf EXT; cat $@.ext; } >>$(SEEDS)/btf.seeds/$$o; \
	done; rm -f $@.*
	@touch $@

# Not those of fetched packages.
-include $(shell find $(BUILD) \( -path $(BUILD)/vm -o -path $(BUILD)/cross -o -path '$(BUILD)/*/cross' \) -prune -o -type f -name '*.d' -print 2>/dev/null)
