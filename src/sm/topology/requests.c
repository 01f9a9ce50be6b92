/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests: by which way a device is reached, and what each kind of question or order says. State: the
 * queue of work. Does not decide what to ask.
 */
#include "sm/manager.h"

bool sm_is_endport(const struct sm *sm, const struct sm_port *p)
{
	return sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH || p->num == 0;
}

/* ---- addressing ---- */

static struct sm_path path_to(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? n->path : p->path;
}

void sm_req_port(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	r->method = method;
	r->attr_id = IBA_ATTR_PORT_INFO;
	r->attr_mod = p->num;
	r->purpose = purpose;
	r->path = path_to(sm, p);
	r->ref = port;
	r->keyed = true;
	r->m_key = sm_key_of(sm, port);
}

void sm_req_node(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t node, uint16_t attr_id, uint32_t attr_mod)
{
	r->method = method;
	r->attr_id = attr_id;
	r->attr_mod = attr_mod;
	r->purpose = purpose;
	r->path = sm->topo.nodes.at[node].path;
	r->ref = node;
	r->keyed = true;
	r->m_key = sm_key_of(sm, sm->topo.nodes.at[node].first_port);
}

/*
 * The path that questions through a port start from. A directed route has room for 63 hops; beyond
 * them it starts anew at the switch it ended at, which is reached by LID once tables lead there.
 */
struct sm_path sm_path_through(const struct sm *sm, const struct sm_port *p)
{
	struct sm_path q = path_to(sm, p);
	uint16_t lid = q.n == IBA_MAX_HOPS
			       ? sm->topo.ports.at[sm->topo.nodes.at[p->node].first_port].pi.lid
			       : 0;

	if (lid && lid <= IBA_LID_MAX_UNICAST && sm->lids.routed[lid])
		q = (struct sm_path){.at = q.at, .via = lid, .distance = q.distance};
	return q;
}

struct sm_path sm_path_longer(struct sm *sm, struct sm_path p, uint8_t port)
{
	struct sm_path q = {.at = (uint32_t)sm->topo.hops.n,
			    .n = (uint8_t)(p.n + 1),
			    .via = p.via,
			    .distance = (uint16_t)(p.distance + 1)};

	vec_room(&sm->topo.hops, sm->topo.hops.n + q.n);
	memcpy(sm->topo.hops.at + q.at, sm->topo.hops.at + p.at, p.n);
	sm->topo.hops.at[q.at + p.n] = port;
	sm->topo.hops.n += q.n;
	sm->topo.max_hops = MAX(sm->topo.max_hops, q.distance);
	return q;
}

/* ---- the queue of questions ---- */

void sm_ask(struct sm *sm, enum sm_work_kind kind, uint32_t ref)
{
	sm->disc.grown |= kind == W_NODE_INFO || kind == W_SWITCH_INFO;
	vec_push(&sm->disc.work, (struct sm_work){kind, ref, 0});
}

void sm_ask_for(struct sm *sm, enum sm_work_kind kind, uint32_t ref, uint32_t which)
{
	vec_push(&sm->disc.work, (struct sm_work){kind, ref, which});
}

static void make_node_info(struct sm *sm, uint32_t port, struct sm_req *r)
{
	r->method = IBA_GET;
	r->attr_id = IBA_ATTR_NODE_INFO;
	r->purpose = SM_FOR_DISCOVERY;
	r->keyed = true; /* whoever is there */
	r->m_key = sm->cfg.m_keys[0] ? sm->keys.hint : sm->cfg.m_key;
	if (port != NONE) {
		r->path = sm_path_through(sm, &sm->topo.ports.at[port]);
		r->extra_hop = sm->topo.ports.at[port].num;
	}
}

/* What discovery itself sets: the LID, who is the SM, the key (thesis 3.2.1). */
void sm_port_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	*pi = p->pi;
	pi->state = IBA_PORT_NO_CHANGE;
	pi->phys_state = IBA_PHYS_NO_CHANGE;
	pi->width_enabled = pi->speed_enabled = pi->speed_ext_enabled = pi->down_default = 0;
	pi->client_reregister = 0;
	if (!sm_is_endport(sm, p))
		return;
	pi->m_key = sm->cfg.m_key;
	pi->m_key_protect = (uint8_t)sm->cfg.m_key_protect;
	pi->m_key_lease = (uint16_t)sm->cfg.m_key_lease_s;
	pi->gid_prefix = 0xfe80000000000000ull;
	pi->sm_lid = sm->lids.own;
	pi->sm_sl = 0;
}

