/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts by GUID, id, name, pattern or file. State: none. Way in: host_groups_find(). Matches nothing itself:
 * src/route/named_nodes.c does.
 */
#include "cli/host_groups.h"
#include "route/named_nodes.h"

/* Lists may have GUIDs of other fabrics. */
static int mark_file(const struct rt_naming *x, const char *path, bool *in)
{
	struct strbuf guids = {0};
	char *text = NULL, *rest;
	struct err e;
	size_t len;
	int rc;

	if (file_read_most(path, RT_LIST_MOST, &text, &len, &e))
		return cli_bad("%s", e.text);
	rc = rt_guid_list(path, text, len, &guids, &e) ? cli_bad("%s", e.text) : CLI_OK;
	rest = guids.s;
	for (char *at; !rc && rest && (at = strsep(&rest, "\n")) && *at;)
		rt_hosts_named(x, at, in);
	strbuf_free(&guids);
	free(text);
	return rc;
}

int host_groups_find(const struct fab *f, const char *option, const cli_strings *groups,
		     const rt_hosts *all, rt_hosts *out)
{
	bool *in = mem_zarray((size_t)f->nports + 1, sizeof(*in));
	struct rt_naming x;
	int rc = CLI_OK;

	rt_naming_init(&x, f, NULL, NULL);
	for (size_t i = 0; i < groups->n && !rc; i++) {
		const char *g = groups->at[i];

		if (*g == '@')
			rc = mark_file(&x, g + 1, in);
		else if (!rt_hosts_named(&x, g, in))
			rc = cli_bad("%s: no host with a LID and a cable is or matches '%s'",
				     option, g);
	}
	for (size_t i = 0; i < all->n; i++)
		if (in[all->at[i]])
			vec_push(out, all->at[i]);
	if (!rc && !out->n)
		rc = cli_bad("%s: no host of the fabric is in the group", option);
	rt_naming_free(&x);
	free(in);
	return rc;
}
