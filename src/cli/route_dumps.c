/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dumps of tables, service levels and SL-to-VL maps that commands are given. Keeps no state but route_o. Ways in:
 * route_tables_load(), route_lanes_load(), route_given_load(). Parses nothing: src/route does.
 */
#include "route/named_nodes.h"
#include "cli/route_report.h"

int route_tables_load(const struct fab *f, const char *path, struct fab **with_lids,
		      struct rt_tables **t)
{
	const char *name = strcmp(path, "-") != 0 ? path : "standard input";
	char *text = NULL;
	struct err e;
	size_t len;
	int rc = CLI_OK;

	if (file_read_most(path, RT_DUMP_MOST, &text, &len, &e) ||
	    rt_lfts_parse(f, name, text, len, with_lids, t, &e))
		rc = cli_bad("%s", e.text);
	free(text);
	return rc;
}

/* Read a dump that an option names; *d stays NULL without it. The caller frees text. */
static int dump_load(const char *path, struct rt_dump *room, const struct rt_dump **d, char **text)
{
	struct err e;

	*d = NULL;
	*text = NULL;
	if (!path)
		return CLI_OK;
	if (file_read_most(path, RT_DUMP_MOST, text, &room->len, &e))
		return cli_bad("%s", e.text);
	room->name = path;
	room->text = *text;
	*d = room;
	return CLI_OK;
}

int route_lanes_load(const struct fab *f, struct rt_tables *t)
{
	const struct rt_dump *sls, *sl2vl;
	struct rt_dump room[2] = {{0}};
	char *text[2] = {NULL, NULL};
	struct err e;
	int rc;

	if (!route_o.sls && !route_o.sl2vl)
		return CLI_OK;
	rc = dump_load(route_o.sls, &room[0], &sls, &text[0]);
	if (!rc)
		rc = dump_load(route_o.sl2vl, &room[1], &sl2vl, &text[1]);
	if (!rc && rt_lanes_parse(f, t, sls, sl2vl, &e))
		rc = cli_bad("%s", e.text);
	free(text[0]);
	free(text[1]);
	return rc;
}

/* ---- engine file ---- */

static int given_read(const char *path, struct rt_dump *d)
{
	struct err e;
	char *text;

	if (!path)
		return CLI_OK;
	if (file_read_most(path, RT_DUMP_MOST, &text, &d->len, &e))
		return cli_bad("%s", e.text);
	d->name = strcmp(path, "-") != 0 ? path : "standard input";
	d->text = text;
	d->part = true;
	return CLI_OK;
}

int route_given_load(struct rt_opts *o)
{
	const struct rt_engine *g = rt_engine_find(route_o.engine);
	struct rt_given *d;
	bool any = route_o.given_lfts || route_o.given_sls || route_o.given_sl2vl;

	if (any && !(g && g->given))
		return cli_bad("--routes-file, --routes-sls and --routes-sl2vl need --engine file");
	if (!(g && g->given))
		return CLI_OK;
	if (!route_o.given_lfts)
		return cli_bad("--engine file needs its tables: expected --routes-file FILE");
	d = mem_zalloc(sizeof(*d));
	o->given = d;
	return given_read(route_o.given_lfts, &d->lfts) || given_read(route_o.given_sls, &d->sls) ||
			       given_read(route_o.given_sl2vl, &d->sl2vl)
		       ? CLI_BAD
		       : CLI_OK;
}

void route_given_free(const struct rt_opts *o)
{
	if (!o->given)
		return;
	free((void *)o->given->lfts.text);
	free((void *)o->given->sls.text);
	free((void *)o->given->sl2vl.text);
	free((void *)o->given);
}
