/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened to a device or a cable, from the manager's history of changes, and what that says of its links. State: none. Ways
 * in: why_had(), why_changes(). Two devices may have one name: where the GUID is known, the name does not count.
 */
#include "cli/ctl.h"
#include "cli/why.h"

enum { CHANGES_MOST = 10, DOWNS_OFTEN = 2 };

static bool end_is(const struct why_page *p, const json_t *end)
{
	const char *name = json_string_value(json_object_get(end, "name"));
	uint64_t guid = 0;

	parse_u64(ctl_text(end, "guid"), &guid);
	if (p->guid ? guid != p->guid : !name || strcmp(name, p->node))
		return false;
	return !p->port || ctl_number(end, "port") == p->port;
}

static bool link_is(const struct why_page *p, const json_t *link)
{
	return end_is(p, json_object_get(link, "a")) || end_is(p, json_object_get(link, "b"));
}

bool why_had(const struct why_page *p, const json_t *changes)
{
	const json_t *c, *e;
	bool had = false;
	size_t i, k;

	json_array_foreach(json_object_get(changes, "changes"), i, c)
	{
		json_array_foreach(json_object_get(c, "nodes"), k, e) had |=
			!p->port && end_is(p, e);
		json_array_foreach(json_object_get(c, "links"), k, e) had |= link_is(p, e);
	}
	return had;
}

/* The last thing that happened to the link of each port. */
struct lasts {
	struct {
		const json_t *change, *far; /* NULL: nothing did; the other end */
		bool down, isolated;
		unsigned downs;
	} at[256];
};

static void last_note(struct lasts *l, const struct why_page *p, const json_t *change,
		      const json_t *link)
{
	const json_t *a = json_object_get(link, "a"), *b = json_object_get(link, "b");
	const json_t *near = end_is(p, a) ? a : b;
	unsigned port = (unsigned)ctl_number(near, "port") & 255;

	l->at[port].change = change;
	l->at[port].far = near == a ? b : a;
	l->at[port].down = !strcmp(ctl_text(link, "event"), "down");
	l->at[port].isolated = l->at[port].down && *ctl_isolation(change);
	l->at[port].down &= !l->at[port].isolated;
	l->at[port].downs += l->at[port].down;
}

/* ---- links that are missing ---- */

/* Where the cable of a lost link may be now: at the other end, or the other end elsewhere. */
static void moved_text(const json_t *node, unsigned port, const char *what, struct strbuf *out)
{
	const json_t *row = why_port_of(node, port), *peer = json_object_get(row, "peer");

	if (json_is_object(peer) && !out->len)
		strbuf_addf(out, "%s is now at %s port %u", what, ctl_text(peer, "name"),
			    (unsigned)ctl_number(peer, "port"));
}

static bool is_held(const json_t *node, unsigned port)
{
	return json_is_true(json_object_get(why_port_of(node, port), "held"));
}

static void held_judge(struct why_page *p, unsigned port, const json_t *far)
{
	why_suspect(
		p,
		"the link at port %u to %s port %u changes too often and is held: it counts as Down until it is quiet "
		"(damping.hold); its cable, or the other end",
		port, ctl_text(far, "name"), (unsigned)ctl_number(far, "port"));
}

static void loss_judge(struct why_page *p, const json_t *node, unsigned port, const json_t *change,
		       const json_t *far)
{
	unsigned there = (unsigned)ctl_number(far, "port");
	json_t *other = running_ask_about(p->from, "node", "node", ctl_text(far, "guid"));
	struct strbuf moved = {0};

	if (is_held(node, port) || is_held(other, there)) {
		held_judge(p, port, far);
	} else if (node) {
		moved_text(node, port, "this port", &moved);
		moved_text(other, there, "that end", &moved);
		why_suspect(p, "port %u lost its link to %s port %u at %.19s: %s", port,
			    ctl_text(far, "name"), there, ctl_text(change, "began"),
			    moved.len ? moved.s : "its cable, or the other end");
	}
	strbuf_free(&moved);
	json_decref(other);
}

