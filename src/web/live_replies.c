/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of a manager in the form that pages know from the engine: one node with its ports, a route, nodes by LID. State:
 * none. Ways in: live_reply_node(), live_reply_route(), live_reply_find().
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

static void put_port(struct live *l, struct json *j, uint32_t node, const json_t *o)
{
	static const char *const words[] = {"physical", "mtu", "vls"};
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
	json_open(j, "fields", '[');
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		json_pair(j, words[i], text_of(o, words[i]));
	if (*text_of(o, "port_guid"))
		json_pair(j, "port GUID", text_of(o, "port_guid"));
	json_close(j);
	json_close(j);
}

static void put_head(struct json *j, const json_t *first, uint32_t node)
{
	char lid[24];

	snprintf(lid, sizeof(lid), "%u", (unsigned)number_of(first, "lid"));
	json_u64(j, "index", node);
	json_str(j, "guid", text_of(first, "guid"));
	json_str(j, "name", text_of(first, "name"));
	json_u64(j, "lid", number_of(first, "lid"));
	json_u64(j, "lmc", number_of(first, "lmc"));
	json_open(j, "groups", '[');
	json_open(j, NULL, '{');
	json_str(j, "name", "Node");
	json_open(j, "fields", '[');
	json_pair(j, "id", text_of(first, "id"));
	json_pair(j, "GUID", text_of(first, "guid"));
	json_pair(j, "LID", lid);
	json_close(j);
	json_close(j);
	json_close(j);
}

void live_reply_node(struct live *l, struct json *j, const json_t *answer)
{
	const json_t *ports = json_object_get(answer, "ports"), *o;
	uint32_t node = live_picture_node(l->picture, text_of(json_array_get(ports, 0), "guid"));
	size_t i;

	json_open(j, "node", '{');
	put_head(j, json_array_get(ports, 0), node);
	json_open(j, "ports", '[');
	json_array_foreach(ports, i, o) put_port(l, j, node, o);
	json_close(j);
	json_close(j);
}

/* ---- a route ---- */

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
