/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs from clients into the fabric, and MADs that arrive at a port to the right client: the one
 * that sent the request, the SM, or those that serve the class. State: the table of pending
 * requests. Ways in: deliver_from_client() and, from the simulation, deliver_to_port(). Does not
 * touch sockets.
 *
 * libumad2sim has no timeouts, but programs built on libibumad rely on the kernel's: a request
 * without a response comes back as timed out. So the server does what a kernel does, with times of
 * its own since the protocol does not carry the client's.
 */
#include <arpa/inet.h>

#include "emu/emu_priv.h"
#include "iba/rmpp.h"

enum {
	METHOD_RESPONSE = 0x80,
	SILENT_MS = 100,
};

static bool is_smp(const uint8_t *mad)
{
	return iba_smp_mgmt_class(mad) == IBA_CLASS_SUBN_LID || iba_smp_is_dr(mad);
}

/* A segment that others follow. libumad2sim sends the beginning of a long response without the
 * segment number that a kernel would set: no segment follows that. */
static bool rmpp_more(const uint8_t *mad)
{
	return iba_rmpp_active(mad) && iba_rmpp_type(mad) == IBA_RMPP_DATA &&
	       !iba_rmpp_is_last(mad) && iba_rmpp_segment(mad);
}

static bool is_response(const uint8_t *mad)
{
	return iba_smp_method(mad) & METHOD_RESPONSE || iba_smp_method(mad) == IBA_TRAP_REPRESS;
}

/* Requests, but not MADs without a response: Send, and the acknowledgements of long responses.
 * The response to a trap is TrapRepress: OpenSM sends traps, and waits for it. */
static bool wants_response(const uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	if (is_response(mad) || method == IBA_SEND)
		return false;
	return !iba_rmpp_active(mad) || iba_rmpp_type(mad) == IBA_RMPP_DATA;
}

