/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show what the performance manager knows: perf (links, a node, a port), sick. State: none. Ways in: the table
 * of control_commands.c. Asks no device: counter_orders.c does.
 */
#include "run/control_priv.h"

enum { LINKS = 20, LINKS_MOST = 4096 };

/* ---- a link ---- */

static void name_member(struct json *j, const char *key, const struct ctl_ask *a, uint64_t guid)
{
	const struct fab *f = sm_fabric(a->v->sm);
	node_id n = f ? fab_node_by_guid(f, guid) : FAB_NONE;
	const char *name = n != FAB_NONE ? view_name(a->v->sm, f, n)
			   : guid	 ? sm_node_desc(a->v->sm, guid)
					 : "";

	json_str(j, key, name);
}

static void flags_member(struct json *j, unsigned flags)
{
	static const char *const names[] = {"sick", "isolated", "saturated", "silent"};

	json_open(j, "flags", '[');
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (flags >> i & 1)
			json_str(j, NULL, names[i]);
	json_close(j);
}

/* Parts of a thousand of what the link can carry, in the busier direction. */
static uint64_t load_of(const struct perf_view *v)
{
	return v->bps ? MAX(v->xmit_bytes, v->rcv_bytes) * 8 / MAX(v->bps / 1000, (uint64_t)1) : 0;
}

static void link_members(struct json *j, const struct ctl_ask *a, const struct perf_view *v)
{
	char ber[16];

	name_member(j, "node", a, v->guid);
	json_hex64(j, "guid", v->guid);
	json_u64(j, "port", v->port);
	name_member(j, "peer", a, v->peer);
	json_hex64(j, "peer_guid", v->peer);
	json_u64(j, "peer_port", v->peer_port);
	json_u64(j, "bits_per_second", v->bps);
	json_bool(j, "known", (v->flags & PERF_IS_READ) != 0);
	json_u64(j, "xmit_bytes_per_second", v->xmit_bytes);
	json_u64(j, "rcv_bytes_per_second", v->rcv_bytes);
	json_fixed(j, "load", load_of(v), 3);
	json_u64(j, "wait_per_second", v->wait);
	json_u64(j, "errors", v->errors);
	perf_ber_text(v->errors, v->bits, ber);
	json_str(j, "ber", ber);
	flags_member(j, v->flags);
	if (v->read_us != UINT64_MAX)
		json_fixed(j, "read_s_ago", v->read_us, 6);
	if (v->sick_since_us != UINT64_MAX)
		json_fixed(j, "sick_s", v->sick_since_us, 6);
}

static void link_rows(struct json *j, const struct ctl_ask *a, const struct perf_view *v,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		link_members(j, a, &v[i]);
		json_close(j);
	}
}

/* ---- the whole ---- */

static void status_members(struct json *j, const struct ctl_ask *a)
{
	struct perf_status st;

	perf_status(a->v->perf, &st);
	json_bool(j, "on", st.on);
	json_bool(j, "serving", st.serving);
	json_bool(j, "paused", st.paused);
	json_seconds(j, "period_s", a->v->cfg->perf.period);
	json_seconds(j, "watch_s", a->v->cfg->perf.watch);
	json_u64(j, "rounds", st.rounds);
	json_fixed(j, "round_s", st.round_us, 6);
	json_u64(j, "round_queries", st.round_queries);
	json_u64(j, "put_off", st.put_off);
	json_u64(j, "late_rounds", st.late_rounds);
	json_u64(j, "queries", st.queries);
	json_u64(j, "answers", st.answers);
	json_u64(j, "timeouts", st.timeouts);
	json_u64(j, "refused", st.refused);
	json_u64(j, "bad", st.bad);
	json_u64(j, "devices", st.devices);
	json_u64(j, "ports", st.ports);
	json_u64(j, "silent", st.silent);
	json_u64(j, "narrow", st.narrow);
	json_u64(j, "sick", st.sick);
	json_u64(j, "isolated", st.isolated);
	json_u64(j, "isolate_most",
		 a->v->cfg->perf.isolate == PERF_ISOLATE_OFF ? 0 : a->v->cfg->perf.isolate_most);
	json_u64(j, "saturated", st.saturated);
	json_u64(j, "memory_bytes", st.bytes);
}

