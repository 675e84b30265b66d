// SPDX-License-Identifier: Apache-2.0
#include "runtimes/files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "core/intern.h"
#include "core/located.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"

/* Roots whose directory is kept open at most, a container each; further ones are reached by
 * /proc/PID/root. */
#define MAX_ROOT_FDS 4096

/* Known files kept at most before the table starts anew. */
#define MAX_KNOWN_FILES (1u << 16)

/* What a file that has been opened was opened for. */
struct known_key {
	uint32_t root, path;
	uint64_t dev, ino, ino_generation;
};

struct files {
	struct objects *objects;
	const struct intern *strings;
	struct root *roots, *own;
	uint32_t n_roots, last_serial;
	struct intern *known_keys; /* struct known_key: known[id - 1] */
	struct object **known;
	uint32_t cap_known;
	struct object *vdso;
	bool is_vdso_tried;
};

struct files *files_new(struct objects *objects, const struct intern *strings)
{
	struct files *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->objects = objects;
	fs->strings = strings;
	fs->known_keys = intern_new();
	if (!fs->known_keys) {
		free(fs);
		return NULL;
	}
	fs->own = files_root(fs, getpid());
	return fs;
}

void files_free(struct files *fs)
{
	if (!fs)
		return;
	while (fs->roots) {
		struct root *next = fs->roots->next;

		if (fs->roots->fd >= 0)
			close(fs->roots->fd);
		free(fs->roots);
		fs->roots = next;
	}
	intern_free(fs->known_keys);
	free(fs->known);
	free(fs);
}

size_t files_memory(const struct files *fs)
{
	return sizeof(*fs) + fs->n_roots * sizeof(struct root) + intern_memory(fs->known_keys) +
	       fs->cap_known * sizeof(*fs->known);
}

struct root *root_ref(struct root *root)
{
	if (root)
		root->refs++;
	return root;
}

void files_unref(struct files *fs, struct root *root)
{
	if (!root || --root->refs)
		return;
	for (struct root **at = &fs->roots; *at; at = &(*at)->next) {
		if (*at != root)
			continue;
		*at = root->next;
		break;
	}
	if (root->fd >= 0)
		close(root->fd);
	fs->n_roots--;
	free(root);
}

static int proc_stat_link(pid_t pid, const char *name, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return stat(path, st);
}

struct root *files_root(struct files *fs, pid_t pid)
{
	struct stat root, ns;
	struct root *r;
	char path[32];

	if (proc_stat_link(pid, "root", &root) < 0 || proc_stat_link(pid, "ns/mnt", &ns) < 0)
		return NULL;
	for (r = fs->roots; r; r = r->next)
		if (r->ino == root.st_ino && r->dev == root.st_dev && r->mount_ns == ns.st_ino)
			return root_ref(r);
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct root){ .next = fs->roots,
			    .refs = 1,
			    .serial = ++fs->last_serial,
			    .dev = root.st_dev,
			    .ino = root.st_ino,
			    .mount_ns = ns.st_ino,
			    .fd = -1 };
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (fs->n_roots < MAX_ROOT_FDS)
		r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fs->roots = r;
	fs->n_roots++;
	return r;
}

static const char *string_of(const struct files *fs, uint32_t id)
{
	const char *s = intern_get(fs->strings, id, NULL);

	return s ? s : "";
}

/* Overlay and btrfs show another device to stat() than the kernel's records have. */
static bool is_device_unreliable(int fd)
{
	struct statfs s;

	return fstatfs(fd, &s) == 0 &&
	       (s.f_type == OVERLAYFS_SUPER_MAGIC || s.f_type == BTRFS_SUPER_MAGIC);
}

static bool is_inode_of(const struct mapping *m, int fd, const struct stat *st)
{
	if (!m->ino)
		return true;
	return m->ino == st->st_ino && (m->dev == st->st_dev || is_device_unreliable(fd));
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)ns_of(&t);
}

