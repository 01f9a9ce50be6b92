/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power and cables, and what a device holds, for callers outside the fabric. State: struct sim_node
 * and struct sim_port. Ways in: the calls of sim_device.h. Does not send anything: traps are
 * trap.c's.
 */
#include "sim/device/device_priv.h"

/* ---- life ---- */

static uint64_t port_bps(const struct fab_port *p)
{
	return (uint64_t)(p->width ? p->width : 1) * fab_lane_bps(p->speed ? p->speed : FAB_SDR);
}

/* Picoseconds for each byte, rounded up, so that no link is too fast. */
static time_ps byte_time(const struct fab_port *p)
{
	return (8 * PS_PER_S + port_bps(p) - 1) / port_bps(p);
}

static uint64_t byte_q16(const struct fab_port *p)
{
	return (8 * PS_PER_S << 16) / port_bps(p);
}

static time_ps cable_delay(const struct sim *s, uint32_t cm)
{
	return cm ? s->cfg.cable_m_ps * cm / 100 : s->cfg.wire_ps;
}

/* A link between a vSwitch and a function. */
static bool is_inside(const struct fab *f, port_id p)
{
	port_id q = f->ports[p].peer;

	return q != FAB_NONE && ((f->nodes[f->ports[p].node].flags & FAB_FUNCTION) ||
				 (f->nodes[f->ports[q].node].flags & FAB_FUNCTION));
}

void devices_new(struct sim *s, const struct sim_config *c)
{
	const struct fab *f = s->fab;

	kernel_set_devices(s, mem_zarray(f->nnodes, sizeof(*s->nodes)),
			   mem_lines(f->nports, sizeof(*s->ports)));
	if (c->random_only) {
		s->dev.random_only = mem_array(f->nnodes, sizeof(*s->dev.random_only));
		memcpy(s->dev.random_only, c->random_only, f->nnodes * sizeof(*s->dev.random_only));
	}
	s->dev.pkt_free = s->dev.walk_head = PKT_NONE;
	s->dev.client_of = mem_zarray(f->nports, sizeof(*s->dev.client_of));
	if (c->express)
		s->dev.counters = mem_lines(f->nports, sizeof(*s->dev.counters));
	rng_seed(&s->dev.fault_rng, c->seed, 1);
	vswitch_new(s);
	for (port_id p = 0; p < f->nports; p++) {
		s->ports[p].peer = f->ports[p].peer;
		s->ports[p].wire_ps = is_inside(f, p) ? 0 : cable_delay(s, f->ports[p].cable_cm);
		s->ports[p].byte_ps = byte_time(&f->ports[p]);
		s->ports[p].byte_q16 = byte_q16(&f->ports[p]);
	}
	for (node_id n = 0; n < f->nnodes; n++) {
		s->nodes[n].q_head = s->nodes[n].q_tail = PKT_NONE;
		sma_reset(s, n);
	}
}

void devices_free(struct sim *s)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		sma_free(s, n);
	vswitch_free(s);
	free(s->dev.random_only);
	free(s->dev.client_of);
	free(s->dev.counters);
	free(s->dev.faults);
	free(s->dev.agents);
	vec_free(&s->dev.pkts);
	vec_free(&s->dev.clients);
	free(s->nodes);
	free(s->ports);
}

/* ---- power and cables ---- */

void sim_node_power(struct sim *s, node_id n, bool on)
{
	struct sim_node *node = &s->nodes[n];
	const struct fab_node *fn = &s->fab->nodes[n];

	if (node->on == on || !vswitch_may_power(s, n, on))
		return;
	node->on = on; /* first: a node that goes off sends no traps about its ports */
	if (!on) {
		for (unsigned p = 1; p <= fn->nports; p++)
			link_cut(s, fn->first_port + p);
		smi_clear(s, n);
		if (s->net)
			s->net->node_clear(s, n);
	}
	node->incarnation++;
	if (s->net)
		s->net->node_power(s, n);
	sim_seen(&s->main, SIM_SEEN_NODE, n, 0, NULL, on);
	sma_reset(s, n);
	sim_changed(s, n, SIM_CHANGED_POWER);
	for (unsigned p = 1; on && p <= fn->nports; p++)
		link_try_up(s, fn->first_port + p);
	vswitch_power(s, n, on);
}

