/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show the subnet: topology, switches, ports, routes. State: none. Ways in: the table of
 * control_commands.c. Shows what the manager knows; queries no device.
 */
#include "run/control_priv.h"

int ctl_subnet(const struct ctl_ask *a, const struct fab **f, struct err *e)
{
	*f = a->v->sm ? sm_fabric(a->v->sm) : NULL;
	return *f ? 0 : err_set(e, -EINVAL, "the subnet is not discovered yet");
}

void ctl_node_members(struct json *j, const struct ctl_ask *a, const struct fab *f, node_id n)
{
	char id[32];

	fab_node_ident(f, n, id);
	json_hex64(j, "guid", f->nodes[n].guid);
	json_str(j, "id", id);
	json_str(j, "name", view_name(a->v->sm, f, n));
}

/* A port's own LID, or its switch's. */
uint16_t ctl_lid_of(const struct fab *f, port_id p)
{
	node_id n = f->ports[p].node;

	return f->ports[fab_is_switch(f, n) ? fab_port_id(f, n, 0) : p].lid;
}

/* ---- topology ---- */

void ctl_version(const struct ctl_ask *a, struct json *j)
{
	struct sm_status st;
	char text[64];

	sm_status(a->v->sm, &st);
	snprintf(text, sizeof(text), "%llu.%u.%u", (unsigned long long)a->v->reconnects,
		 st.snapshot, st.rounds);
	json_str(j, "version", text);
}

static bool works_on_change(const struct sm_status *st)
{
	return st->change_pending || (st->phase != SM_OFF && st->phase != SM_READY &&
				      st->phase != SM_SWEEP && st->phase != SM_STANDBY);
}

bool ctl_busy(const struct ctl_ask *a, uint64_t at_rest, struct json *j)
{
	struct sm_status st;
	bool busy;

	if (at_rest != 1)
		return false;
	sm_status(a->v->sm, &st);
	busy = works_on_change(&st);
	if (busy)
		json_bool(j, "busy", true);
	return busy;
}

/* How many nodes fit into a part. */
static uint64_t part_size(const struct fab *f, uint64_t first, uint64_t count)
{
	uint64_t n = 0, ports = 0;

	for (; n < MIN(count, (uint64_t)CTL_PART_NODES) && first + n < f->nnodes; n++) {
		ports += f->nodes[first + n].nports;
		if (n && ports > CTL_PART_PORTS)
			break;
	}
	return n;
}

/* The whole text is one response, a part is bounded: a manager of a large subnet is not kept from its work. */
static int topology_part(const struct ctl_ask *a, const struct fab *f, struct json *j,
			 struct err *e)
{
	uint64_t first = a->number[1], count = part_size(f, first, a->number[2]);
	struct strbuf states = {0}, text = {0};

	if (first >= f->nnodes)
		return err_set(e, -EINVAL, "'first': expected less than %u nodes", f->nnodes);
	json_u64(j, "nodes", f->nnodes);
	json_u64(j, "first", first);
	json_u64(j, "count", count);
	view_states(a->v->sm, (node_id)first, (uint32_t)count, &states);
	view_netlist(a->v->sm, (node_id)first, (uint32_t)count, &text);
	json_str(j, "states", states.len ? states.s : "");
	json_str(j, "netlist", text.len ? text.s : "");
	strbuf_free(&states);
	strbuf_free(&text);
	return 0;
}

int ctl_topology(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct strbuf text = {0};
	const struct fab *f;

	if (ctl_subnet(a, &f, e))
		return -EINVAL;
	if (ctl_busy(a, a->number[3], j))
		return 0;
	json_u64(j, "switches", f->nswitches);
	json_u64(j, "hosts", f->nhosts);
	json_u64(j, "routers", f->nrouters);
	json_u64(j, "links", f->nlinks);
	json_u64(j, "top_lid", fab_top_lid(f));
	ctl_version(a, j);
	if (!a->number[0])
		return 0;
	if (a->number[1] != UINT64_MAX)
		return topology_part(a, f, j, e);
	view_netlist(a->v->sm, 0, UINT32_MAX, &text);
	json_str(j, "netlist", text.s);
	strbuf_free(&text);
	return 0;
}

