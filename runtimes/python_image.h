/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says about the CPython interpreter in it: python itself, libpython, or a program that
 * embeds it, whatever its name. Known by the symbol `_PyRuntime` (3.7 on) or
 * `_PyThreadState_Current` (3.6), which extension modules need and so is there when the file is
 * stripped, and by the section
 * `.PyRuntime` (3.11 on).
 */
#ifndef RUNTIMES_PYTHON_IMAGE_H
#define RUNTIMES_PYTHON_IMAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_layout.h"
#include "runtimes/python_tls.h"

struct object;

struct python_image {
	struct python_layout layout;
	int err;		 /* -ENOTSUP: a version nobody knows, layout.version says which */
	uint64_t runtime;	 /* virtual address of _PyRuntime; 3.6: of _PyThreadState_Current */
	uint64_t key;		 /* of the int that is 3.6's autoTLSkey; 0: not found */
	uint64_t gil_cond;	 /* of 3.6's condition variable; 0: not found */
	uint64_t eval, eval_len; /* the eval function's main part */
	uint64_t str, integer;	 /* PyUnicode_Type and PyLong_Type; 0: not found */
	uint64_t code;		 /* PyCode_Type; 0: not found */
	uint64_t interned;	 /* to 3.11: the variable of that name; 0: not found */
	uint64_t next_code;	 /* 3.12: _Py_next_func_version; 0: not found */
	uint16_t made_codes;	 /* 3.13: python_stamp_find() */
	/* _Py_tss_tstate, from 3.12 on, and _Py_tss_gilstate, from 3.15 on: the thread's own state
	   while it is attached, and always. */
	struct python_tls attached, sticky;
};

/* Can it be walked? A newer version than is known describes itself well enough to be tried. */
static inline bool python_image_is_usable(const struct python_image *image)
{
	return !image->err || (image->err == -ENOTSUP && image->layout.frame.size);
}

struct python_images;

struct python_images *python_images_new(void);
void python_images_free(struct python_images *is);
/* NULL: there is no interpreter in it. Looked for once; stays as long as the object. */
const struct python_image *python_images_get(struct python_images *is, struct object *o);
/* True when it is first asked for this image: what is to be said of it, is said once. */
bool python_images_say(struct python_images *is, const struct python_image *image);
/* Files that were not looked into because there are too many. */
uint64_t python_images_refused(const struct python_images *is);

#endif
