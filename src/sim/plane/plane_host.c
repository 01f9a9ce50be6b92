/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts (thesis 4.2.4): a source with an unlimited injection queue, and a sink that takes every packet
 * as soon as it is complete. State: the generator and what was counted. Does not see the network.
 */
#include "sim/plane/plane_priv.h"

enum { DATA_OVERHEAD = 26, CREDIT_OVERHEAD = 24 }; /* LRH 8, BTH 12, ICRC 4, VCRC 2 */

int sim_traffic(struct sim *s, const struct traffic_config *c, struct err *e)
{
	struct plane *pl = s->plane;
	struct traffic *t;

	if (!pl)
		return err_set(e, -EINVAL, "this simulation carries no data packets");
	t = traffic_new(c, (uint32_t)pl->hosts.n, e);
	if (!t)
		return -EINVAL;
	traffic_free(pl->traffic);
	pl->traffic = t;
	pl->known_only = c->known_only;
	host_start(s);
	return 0;
}

/* The packet waits in the generator's hands until its time: one event a host. */
static void plan_next(struct sim *s, uint32_t host)
{
	struct plane *pl = s->plane;
	struct traffic_packet t;

	if (!traffic_next(pl->traffic, host, &t))
		return;
	pl->next[host] = t;
	sim_push(s, MAX(t.when_ps, s->now), PRIO_NET,
		 (struct ev){.kind = EV_P_MAKE, .a = host, .c = pl->traffic_epoch});
}

void host_start(struct sim *s)
{
	struct plane *pl = s->plane;

	pl->traffic_epoch++;
	free(pl->next);
	pl->next = mem_zarray(pl->hosts.n, sizeof(*pl->next));
	for (uint32_t h = 0; h < pl->hosts.n; h++)
		plan_next(s, h);
}

static void inject(struct sim *s, port_id port, uint32_t pkt)
{
	struct plane *pl = s->plane;
	const struct dpkt *d = &pl->pkts.at[pkt];
	const struct iba_port_info *pi = &s->ports[port].pi;
	node_id n = s->plane->ports[port].node;
	unsigned vl = sim_slvl(s, n, 0, s->plane->ports[port].num, d->sl);
	uint32_t cell = cell_new(s, pkt);

	pl->cells.at[cell].ready = pl->cells.at[cell].tail = s->now;
	if (vl >= pl->nvl || vl >= iba_vl_count(pi->oper_vls)) {
		plane_discard(s, n, s->plane->ports[port].num, pkt, SIM_DISCARD_UNMAPPABLE);
		cell_free(s, cell);
	} else if (pi->state == IBA_PORT_ACTIVE &&
		   d->bytes > iba_mtu_bytes(pi->neighbor_mtu) + DATA_OVERHEAD) {
		/* It might wait for more credit than any buffer can give. */
		plane_discard(s, n, s->plane->ports[port].num, pkt, SIM_DISCARD_MTU);
		cell_free(s, cell);
	} else {
		out_add(s, port, vl, cell);
	}
}

/*
 * Static rate control (thesis 2.4.6): packets to one destination leave no closer than its own link can
 * take them. They wait in the host, each destination for itself.
 */
static void pace(struct sim *s, uint32_t host, uint32_t dst, uint32_t pkt)
{
	struct plane *pl = s->plane;
	port_id from = pl->hosts.at[host], to = pl->hosts.at[dst];
	time_ps *allowed, go;

	if (!s->cfg.plane.rate_control || s->ports[to].byte_q16 <= s->ports[from].byte_q16) {
		inject(s, from, pkt);
		return;
	}
	if (!pl->allowed)
		pl->allowed = mem_zarray(pl->hosts.n * pl->hosts.n, sizeof(*pl->allowed));
	allowed = &pl->allowed[(size_t)host * pl->hosts.n + dst];
	go = MAX(s->now, *allowed);
	*allowed = go + wire_time(s, to, pl->pkts.at[pkt].bytes);
	sim_push(s, go, PRIO_NET,
		 (struct ev){.kind = EV_P_PACED,
			     .a = pkt,
			     .c = s->nodes[s->fab->ports[from].node].incarnation});
}

void host_paced(struct sim *s, uint32_t pkt, uint32_t incarnation)
{
	struct plane *pl = s->plane;
	port_id port = pl->hosts.at[pl->pkts.at[pkt].src];
	const struct sim_node *n = &s->nodes[s->fab->ports[port].node];

	if (n->on && n->incarnation == incarnation) {
		inject(s, port, pkt);
	} else { /* it lay in a host that has gone off meanwhile */
		uint32_t cell = cell_new(s, pkt);

		plane_discard(s, s->fab->ports[port].node, s->plane->ports[port].num, pkt,
			      SIM_DISCARD_CLEARED);
		cell_free(s, cell);
	}
}

/* Full member on one side at least, and the same 15 bits (IBA 10.9.3). */
static bool pkey_in_table(const struct sim *s, port_id port, uint16_t pkey)
{
	const uint16_t *t = s->ports[port].pkeys;

	if (!t)
		return (pkey & 0x7fff) == 0x7fff;
	for (unsigned i = 0; i < (s->cfg.pkey_cap + 31u) / 32 * 32; i++)
		if ((t[i] & 0x7fff) && (t[i] & 0x7fff) == (pkey & 0x7fff) &&
		    ((t[i] | pkey) & 0x8000))
			return true;
	return false;
}

bool pkey_ok(struct sim *s, port_id port, uint16_t pkey)
{
	if (pkey_in_table(s, port, pkey))
		return true;
	if (s->ports[port].pi.p_key_violations < UINT16_MAX)
		s->ports[port].pi.p_key_violations++;
	return false;
}