void sim_cable(struct sim *s, port_id a, port_id b)
{
	assert(a != b && s->ports[a].peer == FAB_NONE && s->ports[b].peer == FAB_NONE);
	s->ports[a].peer = b;
	s->ports[b].peer = a;
	sim_cable_length(s, a, s->fab->ports[a].peer == b ? s->fab->ports[a].cable_cm : 0);
	link_try_up(s, a);
}

void sim_cable_length(struct sim *s, port_id a, uint32_t cm)
{
	s->ports[a].wire_ps = cable_delay(s, cm);
	if (s->ports[a].peer != FAB_NONE)
		s->ports[s->ports[a].peer].wire_ps = cable_delay(s, cm);
}

void sim_uncable(struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	if (b == FAB_NONE)
		return;
	link_cut(s, a);
	s->ports[a].peer = FAB_NONE;
	s->ports[b].peer = FAB_NONE;
}

/* ---- reading ---- */

bool sim_node_on(const struct sim *s, node_id n)
{
	return s->nodes[n].on;
}

port_id sim_port_peer(const struct sim *s, port_id p)
{
	return s->ports[p].peer;
}

uint64_t sim_function_guid(const struct sim *s, node_id n)
{
	uint64_t guid = s->fab->ports[s->fab->nodes[n].first_port + 1].guid;

	return guid ? guid : s->fab->nodes[n].guid + 1;
}

/* Netlists may have no port GUIDs. */
uint64_t sim_port_guid(const struct sim *s, port_id p)
{
	const struct fab_port *fp = &s->fab->ports[p];

	if (s->ports[p].vguid)
		return s->ports[p].vguid;
	return fp->guid ? fp->guid : s->fab->nodes[fp->node].guid + fp->num;
}

uint64_t sim_alias_guid(const struct sim *s, port_id p, unsigned i)
{
	const struct fab_node *n = &s->fab->nodes[s->fab->ports[p].node];

	if (!i)
		return sim_port_guid(s, p);
	if (i >= s->ports[p].pi.guid_cap)
		return 0;
	if (s->ports[p].guids)
		return s->ports[p].guids[i];
	return n->sriov == FAB_SRIOV_SHARED ? fab_function_guid(n->guid, i) : 0;
}

const struct iba_port_info *sim_port_info(const struct sim *s, port_id p)
{
	return &s->ports[p].pi;
}

const struct iba_switch_info *sim_switch_info(const struct sim *s, node_id n)
{
	return &s->nodes[n].si;
}

time_ps sim_wire_time(const struct sim *s, port_id p, uint64_t bytes)
{
	return (time_ps)(((unsigned __int128)s->ports[p].byte_q16 * bytes + 0xffff) >> 16);
}

static struct fab_node node_copy(const struct fab_node *new, const struct fab_node *fn)
{
	struct fab_node d = *new;

	d.flags = fn->flags;
	d.sriov = fn->sriov;
	d.vfs = fn->vfs;
	return d;
}

struct fab *sim_snapshot(const struct sim *s)
{
	struct fab_builder *b = fab_builder_new();
	node_id *id = mem_array(s->fab->nnodes, sizeof(*id));

	for (node_id n = 0; n < s->fab->nnodes; n++) {
		const struct fab_node *fn = &s->fab->nodes[n];

		if (!s->nodes[n].on)
			continue;
		id[n] = fab_add_node(b, fn->type, fn->guid, fn->nports, fab_node_name(s->fab, n));
		*fab_builder_node(b, id[n]) = node_copy(fab_builder_node(b, id[n]), fn);
		for (unsigned p = 0; p <= fn->nports; p++) {
			struct fab_port *d = fab_builder_port(b, id[n], p);
			const struct iba_port_info *pi = &s->ports[fn->first_port + p].pi;

			d->guid = s->ports[fn->first_port + p].vguid
					  ? s->ports[fn->first_port + p].vguid
					  : s->fab->ports[fn->first_port + p].guid;
			if (fn->type == IBA_NODE_SWITCH ? p == 0 : p > 0) {
				d->lid = pi->lid;
				d->lmc = pi->lmc;
			}
		}
	}
	for (port_id p = 0; p < s->fab->nports; p++) {
		port_id q = s->ports[p].peer;

		if (q != FAB_NONE && q > p && s->ports[p].pi.state != IBA_PORT_DOWN &&
		    s->fab->ports[p].num && s->nodes[s->fab->ports[p].node].on)
			fab_add_link(b, id[s->fab->ports[p].node], s->fab->ports[p].num,
				     id[s->fab->ports[q].node], s->fab->ports[q].num);
	}
	free(id);
	return fab_build(b);
}
