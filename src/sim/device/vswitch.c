/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An HCA in vSwitch mode: a switch with the uplink at port 1, the PF behind port 2, VF k behind port 2 + k.
 * State: struct vswitch of the node, by_vswitch and PortInfo of the functions. Ways in: vswitch_sync() after
 * a Set, vswitch_uplink() and vswitch_link_up() from the links. Does not answer SMPs: sma_virtual.c does.
 *
 * A function with by_vswitch set follows its HCA: Active while the uplink is, Initialize while it is not, Down
 * without a LID. Other functions are hosts behind ordinary links.
 */
#include "sim/device/device_priv.h"

/* ---- life ---- */

/* With a function behind each port but the uplink; without them it is a switch as any other. */
static bool is_whole(const struct fab *f, node_id n)
{
	if (!(f->nodes[n].flags & FAB_VSWITCH) || f->nodes[n].nports <= FAB_SLOT0_PORT)
		return false;
	for (unsigned p = FAB_SLOT0_PORT; p <= f->nodes[n].nports; p++) {
		port_id q = f->ports[fab_port_id(f, n, p)].peer;

		if (q == FAB_NONE || f->ports[q].num != 1 ||
		    !(f->nodes[f->ports[q].node].flags & FAB_FUNCTION))
			return false;
	}
	return true;
}

void vswitch_new(struct sim *s)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		if (is_whole(s->fab, n))
			s->nodes[n].vswitch = mem_zalloc(sizeof(struct vswitch));
}

void vswitch_free(struct sim *s)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		free(s->nodes[n].vswitch);
}

/* Cables inside an HCA are never moved. */
node_id vswitch_of(const struct sim *s, node_id n)
{
	port_id up;

	if (!(s->fab->nodes[n].flags & FAB_FUNCTION))
		return FAB_NONE;
	up = s->fab->ports[s->fab->nodes[n].first_port + 1].peer;
	return up != FAB_NONE && s->fab->ports[up].num >= FAB_SLOT0_PORT &&
			       s->nodes[s->fab->ports[up].node].vswitch
		       ? s->fab->ports[up].node
		       : FAB_NONE;
}

port_id vswitch_function(const struct sim *s, node_id n, unsigned slot)
{
	return s->fab->ports[s->fab->nodes[n].first_port + FAB_SLOT0_PORT + slot].peer;
}

void vswitch_reset(struct sim *s, node_id n)
{
	node_id v = vswitch_of(s, n);

	if (s->nodes[n].vswitch)
		s->nodes[n].vswitch->shared = false;
	if (v == FAB_NONE)
		return;
	node_port(s, n, 1)->by_vswitch = false;
	node_port(s, n, 1)->vguid = 0;
	if (s->fab->ports[s->fab->nodes[n].first_port + 1].peer ==
	    s->fab->nodes[v].first_port + FAB_SLOT0_PORT)
		s->nodes[v].vswitch->shared = false;
	vswitch_lids(s, v);
}

bool vswitch_may_power(const struct sim *s, node_id n, bool on)
{
	node_id v = vswitch_of(s, n);

	return !on || v == FAB_NONE || s->nodes[v].on;
}

void vswitch_power(struct sim *s, node_id n, bool on)
{
	if (!s->nodes[n].vswitch)
		return;
	for (unsigned slot = 0; slot + FAB_SLOT0_PORT <= s->fab->nodes[n].nports; slot++)
		sim_node_power(s, s->fab->ports[vswitch_function(s, n, slot)].node, on);
}

/* ---- LIDs ---- */

void vswitch_lids(struct sim *s, node_id n)
{
	struct vswitch *v = s->nodes[n].vswitch;

	for (unsigned p = FAB_SLOT0_PORT; p <= s->fab->nodes[n].nports; p++) {
		const struct iba_port_info *pi =
			&s->ports[vswitch_function(s, n, p - FAB_SLOT0_PORT)].pi;

		v->at[p].lid = pi->lid;
		v->at[p].mask = (uint16_t) ~((1u << pi->lmc) - 1);
	}
}

/* ---- states ---- */

static bool is_up(const struct shard *sh, node_id n)
{
	return sh->ports[sh->fab->nodes[n].first_port + FAB_UPLINK].pi.state == IBA_PORT_ACTIVE;
}

/* Both ends of the link behind port `num`, which is not Down. */
static void link_follow(struct shard *sh, node_id n, unsigned num)
{
	port_id at = sh->fab->nodes[n].first_port + num, far = sh->fab->ports[at].peer;
	enum iba_port_state to = is_up(sh, n) ? IBA_PORT_ACTIVE : IBA_PORT_INIT;

	if (!sh->ports[far].by_vswitch || !sh->ports[far].pi.lid)
		return;
	if (sh->ports[at].pi.state == IBA_PORT_DOWN || sh->ports[far].pi.state == IBA_PORT_DOWN)
		return;
	if (sh->ports[at].pi.state != to)
		port_state_set(sh, n, num, to);
	if (sh->ports[far].pi.state != to)
		port_state_set(sh, sh->fab->ports[far].node, 1, to);
}