/* The key a host sends with: the first of its table. */
static uint16_t pkey_of(const struct sim *s, port_id port)
{
	return s->ports[port].pkeys ? s->ports[port].pkeys[0] : 0xffff;
}

static uint32_t make(struct sim *s, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl)
{
	struct plane *pl = s->plane;
	port_id port = pl->hosts.at[host];
	uint32_t pkt = dpkt_new(s);
	struct dpkt *d = &pl->pkts.at[pkt];

	d->born = s->now;
	d->src = host;
	d->slid = s->ports[port].pi.lid;
	d->dlid = dlid;
	d->sl = sl;
	d->pkey = pkey_of(s, port);
	d->bytes = (uint16_t)(payload + DATA_OVERHEAD);
	d->blocks = (uint8_t)((payload + CREDIT_OVERHEAD + 63) / 64);
	pl->stats.generated++;
	pl->stats.in_flight++;
	pl->stats.window_generated +=
		s->now >= pl->stats.window_start && s->now < pl->stats.window_end;
	if (pl->detail)
		detail_made_now(s, host);
	return pkt;
}

void sim_inject(struct sim *s, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl)
{
	port_id port = s->plane->hosts.at[host];

	if (s->nodes[s->fab->ports[port].node].on)
		inject(s, port, make(s, host, dlid, payload, sl));
}

void host_active(struct sim *s, port_id port)
{
	uint32_t host = s->plane->host_of[port];

	if (s->ports[port].pi.lid && host != UINT32_MAX)
		s->plane->known[host] = s->ports[port].pi.lid;
}

/*
 * Whoever sends remembers an address: a host that is gone is still sent to. With known_only nobody is
 * told of a host before its port is Active, and it sends nothing before that.
 */
static uint16_t lid_known(const struct sim *s, uint32_t host)
{
	uint16_t lid = s->ports[s->plane->hosts.at[host]].pi.lid;

	return lid && !s->plane->known_only ? lid : s->plane->known[host];
}

void host_make(struct sim *s, uint32_t host)
{
	struct plane *pl = s->plane;
	struct traffic_packet t = pl->next[host];
	uint16_t from = lid_known(s, host), to = lid_known(s, t.dst);
	uint32_t pkt;

	plan_next(s, host);
	if (!s->nodes[s->fab->ports[pl->hosts.at[host]].node].on)
		return; /* a host that is off wants nothing */
	if (pl->known_only && (!from || !to))
		return; /* one of the two has never been part of the subnet */
	pkt = make(s, host, to, t.payload, t.sl);
	pace(s, host, t.dst, pkt);
}

/* ---- the sink ---- */

void host_head(struct sim *s, uint32_t chan, uint32_t cell)
{
	struct plane *pl = s->plane;
	const struct cell *c = &pl->cells.at[cell];

	if (!c->smp && s->now >= pl->stats.window_start && s->now < pl->stats.window_end)
		hist_add(&pl->stats.header_latency, s->now - pl->pkts.at[c->pkt].born);
	if (!c->smp && pl->detail)
		detail_header_now(s, chan_port(pl, chan), &pl->pkts.at[c->pkt]);
	sim_push(s, c->tail, PRIO_NET,
		 (struct ev){
			 .kind = EV_P_SINK, .a = chan, .c = pl->ports[chan_port(pl, chan)].life});
}

static bool is_for(const struct sim *s, port_id port, uint16_t dlid)
{
	const struct iba_port_info *pi = &s->ports[port].pi;

	if (dlid >= IBA_LID_MCAST_FIRST)
		return true; /* who listens to a group is above this layer */
	return pi->lid && (dlid & ~((1u << pi->lmc) - 1)) == pi->lid;
}

static void deliver(struct sim *s, port_id port, uint32_t pkt)
{
	struct plane *pl = s->plane;
	struct sim_plane_stats *st = &pl->stats;
	const struct dpkt *d = &pl->pkts.at[pkt];

	st->delivered++;
	st->in_flight--;
	st->delivered_bytes += d->bytes - DATA_OVERHEAD;
	if (s->now >= st->window_start && s->now < st->window_end) {
		st->window_delivered++;
		st->window_bytes += d->bytes;
		hist_add(&st->latency, s->now - d->born);
	}
	if (pl->detail)
		detail_delivered_now(s, port, d);
	sim_hash_add(s, pl->ports[port].node, s->now);
	sim_hash_add(s, pl->ports[port].node, (uint64_t)port << 32 | (uint64_t)d->src << 8 | d->sl);
}

void host_sink(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	port_id port = chan_port(pl, chan);
	uint32_t pkt = pl->cells.at[pl->in[chan].head].pkt;
	struct dpkt *d = &pl->pkts.at[pkt];
	node_id n = s->plane->ports[port].node;
	unsigned num = s->plane->ports[port].num;

	if (d->broken) {
		plane_discard(s, n, num, pkt, (enum sim_discard)d->why);
	} else if (d->smp != PKT_NONE) {
		uint32_t smp = d->smp;

		s->pkts.at[smp].node = n;
		s->pkts.at[smp].in_port = (uint8_t)num;
		s->pkts.at[smp].from_local = false;
		d->smp = PKT_NONE;
		smi_enqueue(s, n, smp);
	} else if (!is_for(s, port, d->dlid)) {
		plane_discard(s, n, num, pkt, SIM_DISCARD_WRONG_HOST);
	} else if (!pkey_ok(s, port, d->pkey)) {
		plane_discard(s, n, num, pkt, SIM_DISCARD_PKEY);
	} else {
		deliver(s, port, pkt);
	}
	in_release(s, chan);
}
