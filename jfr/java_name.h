/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes as the JVM writes them, as people write them. */
#ifndef JFR_JAVA_NAME_H
#define JFR_JAVA_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "java/lang/String" is java.lang.String, "[[B" is byte[][], "[Ljava/lang/String;" is
 * java.lang.String[]. The number that tells one hidden class from another ("$$Lambda/0x00003047",
 * "$$Lambda$103+0x00007f98/268904057") is left out, as every lambda would be a function of its own
 * in every run. Writes at most size bytes with a final NUL; returns out.
 */
const char *java_class_name(const char *name, char *out, size_t size);

/* Is it of the JDK's classes that threads are parked for while they wait for work, a result or each
   other, and no lock? */
bool java_class_is_waited_for(const char *name);

#endif