/* ---- switches ---- */

static void switch_row(struct json *j, const struct ctl_ask *a, const struct fab *f, uint32_t s)
{
	const struct rt_tables *t = sm_tables(a->v->sm);
	node_id n = f->switches[s];
	unsigned hosts = 0, switches = 0, entries = 0;

	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id peer = f->ports[fab_port_id(f, n, i)].peer;

		if (peer == FAB_NONE)
			continue;
		hosts += !fab_is_switch(f, f->ports[peer].node);
		switches += fab_is_switch(f, f->ports[peer].node);
	}
	for (uint32_t l = 1; t && s < t->nswitches && l <= t->top_lid; l++)
		entries += rt_row(t, s)[l] != IBA_PORT_NONE;
	json_open(j, NULL, '{');
	ctl_node_members(j, a, f, n);
	json_u64(j, "lid", f->ports[fab_port_id(f, n, 0)].lid);
	json_u64(j, "ports", f->nodes[n].nports);
	json_u64(j, "to_switches", switches);
	json_u64(j, "to_hosts", hosts);
	json_u64(j, "entries", entries);
	json_close(j);
}

int ctl_switches(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct fab *f;

	if (ctl_subnet(a, &f, e))
		return -EINVAL;
	json_open(j, "switches", '[');
	for (uint32_t s = 0; s < f->nswitches; s++)
		switch_row(j, a, f, s);
	json_close(j);
	return 0;
}

/* ---- ports ---- */

static void peer_member(struct json *j, const struct ctl_ask *a, const struct fab *f, port_id peer)
{
	if (peer == FAB_NONE) {
		json_none(j, "peer");
		return;
	}
	json_open(j, "peer", '{');
	ctl_node_members(j, a, f, f->ports[peer].node);
	json_u64(j, "port", f->ports[peer].num);
	json_u64(j, "lid", ctl_lid_of(f, peer));
	json_close(j);
}

void ctl_state_members(struct json *j, const struct iba_port_info *pi)
{
	unsigned lanes = view_lanes(pi);
	char width[8];

	snprintf(width, sizeof(width), lanes ? "%ux" : "?", lanes);
	json_str(j, "state", iba_port_state_name(pi->state));
	json_str(j, "physical", iba_format_word(IBA_FMT_PHYS_STATE, pi->phys_state));
	json_str(j, "width", width);
	json_str(j, "speed", fab_speed_name(view_speed(pi)));
	json_str(j, "mtu", iba_format_word(IBA_FMT_MTU, pi->neighbor_mtu));
	json_str(j, "vls", iba_format_word(IBA_FMT_VLS, pi->oper_vls));
}

void ctl_port_row(struct json *j, const struct ctl_ask *a, const struct fab *f, port_id p,
		  void (*more)(struct json *j, const struct iba_port_info *pi))
{
	node_id n = f->ports[p].node;
	struct iba_port_info pi;

	json_open(j, NULL, '{');
	ctl_node_members(j, a, f, n);
	json_u64(j, "port", f->ports[p].num);
	if (f->ports[p].guid)
		json_hex64(j, "port_guid", f->ports[p].guid);
	json_u64(j, "lid", ctl_lid_of(f, p));
	json_u64(j, "lmc", f->ports[p].lmc);
	if (sm_port_info(a->v->sm, f->nodes[n].guid, f->ports[p].num, &pi))
		more(j, &pi);
	if (sm_port_held(a->v->sm, f->nodes[n].guid, f->ports[p].num))
		json_bool(j, "held", true);
	if (sm_port_isolated(a->v->sm, f->nodes[n].guid, f->ports[p].num))
		json_bool(j, "isolated", true);
	peer_member(j, a, f, f->ports[p].peer);
	json_close(j);
}

