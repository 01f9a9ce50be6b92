/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts (thesis 4.2.4): a source with an unlimited injection queue, and a sink that takes every
 * packet as soon as it is complete. State: the generator and the statistics. Ways in:
 * sim_traffic(), host_make(), host_sink(). Does not know the network.
 */
#include "sim/plane/plane_priv.h"

enum { DATA_OVERHEAD = 26, CREDIT_OVERHEAD = 24 }; /* LRH 8, BTH 12, ICRC 4, VCRC 2 */

/* The next packet is kept in pl->next until its time: one event for each host. */
static void plan_next(struct shard *sh, uint32_t host)
{
	const struct plane *pl = sh->plane;
	uint32_t member = pl->members.n ? pl->member_of[host] : host;
	struct traffic_packet t;

	if (!traffic_next(pl->traffic, member, &t))
		return;
	t.dst = pl->members.n ? pl->members.at[t.dst] : t.dst;
	pl->next[host] = t;
	sim_push(sh, MAX(t.when_ps, sh->now), PRIO_NET,
		 (struct ev_what){.kind = EV_P_MAKE, .make = {host, pl->traffic_epoch}});
}

static uint32_t member_count(const struct plane *pl)
{
	return pl->members.n ? (uint32_t)pl->members.n : pl->nports_hosts;
}

static void start(struct sim *s)
{
	struct plane *pl = s->plane;

	pl->traffic_epoch++;
	free(pl->next);
	pl->next = mem_zarray(pl->hosts.n, sizeof(*pl->next));
	for (uint32_t i = 0; i < member_count(pl); i++)
		plan_next(&s->main, pl->members.n ? pl->members.at[i] : i);
}

uint32_t sim_traffic_hosts(const struct sim *s)
{
	return s->plane ? member_count(s->plane) : 0;
}

int sim_traffic(struct sim *s, const struct traffic_config *c, struct err *e)
{
	struct plane *pl = s->plane;
	struct traffic *t;

	if (!pl)
		return err_set(e, -EINVAL, "this simulation carries no data packets");
	pl->members.n = 0;
	if (c->machines)
		machines_join(s);
	t = traffic_new(c, member_count(pl), e);
	if (!t)
		return -EINVAL;
	traffic_free(pl->traffic);
	pl->traffic = t;
	pl->known_only = c->known_only;
	pl->late_lids = c->late_lids;
	for (uint32_t h = 0; h < pl->hosts.n; h++)
		pl->silent[h] = c->silent_new && !pl->known[h];
	start(s);
	return 0;
}

static void inject(struct shard *sh, port_id port, uint32_t pkt)
{
	const struct plane *pl = sh->plane;
	const struct dpkt *d = &pl->pkts.at[pkt];
	const struct iba_port_info *pi = &sh->ports[port].pi;
	node_id n = sh->plane->ports[port].node;
	unsigned vl = sim_slvl(sh->sim, n, 0, sh->plane->ports[port].num, d->sl);
	uint32_t cell = cell_new(sh, pkt);

	pl->cells.at[cell].ready = pl->cells.at[cell].tail = sh->now;
	if (vl >= pl->nvl || vl >= iba_vl_count(pi->oper_vls)) {
		plane_discard(sh, n, sh->plane->ports[port].num, pkt, SIM_DISCARD_UNMAPPABLE);
		cell_free(sh, cell);
	} else if (pi->state == IBA_PORT_ACTIVE &&
		   d->bytes > iba_mtu_bytes(pi->neighbor_mtu) + DATA_OVERHEAD) {
		/* It might need more credits than the far buffer has. */
		plane_discard(sh, n, sh->plane->ports[port].num, pkt, SIM_DISCARD_MTU);
		cell_free(sh, cell);
	} else {
		out_add(sh, port, vl, cell);
	}
}

/*
 * Static rate control (thesis 2.4.6): packets to one destination leave no faster than the
 * destination's link. They wait in the host, separately for each destination.
 */
