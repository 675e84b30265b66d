# make accuracy: programs whose stacks are known, under weft and perf. QUICK=1 for a short run;
# GROUP=native or GROUP=python for one of both groups.

ACCURACY := WEFT=$(O)/weft ACCURACY_OUT=$(O)/accuracy PYTHONDONTWRITEBYTECODE=1

.PHONY: accuracy accuracy-native accuracy-python
accuracy:
	$(Q).ci/deps.sh bench
	$(Q)$(MAKE) --no-print-directory $(O)/weft
	$(Q)fail=0; for group in $(or $(GROUP),native python); do \
		$(MAKE) --no-print-directory accuracy-$$group || fail=1; done; exit $$fail

accuracy-native: $(O)/weft
	$(Q)$(ACCURACY) BUILD_ONLY=1 python3 tests/accuracy/accuracy.py
	$(Q)$(SUDO) env $(ACCURACY) QUICK=$(QUICK) CELLS="$(CELLS)" python3 tests/accuracy/accuracy.py

# The interpreters are those of whoever runs it; only sampling asks for root.
accuracy-python: $(O)/weft
	$(Q).ci/pythons.sh || echo "pythons: measured without CPython 3.14 and 3.15"
	$(Q)$(SUDO) env $(ACCURACY) QUICK=$(QUICK) CELLS="$(CELLS)" \
		PYTHONS="$$(. tests/python/pythons.sh; pythons_all $(if $(QUICK),"$$PYTHON_FEW"))" python3 tests/accuracy/snakes.py