static void bit_set(uint8_t *bits, unsigned i)
{
	bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

static bool bit(const uint8_t *bits, unsigned i)
{
	return bits[i / 8] >> i % 8 & 1;
}

/* ---- from a client ---- */

static void timed_out(struct emu *m, uint32_t i)
{
	const struct pend_entry *e = &m->pend.at.at[i];

	m->stats.timeouts++;
	wire_queue(m, e->client, &e->smp, EMU_STATUS_TIMEOUT);
	pend_del(&m->pend, i);
}

static void remember(struct emu *m, uint32_t c, const struct sim_smp *smp, time_ps now)
{
	struct emu_client *cl = &m->clients[c];

	if (pend_full(&m->pend, c)) {
		if (cl->timeout_ms && !m->pend.at.at[m->pend.client[c].oldest].partly)
			timed_out(m, m->pend.client[c].oldest);
		else
			pend_del(&m->pend, m->pend.client[c].oldest);
	}
	pend_add(&m->pend, c, cl->port, smp, now);
}

void deliver_from_client(struct emu *m, uint32_t c, const struct ibsim_packet *p, time_ps now)
{
	struct emu_client *cl = &m->clients[c];
	const struct fab_port *port = &m->fab->ports[cl->port];
	struct sim_smp smp = {.slid = ntohs((uint16_t)p->slid), .dlid = ntohs((uint16_t)p->dlid)};

	memcpy(smp.mad, p->mad, IBA_MAD_SIZE);
	if (!smp.slid) /* 0: the LID of the client's port */
		smp.slid = sim_port_info(m->sim, cl->port)->lid;
	cl->last = now;
	cl->mads_in++;
	m->stats.mads_in++;
	meter_count(m, smp.mad, now);
	bit_set(iba_smp_method(smp.mad) & METHOD_RESPONSE ? cl->serves : cl->asked,
		iba_smp_mgmt_class(smp.mad));
	if (wants_response(smp.mad))
		remember(m, c, &smp, now);
	if (clients_runs(m, c))
		sim_send(m->sim, port->node, port->num, &smp);
}

/* ---- to a port ---- */

static void give(struct emu *m, uint32_t c, const struct sim_smp *smp)
{
	wire_queue(m, c, smp, 0);
}

static bool give_response(struct emu *m, port_id port, const struct sim_smp *smp)
{
	uint32_t i = pend_find(&m->pend, port, smp->mad);

	if (i == PEND_NONE)
		return false;
	give(m, m->pend.at.at[i].client, smp);
	if (!rmpp_more(smp->mad)) {
		pend_del(&m->pend, i);
		return true;
	}
	m->pend.at.at[i].partly = true; /* later segments go to the same client */
	pend_again(&m->pend, i, emu_now(m));
	return true;
}

static bool give_sm(struct emu *m, const struct emu_port *h, const struct sim_smp *smp)
{
	for (uint32_t c = h->first; c != CLIENT_NONE; c = m->clients[c].next_at_port)
		if (m->clients[c].is_sm && clients_runs(m, c)) {
			give(m, c, smp);
			return true;
		}
	return false;
}

/* To all clients at the port for which `fits` is true. */
static bool give_some(struct emu *m, const struct emu_port *h, const struct sim_smp *smp,
		      bool (*fits)(const struct emu *m, const struct emu_client *c, unsigned cls))
{
	bool any = false;

	for (uint32_t c = h->first; c != CLIENT_NONE; c = m->clients[c].next_at_port)
		if (clients_runs(m, c) && fits(m, &m->clients[c], iba_smp_mgmt_class(smp->mad))) {
			give(m, c, smp);
			any = true;
		}
	return any;
}

static bool serves(const struct emu *m UNUSED, const struct emu_client *c, unsigned cls)
{
	return bit(c->serves, cls);
}

static bool subscribes(const struct emu *m UNUSED, const struct emu_client *c, unsigned cls)
{
	return !c->is_sm && bit(c->asked, cls);
}

/*
 * A server such as ibping -S sends nothing before the first request. Other clients must not get
 * requests: libumad2sim crashes at a class that its program has not registered. A client that only
 * sends requests begins at once.
 */
static bool may_serve(const struct emu *m, const struct emu_client *c, unsigned cls UNUSED)
{
	return !c->is_sm && !c->mads_in && emu_now(m) - c->since >= SILENT_MS * PS_PER_MS;
}

static bool give_request(struct emu *m, const struct emu_port *h, const struct sim_smp *smp)
{
	if (is_smp(smp->mad))
		return give_sm(m, h, smp);
	if (iba_smp_mgmt_class(smp->mad) == IBA_CLASS_SUBN_ADM)
		return iba_smp_method(smp->mad) == IBA_REPORT ? give_some(m, h, smp, subscribes)
							      : give_sm(m, h, smp);
	if (iba_smp_mgmt_class(smp->mad) == IBA_CLASS_MIRROR)
		return give_some(m, h, smp, serves); /* such servers say so */
	return give_some(m, h, smp, serves) || give_some(m, h, smp, may_serve);
}

void deliver_to_port(void *ctx, const struct sim_smp *smp)
{
	struct emu_port *h = ctx;
	struct emu *m = h->m;
	bool taken;

	if (m->asking && iba_smp_is_dr(smp->mad) && iba_smp_tid(smp->mad) == EMU_ASK_TID) {
		memcpy(m->answer, smp->mad, IBA_MAD_SIZE);
		m->answered = true;
		return;
	}
	taken = is_response(smp->mad) ? give_response(m, h->port, smp) : give_request(m, h, smp);
	m->stats.unclaimed += !taken;
}

/* ---- requests without a response ---- */

static void late_of(struct emu *m, uint32_t c, time_ps now)
{
	const struct emu_client *cl = &m->clients[c];
	const struct fab_port *port = &m->fab->ports[cl->port];

	while (m->pend.client[c].n) {
		uint32_t i = m->pend.client[c].oldest;
		struct pend_entry *e = &m->pend.at.at[i];
		struct sim_smp smp;

		if (now - e->since < cl->timeout_ms * PS_PER_MS)
			return;
		if (e->partly) {
			pend_del(&m->pend, i);
			continue;
		}
		if (e->tries >= cl->retries) {
			timed_out(m, i);
			continue;
		}
		e->tries++;
		m->stats.repeats++;
		smp = e->smp;
		pend_again(&m->pend, i, now);
		if (clients_runs(m, c))
			sim_send(m->sim, port->node, port->num, &smp);
	}
}

void deliver_late(struct emu *m, time_ps now)
{
	for (uint32_t c = 0; c < m->cfg.clients && m->pend.n; c++)
		if (m->clients[c].used && m->clients[c].timeout_ms)
			late_of(m, c, now);
}
