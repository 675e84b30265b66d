// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the layout that weft has for an interpreter, or reads out of it, with the interpreter's
 * debug information.
 *
 *	layout_check HEXVERSION FILE DEBUG	DEBUG: where FILE's DWARF is, may be FILE
 * Exit 77: there is no debug information.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtimes/python_layout.h"

#define SAME(field, names)                                           \
	{                                                            \
#field, offsetof(struct python_layout, field), names \
	}

/* A field and its names from the newest to the oldest: the first type that exists counts. */
static const struct {
	const char *field;
	size_t at;
	const char *names;
} fields[] = {
	SAME(runtime.finalizing, "_PyRuntimeState._finalizing _PyRuntimeState.finalizing"),
	SAME(runtime.interpreters_head, "_PyRuntimeState.interpreters.head"),
	SAME(runtime.tstate_current, "_PyRuntimeState.gilstate.tstate_current"),
	SAME(runtime.tss_key,
	     "_PyRuntimeState.autoTSSkey._key _PyRuntimeState.gilstate.autoTSSkey._key"),
	SAME(runtime.gil, "_PyRuntimeState.ceval.gil"),
	SAME(interp.next, "PyInterpreterState.next"),
	SAME(interp.id, "PyInterpreterState.id"),
	SAME(interp.threads_head, "PyInterpreterState.threads.head PyInterpreterState.tstate_head"),
	SAME(interp.gil, "PyInterpreterState.ceval.gil"),
	SAME(interp.modules, "PyInterpreterState.imports.modules PyInterpreterState.modules"),
	SAME(thread.next, "PyThreadState.next"),
	SAME(thread.interp, "PyThreadState.interp"),
	SAME(thread.frame, "PyThreadState.frame"),
	SAME(thread.cframe, "PyThreadState.cframe"),
	SAME(thread.current_frame, "PyThreadState.current_frame"),
	SAME(thread.base_frame, "PyThreadState.base_frame"),
	SAME(thread.thread_id, "PyThreadState.thread_id"),
	SAME(thread.native_thread_id, "PyThreadState.native_thread_id"),
	SAME(thread.status, "PyThreadState._status"),
	SAME(thread.state, "PyThreadState.state"),
	SAME(thread.holds_gil, "PyThreadState.holds_gil"),
	SAME(thread.gil_requested, "PyThreadState.gil_requested"),
	SAME(thread.context, "PyThreadState.context"),
	SAME(cframe.current_frame, "_PyCFrame.current_frame"),
	SAME(cframe.previous, "_PyCFrame.previous CFrame.previous"),
	SAME(frame.code,
	     "_PyInterpreterFrame.f_executable _PyInterpreterFrame.f_code PyFrameObject.f_code"),
	SAME(frame.previous, "_PyInterpreterFrame.previous PyFrameObject.f_back"),
	SAME(frame.instr,
	     "_PyInterpreterFrame.instr_ptr _PyInterpreterFrame.prev_instr PyFrameObject.f_lasti"),
	SAME(frame.owner, "_PyInterpreterFrame.owner"),
	SAME(frame.is_entry, "_PyInterpreterFrame.is_entry"),
	SAME(frame.localsplus, "_PyInterpreterFrame.localsplus PyFrameObject.f_localsplus"),
	SAME(frame.tlbc_index, "_PyInterpreterFrame.tlbc_index"),
	SAME(code.argcount, "PyCodeObject.co_argcount"),
	SAME(code.flags, "PyCodeObject.co_flags"),
	SAME(code.first_line, "PyCodeObject.co_firstlineno"),
	SAME(code.filename, "PyCodeObject.co_filename"),
	SAME(code.name, "PyCodeObject.co_name"),
	SAME(code.qualname, "PyCodeObject.co_qualname"),
	SAME(code.linetable, "PyCodeObject.co_linetable PyCodeObject.co_lnotab"),
	SAME(code.code, "PyCodeObject.co_code_adaptive PyCodeObject.co_code"),
	SAME(code.tlbc, "PyCodeObject.co_tlbc"),
	SAME(object.type, "PyObject.ob_type"),
	SAME(object.size, "PyVarObject.ob_size"),
	SAME(str.length, "PyASCIIObject.length"),
	SAME(str.hash, "PyASCIIObject.hash"),
	SAME(str.state, "PyASCIIObject.state"),
	SAME(str.ascii_header, "PyASCIIObject"),
	SAME(str.compact_header, "PyCompactUnicodeObject"),
	SAME(bytes.size, "PyVarObject.ob_size"),
	SAME(bytes.data, "PyBytesObject.ob_sval"),
	SAME(tuple.size, "PyVarObject.ob_size"),
	SAME(tuple.items, "PyTupleObject.ob_item"),
	SAME(integer.tag, "PyLongObject.long_value.lv_tag PyVarObject.ob_size"),
	SAME(integer.digits, "PyLongObject.long_value.ob_digit PyLongObject.ob_digit"),
	SAME(type.name, "PyTypeObject.tp_name"),
	SAME(type.basicsize, "PyTypeObject.tp_basicsize"),
	SAME(type.flags, "PyTypeObject.tp_flags"),
	SAME(type.dictoffset, "PyTypeObject.tp_dictoffset"),
};
#define N_FIELDS (sizeof(fields) / sizeof(*fields))