static void pace(struct shard *sh, uint32_t host, uint32_t dst, uint32_t pkt)
{
	const struct plane *pl = sh->plane;
	port_id from = pl->hosts.at[host], to = pl->hosts.at[dst];
	time_ps *allowed, go;

	if (!sh->cfg->plane.rate_control || sh->ports[to].byte_q16 <= sh->ports[from].byte_q16) {
		inject(sh, from, pkt);
		return;
	}
	if (!pl->allowed) /* only without other shards: parallel.c */
		sh->whole->plane->allowed =
			mem_zarray(pl->hosts.n * pl->hosts.n, sizeof(*pl->allowed));
	allowed = &pl->allowed[(size_t)host * pl->hosts.n + dst];
	go = MAX(sh->now, *allowed);
	*allowed = go + wire_time(sh->plane, to, pl->pkts.at[pkt].bytes);
	sim_push(
		sh, go, PRIO_NET,
		(struct ev_what){.kind = EV_P_PACED,
				 .paced = {pkt, sh->nodes[sh->fab->ports[from].node].incarnation}});
}

void host_paced(struct shard *sh, uint32_t pkt, uint32_t incarnation)
{
	const struct plane *pl = sh->plane;
	port_id port = pl->hosts.at[pl->pkts.at[pkt].src];
	const struct sim_node *n = &sh->nodes[sh->fab->ports[port].node];

	if (n->on && n->incarnation == incarnation) {
		inject(sh, port, pkt);
	} else { /* the host was powered off meanwhile */
		uint32_t cell = cell_new(sh, pkt);

		plane_discard(sh, sh->fab->ports[port].node, sh->plane->ports[port].num, pkt,
			      SIM_DISCARD_CLEARED);
		cell_free(sh, cell);
	}
}

/* The P_Key of a host's packets: the first of its table. */
static uint16_t pkey_of(const struct shard *sh, port_id port)
{
	return sh->ports[port].pkeys ? sh->ports[port].pkeys[0] : 0xffff;
}

static uint32_t make(struct shard *sh, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl)
{
	const struct plane *pl = sh->plane;
	port_id port = pl->hosts.at[host];
	uint32_t pkt = dpkt_new(sh);
	struct dpkt *d = &pl->pkts.at[pkt];

	d->born = sh->now;
	d->src = host;
	d->slid = sh->ports[port].pi.lid;
	d->dlid = dlid;
	d->sl = sl;
	d->pkey = pkey_of(sh, port);
	d->bytes = (uint16_t)(payload + DATA_OVERHEAD);
	d->blocks = (uint8_t)((payload + CREDIT_OVERHEAD + 63) / 64);
	sh->own.stats.generated++;
	sh->own.stats.in_flight++;
	sh->own.stats.window_generated +=
		sh->now >= sh->own.stats.window_start && sh->now < sh->own.stats.window_end;
	if (pl->detail)
		detail_made_now(sh->whole, host);
	return pkt;
}

/* ---- service levels ---- */

void sim_sls(struct sim *s, struct sim_sl_source src)
{
	if (s->plane)
		s->plane->sls = src;
}

/* The packet leaves its host: former service levels do not count any more. */
void host_sends(struct shard *sh, port_id port, uint32_t pkt)
{
	const struct sim_sl_source *x = &sh->plane->sls;
	struct dpkt *d = &sh->plane->pkts.at[pkt];

	d->sl = (uint8_t)x->sl(x->ctx, port, d->dlid);
}

void sim_inject(struct sim *s, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl)
{
	port_id port = s->plane->hosts.at[host];

	if (s->nodes[s->fab->ports[port].node].on)
		inject(&s->main, port, make(&s->main, host, dlid, payload, sl));
}

void host_active(const struct sim *s, port_id port)
{
	uint32_t host = s->plane->host_of[port];

	if (s->ports[port].pi.lid && host != UINT32_MAX)
		s->plane->known[host] = s->ports[port].pi.lid;
}

void host_lid_set(const struct sim *s, port_id port)
{
	if (!s->plane->late_lids)
		host_active(s, port);
}

/*
 * Senders remember addresses: they still send to a host that is gone. With known_only a host is
 * unknown to others until its port is Active for the first time, and it sends nothing before that.
 */
static uint16_t lid_known(const struct shard *sh, uint32_t host)
{
	uint16_t lid = sh->ports[sh->plane->hosts.at[host]].pi.lid;

	if (host >=
	    sh->plane->nports_hosts) /* the LID of a machine on a shared port is not its own */
		return sh->plane->known[host];
	return lid && !sh->plane->known_only ? lid : sh->plane->known[host];
}

/* ---- the sink ---- */

