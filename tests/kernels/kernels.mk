# make kernels: weft inside other kernels than this machine's (5.10 to the newest of Debian's), in QEMU
# without help of the hardware. KERNELS="5.10 6.12" for some of them.
.PHONY: kernels
kernels:
	$(Q).ci/deps.sh kernels
	$(Q)$(MAKE) --no-print-directory $(O)/weft $(O)/tests/live/kernel_stack $(O)/tests/live/kernel_stack.bpf.o
	$(Q)BUILD=$(O) KERNELS="$(KERNELS)" tests/kernels/kernels.sh
