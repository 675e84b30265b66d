// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/patient_stdout.h"
#include "core/array.h"
#include "core/log.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/replacement.h"

struct batch_place {
	const char *extension;
	char *path; /* NULL: stdout */
	int dir;
	struct stat st;
	FILE *out; /* stdout's for ever, else of the batch */
	struct replacement file;
	/* Ended, and without their names until they are on the disk: many go there as fast as one.
	 */
	struct replacement *sealed;
	size_t n_sealed, sealed_cap;
	bool is_open;
	bool is_torn; /* stdout's last line may have no end */
};

SCOPED_DEFINE(struct batch_place, batch_place_close)

static int open_dir(struct batch_place *place, const char *path)
{
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return -errno;
	place->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->dir < 0 || fstat(place->dir, &place->st) < 0)
		return -errno;
	if (faccessat(place->dir, ".", W_OK, AT_EACCESS) < 0)
		return -errno;
	place->path = strdup(path);
	return place->path ? 0 : -ENOMEM;
}

struct batch_place *batch_place_open(const char *path, const char *extension,
				     bool (*is_stopped)(void))
{
	SCOPED(batch_place_close)
	struct batch_place *place = (struct batch_place *)calloc(1, sizeof(*place));
	char name[512];
	int err = 0;

	if (!place)
		return NULL;
	place->dir = -1;
	place->extension = extension;
	if (strcmp(path, "-")) {
		err = open_dir(place, path);
	} else {
		place->out = patient_open(STDOUT_FILENO, is_stopped);
		err = place->out ? 0 : -ENOMEM;
	}
	if (!err)
		return TAKE(place);
	log_error("cannot write to the directory %s: %s", text_safe(path, name, sizeof(name)),
		  strerror(-err));
	return NULL;
}

static void abandon_sealed(struct batch_place *place)
{
	while (place->n_sealed)
		replacement_abandon(&place->sealed[--place->n_sealed]);
}

void batch_place_close(struct batch_place *place)
{
	if (!place)
		return;
	batch_abandon(place);
	abandon_sealed(place);
	free(place->sealed);
	if (place->out)
		fclose(place->out);
	scoped_close(&place->dir);
	free(place->path);
	free(place);
}

const struct stat *batch_place_dir(const struct batch_place *place)
{
	return place->path ? &place->st : NULL;
}

/* Through the descriptor: the directory may have another name by now. */
static int open_file(struct batch_place *place, const char *name)
{
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s%s", place->dir, name, place->extension);
	err = replacement_open(&place->file, path, false);
	if (err)
		return err;
	fchmod(place->file.fd, 0640);
	fd = fcntl(place->file.fd, F_DUPFD_CLOEXEC, 0);
	place->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (place->out)
		return 0;
	err = -errno;
	scoped_close(&fd);
	replacement_abandon(&place->file);
	return err;
}

int batch_begin(struct batch_place *place, const char *name, FILE **out)
{
	int err = place->path ? open_file(place, name) : 0;

	if (err)
		return err;
	/* What was wrong with stdout may be over. */
	if (place->is_torn) {
		clearerr(place->out);
		__fpurge(place->out);
		fputc('\n', place->out);
	}
	place->is_torn = false;
	place->is_open = true;
	*out = place->out;
	return 0;
}

/* The first error, of a stream that has had one for long. */
static int stream_error(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return ferror(out) ? -EIO : 0;
}

static int seal(struct batch_place *place)
{
	if (ARRAY_RESERVE(place->sealed, place->sealed_cap, place->n_sealed))
		return -ENOMEM;
	/* The disk may begin with it. */
	sync_file_range(place->file.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	place->sealed[place->n_sealed++] = place->file;
	return 0;
}

int batch_end(struct batch_place *place)
{
	int err = stream_error(place->out);

	place->is_open = false;
	if (!place->path) {
		place->is_torn = err;
		return err;
	}
	fclose(place->out);
	place->out = NULL;
	if (!err)
		err = seal(place);
	if (err)
		replacement_abandon(&place->file);
	return err;
}

void batch_abandon(struct batch_place *place)
{
	if (place->is_open && place->path) {
		fclose(place->out);
		place->out = NULL;
		replacement_abandon(&place->file);
	} else if (place->is_open) {
		place->is_torn = stream_error(place->out);
	}
	place->is_open = false;
}

int batch_discard(struct batch_place *place, const char *name)
{
	char path[256];

	batch_abandon(place);
	if (!place->path)
		return 0;
	snprintf(path, sizeof(path), "%s%s", name, place->extension);
	return unlinkat(place->dir, path, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int batch_place_sync(struct batch_place *place)
{
	int err = 0;

	if (!place->path)
		return 0;
	for (size_t i = 0; i < place->n_sealed && !err; i++)
		err = fdatasync(place->sealed[i].fd) < 0 ? -errno : 0;
	for (size_t i = 0; i < place->n_sealed; i++) {
		struct replacement *file = &place->sealed[i];

		if (err)
			replacement_abandon(file);
		else
			err = replacement_finish(file);
	}
	place->n_sealed = 0;
	return err ? err : fsync(place->dir) < 0 ? -errno : 0;
}