/* What is settled by both ends of the link (thesis Table 7), for any Set(PortInfo) from now on. */
void sm_link_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	const struct iba_port_info *far = &sm->topo.ports.at[p->peer].pi;

	sm_port_fill(sm, p, pi);
	pi->neighbor_mtu = MIN(p->pi.mtu_cap, far->mtu_cap);
	pi->oper_vls = MIN(p->pi.vl_cap, far->vl_cap);
	pi->vl_high_limit = (uint8_t)sm->cfg.vl_high_limit;
	if (sm_is_endport(sm, p))
		pi->subnet_timeout = sm->topo.subnet_timeout;
}

/* A host whose link is known can be told everything at once: Armed it receives, but does not send. */
static bool arms_too(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	/* Where all ports stop before tables are sent, this one would have to stop again. */
	return m->thrifty && m->first->plan && sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH &&
	       p->peer != NONE && sm->topo.ports.at[p->peer].known && p->pi.state == IBA_PORT_INIT;
}

static void make_set_lid(struct sm *sm, uint32_t port, struct sm_req *r)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	sm_req_port(sm, r, IBA_SET, SM_FOR_DISCOVERY, port);
	if (arms_too(sm, p)) {
		sm_link_fill(sm, p, &pi);
		pi.subnet_timeout = p->pi.subnet_timeout; /* distances are not known yet: later */
		pi.state = IBA_PORT_ARMED;
		p->set_in = sm->audit.generation;
	} else {
		sm_port_fill(sm, p, &pi);
	}
	iba_port_info_put(&pi, r->data);
}

static void make_clear(struct sm *sm, uint32_t node, enum sm_purpose purpose, struct sm_req *r)
{
	struct iba_switch_info si = sm->topo.nodes.at[node].si;

	si.port_state_change = 1; /* writing one clears */
	sm_req_node(sm, r, IBA_SET, purpose, node, IBA_ATTR_SWITCH_INFO, 0);
	iba_switch_info_put(&si, r->data);
}

/* Whoever answered through a port said which port of its own leads back. */
bool sm_work_spared(const struct sm *sm, struct sm_work w)
{
	return sm->cfg.mechanism.thrifty && w.kind == W_NODE_INFO && w.ref != NONE &&
	       sm->topo.ports.at[w.ref].peer != NONE &&
	       sm->topo.ports.at[w.ref].met == sm->topo.epoch;
}

bool sm_work_make(struct sm *sm, struct sm_work w, struct sm_req *r)
{
	switch (w.kind) {
	case W_NODE_INFO:
		make_node_info(sm, w.ref, r);
		break;
	case W_SWITCH_INFO:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, w.ref, IBA_ATTR_SWITCH_INFO, 0);
		break;
	case W_CLEAR_CHANGE:
		make_clear(sm, w.ref, SM_FOR_CONFIGURATION, r);
		break;
	case W_CLEAR_KNOWN:
		make_clear(sm, w.ref, SM_FOR_DISCOVERY, r);
		break;
	case W_PORT_INFO:
	case W_PORT_STATE:
	case W_PORT_AGAIN:
	case W_PORT_PEEK:
	case W_PORT_CHECK:
		sm_req_port(sm, r, IBA_GET, SM_FOR_DISCOVERY, w.ref);
		break;
	case W_SM_INFO:
		sm_req_port(sm, r, IBA_GET, SM_FOR_DISCOVERY, w.ref);
		r->attr_id = IBA_ATTR_SM_INFO;
		r->attr_mod = 0;
		break;
	case W_SET_LID:
		make_set_lid(sm, w.ref, r);
		break;
	case W_TABLE:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, w.ref, IBA_ATTR_LFT, w.which);
		break;
	case W_TURN:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, w.ref, IBA_ATTR_SLVL_TABLE, w.which);
		break;
	case W_POLL:
		sm_req_node(sm, r, IBA_GET,
			    sm->core.phase == SM_SWEEP ? SM_FOR_SWEEP : SM_FOR_DISCOVERY, w.ref,
			    IBA_ATTR_SWITCH_INFO, 0);
		break;
	}
	r->kind = w.kind;
	r->ref = w.ref;
	return true;
}
