/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that came from a target, made safe for the place it goes to. Each function writes at most
 * size bytes into out with a final NUL, cuts at a whole character, and returns out.
 */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For a terminal or a log: C0, C1, DEL, bidirectional controls and invalid UTF-8 become \x1b and
 * the like. */
const char *text_safe(const char *s, char *out, size_t size);
/* The same text, allocated; NULL without memory. */
char *text_safe_dup(const char *s);
/* The first character of s: its length in bytes, or 0 when it is no valid UTF-8 (or len is 0). */
size_t text_char(const char *s, size_t len, uint32_t *c);
/* Valid UTF-8 or not; len bytes. */
int text_is_utf8(const char *s, size_t len);
/* Writes s with each invalid byte as U+FFFD. */
void text_put_utf8(const char *s, size_t len, FILE *out);
/* Is it start and then a decimal number? As names are that programs count up: "Task-123". */
bool text_is_numbered(const char *s, const char *start);
/* The part of a path after its last slash; never empty unless the path is. */
const char *path_basename(const char *path);
/* Writes s as a JSON string with its quotes; also safe inside an HTML script element. */
void text_put_json(const char *s, size_t len, FILE *out);

#endif
