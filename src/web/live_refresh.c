/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the live source reads of the manager by itself: the subnet in pieces, changes, virtual machines. State: struct
 * live_refresh and struct live_lists. Ways in: live_refresh_due(), live_*_taken(). One piece at a time, with pauses, and
 * while the manager is at rest: if it is busy for seconds it is asked for small ones, for at most a fifth of its time.
 */
#include "web/live_priv.h"

enum {
	PIECE_NODES = 512,
	PIECE_NODES_BUSY = 64,
	PIECE_PAUSE = 4, /* times what a piece took; once while the manager is at rest */
	PIECE_PAUSE_MOST = 500,
	TRIES = 5,
	REFRESH_MS = 1000,
	CHANGES_KEPT = 50,
	VMS_PIECE = 1000,
	VMS_MOST = 20000
};

/* ---- whether the manager is at rest ---- */

bool live_patient(const struct live_patience *p, uint64_t now)
{
	return !p->busy_since || now - p->busy_since < LIVE_PATIENCE_MS;
}

bool live_patience_takes(struct live_patience *p, const json_t *answer, uint64_t now)
{
	bool busy = json_is_true(json_object_get(answer, "busy"));

	if (!busy)
		p->busy_since = live_patient(p, now) ? 0 : p->busy_since;
	else if (!p->busy_since)
		p->busy_since = now;
	return busy;
}

/* ---- the subnet ---- */

static void piece_ask(struct live *l, uint64_t now)
{
	bool patient = live_patient(&l->refresh.patience, now);
	char text[100];

	snprintf(text, sizeof(text),
		 "{\"cmd\":\"topology\",\"first\":%u,\"count\":%d,\"at_rest\":%d}",
		 l->refresh.first, patient ? PIECE_NODES : PIECE_NODES_BUSY, patient);
	l->refresh.asked = now;
	live_ask(l, LIVE_TOPOLOGY, text);
}

static void refresh_restart(struct live *l)
{
	l->refresh.first = 0;
	l->refresh.netlist.len = l->refresh.states.len = 0;
	l->refresh.version[0] = 0;
}

void live_refresh_begin(struct live *l, uint64_t now)
{
	l->stale = false;
	l->refresh.on = true;
	l->refresh.began = now;
	l->refresh.tries = 0;
	l->refresh.patience.busy_since = 0;
	refresh_restart(l);
	piece_ask(l, now);
}

void live_refresh_reset(struct live *l)
{
	l->refresh.on = false;
	l->lists.number = 0;
	if (l->lists.changes)
		json_array_clear(l->lists.changes);
	json_decref(l->lists.vms_next);
	l->lists.vms_next = NULL;
	live_routes_forget(l);
}

void live_refresh_due(struct live *l, uint64_t now)
{
	if (l->refresh.on) {
		if (!(l->asked & 1u << LIVE_TOPOLOGY) && now >= l->refresh.next_at)
			piece_ask(l, now);
	} else if (l->stale && now >= l->next_refresh) {
		live_refresh_begin(l, now);
	}
}

static void changes_ask(struct live *l)
{
	uint64_t most = MIN(l->change_count - MIN(l->change_count, l->lists.number), (uint64_t)20);
	char text[64];

	if (!most)
		return;
	snprintf(text, sizeof(text), "{\"cmd\":\"changes\",\"count\":%u}", (unsigned)most);
	live_ask(l, LIVE_CHANGES, text);
}

static void refresh_end(struct live *l, uint64_t now)
{
	struct live_refresh *r = &l->refresh;
	struct err e;

	r->on = false;
	l->next_refresh = now + MAX((uint64_t)REFRESH_MS, now - r->began);
	if (live_picture_topology(l->picture, r->netlist.s, r->netlist.len, &e)) {
		live_tell(l, true, e.text);
		return;
	}
	snprintf(l->version, sizeof(l->version), "%s", r->version);
	live_picture_states(l->picture, r->states.len ? r->states.s : "");
	live_picture_state(l->picture, l->uptime);
	l->next_vms = MIN(l->next_vms, now); /* their nodes may have other numbers */
	changes_ask(l);
}

static void refresh_fails(struct live *l, uint64_t now)
{
	l->refresh.on = false;
	l->stale = true;
	l->next_refresh = now + REFRESH_MS;
}

