/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts by GUID, id, name, pattern or file. State: none. Way in: host_groups_find().
 */
#include <fnmatch.h>

#include "cli/host_groups.h"

struct search {
	const struct fab *f;
	const rt_hosts *all;
	bool *in; /* by place in all */
};

static size_t mark_node(struct search *s, node_id n)
{
	size_t found = 0;

	for (size_t i = 0; i < s->all->n; i++) {
		const struct fab_port *p = &s->f->ports[s->all->at[i]];

		if (p->node != n && s->f->ports[p->peer].node != n)
			continue;
		if (p->node != n && !fab_is_switch(s->f, n))
			continue;
		s->in[i] = true;
		found++;
	}
	return found;
}

static size_t mark_port_guid(struct search *s, uint64_t guid)
{
	size_t found = 0;

	for (size_t i = 0; i < s->all->n; i++)
		if (s->f->ports[s->all->at[i]].guid == guid) {
			s->in[i] = true;
			found++;
		}
	return found;
}

/* A number in hexadecimal digits, all of the text. */
static bool guid_read(const char *text, uint64_t *guid)
{
	char *end;

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (!*text || strlen(text) > 16 || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
		return false;
	*guid = strtoull(text, &end, 16);
	return true;
}

static size_t mark_pattern(struct search *s, const char *pattern)
{
	size_t found = 0;

	for (size_t i = 0; i < s->all->n; i++) {
		node_id n = s->f->ports[s->all->at[i]].node;

		if (fnmatch(pattern, fab_node_name(s->f, n), 0) != 0)
			continue;
		s->in[i] = true;
		found++;
	}
	return found;
}

static size_t mark(struct search *s, const char *group)
{
	node_id n = fab_node_by_text(s->f, group);
	uint64_t guid;

	if (n != FAB_NONE)
		return mark_node(s, n);
	if (guid_read(group, &guid) && mark_port_guid(s, guid))
		return 1;
	return mark_pattern(s, group);
}

/* One GUID in a line, of a node or of a port; text behind # is a comment. */
static int mark_lines(struct search *s, const char *path, char *text)
{
	unsigned line = 0;
	char *rest = text;

	for (char *at; (at = strsep(&rest, "\n"));) {
		uint64_t guid;
		node_id n;

		line++;
		at[strcspn(at, "#\r")] = 0;
		at += strspn(at, " \t");
		at[strcspn(at, " \t")] = 0;
		if (!*at)
			continue;
		if (!guid_read(at, &guid))
			return cli_bad(
				"%s:%u: expected a GUID of up to 16 hexadecimal digits, found '%.40s'",
				path, line, at);
		n = fab_node_by_guid(s->f, guid);
		if (n != FAB_NONE)
			mark_node(s, n);
		else
			mark_port_guid(s, guid);
	}
	return CLI_OK;
}

static int mark_file(struct search *s, const char *path)
{
	char *text = NULL;
	struct err e;
	size_t len;
	int rc;

	if (file_read(path, &text, &len, &e))
		return cli_bad("%s", e.text);
	rc = mark_lines(s, path, text);
	free(text);
	return rc;
}

int host_groups_find(const struct fab *f, const char *option, const cli_strings *groups,
		     const rt_hosts *all, rt_hosts *out)
{
	struct search s = {f, all, mem_zarray(all->n, sizeof(bool))};
	int rc = CLI_OK;

	for (size_t i = 0; i < groups->n && !rc; i++) {
		const char *g = groups->at[i];

		if (*g == '@')
			rc = mark_file(&s, g + 1);
		else if (!mark(&s, g))
			rc = cli_bad("%s: no host with a LID and a cable is or matches '%s'",
				     option, g);
	}
	for (size_t i = 0; i < all->n; i++)
		if (s.in[i])
			vec_push(out, all->at[i]);
	if (!rc && !out->n)
		rc = cli_bad("%s: no host of the fabric is in the group", option);
	free(s.in);
	return rc;
}