static int sort_of(const char *text, enum perf_sort *by, struct err *e)
{
	*by = PERF_BY_LOAD;
	if (!text)
		return 0;
	for (unsigned i = 0; i < PERF_NSORTS; i++)
		if (!strcmp(text, perf_sort_name((enum perf_sort)i))) {
			*by = (enum perf_sort)i;
			return 0;
		}
	return err_set(e, -EINVAL, "'sort': expected load, errors, wait or name, found '%.60s'",
		       text);
}

/* Nodes with this text in their name or GUID, in any case. */
static void nodes_called(const struct ctl_ask *a, const char *text, struct map64 *nodes)
{
	const struct fab *f = sm_fabric(a->v->sm);
	char guid[24];

	for (node_id n = 0; f && n < f->nnodes; n++) {
		snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)f->nodes[n].guid);
		if (strcasestr(view_name(a->v->sm, f, n), text) || strcasestr(guid, text))
			map64_put(nodes, f->nodes[n].guid, n);
	}
}

static int list(const struct ctl_ask *a, struct json *j, struct err *e)
{
	uint32_t most = (uint32_t)MIN(a->number[2] == UINT64_MAX ? LINKS : a->number[2],
				      (uint64_t)LINKS_MOST);
	const char *filter = a->text[3] && *a->text[3] ? a->text[3] : NULL;
	struct map64 nodes = {0};
	struct perf_view *v;
	enum perf_sort by;

	if (sort_of(a->text[1], &by, e))
		return -EINVAL;
	status_members(j, a);
	json_str(j, "sort", perf_sort_name(by));
	v = mem_array(MAX(most, 1u), sizeof(*v));
	json_open(j, "links", '[');
	if (filter)
		nodes_called(a, filter, &nodes);
	link_rows(j, a, v,
		  perf_list_at(a->v->perf, by, 0, filter ? &nodes : NULL, v, most, a->v->now));
	json_close(j);
	map64_free(&nodes);
	free(v);
	return 0;
}

/* ---- a node, a port ---- */

static void counters_member(struct json *j, const char *key, const uint64_t *c)
{
	json_open(j, key, '{');
	for (unsigned i = 0; i < PERF_NCOUNTERS; i++)
		json_u64(j, perf_counter_name((enum perf_counter)i), c[i]);
	json_close(j);
}

