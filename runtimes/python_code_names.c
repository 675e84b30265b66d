// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_code_names.h"

#include "runtimes/python_dict.h"

uint64_t python_method_code(struct python_heap *h, uint64_t modules, const char *module,
			    const char *name, const char *method)
{
	uint64_t at = h->layout->version < PYTHON_FIRST(3, 10) ? 16 : 48;
	uint64_t variables = python_module_dict(h, modules, module);
	uint64_t class = variables ? python_dict_get(h, variables, name) : 0;
	uint64_t dict = class ? python_field(h, class, PYTHON_TYPE_DICT) : 0;
	uint64_t function = dict ? python_dict_get(h, dict, method) : 0, code;

	if (python_kind(h, function) != PYTHON_FUNCTION)
		return 0;
	code = python_field(h, function, at);
	return python_kind(h, code) == PYTHON_CODE ? code : 0;
}

/* The index of a name in a tuple of them. */
static uint32_t find(struct python_heap *h, uint64_t names, const char *name)
{
	size_t n = python_kind(h, names) == PYTHON_TUPLE ? python_items(h, names, PYTHON_TUPLE) : 0;

	for (uint32_t i = 0; i < n && i < PYTHON_NO_VARIABLE; i++)
		if (python_str_is(h, python_item(h, names, PYTHON_TUPLE, i), name))
			return i;
	return PYTHON_NO_VARIABLE;
}

/* The tuples are as far from the file's name in all versions to 3.10, and in all from 3.11 on. */
uint32_t python_code_variable(struct python_heap *h, uint64_t code, const char *name)
{
	uint64_t back = h->layout->version < PYTHON_FIRST(3, 11) ? 32 : 16;

	return find(h, python_word(h, code + h->layout->code.filename - back), name);
}

uint64_t python_code_name(struct python_heap *h, uint64_t code, const char *name)
{
	uint64_t back = h->layout->version < PYTHON_FIRST(3, 11) ? 40 : 80;
	uint64_t names = python_word(h, code + h->layout->code.filename - back);
	uint32_t i = find(h, names, name);

	return i < PYTHON_NO_VARIABLE ? python_item(h, names, PYTHON_TUPLE, i) : 0;
}
