/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that settings name for routes. State: none. Way in: run_inputs_read(). Knows neither subnets nor tables.
 */
#include "run/inputs.h"

#include <libgen.h>

#include "base/siphash.h"
#include "route/named_nodes.h"

static void number_add(struct sm_inputs *in, const char *text, size_t len)
{
	in->number = siphash(in->number, len, (const uint8_t *)text, len) | 1;
}

/* ---- lists ---- */

/* A file that cannot be read is named with the setting that names it. */
static int input_read(const char *key, const char *path, size_t most, char **text, size_t *len,
		      struct err *e)
{
	struct err why;
	int rc = file_read_most(path, most, text, len, &why);

	return rc ? err_set(e, rc, "routes.%s: %.400s", key, why.text) : 0;
}

static int guids_add(const char *key, const char *path, struct strbuf *out, struct err *e)
{
	char *text;
	size_t len;
	int rc = input_read(key, path, RT_LIST_MOST, &text, &len, e);

	if (rc)
		return rc;
	rc = rt_guid_list(path, text, len, out, e);
	free(text);
	return rc;
}

/* A list without @FILE and auto; NULL: it is empty. */
static int list_read(const char *key, const char *list, const char **to, struct err *e)
{
	char *copy = mem_strdup(list), *rest = copy;
	struct strbuf out = {0};
	unsigned n = 0;
	bool automatic = false;
	int rc = 0;

	for (char *at; !rc && (at = strsep(&rest, "\n")) && *at; n++)
		if (*at == '@')
			rc = guids_add(key, at + 1, &out, e);
		else if (!strcmp(key, "roots") && !strcmp(at, "auto"))
			automatic = true;
		else
			strbuf_addf(&out, "%s\n", at);
	if (!rc && automatic && n > 1)
		rc = err_set(e, -EINVAL, "routes.roots: expected auto, or roots; found both");
	free(copy);
	*to = rc || !out.len ? NULL : out.s;
	if (!*to)
		strbuf_free(&out);
	return rc;
}

static int lists_read(const struct settings *s, struct sm_inputs *in, struct err *e)
{
	const char *const keys[] = {"compute_nodes", "io_nodes", "service_nodes"};
	const char *const lists[] = {s->compute_nodes, s->io_nodes, s->service_nodes};
	int rc = list_read("roots", s->roots, &in->roots, e);

	for (unsigned g = 0; g < SM_NODE_GROUPS && !rc; g++)
		rc = list_read(keys[g], lists[g], &in->group[g], e);
	if (rc)
		return rc;
	number_add(in, in->roots ? in->roots : "", in->roots ? strlen(in->roots) : 0);
	for (unsigned g = 0; g < SM_NODE_GROUPS; g++)
		number_add(in, in->group[g] ? in->group[g] : "",
			   in->group[g] ? strlen(in->group[g]) : 0);
	return 0;
}

/* ---- tables ---- */

static int dump_read(const char *key, const char *path, struct sm_inputs *in, struct rt_dump *d,
		     struct err *e)
{
	char *text;
	int rc;

	if (!*path)
		return 0;
	rc = input_read(key, path, RT_DUMP_MOST, &text, &d->len, e);
	if (rc)
		return rc;
	d->text = text;
	d->name = mem_strdup(path);
	d->part = true; /* devices may be off */
	number_add(in, text, d->len);
	return 0;
}

void run_inputs_free(const struct sm_inputs *in)
{
	const struct rt_dump *d;

	if (!in)
		return;
	free((char *)in->roots);
	for (unsigned g = 0; g < SM_NODE_GROUPS; g++)
		free((char *)in->group[g]);
	d = &in->tables.lfts;
	for (unsigned i = 0; i < 3; i++) {
		free((char *)d[i].text);
		free((char *)d[i].name);
	}
	free((struct sm_inputs *)in);
}

static bool any_named(const struct settings *s)
{
	return *s->roots || *s->compute_nodes || *s->io_nodes || *s->service_nodes ||
	       *s->routes_file || *s->routes_sls || *s->routes_sl2vl;
}

int run_inputs_read(struct settings *s, struct err *e)
{
	struct sm_inputs *in;
	int rc;

	s->sm.inputs = NULL;
	if (!any_named(s))
		return 0;
	in = mem_zalloc(sizeof(*in));
	rc = lists_read(s, in, e);
	rc = rc ? rc : dump_read("file", s->routes_file, in, &in->tables.lfts, e);
	rc = rc ? rc : dump_read("sls", s->routes_sls, in, &in->tables.sls, e);
	rc = rc ? rc : dump_read("sl2vl", s->routes_sl2vl, in, &in->tables.sl2vl, e);
	if (rc)
		run_inputs_free(in);
	else
		s->sm.inputs = in;
	return rc;
}

/* ---- directories ---- */

static unsigned dir_add(const char *path, char dirs[RUN_INPUT_DIRS][256], unsigned n)
{
	char copy[256];

	if (!*path || n >= RUN_INPUT_DIRS)
		return n;
	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(dirs[n], sizeof(dirs[n]), "%s", dirname(copy));
	return n + 1;
}

void run_inputs_dirs(const struct settings *s, char dirs[RUN_INPUT_DIRS][256])
{
	const char *const files[] = {s->routes_file, s->routes_sls, s->routes_sl2vl};
	const char *const lists[] = {s->roots, s->compute_nodes, s->io_nodes, s->service_nodes};
	unsigned n = 0;

	memset(dirs, 0, RUN_INPUT_DIRS * sizeof(dirs[0]));
	for (unsigned i = 0; i < ARRAY_LEN(files); i++)
		n = dir_add(files[i], dirs, n);
	for (unsigned i = 0; i < ARRAY_LEN(lists); i++) {
		char *copy = mem_strdup(lists[i]), *rest = copy;

		for (char *at; (at = strsep(&rest, "\n")) && *at;)
			n = *at == '@' ? dir_add(at + 1, dirs, n) : n;
		free(copy);
	}
}
