/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show subnet administration: its counters, paths between two ports, groups, services, subscriptions. State:
 * none. Ways in: the table of control_commands.c. Paths and registrations are the records that a host would get.
 */
#include <arpa/inet.h>

#include "base/map.h"
#include "iba/sa_wire.h"
#include "run/control_priv.h"

int ctl_records(const struct ctl_ask *a, uint16_t attr_id, uint64_t mask, const uint8_t *query,
		struct sa_records *r, struct err *e)
{
	const struct fab *f;
	uint16_t status;

	*r = (struct sa_records){0};
	if (ctl_subnet(a, &f, e))
		return -EINVAL;
	if (!a->v->sa)
		return err_set(e, -EAGAIN, "subnet administration does not run yet");
	status = sa_look(a->v->sa, a->v->sm, attr_id, mask, query, r, a->v->now);
	if (status == IBA_STATUS_BUSY)
		return err_set(e, -EAGAIN, "subnet administration has no subnet yet");
	return 0;
}

/* Which part of a long list: from number[0] on, number[1] of them at most. */
static void part_of(const struct ctl_ask *a, uint32_t n, uint32_t *first, uint32_t *end)
{
	uint64_t from = a->number[0] == UINT64_MAX ? 0 : a->number[0];

	*first = (uint32_t)MIN(from, (uint64_t)n);
	*end = (uint32_t)MIN(*first + MIN(a->number[1], (uint64_t)CTL_PART_RECORDS), (uint64_t)n);
}

void ctl_gid_member(struct json *j, const char *key, const uint8_t gid[16])
{
	char text[48];
	size_t at = 0;

	for (unsigned i = 0; i < 16; i += 2)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%x", i ? ":" : "",
				       iba_be16(gid + i));
	json_str(j, key, text);
}

/* Nodes by the GUIDs of their ports, VFs and machines, for the rows of one answer. */
static void nodes_by_port(const struct sm *sm, const struct fab *f, struct map64 *m)
{
	struct sm_vm v;

	for (uint32_t i = 0; i < f->nvlids; i++)
		map64_put(m, f->vlids[i].guid, f->ports[f->vlids[i].port].node);
	for (size_t i = 0; sm_vm_get(sm, i, &v); i++)
		if (v.running && fab_node_by_guid(f, v.host) != FAB_NONE)
			map64_put(m, v.guid, fab_node_by_guid(f, v.host));
	for (node_id n = 0; n < f->nnodes; n++)
		for (unsigned i = fab_is_switch(f, n) ? 0 : 1; i <= f->nodes[n].nports; i++) {
			uint64_t guid = f->ports[fab_port_id(f, n, i)].guid;

			if (guid)
				map64_put(m, guid, n);
			if (fab_is_switch(f, n))
				break;
		}
}

/* A row of a list, with the node of its port. */
struct row {
	const struct ctl_ask *a;
	const struct map64 *nodes;
};

/* GUID of the port; name and GUID of its node, "" and null: it is not in the subnet. A machine has its own name. */
static void name_member(struct json *j, const struct row *r, uint64_t guid)
{
	const struct fab *f = sm_fabric(r->a->v->sm);
	uint32_t n = map64_get(r->nodes, guid);

	json_hex64(j, "guid", guid);
	json_str(j, "name", n == MAP_NONE ? "" : view_end_name(r->a->v->sm, f, guid, n));
	if (n == MAP_NONE)
		json_raw(j, "node", "null");
	else
		json_hex64(j, "node", f->nodes[n].guid);
}

void ctl_hex_member(struct json *j, const char *key, uint64_t v, unsigned digits)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*llx", (int)digits, (unsigned long long)v);
	json_str(j, key, text);
}

/* ---- counters ---- */