static void samples_member(struct json *j, const char *key, unsigned seconds,
			   const struct perf_sample *s, uint32_t n)
{
	json_open(j, key, '{');
	json_u64(j, "seconds_each", seconds);
	json_open(j, "samples", '[');
	for (uint32_t i = 0; i < n; i++) {
		if (!s[i].known) {
			json_none(j, NULL);
			continue;
		}
		json_open(j, NULL, '[');
		json_u64(j, NULL, s[i].xmit_bytes);
		json_u64(j, NULL, s[i].rcv_bytes);
		json_u64(j, NULL, s[i].wait);
		json_u64(j, NULL, s[i].errors);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static void history_members(struct json *j, const struct ctl_ask *a, const struct perf_view *v)
{
	struct perf_sample *s = mem_array(PERF_MINUTES, sizeof(*s));

	if (perf_hour(a->v->perf, v->guid, v->port, s, PERF_SLOTS, a->v->now))
		samples_member(j, "hour", PERF_SLOT_S, s, PERF_SLOTS);
	if (perf_day(a->v->perf, v->guid, v->port, s, PERF_MINUTES, a->v->now))
		samples_member(j, "day", 60, s, PERF_MINUTES);
	free(s);
}

/* NODE or NODE:PORT. A name may have a colon itself. */
static int node_of(const struct ctl_ask *a, const char *text, port_id *at, unsigned *port,
		   struct err *e)
{
	const char *colon = strrchr(text, ':');
	char name[96];
	uint64_t n;

	*port = 0;
	if (!view_find(a->v->sm, text, at, e))
		return 0;
	if (!colon || parse_u64(colon + 1, &n) || !n || n > 254 ||
	    (size_t)(colon - text) >= sizeof(name))
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	*port = (unsigned)n;
	return view_find(a->v->sm, name, at, e);
}

static int one(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct fab *f;
	struct perf_view v;
	unsigned port;
	port_id at;
	node_id n;

	if (ctl_subnet(a, &f, e) || node_of(a, a->text[0], &at, &port, e))
		return -EINVAL;
	n = f->ports[at].node;
	if (port > f->nodes[n].nports)
		return err_set(e, -EINVAL, "expected a port from 1 to %u, found %u",
			       f->nodes[n].nports, port);
	status_members(j, a);
	json_hex64(j, "guid", f->nodes[n].guid);
	json_str(j, "name", view_name(a->v->sm, f, n));
	json_open(j, "ports", '[');
	for (unsigned i = port ? port : 1; i <= (port ? port : f->nodes[n].nports); i++) {
		if (!perf_port_get(a->v->perf, f->nodes[n].guid, i, &v, a->v->now) ||
		    (!port && !(v.flags & (PERF_IS_LINKED | PERF_IS_ISOLATED))))
			continue;
		json_open(j, NULL, '{');
		link_members(j, a, &v);
		counters_member(j, "counted", v.count);
		counters_member(j, "device", v.device);
		if (port)
			history_members(j, a, &v);
		json_close(j);
	}
	json_close(j);
	return 0;
}

int ctl_perf(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct perf_status st;

	if (!a->v->perf || !a->v->sm)
		return err_set(e, -EINVAL, "not connected to a fabric; there are no counters");
	perf_status(a->v->perf, &st);
	if (!st.on)
		return err_set(e, -EINVAL,
			       "counters are not read: perf.period is 0 (--perf-period)");
	return a->text[0] ? one(a, j, e) : list(a, j, e);
}

/* ---- sick links ---- */

/* Isolated by the errors of its other end, which the list has already. */
static bool is_listed(const struct perf_view *v, uint32_t n, const struct perf_view *x)
{
	for (uint32_t i = 0; i < n; i++)
		if ((v[i].guid == x->peer && v[i].port == x->peer_port) ||
		    (v[i].guid == x->guid && v[i].port == x->port))
			return true;
	return false;
}

static void silent_member(struct json *j, const struct ctl_ask *a, struct perf_view *v)
{
	uint32_t n = perf_list(a->v->perf, PERF_BY_NAME, PERF_IS_SILENT, v, LINKS_MOST, a->v->now);

	json_open(j, "silent_nodes", '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i && v[i].guid == v[i - 1].guid)
			continue;
		json_open(j, NULL, '{');
		name_member(j, "node", a, v[i].guid);
		json_hex64(j, "guid", v[i].guid);
		json_close(j);
	}
	json_close(j);
}

int ctl_sick(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct perf_view *v, *more;
	struct perf_status st;
	uint32_t n, m;

	if (!a->v->perf || !a->v->sm)
		return err_set(e, -EINVAL, "not connected to a fabric; there are no counters");
	perf_status(a->v->perf, &st);
	if (!st.on)
		return err_set(e, -EINVAL,
			       "counters are not read: perf.period is 0 (--perf-period)");
	v = mem_array(2 * LINKS_MOST, sizeof(*v));
	more = v + LINKS_MOST;
	status_members(j, a);
	n = perf_list(a->v->perf, PERF_BY_ERRORS, PERF_IS_SICK, v, LINKS_MOST, a->v->now);
	m = perf_list(a->v->perf, PERF_BY_NAME, PERF_IS_ISOLATED, more, LINKS_MOST, a->v->now);
	for (uint32_t i = 0; i < m && n < LINKS_MOST; i++)
		if (!is_listed(v, n, &more[i]))
			v[n++] = more[i];
	json_open(j, "links", '[');
	link_rows(j, a, v, n);
	json_close(j);
	silent_member(j, a, v);
	free(v);
	return 0;
}
