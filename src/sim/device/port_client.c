/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SM or program attached to a port: it receives MADs that the node does not answer itself, and
 * sends MADs; IsSM and the NodeDescription. State: the clients of struct sim. Ways in:
 * sim_attach(), sim_send(). Does not look into MADs.
 */
#include "sim/device/device_priv.h"

static uint32_t *hook_slot(struct sim *s, node_id n, unsigned port)
{
	return &s->dev.client_of[s->fab->nodes[n].first_port + (sim_is_switch(s, n) ? 0 : port)];
}

/* The last client takes the place of the one that is removed. */
static void hook_remove(struct sim *s, uint32_t *slot)
{
	struct port_client *gone = &s->dev.clients.at[*slot - 1],
			   last = s->dev.clients.at[--s->dev.clients.n];

	*gone = last;
	*hook_slot(s, last.node, last.port) = *slot;
	*slot = 0;
}

void sim_attach_port(struct sim *s, node_id n, unsigned port,
		     void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx)
{
	uint32_t *slot = hook_slot(s, n, port);

	if (*slot)
		hook_remove(s, slot);
	if (!recv)
		return;
	vec_push(&s->dev.clients,
		 (struct port_client){n, sim_is_switch(s, n) ? 0 : (uint8_t)port, recv, ctx});
	*slot = (uint32_t)s->dev.clients.n;
}

void sim_set_is_sm(struct sim *s, node_id n, unsigned port, bool on)
{
	struct iba_port_info *pi;
	bool was;

	port = sim_is_switch(s, n) ? 0 : port;
	pi = &node_port(s, n, port)->pi;
	was = pi->cap_mask & IBA_CAP_IS_SM;

	pi->cap_mask &= ~(uint32_t)IBA_CAP_IS_SM;
	pi->cap_mask |= on ? IBA_CAP_IS_SM : 0;
	if (s->cfg.express && was != on)
		trap_changed(s, n, port, false);
}

void sim_set_node_desc(struct sim *s, node_id n, const char *text)
{
	struct sim_node *node = &s->nodes[n];

	if (!node->desc)
		node->desc = mem_alloc(IBA_SMP_DATA_SIZE);
	memset(node->desc, 0, IBA_SMP_DATA_SIZE);
	memcpy(node->desc, text, strnlen(text, IBA_SMP_DATA_SIZE));
	for (unsigned p = sim_is_switch(s, n) ? 0 : 1;
	     s->cfg.express && p <= s->fab->nodes[n].nports; p++) {
		if (!node_port(s, n, p)->pi.lid)
			continue;
		trap_changed(s, n, p, true);
		break; /* one port reports for the node */
	}
}

void sim_attach(struct sim *s, node_id n, unsigned port,
		void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx)
{
	sim_attach_port(s, n, port, recv, ctx);
	sim_set_is_sm(s, n, port, recv != NULL);
}

void sim_send(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	if (s->nodes[n].on)
		smi_inject(s, n, port, smp);
}

const struct port_client *port_client_for(const struct sim *s, const struct pkt *p)
{
	unsigned at = sim_is_switch(s, p->node) ? 0 : p->in_port;
	uint32_t i = s->dev.client_of[s->fab->nodes[p->node].first_port + at];

	return i ? &s->dev.clients.at[i - 1] : NULL;
}