static void count_row(struct json *j, const struct sa_count *c)
{
	json_open(j, c->name, '{');
	json_u64(j, "requests", c->requests);
	json_u64(j, "answered", c->results[SA_ANSWERED]);
	json_u64(j, "refused", c->results[SA_REFUSED]);
	json_u64(j, "untrusted", c->results[SA_UNTRUSTED]);
	json_u64(j, "dropped", c->results[SA_DROPPED]);
	json_close(j);
}

const char *run_sa_refusal(size_t status)
{
	static const char *const names[] = {"general",	      "no_resources",	  "invalid_request",
					    "no_records",     "too_many_records", "invalid_gid",
					    "few_components", "denied",		  "priority"};

	assert(status < ARRAY_LEN(names));
	return names[status];
}

static void refusals(struct json *j, const struct sa_status *st)
{
	json_open(j, "errors", '{');
	for (size_t i = 0; i < ARRAY_LEN(st->by_status); i++)
		if (st->by_status[i])
			json_u64(j, run_sa_refusal(i), st->by_status[i]);
	json_close(j);
}

int ctl_sa(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct sa_status st;
	struct sa_count c;

	if (!a->v->sa)
		return err_set(e, -EAGAIN, "subnet administration does not run yet");
	sa_status(a->v->sa, &st);
	json_bool(j, "serving", st.serving);
	json_u64(j, "requests", st.requests);
	json_u64(j, "responses", st.responses);
	json_u64(j, "bad", st.bad);
	json_u64(j, "silent", st.silent);
	json_u64(j, "busy", st.busy);
	json_u64(j, "segments", st.segments_sent);
	json_u64(j, "transfers", st.transfers);
	json_u64(j, "transfers_failed", st.transfers_failed);
	json_u64(j, "transfer_bytes", st.transfer_bytes);
	json_u64(j, "groups", st.groups);
	json_u64(j, "members", st.members);
	json_u64(j, "services", st.services);
	json_u64(j, "subscriptions", st.subscriptions);
	json_u64(j, "aliases", st.aliases);
	json_u64(j, "reports", st.reports);
	json_u64(j, "reports_waiting", st.reports_waiting);
	json_u64(j, "reports_unanswered", st.reports_unanswered);
	refusals(j, &st);
	json_open(j, "by_attribute", '{');
	for (size_t i = 0; sa_count_at(a->v->sa, i, &c); i++)
		if (c.requests)
			count_row(j, &c);
	json_close(j);
	return 0;
}

/* ---- paths ---- */

static void path_row(struct json *j, const struct ctl_ask *a, port_id from,
		     const struct iba_sa_path *p)
{
	view_hops hops = {0};
	struct err e;

	json_open(j, NULL, '{');
	json_u64(j, "slid", p->slid);
	json_u64(j, "dlid", p->dlid);
	json_u64(j, "sl", p->sl);
	ctl_hex_member(j, "pkey", p->pkey, 4);
	json_u64(j, "mtu", p->mtu ? 128u << p->mtu : 0);
	json_fixed(j, "rate", sa_rate_value(p->rate), 1);
	json_bool(j, "reversible", p->reversible);
	json_open(j, "hops", '[');
	if (!view_route(a->v->sm, from, p->dlid, &hops, &e))
		for (size_t i = 0; i < hops.n; i++)
			ctl_hop_row(j, a, sm_fabric(a->v->sm), &hops.at[i], p->sl);
	json_close(j);
	json_close(j);
	vec_free(&hops);
}

int ctl_paths(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const uint64_t mask =
		IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, num_paths);
	struct iba_sa_path ask = {.num_paths = 127}, p;
	const struct fab *f;
	struct sa_records r;
	uint8_t query[IBA_SA_DATA_SIZE] = {0};
	uint64_t source, target;
	port_id from, to;
	int rc;

	if (ctl_subnet(a, &f, e) || view_find_end(a->v->sm, a->text[0], &from, &source, e) ||
	    view_find_end(a->v->sm, a->text[1], &to, &target, e))
		return -EINVAL;
	iba_be64_put(ask.sgid, SA_DEFAULT_PREFIX);
	iba_be64_put(ask.dgid, SA_DEFAULT_PREFIX);
	iba_be64_put(ask.sgid + 8, source);
	iba_be64_put(ask.dgid + 8, target);
	iba_sa_path_put(&ask, query);
	rc = ctl_records(a, IBA_SA_PATH, mask, query, &r, e);
	if (rc)
		return rc;
	json_open(j, "paths", '[');
	for (uint32_t i = 0; i < r.n; i++) {
		iba_sa_path_get(&p, r.bytes + i * r.size, r.size);
		path_row(j, a, from, &p);
	}
	json_close(j);
	free(r.bytes);
	return 0;
}