/* Once nobody maps a file any more its inode may be given to another one. (While it is mapped, what
   is written into it is what the process runs.) */
static bool is_changed_since(const struct process *proc, const struct stat *st)
{
	uint64_t exit_ns = proc->exit_time_ns;

	if (!exit_ns)
		return false;
	exit_ns += now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	return ns_of(&st->st_ctim) > (int64_t)exit_ns;
}

static struct file_key key_of(const struct stat *st)
{
	return (struct file_key){ .dev = st->st_dev,
				  .ino = st->st_ino,
				  .size = (uint64_t)st->st_size,
				  .mtime_ns = ns_of(&st->st_mtim) };
}

/* pc - bias is the virtual address. The loader maps whole pages, so a segment begins up to a page
   earlier in the file than it says. */
static bool find_bias(const struct object *o, const struct mapping *m, uint64_t *bias)
{
	const uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	const struct segment *segments, *best = NULL;
	size_t n;

	segments = object_segments(o, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t first = segments[i].offset & ~in_page;

		if (m->pgoff == first) {
			best = &segments[i];
			break;
		}
		if (m->pgoff > first && m->pgoff - segments[i].offset < segments[i].filesz)
			best = &segments[i];
	}
	if (!best)
		return false;
	*bias = m->start - m->pgoff + best->offset - best->vaddr;
	return true;
}

static int set_object(struct mapping *m, struct object *o)
{
	uint64_t bias;

	if (!find_bias(o, m, &bias))
		return -EBADMSG;
	m->object = o;
	m->bias = bias;
	return 0;
}

/* Takes the located file for m's if it is that. Closes nothing. */
static int use_located(struct files *fs, const struct process *proc, struct mapping *m, int located,
		       int root_fd)
{
	struct file_key key;
	struct object *o;
	struct stat st;
	int err = 0;

	if (fstat(located, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (!is_inode_of(m, located, &st))
		return -ESTALE;
	if (is_changed_since(proc, &st))
		return -ETXTBSY;
	key = key_of(&st);
	o = objects_find(fs->objects, &key);
	if (!o) {
		SCOPED(close) int fd = located_open(located, &st);

		if (fd < 0)
			return fd;
		o = objects_get(fs->objects, fd, string_of(fs, m->path), root_fd, &err);
		if (!o)
			return err;
	}
	return set_object(m, o);
}

static int try_below(struct files *fs, const struct process *proc, struct mapping *m, int root_fd)
{
	const char *path = string_of(fs, m->path);
	SCOPED(close) int located = root_fd < 0 ? -ENOENT : located_below(root_fd, path, 0);

	return located < 0 ? located : use_located(fs, proc, m, located, root_fd);
}

/* A link of /proc/PID that leads to the file itself, deleted or not; the pid may be another's by
 * now. */
static int try_proc_link(struct files *fs, const struct process *proc, struct mapping *m,
			 const char *link)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", proc->pid, link);
	SCOPED(close) int located = open(path, O_PATH | O_CLOEXEC);

	if (located < 0)
		return -ENOENT;
	return use_located(fs, proc, m, located, proc->root ? proc->root->fd : -1);
}

/* Through /proc/PID/root of a live process whose root's directory is not kept open. */
static int try_live_root(struct files *fs, const struct process *proc, struct mapping *m)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", proc->pid);
	SCOPED(close) int root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return try_below(fs, proc, m, root_fd);
}

/* Is the file not there, rather than wrong? */
static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP || err == -EACCES ||
	       err == -EPERM;
}

/* The next way's error, unless an earlier one said more. That a guess led to another file says
   nothing. */
static int keep_error(int before, int now)
{
	return now == 0 || (is_gone(before) && now != -ESTALE) ? now : before;
}

