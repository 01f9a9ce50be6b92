/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quality of the routes of a live subnet, by the manager's own tables. State: the answer of the last tables, in
 * struct live_fetch. Way in: live_reply_quality(), when the tables are whole. Tables are measured once; the manager is not asked.
 */
#include "web/live_priv.h"
#include "window/quality_reply.h"

static uint32_t node_of(void *ctx, node_id n)
{
	const struct live *l = ctx;

	return live_picture_node_of(l->picture, live_picture_fab(l->picture)->nodes[n].guid);
}

static uint32_t link_of(void *ctx, port_id p)
{
	const struct live *l = ctx;
	const struct fab_port *port = &live_picture_fab(l->picture)->ports[p];
	uint32_t node = node_of(ctx, port->node);

	return node == LIVE_NONE ? LIVE_NONE : live_picture_link(l->picture, node, port->num);
}

/* Members without the braces around them. */
static int measure(struct live *l, struct err *e)
{
	const struct live_tables *t = &l->fetch.tables;
	const struct quality_tables rows = {t->out, (size_t)t->top_lid + 1, t->nswitches,
					    t->top_lid};
	const struct quality_places where = {link_of, node_of, l};
	struct json j = {.line = true};
	int rc;

	json_open(&j, NULL, '{');
	rc = quality_reply(live_picture_fab(l->picture), &rows, &where, &j, e);
	json_close(&j);
	if (!rc)
		strbuf_addn(&l->fetch.quality, j.out.s, j.out.len);
	json_free(&j);
	return rc;
}

void live_reply_quality(struct live *l, const char *id)
{
	struct json j = {0};
	struct err e;

	if (!l->fetch.quality.len && measure(l, &e)) {
		live_reply_error(l, id, e.text);
		return;
	}
	live_reply_begin(&j, id);
	json_bool(&j, "ok", true);
	json_raw(&j, "quality", l->fetch.quality.s);
	live_reply_end(l, &j);
}