/* ---- groups ---- */

static void group_members(struct json *j, const struct iba_sa_member *m)
{
	ctl_gid_member(j, "mgid", m->mgid);
	ctl_hex_member(j, "mlid", m->mlid, 4);
	ctl_hex_member(j, "pkey", m->pkey, 4);
	ctl_hex_member(j, "qkey", m->qkey, 8);
	json_u64(j, "sl", m->sl);
	json_u64(j, "mtu", m->mtu ? 128u << m->mtu : 0);
	json_fixed(j, "rate", sa_rate_value(m->rate), 1);
}

/* A group without members has one record, of no port. */
static bool has_port(const struct iba_sa_member *m)
{
	static const uint8_t none[16];

	return memcmp(m->port_gid, none, 16) != 0;
}

static void member_row(struct json *j, const struct row *r, const struct iba_sa_member *m)
{
	if (!has_port(m))
		return;
	json_open(j, NULL, '{');
	name_member(j, r, iba_be64(m->port_gid + 8));
	json_bool(j, "full", m->join_state & 1);
	json_bool(j, "non_member", m->join_state & 2);
	json_bool(j, "send_only", m->join_state & 12);
	json_bool(j, "proxy", m->proxy_join);
	json_close(j);
}

static void member_get(const struct sa_records *r, uint32_t i, struct iba_sa_member *m)
{
	iba_sa_member_get(m, r->bytes + i * r->size, r->size);
}

/* Records come by group; a list in parts begins again with a group that it has begun. */
static void groups_with_members(const struct ctl_ask *a, struct json *j, const struct sa_records *r)
{
	struct iba_sa_member m, last = {0};
	struct map64 nodes = {0};
	struct row row = {a, &nodes};
	uint32_t first, end;

	nodes_by_port(a->v->sm, sm_fabric(a->v->sm), &nodes);
	part_of(a, r->n, &first, &end);
	json_u64(j, "records", r->n);
	json_u64(j, "next", end);
	json_open(j, "groups", '[');
	for (uint32_t i = first; i < end; i++) {
		member_get(r, i, &m);
		if (i == first || memcmp(m.mgid, last.mgid, 16)) {
			if (i > first) {
				json_close(j);
				json_close(j);
			}
			json_open(j, NULL, '{');
			group_members(j, &m);
			json_open(j, "members", '[');
		}
		member_row(j, &row, &m);
		last = m;
	}
	if (end > first) {
		json_close(j);
		json_close(j);
	}
	json_close(j);
	map64_free(&nodes);
}

/* Parts count groups then, and each has the number of its members. */
static void groups_alone(const struct ctl_ask *a, struct json *j, const struct sa_records *r)
{
	VEC(uint32_t) begins = {0};
	struct iba_sa_member m, last = {0};
	uint32_t first, end;

	for (uint32_t i = 0; i < r->n; i++) {
		member_get(r, i, &m);
		if (!i || memcmp(m.mgid, last.mgid, 16))
			vec_push(&begins, i);
		last = m;
	}
	part_of(a, (uint32_t)begins.n, &first, &end);
	json_u64(j, "records", begins.n);
	json_u64(j, "next", end);
	json_open(j, "groups", '[');
	for (uint32_t g = first; g < end; g++) {
		member_get(r, begins.at[g], &m);
		json_open(j, NULL, '{');
		group_members(j, &m);
		json_u64(j, "count",
			 has_port(&m) ? (g + 1 < begins.n ? begins.at[g + 1] : r->n) - begins.at[g]
				      : 0);
		json_close(j);
	}
	json_close(j);
	vec_free(&begins);
}

