# SPDX-License-Identifier: Apache-2.0
# Writes the pages that the browser tests open.
$(O)/tests/page/make_page: tests/page/make_page.c $(O)/libweft.a
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/libweft.a $(LDLIBS)
