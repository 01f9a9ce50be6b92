/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet management interface: takes SMPs one after another (thesis 4.3.2), walks directed
 * routes with their LID-routed segments (IBA 14.2.2), delivers to SMA or SM. State: one queue a
 * node. Does not read attributes.
 */
#include "sim/kernel/sim_priv.h"

static struct verdict discard(enum sim_drop why)
{
	return (struct verdict){.kind = DISCARD, .why = why};
}

/* From a directed segment into a LID-routed one. */
static struct verdict leave_by_lid(struct sim *s, struct pkt *p, uint16_t dlid)
{
	p->smp.slid = node_port(s, p->node, sim_is_switch(s, p->node) ? 0 : p->in_port)->pi.lid;
	p->smp.dlid = dlid;
	p->from_local = true;
	return (struct verdict){.kind = TO_LID};
}

static struct verdict leave_by_port(struct pkt *p, unsigned port)
{
	p->smp.slid = p->smp.dlid = IBA_LID_PERMISSIVE;
	return (struct verdict){.kind = TO_PORT, .port = port};
}

/* On the way out, D = 0 (IBA 14.2.2.2). */
static struct verdict outbound(struct sim *s, struct pkt *p)
{
	uint8_t *m = p->smp.mad;
	unsigned hp = iba_smp_hop_ptr(m), hc = iba_smp_hop_cnt(m);

	if (hc && hp == 0) { /* the directed part begins here */
		iba_smp_set_hop_ptr(m, 1);
		return leave_by_port(p, iba_smp_initial_path(m)[1]);
	}
	if (hc && hp < hc) { /* in the middle: only switches pass on */
		if (!sim_is_switch(s, p->node) || p->from_local)
			return discard(SIM_DROP_BAD_PATH);
		iba_smp_return_path(m)[hp] = p->in_port;
		iba_smp_set_hop_ptr(m, (uint8_t)(hp + 1));
		return leave_by_port(p, iba_smp_initial_path(m)[hp + 1]);
	}
	if (hp == hc) { /* the directed part ends here */
		if (hc)
			iba_smp_return_path(m)[hp] = p->in_port;
		iba_smp_set_hop_ptr(m, (uint8_t)(hp + 1));
		if (iba_smp_dr_dlid(m) == IBA_LID_PERMISSIVE)
			return (struct verdict){.kind = TO_NODE};
		return sim_is_switch(s, p->node) ? leave_by_lid(s, p, iba_smp_dr_dlid(m))
						 : discard(SIM_DROP_BAD_PATH);
	}
	if (hp == hc + 1) /* came by a LID-routed last segment */
		return (struct verdict){.kind = TO_NODE};
	return discard(SIM_DROP_BAD_PATH);
}

/* On the way back, D = 1 (IBA 14.2.2.4). */
static struct verdict homeward(struct sim *s, struct pkt *p)
{
	uint8_t *m = p->smp.mad;
	unsigned hp = iba_smp_hop_ptr(m), hc = iba_smp_hop_cnt(m);

	if (hp >= 2 && hp <= hc + 1) {
		if (!p->from_local && !sim_is_switch(s, p->node))
			return discard(SIM_DROP_BAD_PATH);
		iba_smp_set_hop_ptr(m, (uint8_t)(hp - 1));
		return leave_by_port(p, iba_smp_return_path(m)[hp - 1]);
	}
	if (hp == 1) {
		iba_smp_set_hop_ptr(m, 0);
		if (iba_smp_dr_slid(m) == IBA_LID_PERMISSIVE)
			return (struct verdict){.kind = TO_NODE};
		return sim_is_switch(s, p->node) ? leave_by_lid(s, p, iba_smp_dr_slid(m))
						 : discard(SIM_DROP_BAD_PATH);
	}
	if (hp == 0)
		return (struct verdict){.kind = TO_NODE};
	return discard(SIM_DROP_BAD_PATH);
}

static bool has_lid(struct sim *s, const struct pkt *p)
{
	unsigned num = sim_is_switch(s, p->node) ? 0 : p->in_port;
	const struct iba_port_info *pi = &node_port(s, p->node, num)->pi;

	return lid_is_ours(pi, p->smp.dlid);
}

