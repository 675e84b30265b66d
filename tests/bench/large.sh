#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes a C program of many functions, each with inlined calls three deep and types of its own.
awk 'BEGIN {
	print "volatile int sink;"
	for (i = 0; i < 4000; i++) {
		printf "struct part_%d { int key_%d; long weight_%d; struct part_%d *next_%d; };\n", i, i, i, i, i
		printf "static inline int add_%d(struct part_%d *p, int n) { sink += n; return p->key_%d + n; }\n", i, i, i
		printf "static inline int mix_%d(struct part_%d *p, int n) { return add_%d(p, n) ^ add_%d(p, n + 1); }\n", i, i, i, i
		printf "static inline int walk_%d(struct part_%d *p, int n) { return mix_%d(p, n) + mix_%d(p, n + 2); }\n", i, i, i, i
		printf "int work_%d(struct part_%d *p, int n) { return p ? walk_%d(p, n) : n; }\n", i, i, i
	}
	print "int main(void) { return 0; }"
}'