/* What a type is behind its typedefs; NULL when it is only declared. */
static Dwarf_Die *body_of(Dwarf_Die *die, Dwarf_Die *mem)
{
	Dwarf_Attribute attr;
	Dwarf_Word size;

	*mem = *die;
	while (dwarf_tag(mem) == DW_TAG_typedef || dwarf_tag(mem) == DW_TAG_volatile_type ||
	       dwarf_tag(mem) == DW_TAG_const_type) {
		Dwarf_Die from = *mem;

		if (!dwarf_formref_die(dwarf_attr(&from, DW_AT_type, &attr), mem))
			return NULL;
	}
	return dwarf_aggregate_size(mem, &size) == 0 && size ? mem : NULL;
}

/* A type of that name anywhere in the file. */
static bool type_find(Dwarf *dw, const char *name, size_t len, Dwarf_Die *out)
{
	Dwarf_Off off = 0, next;
	size_t header;

	while (dwarf_nextcu(dw, off, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die cu, die, body;

		if (dwarf_offdie(dw, off + header, &cu) && dwarf_child(&cu, &die) == 0)
			do {
				const char *is = dwarf_diename(&die);

				if (!is || strlen(is) != len || memcmp(is, name, len) ||
				    (dwarf_tag(&die) != DW_TAG_typedef &&
				     dwarf_tag(&die) != DW_TAG_structure_type) ||
				    !body_of(&die, &body))
					continue;
				*out = body;
				return true;
			} while (dwarf_siblingof(&die, &die) == 0);
		off = next;
	}
	return false;
}

/* The member of that name, also inside members without one; adds to *offset. */
static bool member_find(Dwarf_Die *type, const char *name, size_t len, Dwarf_Die *out,
			Dwarf_Word *offset)
{
	Dwarf_Die member, mem, body;

	if (dwarf_child(type, &member) != 0)
		return false;
	do {
		const char *is = dwarf_diename(&member);
		Dwarf_Attribute attr;
		Dwarf_Word at = 0;

		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		if (dwarf_attr(&member, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &at);
		if (!dwarf_formref_die(dwarf_attr(&member, DW_AT_type, &attr), &mem))
			continue;
		if (is && strlen(is) == len && !memcmp(is, name, len)) {
			*offset += at;
			*out = mem;
			return true;
		}
		if (is || !body_of(&mem, &body))
			continue;
		*offset += at;
		if (member_find(&body, name, len, out, offset))
			return true;
		*offset -= at;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

/* TYPE.MEMBER.MEMBER up to end, or a type's size. */
static bool path_offset(Dwarf *dw, const char *path, const char *end, uint64_t *out)
{
	size_t len = strcspn(path, ". ");
	Dwarf_Die type, member;
	Dwarf_Word offset = 0, size;

	if (!type_find(dw, path, len, &type))
		return false;
	if (path + len == end) {
		dwarf_aggregate_size(&type, &size);
		*out = size;
		return true;
	}
	while (path + len < end) {
		path += len + 1;
		len = strcspn(path, ". ");
		if (!member_find(&type, path, len, &member, &offset))
			return false;
		if (path + len < end && !body_of(&member, &type))
			return false;
	}
	*out = offset;
	return true;
}

static uint64_t want(Dwarf *dw, const char *names)
{
	uint64_t offset = 0;

	for (const char *end; *names; names = *end ? end + 1 : end) {
		end = names + strcspn(names, " ");
		if (path_offset(dw, names, end, &offset))
			return offset;
	}
	return 0;
}

static int layout_of(const char *path, uint32_t version, struct python_layout *out)
{
	int fd = open(path, O_RDONLY), err = -ENOENT;
	Elf *elf;
	Elf_Scn *section = NULL;
	size_t names;

	if (version < PYTHON_FIRST(3, 13))
		return python_layout_of_version(version, false, out);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;

		gelf_getshdr(section, &header);
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".PyRuntime"))
			continue;
		data = elf_getdata(section, NULL);
		err = python_layout_parse(data->d_buf, data->d_size, out);
	}
	elf_end(elf);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	uint32_t version = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
	int fd = argc == 4 ? open(argv[3], O_RDONLY) : -1, n_wrong = 0, err;
	Dwarf *dw = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	struct python_layout l;
	Dwarf_Die type;

	if (argc != 4)
		return 2;
	if (!dw || !type_find(dw, "PyCodeObject", strlen("PyCodeObject"), &type))
		return 77;
	err = layout_of(argv[2], version, &l);
	if (err < 0) {
		fprintf(stderr, "no layout: %s\n", strerror(-err));
		return 1;
	}
	for (size_t i = 0; i < N_FIELDS; i++) {
		uint64_t is = *(const uint16_t *)((const char *)&l + fields[i].at);
		uint64_t should = want(dw, fields[i].names);

		if (is == should)
			continue;
		fprintf(stderr, "%s is %lu, not %lu\n", fields[i].field, is, should);
		n_wrong++;
	}
	printf("%zu fields, %d wrong\n", N_FIELDS, n_wrong);
	dwarf_end(dw);
	close(fd);
	return n_wrong != 0;
}
