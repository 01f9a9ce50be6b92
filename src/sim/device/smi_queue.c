/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of each SMI, and the way of an SMP into it, where the fault model is applied. State:
 * one queue for each node; in express mode one list for all. Ways in: smi_inject(), smi_enqueue().
 * Does not look at where an SMP goes: smi.c and express_walk.c do.
 */
#include "sim/device/device_priv.h"

/* ---- the queue ---- */

static void express_add(struct sim *s, uint32_t p)
{
	s->dev.pkts.at[p].next = PKT_NONE;
	if (s->dev.walk_head == PKT_NONE)
		s->dev.walk_head = p;
	else
		s->dev.pkts.at[s->dev.walk_tail].next = p;
	s->dev.walk_tail = p;
}

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

	sim_push(&s->main, s->main.now + service_time(s, &s->dev.pkts.at[node->q_head]), PRIO_NET,
		 (struct ev_what){.kind = EV_SMI, .node = {n, node->incarnation}});
}

void smi_enqueue(struct sim *s, node_id n, uint32_t p)
{
	struct sim_node *node = &s->nodes[n];

	if (s->cfg.express) {
		express_add(s, p);
		return;
	}
	s->dev.pkts.at[p].next = PKT_NONE;
	if (node->q_head == PKT_NONE) {
		node->q_head = node->q_tail = p;
		serve_next(s, n);
	} else {
		s->dev.pkts.at[node->q_tail].next = p;
		node->q_tail = p;
	}
	node->q_len++;
}

void smi_arrive(struct sim *s, node_id n, unsigned port, uint32_t p)
{
	pkt_at(s, p, n, port);
	s->dev.pkts.at[p].from_local = false;
	smi_enqueue(s, n, p);
}

uint32_t smi_dequeue(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];
	uint32_t p = node->q_head;

	node->q_head = s->dev.pkts.at[p].next;
	node->q_len--;
	if (node->q_head != PKT_NONE)
		serve_next(s, n);
	return p;
}

void smi_clear(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];

	while (node->q_head != PKT_NONE) {
		uint32_t p = node->q_head;

		node->q_head = s->dev.pkts.at[p].next;
		pkt_drop(s, p, SIM_DROP_NODE);
	}
	node->q_len = 0;
}

/* ---- injection and faults ---- */

static uint32_t make(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	uint32_t p = pkt_new(s);
	struct pkt *pkt = &s->dev.pkts.at[p];

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
				? rng_u64(&s->dev.fault_rng) % s->cfg.faults.delay_max_ps
				: 0;

	sim_push(&s->main, s->main.now + extra, PRIO_NET,
		 (struct ev_what){.kind = EV_INJECT, .inject = {n, s->nodes[n].incarnation, p}});
}

/*
 * An SMP from a node's SM or SMA. Faults are drawn here, once for each packet: a loss, delay or
 * duplicate further on would have the same effect on both ends.
 */
void smi_inject(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	const struct sim_faults *f = &s->cfg.faults;
	uint32_t p = make(s, n, port, smp);

	s->dev.stats.sent++;
	sim_seen(&s->main, SIM_SEEN_SEND, n, port, smp, 0);
	if (rng_chance(&s->dev.fault_rng, f->dup_q32)) {
		s->dev.stats.duplicated++;
		inject_later(s, n, make(s, n, port, smp));
	}
	if (rng_chance(&s->dev.fault_rng, f->loss_q32)) {
		pkt_drop(s, p, SIM_DROP_FAULT);
	} else if (rng_chance(&s->dev.fault_rng, f->delay_q32)) {
		s->dev.stats.delayed++;
		inject_later(s, n, p);
	} else {
		smi_enqueue(s, n, p);
	}
}
