/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs and GMPs in the fabric. State: the pool of struct devices. Ways in: pkt_new(), pkt_drop().
 * Does not move them.
 */
#include "sim/device/device_priv.h"

uint32_t pkt_new(struct sim *s)
{
	uint32_t p = s->dev.pkt_free;

	if (p == PKT_NONE) {
		p = (uint32_t)s->dev.pkts.n;
		vec_push(&s->dev.pkts, (struct pkt){.next = PKT_NONE});
	} else {
		s->dev.pkt_free = s->dev.pkts.at[p].next;
	}
	s->dev.pkts.at[p].next = PKT_NONE;
	s->dev.stats.in_flight++;
	return p;
}

void pkt_free(struct sim *s, uint32_t p)
{
	s->dev.pkts.at[p].next = s->dev.pkt_free;
	s->dev.pkt_free = p;
	s->dev.stats.in_flight--;
}

void pkt_drop(struct sim *s, uint32_t p, enum sim_drop why)
{
	s->dev.stats.dropped[why]++;
	sim_seen(&s->main, SIM_SEEN_DROP, s->dev.pkts.at[p].node, s->dev.pkts.at[p].in_port,
		 &s->dev.pkts.at[p].smp, why);
	pkt_free(s, p);
}

void pkt_at(struct sim *s, uint32_t p, node_id n, unsigned port)
{
	s->dev.pkts.at[p].node = n;
	s->dev.pkts.at[p].in_port = (uint8_t)port;
}

void smp_hop(struct sim *s)
{
	s->dev.stats.hops++;
}
