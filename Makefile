# weft: one Makefile, out of tree (build/). V=1 shows commands, SAN=address,undefined builds with
# sanitizers into a folder of its own. Everything below can be overridden.

CC      ?= gcc
CLANG   ?= clang
# Debian keeps it where only root looks; Ubuntu's finds only the one made for the running kernel.
BPFTOOL ?= $(shell PATH=$$PATH:/usr/sbin:/sbin; for tool in bpftool /usr/lib/linux-tools/*/bpftool; do \
	$$tool version >/dev/null 2>&1 && break; done; command -v $$tool || echo bpftool)
V       ?= 0
SAN     ?=
WERROR  ?=
PREFIX  ?= /usr/local
VERSION := 0.1.0

BUILD ?= build
ifneq ($(SAN),)
O := $(BUILD)/san
else
O := $(BUILD)
endif
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@true,@printf '  %-8s %s\n' $(1) $(2))

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wpointer-arith -Wundef
ifneq ($(CI)$(WERROR),)
WARN += -Werror
endif
CFLAGS   ?= -O2 -g
CPPFLAGS += -I. -I$(O) -D_GNU_SOURCE -DWEFT_VERSION='"$(VERSION)"'
ALL_CFLAGS := -std=gnu11 -fno-strict-aliasing -fno-omit-frame-pointer $(WARN) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined)
LDLIBS += -lbpf -lelf -liberty -lz -lzstd -llz4 -llzma -lcap -ljansson -lsqlite3 -lpthread -lm
ALL_LDFLAGS := $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
ARCH := $(shell uname -m | sed 's/aarch64/arm64/;s/x86_64/x86/')
TRIPLET := $(shell $(CC) -dumpmachine)

FOLDERS := core bpf unwinders symbolizer runtimes jfr exporter cmd
SRCS    := $(filter-out cmd/main.c,$(wildcard $(addsuffix /*.c,$(FOLDERS))))
BPF_SRCS := $(wildcard bpf/*.bpf.c)
SRCS    := $(filter-out $(BPF_SRCS),$(SRCS))
OBJS    := $(SRCS:%.c=$(O)/%.o)
TESTS   := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/*_test.c))

.PHONY: all clean unit
all: $(O)/weft $(O)/man/weft.1.gz

$(O)/weft: $(O)/cmd/main.o $(O)/libweft.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/libweft.a: $(OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c | $(O)/weft.skel.h $(O)/flamegraph_page.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# Manual pages and completion are what the program says of itself, so they cannot differ from it.
$(O)/man/weft.1.gz: $(O)/weft
	$(call say,MAN,$(@D))
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)for shell in bash zsh fish; do $(O)/weft completion $$shell > $(@D)/weft.$$shell || exit 1; done
	$(Q)for verb in $$($(O)/weft help --verbs); do \
		$(O)/weft help --man $$verb > $(@D)/weft-$$verb.1 || exit 1; done
	$(Q)$(O)/weft help --man > $(@D)/weft.1 && gzip -9nf $(@D)/*.1

MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

.PHONY: install uninstall
install: all
	$(Q)install -d $(addprefix "$(DESTDIR)",$(PREFIX)/bin $(MANDIR)/man1 $(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(Q)install -m 755 $(O)/weft "$(DESTDIR)$(PREFIX)/bin/weft"
	$(Q)install -m 644 $(O)/man/*.1.gz "$(DESTDIR)$(MANDIR)/man1"
	$(Q)install -m 644 $(O)/man/weft.bash "$(DESTDIR)$(BASHDIR)/weft"
	$(Q)install -m 644 $(O)/man/weft.zsh "$(DESTDIR)$(ZSHDIR)/_weft"
	$(Q)install -m 644 $(O)/man/weft.fish "$(DESTDIR)$(FISHDIR)/weft.fish"

uninstall:
	$(Q)rm -f "$(DESTDIR)$(PREFIX)/bin/weft" "$(DESTDIR)$(BASHDIR)/weft" "$(DESTDIR)$(ZSHDIR)/_weft" \
		"$(DESTDIR)$(FISHDIR)/weft.fish" "$(DESTDIR)$(MANDIR)"/man1/weft.1.gz "$(DESTDIR)$(MANDIR)"/man1/weft-*.1.gz

# The kernel half: every bpf/*.bpf.c becomes an object, linked into one and embedded by a skeleton.
$(O)/%.bpf.o: %.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -Wall -target bpf -D__TARGET_ARCH_$(ARCH) -I. -I/usr/include/$(TRIPLET) -MMD -MP -c -o $@ $<

$(O)/weft.skel.h: $(BPF_SRCS:%.bpf.c=$(O)/%.bpf.o)
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)if [ -n "$^" ]; then $(BPFTOOL) gen object $(O)/weft.bpf.linked.o $^ && \
		$(BPFTOOL) gen skeleton $(O)/weft.bpf.linked.o name weft_bpf > $@.tmp; else : > $@.tmp; fi
	$(Q)mv $@.tmp $@

# The flame graph page around its data, with the hashes its policy needs; scripts in this order.
PAGE_SCRIPTS := $(addsuffix .js,text profile tree colors search strip flame table details state show actions)
$(O)/flamegraph_page.h: exporter/flamegraph/assemble.sh exporter/flamegraph/page.html \
		exporter/flamegraph/page.css $(PAGE_SCRIPTS:%=exporter/flamegraph/%)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)exporter/flamegraph/assemble.sh $@ exporter/flamegraph $(PAGE_SCRIPTS)

# Unit tests: one program a file, all of them with the library.
$(O)/tests/unit/%: tests/unit/%.c $(O)/libweft.a
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/libweft.a $(LDLIBS) -ldw -lcmocka

unit: export ASAN_OPTIONS ?= detect_leaks=1:allocator_may_return_null=1
unit: $(TESTS)
	$(Q)fail=0; for t in $(TESTS); do $$t || fail=1; done; exit $$fail

# Fuzz targets: tests/fuzz/NAME_fuzz.c with libFuzzer, over the library built by clang.
FUZZ_O   := $(BUILD)/fuzz
FUZZERS  := $(patsubst tests/fuzz/%.c,$(FUZZ_O)/%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_S   ?= 30
FUZZ_CFLAGS := -std=gnu11 -O1 -g -fno-strict-aliasing -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

$(FUZZ_O)/%.o: %.c | $(O)/weft.skel.h $(O)/flamegraph_page.h
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(CPPFLAGS) -w -MMD -MP -c -o $@ $<

$(FUZZ_O)/%_fuzz: tests/fuzz/%_fuzz.c $(SRCS:%.c=$(FUZZ_O)/%.o)
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(CPPFLAGS) -w -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# Who says nothing about jobs gets as many as there are CPUs, where a target builds several things.
JOBS := $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps test check fuzz fuzz-short live lint format demo install-deps
deps:
	$(Q).ci/deps.sh build

# Every test there is. TEST_* narrow it down for people in a hurry: make check runs without fuzzing and accuracy.
TEST_SCRIPTS = $(sort $(wildcard tests/python/*_test.sh) $(wildcard tests/cli/*_test.sh tests/accuracy/*_test.py tests/live/*_test.sh tests/live/*_test.py tests/page/*_test.sh tests/page/*_test.py tests/accuracy/*_test.py))
test:
	$(Q).ci/deps.sh test
	$(Q).ci/pythons.sh || echo "pythons: the tests go without CPython 3.14 and 3.15"
	$(Q).ci/jfr_peers.sh "$${XDG_CACHE_HOME:-$$HOME/.cache}/weft/peers" writers
	$(Q)$(MAKE) $(JOBS) --no-print-directory all
	$(Q)$(MAKE) $(JOBS) --no-print-directory $(BUILD)/test-programs SAN=address,undefined
	$(Q)$(MAKE) $(JOBS) --no-print-directory fuzzers
	$(Q)BUILD=$(BUILD) FUZZ_S=$(FUZZ_S) SUDO="$(SUDO)" tests/run.sh tests/lint.sh $$(cat $(BUILD)/test-programs) \
		$(TEST_SCRIPTS) $(wildcard tests/accuracy/quick_test.sh) $(wildcard tests/fuzz/fuzz_test.sh)

check:
	$(Q)$(MAKE) $(JOBS) --no-print-directory all
	$(Q)$(MAKE) $(JOBS) --no-print-directory $(BUILD)/test-programs SAN=address,undefined
	$(Q)BUILD=$(BUILD) SUDO="$(SUDO)" tests/run.sh tests/lint.sh $$(cat $(BUILD)/test-programs) $(TEST_SCRIPTS)

.PHONY: $(BUILD)/test-programs fuzzers
$(BUILD)/test-programs: $(TESTS)
	$(Q)echo $(TESTS) > $@
fuzzers: $(FUZZERS)

# As long as one likes: make fuzz FUZZ_S=3600
fuzz: fuzzers
	$(Q)BUILD=$(BUILD) FUZZ_S=$(FUZZ_S) tests/fuzz/fuzz_test.sh

lint:
	$(Q)tests/lint.sh
format:
	clang-format -i $(shell find core bpf unwinders symbolizer runtimes jfr exporter cmd tests -name '*.[ch]')

# Ten seconds of the whole machine with the example programs running. The build does not run as root.
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
SUDO     := $(if $(filter 0,$(shell id -u)),,sudo)
$(BUILD)/examples/%: examples/%.c
	$(call say,EXAMPLE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -o $@ $< -lz -lpthread
demo:
	$(Q).ci/deps.sh demo
	$(Q)$(MAKE) $(JOBS) --no-print-directory all $(EXAMPLES)
	$(Q)BUILD=$(BUILD) SUDO="$(SUDO)" examples/demo.sh

-include $(wildcard tests/*/*.mk)

clean:
	rm -rf $(BUILD)

.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
