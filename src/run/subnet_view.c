/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet for answers and dumps. State: none; everything is read from the manager. Ways in: view_*().
 * Changes nothing.
 */
#include "run/subnet_view.h"

const char *view_name(const struct sm *sm, const struct fab *f, node_id n)
{
	const char *name = sm_node_desc(sm, f->nodes[n].guid);

	return *name ? name : fab_node_name(f, n);
}

const char *view_type(const struct fab *f, node_id n)
{
	return fab_is_switch(f, n)		     ? "switch"
	       : f->nodes[n].type == IBA_NODE_ROUTER ? "router"
						     : "host";
}

unsigned view_lanes(const struct iba_port_info *pi)
{
	switch (pi->width_active) {
	case IBA_WIDTH_1X:
		return 1;
	case IBA_WIDTH_2X:
		return 2;
	case IBA_WIDTH_4X:
		return 4;
	case IBA_WIDTH_8X:
		return 8;
	case IBA_WIDTH_12X:
		return 12;
	default:
		return 0;
	}
}

enum fab_speed view_speed(const struct iba_port_info *pi)
{
	static const enum fab_speed slow[16] = {[1] = FAB_SDR, [2] = FAB_DDR, [4] = FAB_QDR};
	static const enum fab_speed fast[16] = {
		[1] = FAB_FDR, [2] = FAB_EDR, [4] = FAB_HDR, [8] = FAB_NDR};

	return fast[pi->speed_ext_active & 15] ? fast[pi->speed_ext_active & 15]
					       : slow[pi->speed_active & 15];
}

/* ---- as text ---- */

struct look {
	const struct sm *sm;
	const struct fab *f;
};

static const char *look_name(void *ctx, node_id n)
{
	const struct look *l = ctx;

	return view_name(l->sm, l->f, n);
}

static void look_node(void *ctx, struct fab_node *n)
{
	const struct look *l = ctx;
	struct iba_node_info ni;

	if (!sm_node_info(l->sm, n->guid, &ni))
		return;
	n->vendor_id = ni.vendor_id;
	n->device_id = ni.device_id;
	n->sys_guid = ni.sys_guid;
}

static void look_port(void *ctx, struct fab_port *p)
{
	const struct look *l = ctx;
	struct iba_port_info pi;

	if (!sm_port_info(l->sm, l->f->nodes[p->node].guid, p->num, &pi))
		return;
	p->width = (uint8_t)view_lanes(&pi);
	p->speed = (uint8_t)view_speed(&pi);
}

void view_netlist(const struct sm *sm, node_id first, uint32_t count, struct strbuf *out)
{
	struct look l = {sm, sm_fabric(sm)};
	const struct fab_netlist_look look = {&l, look_name, look_node, look_port};

	if (l.f)
		fab_netlist_write_part(l.f, &look, first, count, out);
}

void view_states(const struct sm *sm, node_id first, uint32_t count, struct strbuf *out)
{
	const struct fab *f = sm_fabric(sm);

	for (node_id n = first; f && n < f->nnodes && n - first < count; n++)
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			struct iba_port_info pi = {0};

			if (f->ports[fab_port_id(f, n, i)].peer == FAB_NONE)
				continue;
			sm_port_info(sm, f->nodes[n].guid, i, &pi);
			strbuf_addn(out, &"0123456789"[MIN(pi.state, 9)], 1);
		}
}

struct fab *view_fab(const struct sm *sm)
{
	struct look l = {sm, sm ? sm_fabric(sm) : NULL};
	struct fab_builder *b;

	if (!l.f)
		return NULL;
	b = fab_builder_from(l.f);
	for (node_id n = 0; n < l.f->nnodes; n++) {
		fab_builder_rename(b, n, look_name(&l, n));
		look_node(&l, fab_builder_node(b, n));
	}
	for (port_id p = 0; p < l.f->nports; p++)
		if (l.f->ports[p].peer != FAB_NONE)
			look_port(&l, fab_builder_port(b, l.f->ports[p].node, l.f->ports[p].num));
	return fab_build(b);
}

/* ---- finding ---- */

