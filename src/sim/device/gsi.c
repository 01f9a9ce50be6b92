/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GMPs that have arrived at their port: requests of performance management go to the node's own
 * agent, those of other classes that a device's firmware serves are refused as by a device without the
 * feature, all others go to the program at the port. Keeps no state. Way in: gsi_deliver(). Does not
 * forward GMPs: express_walk.c does, and without express mode the SMI, which knows vendors' classes
 * only.
 */
#include "sim/device/device_priv.h"

enum { RESPONSE = 0x80 }; /* the R bit of a method */

/* Turns the request into its response and sends it. */
static void respond(struct sim *s, node_id n, unsigned port, struct sim_smp *smp, unsigned status)
{
	uint16_t to = smp->slid;
	const struct fab_node *fn = &s->fab->nodes[n];
	bool multicast = smp->dlid >= IBA_LID_MCAST_FIRST;

	/* A multicast LID is no source. */
	smp->slid = multicast ? s->ports[fn->first_port + (sim_is_switch(s, n) ? 0 : port)].pi.lid
			      : smp->dlid;
	smp->dlid = to;
	iba_smp_set_method(smp->mad, IBA_GET_RESP);
	iba_smp_set_status(smp->mad, (uint16_t)status);
	smi_inject(s, n, port, smp);
}

/* Classes whose agents are in the device, not in a program: congestion control, vendstat's. */
static bool is_absent(unsigned cls)
{
	return cls == IBA_CLASS_CONGESTION || cls == IBA_CLASS_VENDOR_MLNX;
}

static bool is_request(const uint8_t *m)
{
	return iba_smp_method(m) == IBA_GET || iba_smp_method(m) == IBA_SET;
}

void gsi_deliver(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	node_id n = pkt->node;
	unsigned port = pkt->in_port;
	const struct port_client *hook = port_client_for(s, pkt);
	struct sim_smp smp = pkt->smp; /* the receiver may send, which moves the pool */
	unsigned cls = iba_smp_mgmt_class(smp.mad);
	bool absent = is_absent(cls) && is_request(smp.mad);
	bool ours = absent || (cls == IBA_CLASS_PERF && !(iba_smp_method(smp.mad) & RESPONSE));

	if (!ours && !hook && !is_request(smp.mad)) {
		pkt_drop(s, p, SIM_DROP_NO_AGENT);
		return;
	}
	s->dev.stats.delivered++;
	if (!s->cfg.express)
		sim_hash_smp(s, n, &smp);
	sim_seen(&s->main, SIM_SEEN_RECV, n, port, &smp, !ours);
	pkt_free(s, p);
	if (absent)
		respond(s, n, port, &smp, IBA_STATUS_BAD_METHOD_ATTR);
	else if (ours && sim_agent(s, n) != SIM_AGENT_SILENT)
		respond(s, n, port, &smp, pma_answer(s, n, smp.mad));
	else if (!ours && hook)
		hook->recv(hook->ctx, &smp);
	else if (!ours) /* as hosts do, so that the sender does not wait for a timeout */
		respond(s, n, port, &smp, IBA_STATUS_BAD_METHOD_ATTR);
}