static bool is_for(const struct shard *sh, port_id port, uint16_t dlid)
{
	const struct iba_port_info *pi = &sh->ports[port].pi;

	if (dlid >= IBA_LID_MCAST_FIRST)
		return true; /* group membership of hosts is not modelled */
	return pi->lid && (dlid & ~((1u << pi->lmc) - 1)) == pi->lid;
}

static void deliver(struct shard *sh, port_id port, uint32_t pkt)
{
	const struct plane *pl = sh->plane;
	struct sim_plane_stats *st = &sh->own.stats;
	const struct dpkt *d = &pl->pkts.at[pkt];

	st->delivered++;
	st->in_flight--;
	st->delivered_bytes += d->bytes - DATA_OVERHEAD;
	if (sh->now >= st->window_start && sh->now < st->window_end) {
		st->window_delivered++;
		st->window_bytes += d->bytes;
		hist_add(&st->latency, sh->now - d->born);
	}
	if (pl->detail)
		detail_delivered_now(sh->whole, port, d);
	if (pl->deliveries.delivered)
		pl->deliveries.delivered(pl->deliveries.ctx, port, d->dlid, d->born);
	sim_hash_add(sh, pl->ports[port].node, sh->now);
	sim_hash_add(sh, pl->ports[port].node,
		     (uint64_t)port << 32 | (uint64_t)d->src << 8 | d->sl);
}

void host_sink(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	port_id port = chan_port(pl, chan);
	uint32_t pkt = pl->cells.at[pl->in[chan].head].pkt;
	struct dpkt *d = &pl->pkts.at[pkt];
	node_id n = sh->plane->ports[port].node;
	unsigned num = sh->plane->ports[port].num;

	if (d->broken) {
		plane_discard(sh, n, num, pkt, (enum sim_discard)d->why);
	} else if (d->smp != PKT_NONE) {
		uint32_t smp = d->smp;

		d->smp = PKT_NONE;
		smi_arrive(sh->whole, n, num, smp);
	} else if (!is_for(sh, port, d->dlid) || (pl->members.n && !machine_is_for(sh, port, d))) {
		plane_discard(sh, n, num, pkt, SIM_DISCARD_WRONG_HOST);
	} else if (!pkey_ok(sh->sim, port, d->pkey)) {
		plane_discard(sh, n, num, pkt, SIM_DISCARD_PKEY);
	} else {
		deliver(sh, port, pkt);
	}
	in_release(sh, chan);
}

/* ---- the source ---- */

/* Between two machines on one shared port: it does not leave the HCA. */
static void loop_back(struct shard *sh, port_id port, uint32_t pkt)
{
	if (machine_is_for(sh, port, &sh->plane->pkts.at[pkt]))
		deliver(sh, port, pkt);
	else
		plane_discard(sh, sh->plane->ports[port].node, sh->plane->ports[port].num, pkt,
			      SIM_DISCARD_WRONG_HOST);
	dpkt_free(sh, pkt);
}

/* No machine runs on a function without a LID. */
static bool is_absent(const struct shard *sh, uint32_t host, uint16_t lid)
{
	return !lid &&
	       sh->fab->nodes[sh->fab->ports[sh->plane->hosts.at[host]].node].flags & FAB_FUNCTION;
}

void host_make(struct shard *sh, uint32_t host)
{
	const struct plane *pl = sh->plane;
	struct traffic_packet t = pl->next[host];
	uint16_t from = lid_known(sh, host), to = lid_known(sh, t.dst);
	uint32_t pkt;

	plan_next(sh, host);
	if (!sh->nodes[sh->fab->ports[pl->hosts.at[host]].node].on)
		return; /* the host is off */
	if (pl->silent[host] || (pl->known_only && (!from || !to)))
		return; /* one of the two has never been part of the subnet */
	if (is_absent(sh, host, sh->ports[pl->hosts.at[host]].pi.lid) || is_absent(sh, t.dst, to))
		return;
	if (pl->members.n && machine_is_away(sh, host))
		return;
	pkt = make(sh, host, to, t.payload,
		   pl->sls.sl ? (uint8_t)pl->sls.sl(pl->sls.ctx, pl->hosts.at[host], to) : t.sl);
	if (t.dst >= pl->nports_hosts)
		pl->pkts.at[pkt].machine = (uint16_t)(t.dst - pl->nports_hosts + 1);
	if (pl->members.n && is_for(sh, pl->hosts.at[host], to))
		loop_back(sh, pl->hosts.at[host], pkt);
	else
		pace(sh, host, t.dst, pkt);
}
