// SPDX-License-Identifier: Apache-2.0
/* The parts of jfr/workload.h that look at where a recording lies. */
#include "jfr/workload.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/workload_name.h"

#define UID_LEN 36	  /* of a UUID */
#define STATIC_UID_LEN 32 /* of a pod that a node's own files define: an MD5 */
#define MAX_CAPTURES 16

struct piece {
	const char *text;
	size_t len;
};

static struct piece component(const char *path)
{
	return (struct piece){ path, strcspn(path, "/") };
}

static bool is_uid(struct piece p)
{
	for (size_t i = 0; i < p.len; i++)
		if (!isxdigit((unsigned char)p.text[i]) && p.text[i] != '-')
			return false;
	return p.len == UID_LEN || p.len == STATIC_UID_LEN;
}

/* What Kubernetes allows in names of namespaces, pods and containers (RFC 1123). */
static bool is_dns_name(struct piece p)
{
	for (size_t i = 0; i < p.len; i++) {
		unsigned char c = (unsigned char)p.text[i];

		if (!islower(c) && !isdigit(c) && c != '-' && c != '.')
			return false;
	}
	return p.len && p.len < WORKLOAD_NAME_MAX && isalnum((unsigned char)p.text[0]);
}

static void set(struct workload *w, enum workload_field field, struct piece p)
{
	workload_set(w, field, TRUST_PATH, p.text, p.len);
}

/* Behind the last place where dir is in the path; NULL: nowhere. */
static const char *behind(const char *path, const char *dir)
{
	const char *found = NULL, *next = path;

	while ((next = strstr(next, dir)))
		found = next += strlen(dir);
	return found;
}

/* Logs: <namespace>_<pod>_<uid>/<container>/..., of which none has an underscore. */
static void set_from_logs(struct workload *w, const char *rest)
{
	struct piece all = component(rest), namespace, pod, uid;
	const char *first = memchr(all.text, '_', all.len), *last = memrchr(all.text, '_', all.len);

	if (!first || first == last)
		return;
	namespace = (struct piece){ all.text, (size_t)(first - all.text) };
	pod = (struct piece){ first + 1, (size_t)(last - first) - 1 };
	uid = (struct piece){ last + 1, (size_t)(all.text + all.len - last) - 1 };
	if (!is_dns_name(namespace) || !is_dns_name(pod) || !is_uid(uid))
		return;
	set(w, WORKLOAD_NAMESPACE, namespace);
	set(w, WORKLOAD_POD, pod);
	set(w, WORKLOAD_POD_UID, uid);
	/* The last component is the file itself. */
	if (all.text[all.len] && strchr(all.text + all.len + 1, '/') &&
	    is_dns_name(component(all.text + all.len + 1)))
		set(w, WORKLOAD_CONTAINER, component(all.text + all.len + 1));
}

static void set_from_proc(struct workload *w, const char *path)
{
	char *end;
	unsigned long pid;

	if (strncmp(path, "/proc/", 6))
		return;
	pid = strtoul(path + 6, &end, 10);
	if (isdigit((unsigned char)path[6]) && !strncmp(end, "/root/", 6) && pid &&
	    pid <= UINT32_MAX)
		w->host_pid = (uint32_t)pid;
}

void workload_path(struct workload *w, const char *path)
{
	const char *logs = behind(path, "/log/pods/"), *pods = behind(path, "/kubelet/pods/");

	set_from_proc(w, path);
	if (logs)
		set_from_logs(w, logs);
	if (pods && is_uid(component(pods)) && pods[component(pods).len] == '/')
		set(w, WORKLOAD_POD_UID, component(pods));
}

static const struct {
	const char *name;
	enum workload_field field;
} placeholders[] = {
	{ "service", WORKLOAD_SERVICE },
	{ "version", WORKLOAD_VERSION },
	{ "host", WORKLOAD_HOST },
	{ "node", WORKLOAD_NODE },
	{ "ns", WORKLOAD_NAMESPACE },
	{ "namespace", WORKLOAD_NAMESPACE },
	{ "pod", WORKLOAD_POD },
	{ "uid", WORKLOAD_POD_UID },
	{ "container", WORKLOAD_CONTAINER },
	{ "deployment", WORKLOAD_DEPLOYMENT },
};

/* The field of "{name}", and what is behind it; WORKLOAD_N_FIELDS for * and what is unknown. */
static enum workload_field placeholder(const char **pattern)
{
	const char *name = *pattern + 1, *end = strchr(name, '}');

	if (**pattern == '*' || !end) {
		++*pattern;
		return WORKLOAD_N_FIELDS;
	}
	*pattern = end + 1;
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(*placeholders); i++)
		if (strlen(placeholders[i].name) == (size_t)(end - name) &&
		    !memcmp(placeholders[i].name, name, (size_t)(end - name)))
			return placeholders[i].field;
	return WORKLOAD_N_FIELDS;
}

const char *workload_template_error(const char *pattern)
{
	size_t n = 0;

	if (*pattern != '/')
		return "a template begins with a slash";
	while (*(pattern += strcspn(pattern, "{*}"))) {
		bool is_named = *pattern == '{';

		if (*pattern == '}' ||
		    (is_named && pattern[1 + strcspn(pattern + 1, "/{}")] != '}'))
			return "a brace has no other one";
		if (placeholder(&pattern) == WORKLOAD_N_FIELDS && is_named)
			return "names are service, version, host, node, ns, namespace, pod, uid, "
			       "container and deployment";
		if (*pattern == '{' || *pattern == '*')
			return "something has to be between two names";
		if (++n > MAX_CAPTURES)
			return "there are too many names";
	}
	return n ? NULL : "there is no {name} in it";
}

/* What stands for a name: up to the next place where what follows it is, and to the last when
   nothing follows that in this component. len 0: nothing fits. */
static struct piece stand_in(const char *pattern, const char *path)
{
	struct piece all = component(path), next = { pattern, strcspn(pattern, "{*/") };
	const char *found;

	if (pattern[next.len] == '/' || !pattern[next.len]) {
		found = all.len > next.len ? path + all.len - next.len : path;
		if (memcmp(found, next.text, all.len > next.len ? next.len : 0))
			found = path;
	} else {
		found = all.len ? memmem(path + 1, all.len - 1, next.text, next.len) : NULL;
	}
	return (struct piece){ path, found ? (size_t)(found - path) : 0 };
}

bool workload_template(struct workload *w, const char *pattern, const char *path)
{
	struct {
		enum workload_field field;
		struct piece piece;
	} captures[MAX_CAPTURES];
	size_t n = 0;

	if (workload_template_error(pattern))
		return false;
	while (*pattern) {
		if (*pattern == '/') {
			if (*path != '/')
				return false;
			pattern += strspn(pattern, "/");
			path += strspn(path, "/");
		} else if (*pattern == '{' || *pattern == '*') {
			captures[n].field = placeholder(&pattern);
			captures[n].piece = stand_in(pattern, path);
			if (!captures[n].piece.len)
				return false;
			path += captures[n++].piece.len;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	if (*path && *path != '/' && path[-1] != '/')
		return false;
	for (size_t i = 0; i < n; i++)
		if (captures[i].field != WORKLOAD_N_FIELDS)
			workload_set(w, captures[i].field, TRUST_TEMPLATE, captures[i].piece.text,
				     captures[i].piece.len);
	return true;
}
