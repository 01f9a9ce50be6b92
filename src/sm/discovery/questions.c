/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions of discovery: a queue, and the request that each becomes. State: the queue in struct
 * sm_discovering. Ways in: sm_ask_*(), sm_work_make(). Does not see the responses.
 */
#include "sm/manager.h"

/* ---- the queue ---- */

static void ask(struct sm *sm, enum sm_question q, struct sm_target t)
{
	if (q == Q_NODE_INFO || q == Q_SWITCH_INFO)
		sm_discovery_found(sm, SM_FOUND_SOMETHING_UP);
	vec_push(&sm->disc.work, (struct sm_work){q, t});
}

void sm_ask_node(struct sm *sm, enum sm_question q, uint32_t node)
{
	ask(sm, q, sm_target_node(node));
}

void sm_ask_port(struct sm *sm, enum sm_question q, uint32_t port)
{
	ask(sm, q, sm_target_port(sm, port));
}

void sm_ask_behind(struct sm *sm, uint32_t port)
{
	ask(sm, Q_NODE_INFO, sm_target_behind(sm, port));
}

void sm_ask_twin(struct sm *sm, uint32_t port)
{
	ask(sm, Q_TWIN, sm_target_behind(sm, port));
}

void sm_ask_vf(struct sm *sm, uint32_t port, uint32_t modifier)
{
	struct sm_target t = sm_target_port(sm, port);

	t.item = modifier;
	sm->topo.nodes.at[t.node].ask.ports_left++;
	ask(sm, Q_VF_INFO, t);
}

void sm_ask_block(struct sm *sm, uint32_t node, uint32_t block)
{
	ask(sm, Q_TABLE, sm_target_block(node, block));
}

void sm_ask_stamp(struct sm *sm, uint32_t node, uint32_t block)
{
	ask(sm, Q_STAMP, sm_target_block(node, block));
}

void sm_ask_mft(struct sm *sm, uint32_t node, uint32_t modifier)
{
	ask(sm, Q_MFT, sm_target_block(node, modifier));
}

void sm_ask_turn(struct sm *sm, uint32_t node, unsigned in, unsigned out)
{
	ask(sm, Q_TURN, sm_target_turn(node, in, out));
}

void sm_poll(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	n->ask.polled = sm->topo.epoch;
	sm->topo.ports.at[n->first_port].ask.mark = SM_WAITING;
	sm_ask_node(sm, Q_POLL, node);
}

bool sm_work_left(const struct sm *sm)
{
	return sm->disc.work_head < sm->disc.work.n || sm_resumed_left(sm);
}

struct sm_work sm_work_take(struct sm *sm)
{
	return sm->disc.work_head < sm->disc.work.n ? sm->disc.work.at[sm->disc.work_head++]
						    : sm_resumed_take(sm);
}

void sm_work_clear(struct sm *sm)
{
	sm->disc.work.n = sm->disc.work_head = 0;
	sm_postponed_clear(sm);
}

bool sm_question_of_known(enum sm_question q)
{
	return q == Q_POLL || q == Q_CLEAR_KNOWN || q == Q_PORT_STATE || q == Q_PORT_AGAIN ||
	       q == Q_PORT_PEEK;
}

/*
 * A device that answered through a port said which port of its own leads back. Where a discovery failed, two
 * switches may have one GUID, and what one says is not so of the other: then both ends are asked.
 */
bool sm_work_spared(const struct sm *sm, struct sm_work w)
{
	const struct sm_port *p;

	if (!sm->cfg.mechanism.thrifty || sm->disc.restarts || sm->core.round.restarts ||
	    w.question != Q_NODE_INFO || w.target.port == NONE)
		return false;
	p = &sm->topo.ports.at[w.target.port];
	return p->peer != NONE && p->ask.met == sm->topo.epoch;
}

/* ---- requests ---- */

static void make_node_info(struct sm *sm, uint32_t port, struct sm_req *r)
{
	r->method = IBA_GET;
	r->attr_id = IBA_ATTR_NODE_INFO;
	r->purpose = SM_FOR_DISCOVERY;
	r->keyed = true;
	r->m_key = sm_key_first(sm);
	if (port != NONE) {
		r->path = sm_path_through(sm, &sm->topo.ports.at[port]);
		r->extra_hop = sm->topo.ports.at[port].num;
	}
}

