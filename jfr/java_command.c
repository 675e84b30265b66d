// SPDX-License-Identifier: Apache-2.0
#include "jfr/java_command.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct part {
	const char *text;
	size_t len;
};

/* Main classes, or packages of them, and jars that only start something else; "": what that is
   cannot be seen here. */
static const struct launcher {
	const char *start, *name;
} launchers[] = {
	{ "org.springframework.boot.loader.", "" },
	{ "io.quarkus.bootstrap.runner.", "" },
	{ "quarkus-run.jar", "" },
	{ "org.apache.catalina.startup.", "tomcat" },
	{ "org.jboss.modules.", "wildfly" },
	{ "jboss-modules.jar", "wildfly" },
	{ "org.eclipse.jetty.start.", "jetty" },
	{ "org.codehaus.plexus.classworlds.launcher.", "maven" },
	{ "org.gradle.", "gradle" },
	{ "worker.org.gradle.", "gradle" },
	{ "org.apache.zookeeper.server.", "zookeeper" },
};

/* Names that say what every program has. */
static const char *const general[] = { "main",	  "mainkt", "application", "applicationkt", "app",
				       "appkt",	  "server", "launcher",	   "bootstrap",	    "start",
				       "starter", "run",    "runner",	   "program",	    "cli" };
static const char *const domains[] = { "com", "org", "net", "io", "de", "dev", "java" };

/* What builds add to a jar's name. */
static const char *const additions[] = { "-jar-with-dependencies",
					 "-SNAPSHOT",
					 "-runner",
					 "-shaded",
					 "-uber",
					 "-exec",
					 "-boot",
					 "-fat",
					 "-all" };

#define N_ITEMS(list) (sizeof(list) / sizeof(*(list)))

static bool is_in(const char *const *list, size_t n, struct part p)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == p.len && !strncasecmp(list[i], p.text, p.len))
			return true;
	return false;
}

static struct part behind_last(struct part p, char c)
{
	const char *last = memrchr(p.text, c, p.len);

	if (!last)
		return p;
	return (struct part){ last + 1, (size_t)(p.text + p.len - last - 1) };
}

static bool ends_in(struct part p, const char *end)
{
	size_t len = strlen(end);

	return p.len > len && !memcmp(p.text + p.len - len, end, len);
}

/* "-1.2", "-v1.2.3-SNAPSHOT", "-20": a dash, a number, and an end or a dot behind it. */
static size_t version_start(struct part p)
{
	for (size_t i = 1; i + 1 < p.len; i++) {
		size_t digits = i + 1 + (p.text[i + 1] == 'v'), k = digits;

		if (p.text[i] != '-')
			continue;
		while (k < p.len && isdigit((unsigned char)p.text[k]))
			k++;
		if (k > digits && (k == p.len || p.text[k] == '.' ||
				   (p.len - k >= 9 && !memcmp(p.text + k, "-SNAPSHOT", 9))))
			return i;
	}
	return p.len;
}

static void parse_jar(struct part jar, struct java_command *out)
{
	size_t version_at;

	jar.len -= strlen(".jar");
	version_at = version_start(jar);
	if (version_at < jar.len) {
		out->version = jar.text + version_at + 1;
		out->version_len = jar.len - version_at - 1;
		jar.len = version_at;
	}
	for (size_t i = 0; i < N_ITEMS(additions); i++)
		if (ends_in(jar, additions[i]))
			jar.len -= strlen(additions[i]);
	out->name = jar.text;
	out->name_len = jar.len;
}

/* The class, or the package that is the first to say something. */
static void parse_class(struct part all, struct java_command *out)
{
	struct part last = behind_last(all, '.'), chosen = last;

	while (is_in(general, N_ITEMS(general), chosen) && chosen.text > all.text) {
		struct part package = { all.text, (size_t)(chosen.text - all.text) - 1 };

		chosen = behind_last(package, '.');
	}
	/* A domain and nothing else: the class says more. */
	if (is_in(domains, N_ITEMS(domains), chosen))
		chosen = last;
	if (ends_in(chosen, "Kt")) /* of a Kotlin file's functions */
		chosen.len -= 2;
	out->name = chosen.text;
	out->name_len = chosen.len;
}

/* The first word; of a path also the words up to the one that ends in .jar. */
static struct part first_word(const char *command)
{
	const char *jar = strstr(command, ".jar");
	size_t len = strcspn(command, " ");

	if (jar && (jar[4] == ' ' || !jar[4]) && (*command == '/' || *command == '.'))
		len = (size_t)(jar + 4 - command);
	return (struct part){ command, len };
}

static bool parse_launcher(struct part p, struct java_command *out)
{
	for (size_t i = 0; i < N_ITEMS(launchers); i++) {
		size_t len = strlen(launchers[i].start);

		if (p.len < len || memcmp(p.text, launchers[i].start, len))
			continue;
		out->name = launchers[i].name;
		out->name_len = strlen(launchers[i].name);
		return true;
	}
	return false;
}

void java_command_parse(const char *command, struct java_command *out)
{
	struct part p;

	*out = (struct java_command){ .name = "", .version = "" };
	command += strspn(command, " ");
	/* A jar's directories, or a class's module. */
	p = behind_last(first_word(command), '/');
	p = behind_last(p, '\\');
	if (parse_launcher(p, out))
		return;
	if (ends_in(p, ".jar"))
		parse_jar(p, out);
	else
		parse_class(p, out);
}
