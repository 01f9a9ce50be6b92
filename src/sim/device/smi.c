/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet management interface (thesis 4.3.2): where an SMP goes on a directed route with
 * LID-routed segments (IBA 14.2.2), and delivery to SMA or SM. Keeps no state. Ways in: smi_done(),
 * smi_judge(). Does not read attributes.
 */
#include "sim/device/device_priv.h"

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

/* The ports of a host or router are apart: what is sent at one does not leave by another. */
static bool leaves_by_own_port(const struct sim *s, const struct pkt *p, unsigned port)
{
	return sim_is_switch(s, p->node) || port == p->in_port;
}

/* A directed SMP to a vSwitch that is for the manager at its PF: the route gets one more hop, also for the way back. */
static bool goes_on_to_pf(const struct sim *s, const struct pkt *p)
{
	return iba_smp_hop_cnt(p->smp.mad) && iba_smp_hop_cnt(p->smp.mad) < IBA_MAX_HOPS &&
	       iba_smp_dr_dlid(p->smp.mad) == IBA_LID_PERMISSIVE && vswitch_asks_pf(s, p);
}

static struct verdict on_to_pf(struct pkt *p)
{
	uint8_t *m = p->smp.mad;
	unsigned hc = iba_smp_hop_cnt(m);

	iba_smp_set_hop_cnt(m, (uint8_t)(hc + 1));
	iba_smp_initial_path(m)[hc + 1] = FAB_SLOT0_PORT;
	return leave_by_port(p, FAB_SLOT0_PORT);
}

/* On the way out, D = 0 (IBA 14.2.2.2). */
static struct verdict outbound(struct sim *s, struct pkt *p)
{
	uint8_t *m = p->smp.mad;
	unsigned hp = iba_smp_hop_ptr(m), hc = iba_smp_hop_cnt(m);

	if (hc && hp == 0) { /* the directed part begins here */
		if (!leaves_by_own_port(s, p, iba_smp_initial_path(m)[1]))
			return discard(SIM_DROP_BAD_PATH);
		iba_smp_set_hop_ptr(m, 1);
		return leave_by_port(p, iba_smp_initial_path(m)[1]);
	}
	if (hc && hp < hc) { /* in the middle: only switches forward */
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
		if (goes_on_to_pf(s, p))
			return on_to_pf(p);
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
		if (!sim_is_switch(s, p->node) &&
		    (!p->from_local || !leaves_by_own_port(s, p, iba_smp_return_path(m)[hp - 1])))
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

	if (iba_smp_base_version(m) != 1 ||
	    iba_smp_class_version(m) != (iba_smp_mgmt_class(m) == IBA_CLASS_SUBN_ADM ? 2 : 1))
		return discard(SIM_DROP_BAD_MAD);
	if (!iba_smp_is_dr(m)) {
		if (iba_smp_mgmt_class(m) != IBA_CLASS_SUBN_LID &&
		    (!iba_is_gmp(m) || p->smp.dlid == IBA_LID_PERMISSIVE))
			return discard(SIM_DROP_BAD_MAD);
		if (p->smp.dlid == IBA_LID_PERMISSIVE)
			return (struct verdict){.kind = TO_NODE};
		if (has_lid(s, p))
			return vswitch_passes_on(s, p)
				       ? (struct verdict){.kind = TO_PORT, .port = FAB_SLOT0_PORT}
				       : (struct verdict){.kind = TO_NODE};
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

/* Thesis 3.1.4: responses, traps and everything about SMInfo are for the SM, the rest for the
 * SMA. */
static bool is_for_sm(struct sim *s, const struct pkt *p, const struct port_client *sm)
{
	const uint8_t *m = p->smp.mad;
	unsigned method = iba_smp_method(m);

	if (method == IBA_GET_RESP || method == IBA_TRAP)
		return true;
	if (method == IBA_TRAP_REPRESS) /* SMs send traps, too, and this is the response to them */
		return sm && !trap_is_ours(&p->smp);
	return sm && iba_smp_attr_id(m) == IBA_ATTR_SM_INFO &&
	       node_port(s, sm->node, sm->port)->pi.cap_mask & IBA_CAP_IS_SM;
}

/* To the program at a port; NULL: there is none. */
static void deliver_to_sm(struct sim *s, uint32_t p, const struct port_client *sm)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	struct sim_smp smp;

	if (!sm) {
		pkt_drop(s, p, SIM_DROP_NO_SM);
		return;
	}
	s->dev.stats.delivered++;
	sim_hash_smp(s, pkt->node, &pkt->smp);
	sim_seen(&s->main, SIM_SEEN_RECV, pkt->node, pkt->in_port, &pkt->smp, 1);
	smp = pkt->smp; /* the SM may send, which moves the pool */
	pkt_free(s, p);
	sm->recv(sm->ctx, &smp);
}

static void deliver(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	unsigned method = iba_smp_method(pkt->smp.mad);
	const struct port_client *sm = port_client_for(s, pkt);

	if (iba_is_gmp(pkt->smp.mad)) {
		gsi_deliver(s, p);
		return;
	}
	if (method != IBA_GET && method != IBA_SET && method != IBA_TRAP &&
	    method != IBA_TRAP_REPRESS && method != IBA_GET_RESP) {
		pkt_drop(s, p, SIM_DROP_BAD_MAD);
		return;
	}
	if (is_for_sm(s, pkt, sm)) {
		deliver_to_sm(s, p, sm);
		return;
	}

	struct pkt req = *pkt;

	if (!sma_admits(s, req.node, &req)) {
		pkt_drop(s, p, SIM_DROP_MKEY);
		trap_bad_mkey(s, req.node, req.in_port, &req.smp);
		return;
	}
	s->dev.stats.delivered++;
	sim_hash_smp(s, pkt->node, &pkt->smp);
	sim_seen(&s->main, SIM_SEEN_RECV, pkt->node, pkt->in_port, &pkt->smp, 0);
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

static void seen(struct sim *s, enum sim_seen what, const struct pkt *p, unsigned port,
		 unsigned detail)
{
	if (s->smi_watch.seen)
		s->smi_watch.seen(s->smi_watch.ctx, what, p->node, port, &p->smp, detail);
}

static void seen_verdict(struct sim *s, const struct pkt *p, const struct verdict *v)
{
	switch (v->kind) {
	case TO_NODE:
		seen(s, SIM_SEEN_SMI_UP, p, p->in_port, 0);
		break;
	case TO_PORT:
		seen(s, SIM_SEEN_SMI_OUT, p, v->port, 0);
		break;
	case TO_LID:
		seen(s, SIM_SEEN_SMI_OUT, p, sim_is_switch(s, p->node) ? 0 : p->in_port, 0);
		break;
	case DISCARD:
		break;
	}
}

void smi_done(struct sim *s, node_id n)
{
	uint32_t p = smi_dequeue(s, n);
	struct verdict v;

	seen(s, SIM_SEEN_SMI_IN, &s->dev.pkts.at[p], s->dev.pkts.at[p].in_port,
	     s->dev.pkts.at[p].from_local);
	v = judge(s, &s->dev.pkts.at[p]);
	seen_verdict(s, &s->dev.pkts.at[p], &v);
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
