# make bench: what weft costs and reaches, as `name value unit` lines. QUICK=1 for a short run.

BENCH_PROGRAMS := $(patsubst tests/bench/programs/%.c,$(O)/bench/%,$(wildcard tests/bench/programs/*.c))
BENCH_LIBRARY  := $(patsubst tests/bench/%.c,$(O)/bench/%,$(wildcard tests/bench/*_bench.c))
# Other profilers, kept from one run to the next.
BENCH_PEERS    := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/weft/peers
BENCH_MEASURED := $(O)/bench/depth_fp $(O)/bench/fork $(O)/bench/large $(O)/bench/fp_sampler $(O)/bench/fp_sampler.bpf.o $(O)/bench/clock.so

$(O)/bench/%: tests/bench/programs/%.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -o $@ $< -lpthread

$(O)/bench/depth_fp: tests/bench/programs/depth.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -fno-omit-frame-pointer -o $@ $< -lpthread

$(O)/bench/fork: tests/accuracy/programs/fork.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -o $@ $< -lpthread

$(O)/bench/%_bench: tests/bench/%_bench.c $(O)/libweft.a
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(ALL_LDFLAGS) -o $@ $< $(O)/libweft.a $(LDLIBS) -ldw

$(O)/bench/clock.so: tests/bench/clock.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -shared -fPIC -o $@ $<

$(O)/bench/fp_sampler: tests/bench/fp_sampler.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -D_GNU_SOURCE -o $@ $< -lbpf

$(O)/bench/fp_sampler.bpf.o: tests/bench/fp_sampler.bpf.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -Wall -target bpf -I/usr/include/$(TRIPLET) -c -o $@ $<

# A program with much debug information, for machines that have no other.
$(O)/bench/large: tests/bench/large.sh
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tests/bench/large.sh | $(CC) -O1 -g -xc -o $@ -

.PHONY: bench bench-programs
bench-programs: $(O)/weft $(BENCH_PROGRAMS) $(BENCH_LIBRARY) $(BENCH_MEASURED)
bench:
	$(Q).ci/deps.sh bench
	$(Q).ci/pythons.sh || echo "pythons: measured without CPython 3.14 and 3.15"
	$(Q).ci/peers.sh $(BENCH_PEERS)
	$(Q)$(MAKE) --no-print-directory bench-programs
	$(Q)$(SUDO) env WEFT=$(O)/weft BENCH_OUT=$(O)/bench QUICK=$(QUICK) BENCH=$(BENCH) PYTHONDONTWRITEBYTECODE=1 \
		PEERS=$(BENCH_PEERS) PYTHONS="$$(. tests/python/pythons.sh; pythons_all)" \
		python3 tests/bench/bench.py
