# make accuracy: programs whose stacks are known, under weft and perf. QUICK=1 for a short run.

ACCURACY := WEFT=$(O)/weft ACCURACY_OUT=$(O)/accuracy PYTHONDONTWRITEBYTECODE=1

.PHONY: accuracy
accuracy:
	$(Q).ci/deps.sh bench
	$(Q)$(MAKE) --no-print-directory $(O)/weft
	$(Q)$(ACCURACY) BUILD_ONLY=1 python3 tests/accuracy/accuracy.py
	$(Q)$(SUDO) env $(ACCURACY) QUICK=$(QUICK) CELLS="$(CELLS)" python3 tests/accuracy/accuracy.py
