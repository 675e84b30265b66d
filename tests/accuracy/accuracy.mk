# make accuracy: programs whose stacks are known, under weft and perf. QUICK=1 for the test run.

.PHONY: accuracy
accuracy: $(O)/weft
	$(Q)WEFT=$(O)/weft ACCURACY_OUT=$(O)/accuracy PYTHONDONTWRITEBYTECODE=1 python3 tests/accuracy/accuracy.py
