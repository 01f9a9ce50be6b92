/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show the subnet: topology, switches, ports, routes. State: none. Ways in: the table of
 * control_commands.c. Shows what the manager knows; queries no device.
 */
#include "run/control_priv.h"

static int subnet(const struct ctl_ask *a, const struct fab **f, struct err *e)
{
	*f = a->v->sm ? sm_fabric(a->v->sm) : NULL;
	return *f ? 0 : err_set(e, -EINVAL, "the subnet is not discovered yet");
}

static void node_members(struct json *j, const struct ctl_ask *a, const struct fab *f, node_id n)
{
	char id[32];

	fab_node_ident(f, n, id);
	json_hex64(j, "guid", f->nodes[n].guid);
	json_str(j, "id", id);
	json_str(j, "name", view_name(a->v->sm, f, n));
}

/* A port's own LID, or its switch's. */
static uint16_t lid_of(const struct fab *f, port_id p)
{
	node_id n = f->ports[p].node;

	return f->ports[fab_is_switch(f, n) ? fab_port_id(f, n, 0) : p].lid;
}

/* ---- topology ---- */

int ctl_topology(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct fab *f;
	struct strbuf text = {0};
	struct fab *named;

	if (subnet(a, &f, e))
		return -EINVAL;
	json_u64(j, "switches", f->nswitches);
	json_u64(j, "hosts", f->nhosts);
	json_u64(j, "routers", f->nrouters);
	json_u64(j, "links", f->nlinks);
	json_u64(j, "top_lid", fab_top_lid(f));
	if (!a->number[0])
		return 0;
	named = view_fab(a->v->sm);
	fab_netlist_write(named, &text);
	json_str(j, "netlist", text.s);
	strbuf_free(&text);
	fab_free(named);
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
	node_members(j, a, f, n);
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

	if (subnet(a, &f, e))
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
	node_members(j, a, f, f->ports[peer].node);
	json_u64(j, "port", f->ports[peer].num);
	json_u64(j, "lid", lid_of(f, peer));
	json_close(j);
}

static void state_members(struct json *j, const struct iba_port_info *pi)
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

static void port_row(struct json *j, const struct ctl_ask *a, const struct fab *f, port_id p)
{
	node_id n = f->ports[p].node;
	struct iba_port_info pi;

	json_open(j, NULL, '{');
	node_members(j, a, f, n);
	json_u64(j, "port", f->ports[p].num);
	if (f->ports[p].guid)
		json_hex64(j, "port_guid", f->ports[p].guid);
	json_u64(j, "lid", lid_of(f, p));
	json_u64(j, "lmc", f->ports[p].lmc);
	if (sm_port_info(a->v->sm, f->nodes[n].guid, f->ports[p].num, &pi))
		state_members(j, &pi);
	peer_member(j, a, f, f->ports[p].peer);
	json_close(j);
}

/* All ports of one node, or the ports with a link of the whole subnet. */
int ctl_ports(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct fab *f;
	port_id one = FAB_NONE;

	if (subnet(a, &f, e) || (a->text[0] && view_find(a->v->sm, a->text[0], &one, e)))
		return -EINVAL;
	json_open(j, "ports", '[');
	for (port_id p = 0; p < f->nports; p++) {
		bool exists = f->ports[p].num || fab_is_switch(f, f->ports[p].node);

		if (one == FAB_NONE ? f->ports[p].peer != FAB_NONE
				    : exists && f->ports[p].node == f->ports[one].node)
			port_row(j, a, f, p);
	}
	json_close(j);
	return 0;
}

/* ---- routes ---- */

static void hop_row(struct json *j, const struct ctl_ask *a, const struct fab *f,
		    const struct view_hop *h)
{
	port_id p = fab_port_id(f, h->node,
				h->in != IBA_PORT_NONE	  ? h->in
				: h->out != IBA_PORT_NONE ? h->out
							  : 0);

	json_open(j, NULL, '{');
	node_members(j, a, f, h->node);
	json_str(j, "type", view_type(f, h->node));
	json_u64(j, "lid", lid_of(f, p));
	if (h->in == IBA_PORT_NONE)
		json_none(j, "in");
	else
		json_u64(j, "in", h->in);
	if (h->out == IBA_PORT_NONE)
		json_none(j, "out");
	else
		json_u64(j, "out", h->out);
	json_close(j);
}

/* A LID of the port: the one that the text names, else its base LID. */
static uint16_t lid_named(const struct fab *f, port_id p, const char *text)
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
	int rc;

	if (subnet(a, &f, e) || view_find(a->v->sm, a->text[0], &from, e) ||
	    view_find(a->v->sm, a->text[1], &to, e))
		return -EINVAL;
	lid = lid_named(f, to, a->text[1]);
	if (!lid)
		return err_set(e, -EINVAL, "'%.80s' has no LID", a->text[1]);
	rc = view_route(a->v->sm, from, lid, &hops, e);
	json_u64(j, "lid", lid);
	json_bool(j, "reached", !rc);
	if (rc)
		json_str(j, "why", e->text);
	json_open(j, "hops", '[');
	for (size_t i = 0; i < hops.n; i++)
		hop_row(j, a, f, &hops.at[i]);
	json_close(j);
	vec_free(&hops);
	return 0;
}
