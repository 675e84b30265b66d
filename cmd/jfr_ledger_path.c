// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_ledger_path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/discover.h"
#include "jfr/identity.h"
#include "jfr/ledger.h"

static char *state_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *dir = NULL;
	int n;

	if (state && *state == '/')
		n = asprintf(&dir, "%s/weft", state);
	else if (!geteuid() || !home || *home != '/')
		n = asprintf(&dir, "/var/lib/weft");
	else
		n = asprintf(&dir, "%s/.local/state/weft", home);
	return n < 0 ? NULL : dir;
}

static int make_dirs(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int made;

		*slash = 0;
		made = mkdir(path, 0700);
		*slash = '/';
		if (made < 0 && errno != EEXIST)
			return -errno;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* The same directories have the same ledger, whatever they are called this time. */
static uint64_t hash_roots(const struct string_list *roots)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < roots->n; i++) {
		SCOPED(free) char *real = discover_real_path(roots->items[i]);
		const char *path = real ? real : roots->items[i];

		sum += identity_hash(path, strlen(path));
	}
	return sum;
}

static char *default_path(const struct options *opt, int *err)
{
	SCOPED(free) char *dir = state_dir();
	char *path = NULL;

	*err = dir ? make_dirs(dir) : -ENOMEM;
	if (dir &&
	    asprintf(&path, "%s/jfr-%016" PRIx64 ".ledger", dir, hash_roots(&opt->files)) < 0)
		path = NULL;
	return path;
}

static const char *explain(int err)
{
	switch (err) {
	case -EBUSY:
		return "another weft watches with it\n  end that one, or choose another: --ledger "
		       "FILE";
	case -EMEDIUMTYPE:
		return "it is no ledger of weft, and stays as it is\n  choose another: --ledger "
		       "FILE";
	case -EBADMSG:
		return "it is damaged, and stays as it is\n  without it all that is there is "
		       "exported "
		       "again, under the same names: move it away, or choose another: --ledger "
		       "FILE";
	case -ENOTSUP:
		return "a newer weft made it\n  choose another: --ledger FILE";
	case -EACCES:
		return "no permission\n  choose another: --ledger FILE";
	case -ENOENT:
		return "no such directory\n  choose another: --ledger FILE";
	case -EROFS:
		return "its file system is read-only\n  choose another: --ledger FILE";
	default:
		return strerror(-err);
	}
}

struct ledger *jfr_ledger_open(const struct options *opt)
{
	SCOPED(free) char *path = NULL;
	struct ledger *l = NULL;
	char name[PATH_MAX];
	int err = 0;

	path = opt->ledger ? strdup(opt->ledger) : default_path(opt, &err);
	if (!path) {
		log_error("out of memory");
		return NULL;
	}
	if (!err)
		err = ledger_open(path, &l);
	if (!err)
		log_info("what is exported is remembered in %s",
			 text_safe(path, name, sizeof(name)));
	else
		log_error("cannot use the ledger %s: %s", text_safe(path, name, sizeof(name)),
			  explain(err));
	return l;
}
