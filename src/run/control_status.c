/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show the manager itself: status, changes, SMPs, configuration. State: none. Ways in: the
 * table of control_commands.c. Shows no nodes: control_subnet.c does.
 */
#include <time.h>
#include <unistd.h>

#include "run/control_priv.h"
#include "sm/notes.h"

static void json_time(struct json *j, const char *key, int64_t unix_ms)
{
	time_t s = (time_t)(unix_ms / 1000);
	char text[64], all[80];
	struct tm tm;

	if (unix_ms < 0 || !gmtime_r(&s, &tm)) {
		json_none(j, key);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(all, sizeof(all), "%s.%03dZ", text, (int)(unix_ms % 1000));
	json_str(j, key, all);
}

static void json_purposes(struct json *j, const uint64_t smps[SM_NPURPOSES])
{
	uint64_t sum = 0;

	json_open(j, "smps", '{');
	for (unsigned i = 0; i < SM_NPURPOSES; i++) {
		json_u64(j, sm_purpose_name(i), smps[i]);
		sum += smps[i];
	}
	json_u64(j, "all", sum);
	json_close(j);
}

/* ---- status ---- */

static void json_port(struct json *j, const struct run_view *v, const struct sm_status *st)
{
	json_bool(j, "connected", v->connected);
	json_open(j, "port", '{');
	json_str(j, "name", v->port.name);
	json_hex64(j, "node_guid", v->port.node_guid);
	json_hex64(j, "port_guid", v->port.port_guid);
	json_u64(j, "number", v->port.port);
	json_u64(j, "lid", st->lid);
	json_close(j);
}

static void json_duplicates(struct json *j, const struct sm *sm)
{
	const struct sm_names names = {sm_names_described, sm};
	struct record_value v[SM_NOTE_VALUES];
	struct sm_note n = {.kind = SM_NOTE_DUPLICATE};
	struct strbuf text = {0};

	json_open(j, "duplicates", '[');
	for (uint32_t i = 0; sm && sm_duplicate_at(sm, i, &n.duplicate); i++) {
		json_open(j, NULL, '{');
		sm_note_values(&n, &names, v);
		record_json(j, v);
		text.len = 0;
		sm_note_text(&n, &names, &text);
		json_str(j, "text", text.s);
		json_close(j);
	}
	json_close(j);
	strbuf_free(&text);
}

static void json_subnet(struct json *j, const struct run_view *v, const struct sm_status *st)
{
	const struct fab *f = v->sm ? sm_fabric(v->sm) : NULL;

	json_open(j, "subnet", '{');
	json_u64(j, "switches", st->switches);
	json_u64(j, "hosts", f ? f->nhosts : 0);
	json_u64(j, "routers", f ? f->nrouters : 0);
	json_u64(j, "links", f ? f->nlinks : 0);
	json_u64(j, "lids", st->lids);
	json_u64(j, "held_ports", st->held);
	json_duplicates(j, v->sm);
	json_close(j);
}

/* This manager and all others that it knows, and the master. */
static void json_managers(struct json *j, const struct run_view *v)
{
	struct sm_manager m;

	json_open(j, "managers", '[');
	for (size_t i = 0; v->sm && sm_manager_get(v->sm, i, &m); i++) {
		json_open(j, NULL, '{');
		json_hex64(j, "guid", m.guid);
		json_str(j, "name", m.node_guid ? sm_node_desc(v->sm, m.node_guid) : "");
		json_u64(j, "priority", m.priority);
		json_str(j, "state", iba_format_word(IBA_FMT_SM_STATE, m.state));
		json_bool(j, "answers", !m.silent);
		json_bool(j, "own", m.own);
		json_close(j);
	}
	json_close(j);
	if (v->sm && sm_master_guid(v->sm))
		json_hex64(j, "master", sm_master_guid(v->sm));
	else
		json_none(j, "master");
}

static void json_counters(struct json *j, const struct run_view *v, const struct sm_status *st)
{
	json_purposes(j, st->smps);
	json_u64(j, "retries", st->retries);
	json_u64(j, "timeouts", st->timeouts);
	json_u64(j, "late", st->late);
	json_u64(j, "bad", st->bad);
	json_u64(j, "traps", st->traps);
	json_u64(j, "orders_refused", st->orders_refused);
	json_open(j, "mads", '{');
	json_u64(j, "in", v->mads_in);
	json_u64(j, "out", v->mads_out);
	json_u64(j, "waiting", v->mads_waiting);
	json_close(j);
	json_u64(j, "reconnects", v->reconnects);
}

static void json_change(struct json *j, const char *key, const struct run_view *v,
			const struct run_change *c)
{
	const struct sm_names names = {sm_names_described, v->sm};
	const struct sm_round *r = &c->round;

	json_open(j, key, '{');
	json_u64(j, "number", c->number);
	json_time(j, "began", c->unix_ms);
	json_str(j, "cause", sm_cause_name(r->cause));
	json_seconds(j, "time_s", r->end - r->start);
	json_open(j, "phases_s", '{');
	for (unsigned p = 0; p < SM_NPHASES; p++)
		if (r->time[p])
			json_seconds(j, sm_phase_name(p), r->time[p]);
	json_close(j);
	json_purposes(j, r->smps);
	json_u64(j, "entries", r->entries);
	json_u64(j, "blocks", r->sent_blocks);
	json_u64(j, "restarts", r->restarts);
	json_bool(j, "clean", r->clean);
	json_u64(j, "switches", c->switches);
	json_u64(j, "hosts", c->nodes - c->switches - c->routers);
	json_u64(j, "routers", c->routers);
	json_u64(j, "lids", c->lids);
	if (!key) { /* the list of changes has them; the status stays short */
		sm_notes_changes_json(j, c->events.list.at, c->events.list.n,
				      v->sm ? &names : NULL);
		json_u64(j, "unlisted", c->events.unlisted);
	}
	json_close(j);
}

static void json_activity(struct json *j, const struct run_view *v, const struct sm_status *st)
{
	json_u64(j, "changes", v->nchanges ? v->changes[v->nchanges - 1].number : 0);
	if (v->nchanges)
		json_change(j, "last_change", v, &v->changes[v->nchanges - 1]);
	else
		json_none(j, "last_change");
	json_bool(j, "change_pending", st->change_pending);
	json_u64(j, "sweeps", st->sweeps);
	json_u64(j, "clean_sweeps", st->clean_sweeps);
	if (st->clean_sweeps && v->now >= st->last_sweep_start)
		json_seconds(j, "last_sweep_ago_s", v->now - st->last_sweep_start);
	else
		json_none(j, "last_sweep_ago_s");
	json_u64(j, "routes_computed", v->routes_computed);
	json_fixed(j, "compute_s", v->compute_ms, 3);
}

/* Of a standby: its copy of what the master knows. */
static void json_mirror(struct json *j, const struct run_view *v)
{
	struct sm_mirror_status m = {0};

	if (v->sm)
		sm_mirror_status(v->sm, &m);
	json_open(j, "mirror", '{');
	json_bool(j, "on", m.on);
	json_bool(j, "complete", m.complete);
	json_hex64(j, "generation", m.generation);
	json_u64(j, "bytes", m.bytes);
	json_u64(j, "nodes", m.nodes);
	json_u64(j, "switches", m.switches);
	if (m.complete)
		json_seconds(j, "age_s", v->now - MIN(v->now, m.confirmed_at));
	else
		json_none(j, "age_s");
	json_u64(j, "gmps", m.gmps);
	json_u64(j, "gmps_bad", m.gmps_bad);
	json_u64(j, "mirrors", m.mirrors);
	json_close(j);
}

static void status_of(const struct run_view *v, struct sm_status *st)
{
	*st = (struct sm_status){.phase = SM_OFF};
	if (v->sm)
		sm_status(v->sm, st);
}

/* What computes the routes, and why it was chosen. */
static void json_engine(struct json *j, const struct run_view *v)
{
	const struct sm_supply *named = v->cfg->sm.mechanism.routes;
	const char *why = "";
	const struct rt_engine *g = v->sm ? sm_engine(v->sm, &why) : named->engine;

	json_str(j, "engine", g ? g->name : named->choose ? "auto" : "fera");
	json_str(j, "engine_why",
		 named->choose || *why
			 ? why
			 : "named in the configuration"); /* or why another one serves */
	json_str(j, "engine_worse", v->sm ? sm_advice(v->sm) : "");
}

/* Only a master answers requests of hosts, with "busy" until it knows the subnet. */
static const char *administration(const struct run_view *v, const struct sm_status *st)
{
	struct sa_status sa = {0};

	if (!v->sa || st->state != IBA_SM_MASTER)
		return "silent";
	sa_status(v->sa, &sa);
	return sa.serving ? "serving" : "busy";
}

int ctl_status(const struct ctl_ask *a, struct json *j, struct err *e UNUSED)
{
	static const char *const levels[] = {"error", "warning", "notice", "info", "debug"};
	const struct run_view *v = a->v;
	struct sm_status st;

	status_of(v, &st);
	json_str(j, "version", WEFT_VERSION);
	json_u64(j, "pid", (uint64_t)getpid());
	json_time(j, "started", v->started_unix_ms);
	json_fixed(j, "uptime_s", v->uptime_ms, 3);
	json_str(j, "state", v->sm ? iba_format_word(IBA_FMT_SM_STATE, st.state) : "NotActive");
	json_bool(j, "observes", v->cfg->sm.observe);
	json_str(j, "administration", v->sm ? administration(v, &st) : "silent");
	json_str(j, "phase", sm_phase_name(st.phase));
	json_str(j, "mechanism", v->cfg->sm.mechanism.name);
	json_engine(j, v);
	json_u64(j, "priority", v->cfg->sm.priority);
	json_str(j, "log_level", levels[v->log_level]);
	json_port(j, v, &st);
	json_managers(j, v);
	json_subnet(j, v, &st);
	json_mirror(j, v);
	json_activity(j, v, &st);
	json_counters(j, v, &st);
	return 0;
}

int ctl_smps(const struct ctl_ask *a, struct json *j, struct err *e UNUSED)
{
	struct sm_status st;

	status_of(a->v, &st);
	json_counters(j, a->v, &st);
	return 0;
}

int ctl_changes(const struct ctl_ask *a, struct json *j, struct err *e UNUSED)
{
	uint64_t count = MIN(a->number[0], (uint64_t)a->v->nchanges);

	json_open(j, "changes", '[');
	for (uint64_t i = a->v->nchanges - count; i < a->v->nchanges; i++)
		json_change(j, NULL, a->v, &a->v->changes[i]);
	json_close(j);
	return 0;
}

int ctl_config(const struct ctl_ask *a, struct json *j, struct err *e UNUSED)
{
	struct settings shown = *a->v->cfg;
	struct strbuf text = {0};

	settings_hide_keys(&shown); /* who may use the socket need not know them */
	strbuf_add(&text, "# Keys are not shown.\n");
	settings_print_yaml(&shown, false, &text);
	json_str(j, "text", text.s);
	strbuf_free(&text);
	return 0;
}
