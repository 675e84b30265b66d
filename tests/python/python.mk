# SPDX-License-Identifier: Apache-2.0
# Programs that compare what weft reads of CPython with what the interpreters say.
$(O)/tests/python/%: tests/python/%.c $(O)/libweft.a
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/libweft.a $(LDLIBS) -ldw
