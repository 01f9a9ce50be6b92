/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that describe the systems of a plan, beside it and where ibutils look for them. State: none. Way in: import_load(). Looks into
 * directories, and parses nothing: import_ibnl.c does.
 */
#include <dirent.h>

#include "fabric/ibnl.h"

struct shelf {
	struct ibnl systems;
	VEC(char *) texts; /* the systems point into them */
	VEC(char *) names;
};

static int description_read(struct shelf *s, char *path, struct err *e)
{
	struct import im = {.l = {.file = path, .e = e}};
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, e);

	vec_push(&s->names, path);
	if (rc)
		return rc;
	vec_push(&s->texts, text);
	im.text = text;
	im.stop = text + len;
	while (!rc && import_line(&im)) {
		const char *hash = memchr(im.l.at, '#', (size_t)(im.l.end - im.l.at));

		im.l.end = hash ? hash : im.l.end;
		nl_skip_space(&im.l);
		while (im.l.end > im.l.at && (im.l.end[-1] == ' ' || im.l.end[-1] == '\t'))
			im.l.end--;
		if (im.l.at < im.l.end)
			rc = ibnl_line(&im, &s->systems);
	}
	ibnl_end(&s->systems);
	fab_netlist_free(&im.l.out);
	return rc;
}

static int is_description(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && !strcmp(d->d_name + n - 5, ".ibnl");
}

/* A directory that cannot be read has none. */
static int directory_read(struct shelf *s, const char *dir, size_t len, struct err *e)
{
	struct strbuf path = {0};
	struct dirent **all;
	int rc = 0, n;

	strbuf_addf(&path, "%.*s", (int)len, dir);
	n = scandir(path.s, &all, is_description, alphasort);
	for (int i = 0; i < n; i++) {
		struct strbuf file = {0};

		strbuf_addf(&file, "%s/%s", path.s, all[i]->d_name);
		if (rc)
			strbuf_free(&file);
		else
			rc = description_read(s, file.s, e);
		free(all[i]);
	}
	if (n >= 0)
		free(all);
	strbuf_free(&path);
	return rc;
}

static int descriptions_read(struct shelf *s, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/'), *at = getenv("IBDM_IBNL_PATH");
	int rc = !strcmp(path, "-") ? 0
		 : slash ? directory_read(s, path, MAX((size_t)(slash - path), (size_t)1), e)
			 : directory_read(s, ".", 1, e);

	while (!rc && at && *at) {
		size_t n = strcspn(at, ":,");

		if (n)
			rc = directory_read(s, at, n, e);
		at += n + (at[n] != 0);
	}
	return rc;
}

int import_load(struct fab_netlist *out, enum import_kind kind, const char *path, const char *text,
		size_t len, struct err *e)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct shelf s = {0};
	int rc;

	if (kind != IMPORT_TOPO)
		return import_parse(out, kind, name, text, len, e);
	rc = descriptions_read(&s, path, e);
	if (!rc)
		rc = import_parse_with(out, kind, &s.systems, name, text, len, e);
	ibnl_free(&s.systems);
	for (size_t i = 0; i < s.texts.n; i++)
		free(s.texts.at[i]);
	for (size_t i = 0; i < s.names.n; i++)
		free(s.names.at[i]);
	vec_free(&s.texts);
	vec_free(&s.names);
	return rc;
}