__attribute__((always_inline)) static inline struct verdict judge(struct sim *s, struct pkt *p)
{
	const uint8_t *m = p->smp.mad;

	if (iba_smp_base_version(m) != 1 || iba_smp_class_version(m) != 1)
		return discard(SIM_DROP_BAD_MAD);
	if (!iba_smp_is_dr(m)) {
		if (iba_smp_mgmt_class(m) != IBA_CLASS_SUBN_LID)
			return discard(SIM_DROP_BAD_MAD);
		if (p->smp.dlid == IBA_LID_PERMISSIVE)
			return (struct verdict){.kind = TO_NODE};
		if (has_lid(s, p))
			return (struct verdict){.kind = TO_NODE};
		return p->from_local ? (struct verdict){.kind = TO_LID}
				     : discard(SIM_DROP_NOT_FOR_US);
	}
	if (iba_smp_hop_cnt(m) > IBA_MAX_HOPS || iba_smp_hop_ptr(m) > IBA_MAX_HOPS + 1)
		return discard(SIM_DROP_BAD_PATH);
	if (p->smp.dlid != IBA_LID_PERMISSIVE) { /* in or before a LID-routed segment */
		if (!has_lid(s, p))
			return p->from_local ? (struct verdict){.kind = TO_LID}
					     : discard(SIM_DROP_NOT_FOR_US);
	}
	return iba_smp_is_return(m) ? homeward(s, p) : outbound(s, p);
}

/* ---- delivery ---- */

const struct sm_hook *smi_hook(const struct sim *s, const struct pkt *p)
{
	unsigned at = sim_is_switch(s, p->node) ? 0 : p->in_port;
	uint32_t i = s->hook_of[s->fab->nodes[p->node].first_port + at];

	return i ? &s->hooks.at[i - 1] : NULL;
}

/* Thesis 3.1.4: responses, traps and everything about SMInfo are for the SM, the rest for the SMA. */
static bool is_for_sm(struct sim *s, const struct pkt *p, const struct sm_hook *sm)
{
	const uint8_t *m = p->smp.mad;
	unsigned method = iba_smp_method(m);

	if (method == IBA_GET_RESP || method == IBA_TRAP)
		return true;
	if (method ==
	    IBA_TRAP_REPRESS) /* SMs send traps, too; a kernel takes this for their response */
		return sm && !trap_is_ours(&p->smp);
	return sm && iba_smp_attr_id(m) == IBA_ATTR_SM_INFO &&
	       node_port(s, sm->node, sm->port)->pi.cap_mask & IBA_CAP_IS_SM;
}

static void deliver(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->pkts.at[p];
	unsigned method = iba_smp_method(pkt->smp.mad);
	const struct sm_hook *sm = smi_hook(s, pkt);

	if (method != IBA_GET && method != IBA_SET && method != IBA_TRAP &&
	    method != IBA_TRAP_REPRESS && method != IBA_GET_RESP) {
		pkt_drop(s, p, SIM_DROP_BAD_MAD);
		return;
	}
	if (is_for_sm(s, pkt, sm)) {
		if (!sm) {
			pkt_drop(s, p, SIM_DROP_NO_SM);
			return;
		}
		s->stats.delivered++;
		sim_hash_smp(s, pkt->node, &pkt->smp);
		sim_seen(s, SIM_SEEN_RECV, pkt->node, pkt->in_port, &pkt->smp, 1);

		struct sim_smp smp = pkt->smp; /* the SM may send, which moves the pool */

		pkt_free(s, p);
		sm->recv(sm->ctx, &smp);
		return;
	}

	struct pkt req = *pkt;

	if (!sma_admits(s, req.node, &req)) {
		pkt_drop(s, p, SIM_DROP_MKEY);
		trap_bad_mkey(s, req.node, req.in_port, &req.smp);
		return;
	}
	s->stats.delivered++;
	sim_hash_smp(s, pkt->node, &pkt->smp);
	sim_seen(s, SIM_SEEN_RECV, pkt->node, pkt->in_port, &pkt->smp, 0);
	pkt_free(s, p);
	sma_handle(s, req.node, &req);
}

/* ---- for express mode ---- */