/* All ports of one node, or the ports with a link of the whole subnet. */
int ctl_ports(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct fab *f;
	port_id one = FAB_NONE;

	if (ctl_subnet(a, &f, e) || (a->text[0] && view_find(a->v->sm, a->text[0], &one, e)))
		return -EINVAL;
	json_open(j, "ports", '[');
	for (port_id p = 0; p < f->nports; p++) {
		bool exists = f->ports[p].num || fab_is_switch(f, f->ports[p].node);

		if (one == FAB_NONE ? f->ports[p].peer != FAB_NONE
				    : exists && f->ports[p].node == f->ports[one].node)
			ctl_port_row(j, a, f, p, ctl_state_members);
	}
	json_close(j);
	return 0;
}

/* ---- routes ---- */

/* The VL on the link that the packet leaves by; null: not known, or it stays. */
static void vl_member(struct json *j, const struct ctl_ask *a, uint64_t guid,
		      const struct view_hop *h, unsigned sl)
{
	unsigned in = h->in == IBA_PORT_NONE ? 0 : h->in;
	int vl = h->out == IBA_PORT_NONE ? -1 : sm_vl_of(a->v->sm, guid, in, h->out, sl);

	if (vl < 0)
		json_none(j, "vl");
	else
		json_u64(j, "vl", (uint64_t)vl);
}

void ctl_hop_row(struct json *j, const struct ctl_ask *a, const struct fab *f,
		 const struct view_hop *h, unsigned sl)
{
	port_id p = fab_port_id(f, h->node,
				h->in != IBA_PORT_NONE	  ? h->in
				: h->out != IBA_PORT_NONE ? h->out
							  : 0);

	json_open(j, NULL, '{');
	ctl_node_members(j, a, f, h->node);
	json_str(j, "type", view_type(f, h->node));
	json_u64(j, "lid", ctl_lid_of(f, p));
	if (h->in == IBA_PORT_NONE)
		json_none(j, "in");
	else
		json_u64(j, "in", h->in);
	if (h->out == IBA_PORT_NONE)
		json_none(j, "out");
	else
		json_u64(j, "out", h->out);
	vl_member(j, a, f->nodes[h->node].guid, h, sl);
	json_close(j);
}

/* A LID of the port: the one that the text names, else its base LID. */
uint16_t ctl_lid_named(const struct fab *f, port_id p, const char *text)
{
	uint64_t v;

	if (!parse_u64(text, &v) && v >= f->ports[p].lid &&
	    v < f->ports[p].lid + (1u << f->ports[p].lmc))
		return (uint16_t)v;
	return f->ports[p].lid;
}

int ctl_route(const struct ctl_ask *a, struct json *j, struct err *e)
{
	view_hops hops = {0};
	const struct fab *f;
	port_id from, to;
	uint16_t lid;
	unsigned sl;
	int rc;

	if (ctl_subnet(a, &f, e) || view_find(a->v->sm, a->text[0], &from, e) ||
	    view_find(a->v->sm, a->text[1], &to, e))
		return -EINVAL;
	lid = ctl_lid_named(f, to, a->text[1]);
	if (!lid)
		return err_set(e, -EINVAL, "'%.80s' has no LID", a->text[1]);
	rc = view_route(a->v->sm, from, lid, &hops, e);
	sl = view_sl(a->v->sm, from, lid);
	json_u64(j, "lid", lid);
	json_u64(j, "sl", sl);
	json_bool(j, "reached", !rc);
	if (rc)
		json_str(j, "why", e->text);
	json_open(j, "hops", '[');
	for (size_t i = 0; i < hops.n; i++)
		ctl_hop_row(j, a, f, &hops.at[i], sl);
	json_close(j);
	vec_free(&hops);
	return 0;
}
