/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for people, on stderr, each line with "weft: " before it. Text that came from a target
 * must go through text_safe() first (core/text.h).
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* What went wrong; always shown. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Start and end lines; not with -q. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Reasons; with -v only. */
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
