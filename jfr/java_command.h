/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM runs (sun.java.command: a jar or a main class, and arguments) as people call it. */
#ifndef JFR_JAVA_COMMAND_H
#define JFR_JAVA_COMMAND_H

#include <stddef.h>

/* Parts of the command, or constants; a length of 0: not known. */
struct java_command {
	const char *name, *version;
	size_t name_len, version_len;
};

/*
 * "/app/orders-1.2.jar --port=80": orders, 1.2. "com.acme.Orders": Orders. "com.acme.orders.Main":
 * orders, since every program has a Main. What only starts others (Spring's loader, Quarkus's
 * runner) has no name, servers have theirs. Arguments are not looked at.
 */
void java_command_parse(const char *command, struct java_command *out);

#endif