int ctl_groups(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct iba_sa_member ask = {0};
	uint8_t query[IBA_SA_DATA_SIZE] = {0};
	struct sa_records r;
	int rc;

	if (a->text[2] && inet_pton(AF_INET6, a->text[2], ask.mgid) != 1)
		return err_set(e, -EINVAL, "'mgid': expected a GID such as %s; found '%.60s'",
			       "ff12:401b:ffff:0:0:0:ffff:ffff", a->text[2]);
	if (a->v->sm && ctl_busy(a, a->number[4], j))
		return 0;
	iba_sa_member_put(&ask, query);
	rc = ctl_records(a, IBA_SA_MEMBER, a->text[2] ? IBA_SA_BIT(member, mgid) : 0, query, &r, e);
	if (rc)
		return rc;
	if (a->number[3] == 0)
		groups_alone(a, j, &r);
	else
		groups_with_members(a, j, &r);
	free(r.bytes);
	return 0;
}

/* ---- services, subscriptions ---- */

static void service_row(struct json *j, const struct row *r, const uint8_t *record, size_t size)
{
	struct iba_sa_service s;
	char name[65] = {0};

	iba_sa_service_get(&s, record, size);
	memcpy(name, s.name, 64);
	json_open(j, NULL, '{');
	ctl_hex_member(j, "id", s.id, 16);
	json_str(j, "service", name);
	name_member(j, r, iba_be64(s.gid + 8));
	ctl_hex_member(j, "pkey", s.pkey, 4);
	if (s.lease == UINT32_MAX)
		json_str(j, "lease_s", "for ever");
	else
		json_u64(j, "lease_s", s.lease);
	json_close(j);
}

static void subscription_row(struct json *j, const struct row *r, const uint8_t *record,
			     size_t size)
{
	struct iba_sa_inform_record s;

	iba_sa_inform_record_get(&s, record, size);
	json_open(j, NULL, '{');
	name_member(j, r, iba_be64(s.subscriber_gid + 8));
	json_u64(j, "qpn", s.qpn);
	json_bool(j, "generic", s.is_generic);
	if (s.trap_number == UINT16_MAX)
		json_str(j, "trap", "all");
	else
		json_u64(j, "trap", s.trap_number);
	json_close(j);
}

static int list(const struct ctl_ask *a, struct json *j, const char *key, uint16_t attr_id,
		void (*put)(struct json *j, const struct row *r, const uint8_t *record,
			    size_t size),
		struct err *e)
{
	struct map64 nodes = {0};
	struct row row = {a, &nodes};
	struct sa_records r;
	uint32_t first, end;
	int rc;

	if (a->v->sm && ctl_busy(a, a->number[2], j))
		return 0;
	rc = ctl_records(a, attr_id, 0, NULL, &r, e);
	if (rc)
		return rc;
	part_of(a, r.n, &first, &end);
	json_u64(j, "records", r.n);
	json_u64(j, "next", end);
	json_open(j, key, '[');
	nodes_by_port(a->v->sm, sm_fabric(a->v->sm), &nodes);
	for (uint32_t i = first; i < end; i++)
		put(j, &row, r.bytes + i * r.size, r.size);
	json_close(j);
	map64_free(&nodes);
	free(r.bytes);
	return 0;
}

int ctl_services(const struct ctl_ask *a, struct json *j, struct err *e)
{
	return list(a, j, "services", IBA_SA_SERVICE, service_row, e);
}

int ctl_subscriptions(const struct ctl_ask *a, struct json *j, struct err *e)
{
	return list(a, j, "subscriptions", IBA_SA_INFORM_RECORD, subscription_row, e);
}