static bool lasts_judge(struct why_page *p, const struct lasts *l)
{
	bool present = json_is_true(json_object_get(p->w, "present"));
	json_t *node = present ? running_ask_about(p->from, "node", "node", p->node) : NULL;
	size_t before = json_array_size(p->suspicious);

	for (unsigned i = 0; i < ARRAY_LEN(l->at); i++)
		if (l->at[i].down)
			loss_judge(p, node, i, l->at[i].change, l->at[i].far);
		else if (l->at[i].isolated &&
			 !present) /* of a device that is there, its counters say it */
			why_suspect(
				p,
				"the manager has isolated it (perf.isolate): the link at port %u to %s port %u is sick, and no route uses it until it is well",
				i, ctl_text(l->at[i].far, "name"),
				(unsigned)ctl_number(l->at[i].far, "port"));
	json_decref(node);
	return json_array_size(p->suspicious) > before;
}

static void downs_judge(struct why_page *p, const struct lasts *l)
{
	for (unsigned i = 0; i < ARRAY_LEN(l->at); i++)
		if (l->at[i].downs >= DOWNS_OFTEN)
			why_suspect(
				p,
				"the link at port %u went down %u times in the manager's history",
				i, l->at[i].downs);
}

/* ---- other devices of its name ---- */

/* The last thing that happened to this device as a whole was that it left. */
static bool is_gone(const json_t *changes, const char *guid)
{
	const json_t *c, *e;
	bool gone = false;
	size_t i, k;

	json_array_foreach(json_object_get(changes, "changes"), i, c) json_array_foreach(
		json_object_get(c, "nodes"), k, e) if (!strcmp(ctl_text(e, "guid"), guid)) gone =
		!strcmp(ctl_text(e, "event"), "gone");
	return gone;
}

/* Who asks by name may mean the one that is gone. */
static void namesakes_judge(struct why_page *p, const json_t *changes)
{
	const char *name = json_string_value(json_object_get(p->w, "name")), *guid;
	struct strbuf said = {0};
	const json_t *c, *e;
	size_t i, k;

	json_array_foreach(json_object_get(changes, "changes"), i, c)
		json_array_foreach(json_object_get(c, "nodes"), k, e)
	{
		guid = ctl_text(e, "guid");
		if (!p->guid || !name || strcmp(ctl_text(e, "name"), name) || end_is(p, e) ||
		    (said.len && strstr(said.s, guid)) || !is_gone(changes, guid))
			continue;
		strbuf_addf(&said, "%s ", guid);
		why_suspect(p, "another %s of this name has left the subnet: weft why %s",
			    ctl_text(e, "type"), guid);
	}
	strbuf_free(&said);
}

/* ---- the list ---- */

static void event_add(json_t *all, const json_t *change, const json_t *event)
{
	json_array_append_new(
		all,
		json_pack("{s:O, s:O, s:o}", "number", json_object_get(change, "number"), "began",
			  json_object_get(change, "began"), "text",
			  json_sprintf("%s%s", ctl_text(event, "text"), ctl_isolation(change))));
	if (json_array_size(all) > CHANGES_MOST)
		json_array_remove(all, 0);
}

void why_changes(struct why_page *p, const json_t *changes)
{
	json_t *all = json_array();
	struct lasts last = {0};
	const json_t *c, *e;
	bool explained;
	size_t i, k;

	json_array_foreach(json_object_get(changes, "changes"), i, c)
	{
		json_array_foreach(json_object_get(c, "nodes"), k, e) if (!p->port && end_is(p, e))
			event_add(all, c, e);
		json_array_foreach(json_object_get(c, "links"), k, e) if (link_is(p, e))
		{
			event_add(all, c, e);
			last_note(&last, p, c, e);
		}
	}
	downs_judge(p, &last);
	namesakes_judge(p, changes);
	explained = lasts_judge(p, &last);
	if (!json_is_true(json_object_get(p->w, "present")) && json_array_size(all) && !explained)
		why_suspect(
			p,
			"it left the subnet (last change above): no power, no driver, or its cable");
	json_object_set_new(p->w, "changes", all);
}
