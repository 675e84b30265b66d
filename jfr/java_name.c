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

static const char digits[] = "0123456789abcdefABCDEFx";

/* Where a number begins that ends the name and stands behind this mark; `len` without. */
static size_t before_number(const char *name, size_t len, char mark)
{
	const char *at = memrchr(name, mark, len);

	if (!at || at == name || at + 1 == name + len || at[1] < '0' || at[1] > '9' ||
	    strspn(at + 1, digits) < (size_t)(name + len - at - 1))
		return len;
	return (size_t)(at - name);
}

/* The same of an address: "0x7f9b8800d768". */
static size_t before_address(const char *name, size_t len, char mark)
{
	size_t end = before_number(name, len, mark);

	return end + 3 < len && name[end + 1] == '0' && name[end + 2] == 'x' ? end : len;
}

/* How much of a name stands before the address and the number of a hidden class: "Load$$Lambda" of
   "Load$$Lambda$103+0x7f9b/268" (JDK 17), "Load$$Lambda$76/268" (8, 11), "Load$$Lambda/0x3304"
   (21 and later) and "Load$$Lambda$103.0x7f9b" (async-profiler). */
static size_t without_address(const char *name, size_t len)
{
	size_t end = before_number(name, len, '/');
	const char *dollar;

	end = before_address(name, end, '+');
	end = before_address(name, end, '.');
	dollar = end < len ? memrchr(name, '$', end) : NULL;
	if (dollar && dollar - name >= LAMBDA_LEN &&
	    !memcmp(dollar - LAMBDA_LEN, "$$Lambda", LAMBDA_LEN) &&
	    strspn(dollar + 1, "0123456789") >= end - (size_t)(dollar + 1 - name))
		end = (size_t)(dollar - name);
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

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Conditions, queues, futures, latches: all of the package but the locks in it. */
bool java_class_is_waited_for(const char *name)
{
	static const char *const locks[] = {
		"locks.ReentrantLock",
		"locks.ReentrantReadWriteLock",
		"locks.StampedLock",
		"Semaphore",
	};
	static const char package[] = "java.util.concurrent.";

	if (!begins_with(name, package))
		return false;
	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		if (begins_with(name + strlen(package), locks[i]))
			return false;
	return true;
}
