/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of pages that need the tables of all switches: loads, users and quality. State: struct live_fetch. Ways in:
 * live_routes_ask(), live_routes_due(), live_routes_taken(). Tables are read when a page asks, in pieces with pauses, and
 * kept until the manager has others.
 */
#include "web/live_priv.h"

enum { WAITS_MOST = 8, TRIES = 5, PAUSE = 4, PAUSE_MOST = 500 };

static void wait_free(struct live_wait *w)
{
	free(w->id);
	json_decref(w->port);
}

static void waits_clear(struct live_fetch *f)
{
	for (size_t i = 0; i < f->waits.n; i++)
		wait_free(&f->waits.at[i]);
	f->waits.n = 0;
	f->tries = 0;
}

void live_routes_refuse(struct live *l, const char *why)
{
	for (size_t i = 0; i < l->fetch.waits.n; i++)
		live_reply_error(l, l->fetch.waits.at[i].id, why);
	waits_clear(&l->fetch);
}

/* ---- replies ---- */

static void reply_loads(struct live *l, const struct live_wait *w, const uint32_t *load)
{
	struct json j = {0};
	uint64_t most = live_picture_loads(l->picture, load);

	live_reply_begin(&j, w->id);
	json_bool(&j, "ok", true);
	json_u64(&j, "busiest", most);
	live_reply_end(l, &j);
}

/* The port of {"node": GUID, "port": N} in the topology; FAB_NONE: none. */
static port_id port_of(const struct fab *f, const json_t *port)
{
	const char *text = json_string_value(json_object_get(port, "node"));
	json_int_t num = json_integer_value(json_object_get(port, "port"));
	uint64_t guid;
	node_id n = text && !parse_u64(text, &guid) ? fab_node_by_guid(f, guid) : FAB_NONE;

	return n != FAB_NONE && num > 0 && num <= f->nodes[n].nports
		       ? fab_port_id(f, n, (unsigned)num)
		       : FAB_NONE;
}

static void put_routes(struct live *l, struct json *j, const struct fab *f, const live_users *u)
{
	uint16_t last = 0;

	json_open(j, "routes", '[');
	for (size_t i = 0; i < u->n; i++) {
		json_open(j, NULL, '[');
		json_u64(j, NULL, live_picture_node_of(l->picture, f->nodes[u->at[i].from].guid));
		json_u64(j, NULL, live_picture_node_of(l->picture, f->nodes[u->at[i].to].guid));
		json_close(j);
	}
	json_close(j);
	json_open(j, "lids", '[');
	for (size_t i = 0; i < u->n; i++)
		for (unsigned k = 1; k <= f->nodes[u->at[i].to].nports; k++) {
			uint16_t lid = f->ports[fab_port_id(f, u->at[i].to, k)].lid;

			if (lid && lid != last)
				json_u64(j, NULL, lid);
			last = lid ? lid : last;
		}
	json_close(j);
}

static void reply_users(struct live *l, const struct live_wait *w, const uint32_t *load)
{
	const struct fab *f = live_picture_fab(l->picture);
	port_id p = port_of(f, w->port), q = p == FAB_NONE ? FAB_NONE : f->ports[p].peer;
	live_users u = {0};
	struct json j = {0};

	if (q == FAB_NONE) {
		live_reply_error(l, w->id, "expected a port with a link: a GUID and a number");
		return;
	}
	live_tables_users(&l->fetch.tables, f, p, &u);
	live_tables_users(&l->fetch.tables, f, q, &u);
	live_reply_begin(&j, w->id);
	json_bool(&j, "ok", true);
	json_u64(&j, "count", (uint64_t)load[p] + load[q]);
	put_routes(l, &j, f, &u);
	live_reply_end(l, &j);
	vec_free(&u);
}

static void reply_all(struct live *l)
{
	uint32_t *load = l->fetch.load;

	if (!load)
		load = l->fetch.load =
			live_tables_loads(&l->fetch.tables, live_picture_fab(l->picture));
	for (size_t i = 0; i < l->fetch.waits.n; i++)
		if (l->fetch.waits.at[i].quality)
			live_reply_quality(l, l->fetch.waits.at[i].id);
		else if (l->fetch.waits.at[i].port)
			reply_users(l, &l->fetch.waits.at[i], load);
		else
			reply_loads(l, &l->fetch.waits.at[i], load);
	waits_clear(&l->fetch);
}

static void load_forget(struct live_fetch *f)
{
	free(f->load);
	f->load = NULL;
	strbuf_free(&f->quality);
}

void live_routes_forget(struct live *l)
{
	live_tables_clear(&l->fetch.tables);
	load_forget(&l->fetch);
}

/* ---- the tables ---- */

const char *live_routes_ask(struct live *l, const char *cmd, const json_t *port, const char *id)
{
	struct live_wait w = {.quality = !strcmp(cmd, "quality")};

	if (!live_picture_fab(l->picture))
		return "the topology is not known yet";
	if (l->fetch.waits.n >= WAITS_MOST)
		return "too many requests wait for the forwarding tables; try again";
	w.id = mem_strdup(id);
	w.port = !strcmp(cmd, "users") ? json_deep_copy(port) : NULL;
	vec_push(&l->fetch.waits, w);
	l->fetch.checked = false;
	l->fetch.patience.busy_since = 0;
	return NULL;
}

/* First whether the tables that are kept are those of the manager, then what is missing. */
void live_routes_due(struct live *l, uint64_t now)
{
	struct live_fetch *f = &l->fetch;
	bool patient = live_patient(&f->patience, now);
	char text[100];

	if (!f->waits.n || l->asked & 1u << LIVE_TABLES || now < f->next_at || l->refresh.on ||
	    l->stale)
		return;
	snprintf(text, sizeof(text), "{\"cmd\":\"tables\",\"first\":%u%s,\"at_rest\":%d}",
		 f->checked ? f->tables.known : 0,
		 !f->checked ? ",\"count\":0"
		 : patient   ? ""
			     : ",\"count\":1",
		 patient);
	f->asked = now;
	live_ask(l, LIVE_TABLES, text);
}

void live_routes_taken(struct live *l, const json_t *a)
{
	const char *why = json_string_value(json_object_get(a, "error"));
	struct live_fetch *f = &l->fetch;
	uint64_t now = live_now_ms();

	if (live_patience_takes(&f->patience, a, now)) {
		f->next_at = now + LIVE_BUSY_MS;
		return;
	}
	f->next_at = now + MIN((now - f->asked) * (l->quiet ? 1 : PAUSE), (uint64_t)PAUSE_MOST);
	if (why || !live_tables_take(&f->tables, a)) {
		live_routes_refuse(l, why ? why : "the manager's tables make no sense");
		return;
	}
	if (!f->checked && !live_tables_whole(&f->tables))
		load_forget(f); /* the manager has others */
	f->checked = true;
	if (strcmp(f->tables.version, l->version)) {
		/* The topology on screen is an older one: both are read again. */
		f->checked = false;
		l->stale = true;
		l->next_refresh = MIN(l->next_refresh, now + PAUSE_MOST);
		if (f->tries++ >= TRIES)
			live_routes_refuse(l, "the subnet is changing; try again in a moment");
		return;
	}
	if (live_tables_whole(&f->tables))
		reply_all(l);
}