struct verdict smi_judge(struct sim *s, struct pkt *p)
{
	return judge(s, p);
}

bool smi_has_lid(struct sim *s, const struct pkt *p)
{
	return has_lid(s, p);
}

void smi_deliver(struct sim *s, uint32_t p)
{
	deliver(s, p);
}

/* ---- the queue ---- */

/* A request for this node's SMA keeps the SMI busy for the SMA's time too. */
static time_ps service_time(const struct sim *s, const struct pkt *p)
{
	const uint8_t *m = p->smp.mad;
	bool request = iba_smp_method(m) == IBA_GET || iba_smp_method(m) == IBA_SET;
	bool here = iba_smp_is_dr(m)
			    ? !iba_smp_is_return(m) && iba_smp_hop_ptr(m) >= iba_smp_hop_cnt(m)
			    : !p->from_local;

	return s->cfg.smi_ps + (request && here ? s->cfg.sma_ps : 0);
}

static void serve_next(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];

	sim_push(s, s->now + service_time(s, &s->pkts.at[node->q_head]), PRIO_NET,
		 (struct ev){.kind = EV_SMI, .a = n, .b = node->incarnation});
}

void smi_enqueue(struct sim *s, node_id n, uint32_t p)
{
	struct sim_node *node = &s->nodes[n];

	if (s->cfg.express) {
		express_add(s, p);
		return;
	}
	s->pkts.at[p].next = PKT_NONE;
	if (node->q_head == PKT_NONE) {
		node->q_head = node->q_tail = p;
		serve_next(s, n);
	} else {
		s->pkts.at[node->q_tail].next = p;
		node->q_tail = p;
	}
	node->q_len++;
}

void smi_done(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];
	uint32_t p = node->q_head;
	struct verdict v;

	node->q_head = s->pkts.at[p].next;
	node->q_len--;
	if (node->q_head != PKT_NONE)
		serve_next(s, n);
	v = judge(s, &s->pkts.at[p]);
	switch (v.kind) {
	case TO_PORT:
		link_send(s, n, v.port, p);
		break;
	case TO_LID:
		lid_forward(s, n, p);
		break;
	case TO_NODE:
		deliver(s, p);
		break;
	case DISCARD:
		pkt_drop(s, p, v.why);
		break;
	}
}

void smi_clear(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];

	while (node->q_head != PKT_NONE) {
		uint32_t p = node->q_head;

		node->q_head = s->pkts.at[p].next;
		pkt_drop(s, p, SIM_DROP_NODE);
	}
	node->q_len = 0;
}

/* ---- injection, where the fault model sits ---- */

static uint32_t make(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	uint32_t p = pkt_new(s);
	struct pkt *pkt = &s->pkts.at[p];

	pkt->smp = *smp;
	pkt->node = n;
	pkt->in_port = (uint8_t)port;
	pkt->from_local = true;
	pkt->hops = 0;
	return p;
}

static void inject_later(struct sim *s, node_id n, uint32_t p)
{
	time_ps extra = s->cfg.faults.delay_max_ps
				? rng_u64(&s->fault_rng) % s->cfg.faults.delay_max_ps
				: 0;

	sim_push(s, s->now + extra, PRIO_NET,
		 (struct ev){.kind = EV_INJECT, .a = p, .b = n, .c = s->nodes[n].incarnation});
}

/*
 * A node's SM or SMA hands over an SMP. Faults are decided once a packet, here: what a loss, a delay
 * or a copy further on would do to the two ends is the same.
 */
void smi_inject(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	const struct sim_faults *f = &s->cfg.faults;
	uint32_t p = make(s, n, port, smp);

	s->stats.sent++;
	sim_seen(s, SIM_SEEN_SEND, n, port, smp, 0);
	if (rng_chance(&s->fault_rng, f->dup_q32)) {
		s->stats.duplicated++;
		inject_later(s, n, make(s, n, port, smp));
	}
	if (rng_chance(&s->fault_rng, f->loss_q32)) {
		pkt_drop(s, p, SIM_DROP_FAULT);
	} else if (rng_chance(&s->fault_rng, f->delay_q32)) {
		s->stats.delayed++;
		inject_later(s, n, p);
	} else {
		smi_enqueue(s, n, p);
	}
}
