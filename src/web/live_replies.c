/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of a manager in the form that pages know from the engine: one node with its ports and table, a route, a tree, nodes
 * by LID. State: none. Ways in: live_reply_*().
 */
#include "web/live_priv.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static uint64_t number_of(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void index_or_none(struct json *j, const char *key, uint32_t v)
{
	if (v == LIVE_NONE)
		json_none(j, key);
	else
		json_u64(j, key, v);
}

/* ---- a node ---- */

/* [[name, value], ...] */
static void put_pairs(struct json *j, const char *key, const json_t *pairs)
{
	const json_t *o;
	size_t i;

	json_open(j, key, '[');
	json_array_foreach(pairs, i, o)
	{
		const char *name = json_string_value(json_array_get(o, 0));
		const char *value = json_string_value(json_array_get(o, 1));

		if (name && value)
			json_pair(j, name, value);
	}
	json_close(j);
}

static void put_port(struct live *l, struct json *j, uint32_t node, const json_t *o)
{
	const json_t *peer = json_object_get(o, "peer");
	unsigned port = (unsigned)number_of(o, "port");

	json_open(j, NULL, '{');
	json_u64(j, "port", port);
	json_str(j, "state", text_of(o, "state"));
	json_str(j, "phys", text_of(o, "physical"));
	json_u64(j, "lid", number_of(o, "lid"));
	json_str(j, "width", text_of(o, "width"));
	json_str(j, "speed", text_of(o, "speed"));
	index_or_none(j, "peer", live_picture_node(l->picture, text_of(peer, "guid")));
	json_u64(j, "peer_port", number_of(peer, "port"));
	index_or_none(j, "link", live_picture_link(l->picture, node, port));
	put_pairs(j, "fields", json_object_get(o, "fields"));
	json_close(j);
}

static void put_groups(struct json *j, const json_t *groups)
{
	const json_t *o;
	size_t i;

	json_open(j, "groups", '[');
	json_array_foreach(groups, i, o)
	{
		json_open(j, NULL, '{');
		json_str(j, "name", text_of(o, "name"));
		put_pairs(j, "fields", json_object_get(o, "fields"));
		json_close(j);
	}
	json_close(j);
}

/* As ranges of LIDs with one output port. */
static void put_table(struct json *j, const json_t *table)
{
	const char *text = json_string_value(table);
	size_t end = json_string_length(table) / 2;

	json_open(j, "lft", '[');
	for (size_t lid = 1; text && lid < end;) {
		int port = live_hex(text + 2 * lid);
		size_t from = lid;

		while (lid < end && live_hex(text + 2 * lid) == port)
			lid++;
		if (port < 0 || port == 255)
			continue;
		json_open(j, NULL, '[');
		json_u64(j, NULL, from);
		json_u64(j, NULL, lid - 1);
		json_u64(j, NULL, (uint64_t)port);
		json_close(j);
	}
	json_close(j);
}

void live_reply_node(struct live *l, struct json *j, const json_t *answer)
{
	uint32_t node = live_picture_node(l->picture, text_of(answer, "guid"));
	const json_t *o;
	size_t i;

	json_open(j, "node", '{');
	index_or_none(j, "index", node);
	json_str(j, "guid", text_of(answer, "guid"));
	json_str(j, "name", text_of(answer, "name"));
	json_u64(j, "lid", number_of(answer, "lid"));
	json_u64(j, "lmc", number_of(answer, "lmc"));
	put_groups(j, json_object_get(answer, "groups"));
	json_open(j, "ports", '[');
	json_array_foreach(json_object_get(answer, "ports"), i, o) put_port(l, j, node, o);
	json_close(j);
	put_table(j, json_object_get(answer, "table"));
	json_close(j);
}

/* ---- a tree ---- */

/* Switches are in the order of GUIDs on both sides. */
void live_reply_tree(struct live *l, struct json *j, const json_t *answer)
{
	const struct fab *f = live_picture_fab(l->picture);
	const char *out = text_of(answer, "out");
	uint32_t to = live_picture_node(l->picture, text_of(answer, "guid"));
	bool same = f && strlen(out) == 2 * (size_t)f->nswitches;

	index_or_none(j, "node", to);
	json_u64(j, "lid", number_of(answer, "lid"));
	json_open(j, "out", '[');
	for (uint32_t i = 0; same && i < f->nswitches; i++) {
		const struct fab_node *n = &f->nodes[f->switches[i]];
		uint32_t at = live_picture_node_of(l->picture, n->guid);
		int port = live_hex(out + 2 * (size_t)i);

		if (at == LIVE_NONE || at == to || port < 1 || port > n->nports)
			continue;
		json_open(j, NULL, '[');
		json_u64(j, NULL, at);
		json_u64(j, NULL, (uint64_t)port);
		json_close(j);
	}
	json_close(j);
	if (!same)
		json_str(j, "warning", "the subnet is changing; ask again in a moment");
}

/* ---- a route ---- */

/* Of each hop with an output port; null: the manager does not know it. */
static void put_vls(struct json *j, const json_t *hops)
{
	const json_t *o;
	size_t i;

	json_open(j, "vls", '[');
	json_array_foreach(hops, i, o)
	{
		if (!json_is_integer(json_object_get(o, "out")))
			continue;
		if (json_is_integer(json_object_get(o, "vl")))
			json_u64(j, NULL, number_of(o, "vl"));
		else
			json_none(j, NULL);
	}
	json_close(j);
}

void live_reply_route(struct live *l, struct json *j, const json_t *answer)
{
	const json_t *o, *out;
	size_t i;

	json_open(j, "hops", '[');
	json_array_foreach(json_object_get(answer, "hops"), i, o)
	{
		uint32_t node = live_picture_node(l->picture, text_of(o, "guid"));

		out = json_object_get(o, "out");
		json_open(j, NULL, '{');
		index_or_none(j, "node", node);
		json_u64(j, "in", number_of(o, "in"));
		json_u64(j, "out", number_of(o, "out"));
		index_or_none(
			j, "link",
			json_is_integer(out)
				? live_picture_link(l->picture, node, (unsigned)number_of(o, "out"))
				: LIVE_NONE);
		json_close(j);
	}
	json_close(j);
	json_u64(j, "lid", number_of(answer, "lid"));
	if (json_is_integer(json_object_get(answer, "sl")))
		json_u64(j, "sl", number_of(answer, "sl"));
	put_vls(j, json_object_get(answer, "hops"));
	json_str(j, "ends",
		 json_is_true(json_object_get(answer, "reached")) ? "reached"
								  : text_of(answer, "why"));
}

/* ---- nodes by LID ---- */

void live_reply_find(struct live *l, struct json *j, const char *text)
{
	uint64_t lid;
	uint32_t node = LIVE_NONE;

	if (text && !parse_u64(text, &lid) && lid < 0xc000)
		node = live_picture_lid(l->picture, (unsigned)lid);
	json_open(j, "nodes", '[');
	if (node != LIVE_NONE)
		json_u64(j, NULL, node);
	json_close(j);
}
