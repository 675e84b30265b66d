/* SPDX-License-Identifier: Apache-2.0 */
/* Each test in a new, empty working directory that is removed after it. */
#ifndef TESTS_UNIT_OWN_FOLDER_H
#define TESTS_UNIT_OWN_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own_folder[64];

static int own_folder_enter(void **state)
{
	(void)state;
	strcpy(own_folder, "/tmp/weft-test-XXXXXX");
	return mkdtemp(own_folder) ? chdir(own_folder) : -1;
}

static int own_folder_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "cd / && rm -rf %s", own_folder);
	return system(command) || chdir("/");
}

#define IN_OWN_FOLDER(test) \
	cmocka_unit_test_setup_teardown(test, own_folder_enter, own_folder_remove)

#endif
