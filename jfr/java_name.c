// SPDX-License-Identifier: Apache-2.0
#include "jfr/java_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *primitive(char letter)
{
	switch (letter) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	default:
		return NULL;
	}
}

#define LAMBDA_LEN 8 /* of "$$Lambda" */

/* How much of a name stands before the address and the number of a hidden class: "Load$$Lambda" of
   "Load$$Lambda$103+0x7f9b/268" (JDK 17), "Load$$Lambda$76/268" (8, 11) and "Load$$Lambda/0x3304"
   (21 and later). */
static size_t without_address(const char *name, size_t len)
{
	static const char digits[] = "0123456789abcdefABCDEFx";
	const char *slash = memrchr(name, '/', len);
	const char *plus;
	size_t end;

	if (!slash || slash == name || slash + 1 == name + len ||
	    strspn(slash + 1, digits) < (size_t)(name + len - slash - 1) ||
	    (slash[1] < '0' || slash[1] > '9'))
		return len;
	end = (size_t)(slash - name);
	plus = memrchr(name, '+', end);
	if (plus && !strncmp(plus, "+0x", 3) &&
	    strspn(plus + 1, digits) >= end - (size_t)(plus + 1 - name))
		end = (size_t)(plus - name);
	plus = memrchr(name, '$', end);
	if (plus && plus - name >= LAMBDA_LEN &&
	    !memcmp(plus - LAMBDA_LEN, "$$Lambda", LAMBDA_LEN) &&
	    strspn(plus + 1, "0123456789") >= end - (size_t)(plus + 1 - name))
		end = (size_t)(plus - name);
	return end;
}

const char *java_class_name(const char *name, char *out, size_t size)
{
	size_t dimensions = strspn(name, "["), len, n;
	const char *element = name + dimensions;

	len = strlen(element);
	if (dimensions && len == 1 && primitive(*element)) {
		element = primitive(*element);
		len = strlen(element);
	} else if (dimensions && *element == 'L' && element[len - 1] == ';') {
		element++;
		len -= 2;
	}
	len = without_address(element, len);
	n = (size_t)snprintf(out, size, "%.*s", (int)(len < size ? len : size), element);
	for (char *p = out; *p; p++)
		if (*p == '/')
			*p = '.';
	for (; dimensions && n + 3 <= size; dimensions--, n += 2)
		memcpy(out + n, "[]", 3);
	return out;
}