/* Pieces with another version than the first belong to another subnet. */
static bool piece_fits(struct live_refresh *r, const json_t *a)
{
	const char *version = json_string_value(json_object_get(a, "version"));

	if (!version || strlen(version) >= sizeof(r->version) ||
	    (json_int_t)r->first != json_integer_value(json_object_get(a, "first")))
		return false;
	if (!r->first)
		snprintf(r->version, sizeof(r->version), "%s", version);
	return !strcmp(r->version, version);
}

void live_topology_taken(struct live *l, const json_t *a)
{
	const char *text = json_string_value(json_object_get(a, "netlist"));
	const char *states = json_string_value(json_object_get(a, "states"));
	json_int_t count = json_integer_value(json_object_get(a, "count"));
	uint64_t now = live_now_ms(), pause;
	struct live_refresh *r = &l->refresh;

	if (!r->on)
		return;
	if (live_patience_takes(&r->patience, a, now)) {
		r->next_at = now + LIVE_BUSY_MS;
		return;
	}
	if (!piece_fits(r, a) || !text || !states || count < 1) {
		if (r->tries++ >= TRIES || !json_object_get(a, "version")) {
			refresh_fails(l, now);
			return;
		}
		refresh_restart(l);
	} else {
		strbuf_add(&r->netlist, text);
		strbuf_add(&r->states, states);
		r->first += (uint32_t)count;
		if (r->first >= json_integer_value(json_object_get(a, "nodes"))) {
			refresh_end(l, now);
			return;
		}
	}
	pause = (now - r->asked) * (l->quiet ? 1 : PIECE_PAUSE);
	r->next_at = now + MIN(pause, (uint64_t)PIECE_PAUSE_MOST);
}

/* ---- changes ---- */

static void list_send(struct live *l, const char *key, json_t *list)
{
	json_t *o = json_pack("{s:O}", key, list);
	char *text = json_dumps(o, JSON_COMPACT);

	if (text)
		live_send_json(l, text, strlen(text));
	free(text);
	json_decref(o);
}

void live_changes_taken(struct live *l, json_t *answer)
{
	json_t *fresh = json_array(), *one;
	size_t i;

	if (!l->lists.changes)
		l->lists.changes = json_array();
	json_array_foreach(json_object_get(answer, "changes"), i, one)
	{
		json_int_t number = json_integer_value(json_object_get(one, "number"));

		if (number <= (json_int_t)l->lists.number)
			continue;
		l->lists.number = (uint64_t)number;
		json_array_append(fresh, one);
		json_array_append(l->lists.changes, one);
	}
	while (json_array_size(l->lists.changes) > CHANGES_KEPT)
		json_array_remove(l->lists.changes, 0);
	if (json_array_size(fresh))
		list_send(l, "changes", fresh);
	json_decref(fresh);
}

/* ---- virtual machines ---- */

void live_vms_ask(struct live *l)
{
	char text[80];

	snprintf(text, sizeof(text), "{\"cmd\":\"vm_list\",\"first\":%zu,\"count\":%d}",
		 json_array_size(l->lists.vms_next), VMS_PIECE);
	live_ask(l, LIVE_VMS, text);
}

/* Nodes by their number in the picture, as in all replies. */
static void vm_place(struct live *l, json_t *vm)
{
	const json_t *host = json_object_get(vm, "host");
	uint32_t node =
		live_picture_node(l->picture, json_string_value(json_object_get(host, "guid")));

	json_object_set_new(vm, "node", node == LIVE_NONE ? json_null() : json_integer(node));
}

void live_vms_taken(struct live *l, json_t *answer)
{
	json_t *list = json_object_get(answer, "vms"), *vm;
	struct live_lists *s = &l->lists;
	size_t i;

	if (!s->vms_next)
		s->vms_next = json_array();
	json_array_foreach(list, i, vm)
	{
		vm_place(l, vm);
		json_array_append(s->vms_next, vm);
	}
	if (json_array_size(list) == VMS_PIECE && json_array_size(s->vms_next) < VMS_MOST) {
		l->next_vms = live_now_ms() + 20;
		return;
	}
	if (!s->vms || !json_equal(s->vms, s->vms_next)) {
		list_send(l, "vms", s->vms_next);
		/* Other functions have LIDs: no count of the status shows a move. */
		l->stale |= s->vms != NULL;
	}
	json_decref(s->vms);
	s->vms = s->vms_next;
	s->vms_next = NULL;
}