/* A host whose link is known is configured by one Set: Armed it receives, but does not send. */
static bool arms_too(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	/* Where all ports stop before tables are sent, it would have to stop again. */
	return m->thrifty && m->first->plan && sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH &&
	       p->peer != NONE && sm->topo.ports.at[p->peer].ask.known &&
	       p->pi.state == IBA_PORT_INIT;
}

static void make_set_lid(struct sm *sm, uint32_t port, struct sm_req *r)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	sm_req_port(sm, r, IBA_SET, SM_FOR_DISCOVERY, port);
	if (arms_too(sm, p)) {
		sm_link_fill(sm, p, &pi);
		pi.subnet_timeout =
			p->pi.subnet_timeout; /* distances are not known yet: set later */
		pi.state = IBA_PORT_ARMED;
		sm_port_set_in_round(sm, port);
	} else {
		sm_port_fill(sm, p, &pi);
	}
	pi.client_reregister = sm_port_reregisters(p); /* its port was off, or not this manager's */
	iba_port_info_put(&pi, r->data);
}

static void make_clear(struct sm *sm, uint32_t node, enum sm_purpose purpose, struct sm_req *r)
{
	struct iba_switch_info si = sm->topo.nodes.at[node].si;

	si.port_state_change = 1; /* writing one clears */
	sm_req_node(sm, r, IBA_SET, purpose, node, IBA_ATTR_SWITCH_INFO, 0);
	iba_switch_info_put(&si, r->data);
}

void sm_work_make(struct sm *sm, struct sm_work w, struct sm_req *r)
{
	uint32_t node = w.target.node, port = w.target.port;

	switch (w.question) {
	case Q_NODE_INFO:
	case Q_TWIN:
		make_node_info(sm, port, r);
		break;
	case Q_SWITCH_INFO:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, node, IBA_ATTR_SWITCH_INFO, 0);
		break;
	case Q_CLEAR_CHANGE:
		make_clear(sm, node, SM_FOR_CONFIGURATION, r);
		break;
	case Q_CLEAR_KNOWN:
		make_clear(sm, node, SM_FOR_DISCOVERY, r);
		break;
	case Q_PORT_INFO:
	case Q_PORT_STATE:
	case Q_PORT_AGAIN:
	case Q_PORT_PEEK:
	case Q_PORT_CHECK:
		sm_req_port(sm, r, IBA_GET, SM_FOR_DISCOVERY, port);
		break;
	case Q_SM_INFO:
		sm_req_port(sm, r, IBA_GET, SM_FOR_DISCOVERY, port);
		r->attr_id = IBA_ATTR_SM_INFO;
		r->attr_mod = 0;
		break;
	case Q_VF_INFO:
		sm_vf_get(sm, port, w.target.item, r);
		break;
	case Q_SET_LID:
		make_set_lid(sm, port, r);
		break;
	case Q_TABLE:
	case Q_STAMP:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, node, IBA_ATTR_LFT, w.target.item);
		break;
	case Q_MFT:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, node, IBA_ATTR_MFT, w.target.item);
		break;
	case Q_TURN:
		sm_req_node(sm, r, IBA_GET, SM_FOR_DISCOVERY, node, IBA_ATTR_SLVL_TABLE,
			    w.target.item);
		break;
	case Q_POLL:
		sm_req_node(sm, r, IBA_GET,
			    sm->core.phase == SM_SWEEP ? SM_FOR_SWEEP : SM_FOR_DISCOVERY, node,
			    IBA_ATTR_SWITCH_INFO, 0);
		break;
	case Q_NONE:
	case Q_SWEEP:
	case Q_SWEEP_CLEAR:
	case Q_SWEEP_OWN_PORT:
	case Q_PKEYS:
	case Q_WAVE:
	case Q_RANDOM:
	case Q_AUDIT_PORT:
	case Q_AUDIT_BLOCK:
	case Q_AUDIT_MFT:
	case Q_AUDIT_RANDOM:
	case Q_AUDIT_TURN:
	case Q_AUDIT_SWITCH:
		assert(!"not a question of discovery");
	}
	r->question = w.question;
	r->target = w.target;
}
