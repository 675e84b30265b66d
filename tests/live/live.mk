# Tests of the kernel half: they need root and BPF.
$(O)/tests/live/%: tests/live/%.c $(O)/libweft.a
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/libweft.a $(LDLIBS) -lcmocka