/* Every way to the file, the cheapest and most telling first. */
static int try_all(struct files *fs, const struct process *proc, struct mapping *m)
{
	const struct root *root = proc->root;
	char link[64];
	int err;

	err = root && root->fd >= 0 ? try_below(fs, proc, m, root->fd) : try_live_root(fs, proc, m);
	if (!err || !m->ino)
		return err;
	snprintf(link, sizeof(link), "map_files/%llx-%llx", (unsigned long long)m->start,
		 (unsigned long long)m->end);
	err = keep_error(err, try_proc_link(fs, proc, m, link));
	/* maps shows the paths of a chroot from our root, not from its own. */
	if (err && fs->own && fs->own != root)
		err = keep_error(err, try_below(fs, proc, m, fs->own->fd));
	if (err)
		err = keep_error(err, try_proc_link(fs, proc, m, "exe"));
	return is_gone(err) ? -ENOENT : err;
}

/*
 * An exec storm maps the same few files all the time: one look at each must do. The kernel's paths
 * have no links in them, so none is followed, and what somebody maps is in the kernel's caches.
 */
static struct object *find_known(struct files *fs, const struct process *proc,
				 const struct mapping *m)
{
	SCOPED(close) int located = -1;
	struct file_key key;
	struct stat st;

	if (!m->ino || !proc->root || proc->root->fd < 0)
		return NULL;
	located = located_known(proc->root->fd, string_of(fs, m->path));
	if (located < 0 || fstat(located, &st) < 0 || m->ino != st.st_ino || m->dev != st.st_dev ||
	    is_changed_since(proc, &st))
		return NULL;
	key = key_of(&st);
	return objects_find(fs->objects, &key);
}

static struct object **known_slot(struct files *fs, const struct process *proc,
				  const struct mapping *m)
{
	struct known_key key = { proc->root ? proc->root->serial : 0, m->path, m->dev, m->ino,
				 m->ino_generation };
	uint32_t id;

	if (!key.root || !key.ino)
		return NULL;
	if (intern_count(fs->known_keys) >= MAX_KNOWN_FILES) {
		struct intern *fresh = intern_new();

		if (!fresh)
			return NULL;
		intern_free(fs->known_keys);
		fs->known_keys = fresh;
		memset(fs->known, 0, fs->cap_known * sizeof(*fs->known));
	}
	id = intern_add(fs->known_keys, &key, sizeof(key));
	if (!id)
		return NULL;
	if (id > fs->cap_known) {
		uint32_t cap = fs->cap_known ? fs->cap_known * 2 : 256;
		struct object **grown = realloc(fs->known, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + fs->cap_known, 0, (cap - fs->cap_known) * sizeof(*grown));
		fs->known = grown;
		fs->cap_known = cap;
	}
	return &fs->known[id - 1];
}

/* Our own vdso is every 64-bit process's, and nobody else could write into it. */
static int open_vdso(struct files *fs, struct mapping *m)
{
	const Elf64_Ehdr *start = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	int err;

	if (!fs->is_vdso_tried && start) {
		/* The section headers are the last thing in it. */
		size_t len = start->e_shoff + (size_t)start->e_shnum * start->e_shentsize;

		fs->is_vdso_tried = true;
		fs->vdso = objects_get_bytes(fs->objects, start, len, "[vdso]", &err);
	}
	return fs->vdso ? set_object(m, fs->vdso) : -ENOENT;
}

int files_open(struct files *fs, const struct process *proc, struct mapping *m)
{
	struct object *known, **before;
	int err;

	m->is_tried = true;
	m->bias = m->start - m->pgoff;
	if (m->kind == MAPPING_VDSO)
		return open_vdso(fs, m);
	known = find_known(fs, proc, m);
	err = known ? set_object(m, known) : try_all(fs, proc, m);
	before = known_slot(fs, proc, m);
	/* What is out of reach now (a container with all its mounts, say) may have been there. */
	if ((err == -ENOENT || err == -ESTALE) && before && *before)
		return set_object(m, *before);
	if (!err && before)
		*before = m->object;
	return err;
}
