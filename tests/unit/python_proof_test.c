// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "bpf/counters.h"
#include "python_memory.h"

struct world {
	struct python_layout layout; /* of 3.12 */
	uint8_t memory[MEMORY_LEN];
	struct python_code_source source;
	struct wire_python *stack; /* of one frame */
};

static int set_up(void **state)
{
	static const uint8_t lines[2] = { 0xe9, 2 };
	struct world *w = calloc(1, sizeof(*w));

	if (!w || python_layout_of_version(PYTHON_VERSION(3, 12, 1), false, &w->layout))
		return -1;
	put_code(w->memory, &w->layout, lines, sizeof(lines));
	w->source.layout = &w->layout;
	w->source.type = MEMORY_ADDR + CODE_TYPE;
	w->source.mem = mem_array(MEMORY_ADDR, w->memory, MEMORY_LEN);
	w->stack = calloc(1, sizeof(*w->stack) + sizeof(struct wire_python_frame));
	w->stack->n = 1;
	w->stack->end = PYTHON_STACKS;
	w->stack->frames[0] = (struct wire_python_frame){ .addr = MEMORY_ADDR + CODE, .id = 1 };
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	mem_free(w->source.mem);
	free(w->stack);
	free(w);
	return 0;
}

static enum python_proof prove(struct world *w)
{
	return python_prove(&w->source, w->stack);
}

static void a_code_object_with_a_name_proves_the_layout(void **state)
{
	struct world *w = *state;

	assert_int_equal(prove(w), PYTHON_PROOF_FITS);
	w->source.type = 0; /* a file that does not say where its types are */
	assert_int_equal(prove(w), PYTHON_PROOF_FITS);
}

/* As in a build with Py_TRACE_REFS, whose objects have two pointers before their head. */
static void objects_with_another_head_speak_against_it(void **state)
{
	struct world *w = *state;

	memmove(w->memory + CODE + 16, w->memory + CODE, 256);
	memset(w->memory + CODE, 0, 16);
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
	w->source.type = 0;
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
}

/* The program has the type in its own memory, as copy relocations do: its name tells. */
static void a_type_that_is_elsewhere_is_known_by_its_name(void **state)
{
	struct world *w = *state;

	w->source.type = MEMORY_ADDR + 8192;
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
	put_bytes(w->memory, CODE_TYPE + w->layout.type.name, MEMORY_ADDR + TEXT, 8);
	memcpy(w->memory + TEXT, "coder", 6);
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
	assert_int_not_equal(w->source.type, 0);
	memcpy(w->memory + TEXT, "code", 5);
	assert_int_equal(prove(w), PYTHON_PROOF_FITS);
	assert_int_equal(w->source.type, 0);
}

static void what_cannot_be_read_proves_nothing(void **state)
{
	struct world *w = *state;

	mem_free(w->source.mem);
	w->source.mem = NULL; /* and there is no process to open it of */
	assert_int_equal(prove(w), PYTHON_PROOF_NONE);
	w->stack->n = 0;
	assert_int_equal(prove(w), PYTHON_PROOF_NONE);
}

static void walks_that_went_wrong_speak_against_it(void **state)
{
	struct world *w = *state;

	w->stack->frames[0].id = 0; /* the kernel half could not read it */
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
	w->stack->frames[0].id = 1;
	w->stack->frames[0].addr = 0x1234; /* nothing is there */
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
	w->stack->end = PYTHON_BROKEN;
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
}

/* What came with the sample counts, whatever is in the process now. */
static void a_copy_proves_it_when_the_process_is_gone(void **state)
{
	struct world *w = *state;
	struct wire_python_code copy = copied_code(w->memory, 1);
	const struct wire_python_code *copies[] = { &copy };

	mem_free(w->source.mem);
	w->source.mem = NULL;
	w->source.copies = copies;
	w->source.n_copies = 1;
	assert_int_equal(prove(w), PYTHON_PROOF_FITS);
	w->source.type += 16;
	assert_int_equal(prove(w), PYTHON_PROOF_AGAINST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_code_object_with_a_name_proves_the_layout, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(objects_with_another_head_speak_against_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_type_that_is_elsewhere_is_known_by_its_name,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_proves_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(walks_that_went_wrong_speak_against_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_copy_proves_it_when_the_process_is_gone, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