static port_id port_of_node(const struct fab *f, node_id n)
{
	if (fab_is_switch(f, n))
		return fab_port_id(f, n, 0);
	for (unsigned i = 1; i <= f->nodes[n].nports; i++)
		if (f->ports[fab_port_id(f, n, i)].peer != FAB_NONE)
			return fab_port_id(f, n, i);
	return fab_port_id(f, n, 1);
}

static port_id port_by_guid(const struct fab *f, uint64_t guid)
{
	for (port_id p = 0; guid && p < f->nports; p++)
		if (f->ports[p].guid == guid &&
		    (f->ports[p].num || fab_is_switch(f, f->ports[p].node)))
			return p;
	return FAB_NONE;
}

static port_id port_by_lid(const struct fab *f, uint64_t lid)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid && lid >= f->ports[p].lid &&
		    lid < f->ports[p].lid + (1u << f->ports[p].lmc))
			return p;
	return FAB_NONE;
}

static node_id node_by_name(const struct sm *sm, const struct fab *f, const char *name,
			    unsigned *count)
{
	node_id found = FAB_NONE;

	*count = 0;
	for (node_id n = 0; *name && n < f->nnodes; n++) {
		if (strcmp(view_name(sm, f, n), name))
			continue;
		found = n;
		++*count;
	}
	return found;
}

/* A number is a GUID if a node or port has it, else a LID. */
static port_id port_by_number(const struct fab *f, uint64_t v)
{
	node_id n = fab_node_by_guid(f, v);
	port_id p = n == FAB_NONE ? port_by_guid(f, v) : port_of_node(f, n);

	return p == FAB_NONE && v <= IBA_LID_MAX_UNICAST ? port_by_lid(f, v) : p;
}

int view_find(const struct sm *sm, const char *text, port_id *p, struct err *e)
{
	const struct fab *f = sm ? sm_fabric(sm) : NULL;
	unsigned count = 0;
	uint64_t v;
	node_id n;

	if (!f)
		return err_set(e, -EINVAL, "the subnet is not discovered yet");
	*p = parse_u64(text, &v) ? FAB_NONE : port_by_number(f, v);
	if (*p != FAB_NONE)
		return 0;
	n = node_by_name(sm, f, text, &count);
	if (count > 1)
		return err_set(e, -EINVAL,
			       "%u nodes have the name '%.80s': expected a GUID or LID instead",
			       count, text);
	if (n == FAB_NONE && *text) /* nodes of a manager's snapshot have no names of their own */
		n = fab_node_by_text(f, text);
	if (n == FAB_NONE)
		return err_set(
			e, -EINVAL,
			"'%.80s' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name",
			text);
	*p = port_of_node(f, n);
	return 0;
}

static uint64_t guid_of(const struct fab *f, port_id p)
{
	const struct fab_node *n = &f->nodes[f->ports[p].node];

	return f->ports[n->type == IBA_NODE_SWITCH ? n->first_port : p].guid;
}

/* A virtual machine by its name or vGUID, a VF by its GUID or LID; false: none that has a place. */
static bool machine_find(const struct sm *sm, const char *text, port_id *p, uint64_t *guid)
{
	const struct fab *f = sm_fabric(sm);
	uint64_t number = 0;
	struct sm_vm v;

	if (parse_u64(text, &number))
		number = 0;
	for (size_t i = 0; sm_vm_get(sm, i, &v); i++) {
		node_id n = v.running ? fab_node_by_guid(f, v.host) : FAB_NONE;

		if (n == FAB_NONE || (strcmp(v.name, text) && v.guid != number))
			continue;
		*p = fab_port_id(f, n, 1);
		*guid = v.guid;
		return true;
	}
	for (uint32_t i = 0; number && i < f->nvlids; i++)
		if (f->vlids[i].guid == number || f->vlids[i].lid == number) {
			*p = f->vlids[i].port;
			*guid = f->vlids[i].guid;
			return true;
		}
	return false;
}

int view_find_end(const struct sm *sm, const char *text, port_id *p, uint64_t *guid, struct err *e)
{
	int rc = view_find(sm, text, p, e);

	if (!rc)
		*guid = guid_of(sm_fabric(sm), *p);
	else if (sm && sm_fabric(sm) && machine_find(sm, text, p, guid))
		rc = 0;
	return rc;
}