void vswitch_uplink(struct shard *sh, node_id n)
{
	for (unsigned p = FAB_SLOT0_PORT; p <= sh->fab->nodes[n].nports; p++)
		link_follow(sh, n, p);
}

void vswitch_link_up(struct sim *s, port_id a)
{
	port_id b = s->fab->ports[a].peer;
	node_id n = s->fab->ports[a].node;

	if (!s->nodes[n].vswitch) { /* seen from the function */
		a = b;
		n = a != FAB_NONE ? s->fab->ports[a].node : n;
	}
	if (s->nodes[n].vswitch && s->fab->ports[a].num >= FAB_SLOT0_PORT)
		link_follow(&s->main, n, s->fab->ports[a].num);
}

bool vswitch_keeps_down(const struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	return (s->ports[a].by_vswitch && !s->ports[a].pi.lid) ||
	       (b != FAB_NONE && s->ports[b].by_vswitch && !s->ports[b].pi.lid);
}

/* ---- after a Set ---- */

/* A link inside the HCA has the MTU, the VLs and the limits of the uplink. */
static void limits_copy(struct iba_port_info *pi, const struct iba_port_info *up)
{
	pi->neighbor_mtu = up->neighbor_mtu;
	pi->oper_vls = up->oper_vls;
	pi->hoq_life = up->hoq_life;
	pi->vl_stall_count = up->vl_stall_count;
	pi->vl_high_limit = up->vl_high_limit;
}

/* The same key protects all functions, also those without a machine. */
static void key_copy(struct iba_port_info *pi, const struct iba_port_info *hca)
{
	pi->m_key = hca->m_key;
	pi->m_key_protect = hca->m_key_protect;
	pi->m_key_lease = hca->m_key_lease;
}

/* A function belongs to the subnet of its HCA. */
static void subnet_copy(struct iba_port_info *pi, const struct iba_port_info *hca)
{
	pi->gid_prefix = hca->gid_prefix;
	pi->sm_lid = hca->sm_lid;
	pi->sm_sl = hca->sm_sl;
	pi->subnet_timeout = hca->subnet_timeout;
}

static void function_sync(struct sim *s, node_id n, unsigned slot)
{
	port_id far = vswitch_function(s, n, slot), at = s->fab->ports[far].peer;
	struct sim_port *f = &s->ports[far];

	if (f->by_vswitch || s->nodes[n].vswitch->shared)
		key_copy(&f->pi, &node_port(s, n, 0)->pi);
	if (!f->by_vswitch)
		return;
	subnet_copy(&f->pi, &node_port(s, n, 0)->pi);
	limits_copy(&f->pi, &node_port(s, n, FAB_UPLINK)->pi);
	limits_copy(&s->ports[at].pi, &node_port(s, n, FAB_UPLINK)->pi);
	if (!f->pi.lid) {
		if (f->pi.state != IBA_PORT_DOWN)
			link_cut(s, at);
		return;
	}
	if (f->pi.state == IBA_PORT_DOWN && s->nodes[s->fab->ports[far].node].on &&
	    f->pi.phys_state != IBA_PHYS_DISABLED &&
	    s->ports[at].pi.phys_state != IBA_PHYS_DISABLED)
		link_trained(s, at, s->ports[at].link_epoch);
	link_follow(&s->main, n, FAB_SLOT0_PORT + slot);
}

void vswitch_sync(struct sim *s, node_id n)
{
	vswitch_lids(s, n);
	for (unsigned slot = 0; slot + FAB_SLOT0_PORT <= s->fab->nodes[n].nports; slot++)
		function_sync(s, n, slot);
}

/* ---- SMPs ---- */

/* Whether a manager is at the PF, and none at the vSwitch itself, and it is asked. */
bool vswitch_asks_pf(const struct sim *s, const struct pkt *p)
{
	unsigned method = iba_smp_method(p->smp.mad);

	return s->nodes[p->node].vswitch && !s->dev.client_of[s->fab->nodes[p->node].first_port] &&
	       (method == IBA_GET || method == IBA_SET) &&
	       iba_smp_attr_id(p->smp.mad) == IBA_ATTR_SM_INFO &&
	       s->ports[vswitch_function(s, p->node, 0)].pi.cap_mask & IBA_CAP_IS_SM;
}

/* PF and vSwitch share a LID and so QP0: responses, traps and SMInfo are for the manager or tool at the PF. */
bool vswitch_passes_on(const struct sim *s, const struct pkt *p)
{
	const struct vswitch *v = s->nodes[p->node].vswitch;
	unsigned method = iba_smp_method(p->smp.mad);

	if (!v || !v->shared || s->dev.client_of[s->fab->nodes[p->node].first_port])
		return false;
	if (method == IBA_GET_RESP || method == IBA_TRAP)
		return true;
	if (method == IBA_TRAP_REPRESS)
		return !trap_pending(s, p->node, &p->smp);
	return vswitch_asks_pf(s, p);
}