const char *view_end_name(const struct sm *sm, const struct fab *f, uint64_t guid, node_id n)
{
	const char *vm = sm_vm_name(sm, guid);

	return *vm ? vm : n == FAB_NONE ? "" : view_name(sm, f, n);
}

/* ---- routes ---- */

uint8_t view_entry(const struct rt_tables *t, uint32_t sw, uint16_t lid)
{
	uint8_t out = lid <= t->top_lid ? rt_row(t, sw)[lid] : IBA_PORT_NONE;

	return out == IBA_PORT_NONE && t->dflt ? t->dflt[sw] : out;
}

static bool has_lid(const struct fab *f, node_id n, unsigned port, uint16_t lid)
{
	const struct fab_port *p = &f->ports[fab_port_id(f, n, port)];
	const struct fab_vlid *vf;
	uint32_t nvf = fab_vlids_of(f, fab_port_id(f, n, port), &vf);

	for (uint32_t i = 0; i < nvf; i++)
		if (vf[i].lid == lid)
			return true;
	return p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc);
}

/* Adds the hop behind port `out` of the last one; false when no link is there. */
static bool step(const struct fab *f, view_hops *hops, uint8_t out)
{
	struct view_hop *last = &hops->at[hops->n - 1];
	port_id peer = out <= f->nodes[last->node].nports
			       ? f->ports[fab_port_id(f, last->node, out)].peer
			       : FAB_NONE;

	if (peer == FAB_NONE)
		return false;
	last->out = out;
	vec_push(hops, (struct view_hop){f->ports[peer].node, f->ports[peer].num, IBA_PORT_NONE});
	return true;
}

static int no_route(const struct fab *f, node_id n, uint8_t out, uint16_t lid, struct err *e)
{
	char id[32];

	fab_node_ident(f, n, id);
	if (out == IBA_PORT_NONE)
		return err_set(e, -EHOSTUNREACH, "%s has no entry for LID %u", id, lid);
	return err_set(e, -EHOSTUNREACH, "%s sends LID %u to port %u, which has no link", id, lid,
		       out);
}

int view_route(const struct sm *sm, port_id from, uint16_t lid, view_hops *hops, struct err *e)
{
	const struct fab *f = sm_fabric(sm);
	const struct rt_tables *t = sm_tables(sm);
	const struct fab_port *p = &f->ports[from];

	if (!t)
		return err_set(e, -EHOSTUNREACH, "there are no forwarding tables yet");
	vec_push(hops, (struct view_hop){p->node, IBA_PORT_NONE, IBA_PORT_NONE});
	if (!fab_is_switch(f, p->node)) {
		if (has_lid(f, p->node, p->num, lid))
			return 0;
		if (!step(f, hops, p->num))
			return no_route(f, p->node, p->num, lid, e);
	}
	while (hops->n <= f->nswitches + 2) {
		const struct view_hop *h = &hops->at[hops->n - 1];
		uint8_t out;

		if (!fab_is_switch(f, h->node))
			return has_lid(f, h->node, h->in, lid)
				       ? 0
				       : no_route(f, h->node, IBA_PORT_NONE, lid, e);
		if (has_lid(f, h->node, 0, lid))
			return 0;
		out = view_entry(t, f->switch_index[h->node], lid);
		if (out == IBA_PORT_NONE || !out || !step(f, hops, out))
			return no_route(f, h->node, out, lid, e);
	}
	return err_set(e, -EHOSTUNREACH, "LID %u is routed in a loop", lid);
}

unsigned view_sl(const struct sm *sm, port_id from, uint16_t lid)
{
	const struct fab *f = sm_fabric(sm);
	const struct fab_port *p = &f->ports[from];
	bool own = fab_is_switch(f, p->node); /* the switch itself sends */
	const uint8_t *sls;
	uint32_t top;

	if (!own && p->peer == FAB_NONE)
		return 0;
	sls = sm_sls_from(sm, f->nodes[own ? p->node : f->ports[p->peer].node].guid,
			  own ? 0 : f->ports[p->peer].num, &top);
	return sls && lid <= top ? sls[lid] : 0;
}
