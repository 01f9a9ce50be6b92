/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane's frame: channels for every port and VL, events to the part they belong to, what
 * happens when links and nodes come and go. State: struct plane. Does not route, arbitrate or
 * generate: that is plane_switch.c, plane_link.c and plane_host.c.
 */
#include "sim/plane/plane_priv.h"

static const char *const discard_names[SIM_NDISCARDS] = {
	[SIM_DISCARD_INACTIVE_PORT] = "inactive_port",
	[SIM_DISCARD_DEACTIVATED_PORT] = "deactivated_port",
	[SIM_DISCARD_BUFFER] = "buffer",
	[SIM_DISCARD_TURNED_BACK] = "turned_back",
	[SIM_DISCARD_UNROUTABLE] = "unroutable",
	[SIM_DISCARD_CLEARED] = "cleared",
	[SIM_DISCARD_UNMAPPABLE] = "unmappable",
	[SIM_DISCARD_MTU] = "mtu",
	[SIM_DISCARD_PKEY] = "p_key",
	[SIM_DISCARD_LIFETIME] = "lifetime",
	[SIM_DISCARD_WRONG_HOST] = "wrong_host",
	[SIM_DISCARD_ERROR] = "bit_error",
	[SIM_DISCARD_RETRAINING] = "retraining",
	[SIM_DISCARD_STALLED] = "vl_stalled",
};

const char *sim_discard_name(enum sim_discard d)
{
	return d < SIM_NDISCARDS ? discard_names[d] : "?";
}

/* ---- the end of a packet that nobody gets ---- */

static const uint8_t smp_reason[SIM_NDISCARDS] = {
	[SIM_DISCARD_INACTIVE_PORT] = SIM_DROP_LINK,
	[SIM_DISCARD_DEACTIVATED_PORT] = SIM_DROP_LINK,
	[SIM_DISCARD_BUFFER] = SIM_DROP_BUFFER,
	[SIM_DISCARD_TURNED_BACK] = SIM_DROP_TURNED_BACK,
	[SIM_DISCARD_UNROUTABLE] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_CLEARED] = SIM_DROP_NODE,
	[SIM_DISCARD_UNMAPPABLE] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_MTU] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_PKEY] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_LIFETIME] = SIM_DROP_BUFFER,
	[SIM_DISCARD_WRONG_HOST] = SIM_DROP_NOT_FOR_US,
	[SIM_DISCARD_ERROR] = SIM_DROP_LINK,
	[SIM_DISCARD_RETRAINING] = SIM_DROP_LINK,
	[SIM_DISCARD_STALLED] = SIM_DROP_BUFFER,
};

void plane_discard(struct sim *s, node_id n, unsigned port, uint32_t pkt, enum sim_discard why)
{
	struct dpkt *p = &s->plane->pkts.at[pkt];

	if (p->smp != PKT_NONE) {
		s->pkts.at[p->smp].node = n;
		s->pkts.at[p->smp].in_port = (uint8_t)port;
		pkt_drop(s, p->smp, (enum sim_drop)smp_reason[why]);
		p->smp = PKT_NONE;
		return;
	}
	s->plane->stats.discarded[why]++;
	s->plane->stats.in_flight--;
	s->plane->ports[s->fab->nodes[n].first_port + port].counters.discarded++;
	if (s->plane->detail)
		detail_discarded_now(s, s->fab->nodes[n].first_port + port, p, why);
	sim_hash_add(s, n, s->now ^ (uint64_t)n << 40 ^ (uint64_t)why << 32 ^ p->dlid);
	if (s->plane->discards.discarded)
		s->plane->discards.discarded(s->plane->discards.ctx, n, port, why, p->slid,
					     p->dlid);
}

/* ---- set-up ---- */

static void channels_reset(struct sim *s, port_id p)
{
	struct plane *pl = s->plane;
	bool endport = !sim_is_switch(s, s->fab->ports[p].node);
	unsigned one =
		(iba_mtu_bytes(s->cfg.mtu_cap) + 24 + 63) / 64; /* a packet at least (2.4.2) */
	uint16_t cap = (uint16_t)MIN(MAX(s->cfg.plane.buffer_bytes / 64, one), 2048u);

	for (unsigned i = 0; i < 1u << pl->shift; i++) {
		struct in_chan *in = &pl->in[chan_of(pl, p, i)];
		struct out_chan *out = &pl->out[chan_of(pl, p, i)];

		*in = (struct in_chan){
			.head = CELL_NONE, .tail = CELL_NONE, .next = CHAN_NONE, .cap = cap};
		*out = (struct out_chan){.head = CELL_NONE,
					 .tail = CELL_NONE,
					 .wait_head = CHAN_NONE,
					 .wait_tail = CHAN_NONE,
					 .cap = endport ? UINT16_MAX : cap};
	}
}

/* As at power-on, but for what is counted. */
static void port_reset(struct sim *s, port_id p)
{
	const struct fab_port *fp = &s->fab->ports[p];
	struct plane_port *port = &s->plane->ports[p];

	*port = (struct plane_port){.byte_q16 = s->ports[p].byte_q16,
				    .node = fp->node,
				    .first = s->fab->nodes[fp->node].first_port,
				    .life = s->nodes[fp->node].incarnation,
				    .num = fp->num,
				    .in_switch = sim_is_switch(s, fp->node),
				    .rx_cell = CELL_NONE,
				    .retrained_epoch = UINT32_MAX,
				    .counters = port->counters};
}

void plane_power(struct sim *s, node_id n)
{
	for (unsigned num = 0; num <= s->fab->nodes[n].nports; num++)
		s->plane->ports[s->fab->nodes[n].first_port + num].life = s->nodes[n].incarnation;
}

void plane_new(struct sim *s)
{
	struct plane *pl = mem_zalloc(sizeof(*pl));

	s->plane = pl;
	pl->nvl = iba_vl_count(s->cfg.vl_cap);
	pl->nslots = pl->nvl + 1;
	pl->large = s->fab->nports > 4096;
	while (1u << pl->shift < pl->nslots)
		pl->shift++;
	pl->pkt_free = PKT_NONE;
	pl->cell_free = CELL_NONE;
	pl->in = mem_lines((size_t)s->fab->nports << pl->shift, sizeof(*pl->in));
	pl->out = mem_lines((size_t)s->fab->nports << pl->shift, sizeof(*pl->out));
	pl->ports = mem_lines(s->fab->nports, sizeof(*pl->ports));
	pl->switches = mem_zarray(s->fab->nnodes, sizeof(*pl->switches));
	pl->host_of = mem_array(s->fab->nports, sizeof(*pl->host_of));
	for (port_id p = 0; p < s->fab->nports; p++) {
		const struct fab_port *fp = &s->fab->ports[p];

		port_reset(s, p);
		channels_reset(s, p);
		pl->host_of[p] = UINT32_MAX;
		if (s->fab->nodes[fp->node].type == IBA_NODE_CA && fp->num &&
		    fp->peer != FAB_NONE) {
			pl->host_of[p] = (uint32_t)pl->hosts.n;
			vec_push(&pl->hosts, p);
		}
	}
	pl->known = mem_zarray(pl->hosts.n, sizeof(*pl->known));
	for (node_id n = 0; n < s->fab->nnodes; n++)
		pl->switches[n] = (struct plane_switch){CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE,
							CHAN_NONE};
	pl->stats.window_end = TIME_NEVER;
}

void plane_free(struct sim *s)
{
	struct plane *pl = s->plane;

	if (!pl)
		return;
	detail_free(pl);
	free(pl->in);
	free(pl->out);
	free(pl->ports);
	free(pl->switches);
	free(pl->host_of);
	free(pl->known);
	vec_free(&pl->pkts);
	vec_free(&pl->cells);
	vec_free(&pl->hosts);
	traffic_free(pl->traffic);
	free(pl->next);
	free(pl->allowed);
	free(pl->copies_left);
	vec_free(&pl->lineage);
	free(pl);
}

/* ---- SMPs in ---- */

/* From a node's SMI: a host's go straight to the port, a switch's in by port 0 (thesis 4.2.3). */
void plane_smp_out(struct sim *s, node_id n, unsigned port, uint32_t smp, bool directed)
{
	struct plane *pl = s->plane;
	const struct sim_smp *m = &s->pkts.at[smp].smp;
	uint32_t pkt = dpkt_new(s), cell;
	struct dpkt *p = &pl->pkts.at[pkt];

	p->born = s->now;
	p->smp = smp;
	p->slid = m->slid;
	p->dlid = m->dlid;
	p->bytes = IBA_SMP_WIRE_BYTES;
	p->blocks = (IBA_SMP_WIRE_BYTES - 2 + 63) / 64;
	cell = cell_new(s, pkt);
	pl->cells.at[cell].ready = pl->cells.at[cell].tail = s->now;
	if (!sim_is_switch(s, n)) {
		out_add(s, s->fab->nodes[n].first_port + port, slot15(pl), cell);
		return;
	}
	pl->pkts.at[pkt].fixed_out = directed ? (uint8_t)port : 0;

	uint32_t chan = chan_of(pl, s->fab->nodes[n].first_port, slot15(pl));
	struct in_chan *in = &pl->in[chan];

	if (in->head == CELL_NONE)
		in->head = cell;
	else
		pl->cells.at[in->tail].next = cell;
	in->tail = cell;
	if (in->head == cell)
		switch_new_head(s, chan);
}

/* ---- links and nodes come and go ---- */

void plane_link_up(struct sim *s, port_id p)
{
	struct plane *pl = s->plane;

	/* Both ends start counting anew; what lies in the far buffer still takes its room (2.4.4). */
	for (unsigned i = 0; i < pl->nslots; i++) {
		struct in_chan *far = &pl->in[chan_of(pl, s->ports[p].peer, i)];
		struct out_chan *out = &pl->out[chan_of(pl, p, i)];

		far->abr = 0;
		out->fctbs = 0;
		out->fccl = (uint16_t)(far->cap - MIN(far->used, far->cap));
		if (pl->detail)
			detail_lane_now(s, chan_of(pl, p, i));
	}
	refresh_start(s, p);
	link_kick(s, p);
}

/* What is on the wire to this port is lost; of what is half in, the tail is cut off. */
void plane_link_down(struct sim *s, port_id p)
{
	struct plane *pl = s->plane;

	cut_receiving(s, p, SIM_DISCARD_INACTIVE_PORT);
	pl->ports[p].fc_due = 0;
	pl->ports[p].retraining = false;
	pl->ports[p].phy_errors = 0;
	link_kick(s, p); /* what waits to leave by it is discarded */
}

static void clear_list(struct sim *s, node_id n, unsigned num, uint32_t cell)
{
	struct plane *pl = s->plane;

	while (cell != CELL_NONE) {
		uint32_t next = pl->cells.at[cell].next;

		if (!pl->cells.at[cell].trail)
			plane_discard(s, n, num, pl->cells.at[cell].pkt, SIM_DISCARD_CLEARED);
		cell_free(s, cell);
		cell = next;
	}
}

void plane_clear_node(struct sim *s, node_id n)
{
	struct plane *pl = s->plane;
	const struct fab_node *fn = &s->fab->nodes[n];

	for (unsigned num = 0; num <= fn->nports; num++) {
		port_id p = fn->first_port + num;

		for (unsigned i = 0; i < pl->nslots; i++) {
			clear_list(s, n, num, pl->in[chan_of(pl, p, i)].head);
			clear_list(s, n, num, pl->out[chan_of(pl, p, i)].head);
		}
		channels_reset(s, p);
		port_reset(s, p);
		if (pl->detail)
			detail_cleared_now(s, p);
	}
	pl->switches[n] =
		(struct plane_switch){CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE};
}

/* ---- events ---- */

/* Whether the node is still the one that asked for the event: power off ends a life. */
static bool same_life(const struct sim *s, port_id p, uint32_t life)
{
	return s->plane->ports[p].life == life;
}

/* Large fabrics do not fit the cache: what the next events will touch is fetched while this one runs. */
void plane_prefetch(const struct sim *s)
{
	const struct plane *pl = s->plane;

	for (uint32_t i = 0; i < MIN(s->q.nheap, 3u); i++) {
		const struct ev *e = &s->q.heap[i];
		bool by_port = e->kind == EV_P_HEAD || e->kind == EV_P_FC || e->kind == EV_P_LINK ||
			       e->kind == EV_P_SENT;
		port_id p = by_port ? e->a : chan_port(pl, e->a);

		if (e->kind < EV_P_HEAD || p >= s->fab->nports)
			continue;
		__builtin_prefetch(&pl->ports[p]);
		if (by_port) {
			__builtin_prefetch(&s->ports[p]);
			__builtin_prefetch(&s->ports[p].pi.state);
			__builtin_prefetch(&pl->out[chan_of(pl, p, 0)]);
		} else {
			__builtin_prefetch(&pl->in[e->a]);
		}
	}
}

void plane_event(struct sim *s, const struct ev *e)
{
	struct plane *pl = s->plane;

	switch ((enum sim_ev)e->kind) {
	case EV_P_HEAD:
		link_head(s, e->a, e->b, e->c);
		break;
	case EV_P_FC:
		if ((s->ports[e->a].link_epoch & 0xfffffff) == e->c >> 4)
			link_fc(s, e->a, e->c & 15, (uint16_t)(e->b >> 16), (uint16_t)e->b);
		break;
	case EV_P_ROUTE:
		if (s->nodes[e->a].on && s->nodes[e->a].incarnation == e->c)
			switch_route_done(s, e->a);
		break;
	case EV_P_MAP:
		if (same_life(s, chan_port(pl, e->a), e->c))
			switch_request(s, e->a);
		break;
	case EV_P_CROSS:
		if (same_life(s, chan_port(pl, e->a), e->c))
			switch_cross_head(s, e->a);
		break;
	case EV_P_CROSSED:
		if (same_life(s, chan_port(pl, e->a), e->c))
			switch_cross_done(s, e->a);
		break;
	case EV_P_LINK:
		if (same_life(s, e->a, e->c))
			link_decide(s, e->a);
		break;
	case EV_P_SENT:
		if (same_life(s, e->a, e->c))
			link_tx_done(s, e->a);
		break;
	case EV_P_SINK:
		if (same_life(s, chan_port(pl, e->a), e->c))
			host_sink(s, e->a);
		break;
	case EV_P_MAKE:
		if (e->c == pl->traffic_epoch)
			host_make(s, e->a);
		break;
	case EV_P_PACED:
		host_paced(s, e->a, e->c);
		break;
	case EV_P_HOQ:
		if (same_life(s, chan_port(pl, e->a), e->c))
			limit_out_over(s, e->a);
		break;
	case EV_P_STALL:
		if (same_life(s, chan_port(pl, e->a), e->c))
			limit_stall_over(s, e->a);
		break;
	case EV_P_LIFE:
		if (same_life(s, chan_port(pl, e->a), e->c))
			limit_in_over(s, e->a);
		break;
	case EV_P_REFRESH:
		if (s->ports[e->a].link_epoch == e->c)
			refresh_due(s, e->a);
		break;
	case EV_P_RETRAIN:
		if (s->ports[e->a].link_epoch == e->c)
			retrain_over(s, e->a);
		break;
	case EV_CALL:
	case EV_LINK:
	case EV_ARRIVE:
	case EV_SMI:
	case EV_INJECT:
	case EV_TRAP:
	case EV_LEASE:
	case EV_ORDER:
		break;
	}
}

/* ---- asking ---- */

uint32_t sim_host_count(const struct sim *s)
{
	return s->plane ? (uint32_t)s->plane->hosts.n : 0;
}

const struct sim_plane_stats *sim_plane_stats(const struct sim *s)
{
	return s->plane ? &s->plane->stats : NULL;
}

const struct sim_port_counters *sim_port_counters(const struct sim *s, port_id p)
{
	return &s->plane->ports[p].counters;
}

time_ps sim_wire_time(const struct sim *s, port_id p, uint64_t bytes)
{
	return (time_ps)(((unsigned __int128)s->ports[p].byte_q16 * bytes + 0xffff) >> 16);
}

void sim_buffer_use(const struct sim *s, uint32_t *mean, uint32_t *max)
{
	const struct plane *pl = s->plane;
	uint64_t used = 0, cap = 0;

	*max = 0;
	for (port_id p = 0; p < s->fab->nports; p++)
		for (unsigned slot = 0; slot < pl->nvl; slot++) {
			const struct in_chan *in = &pl->in[chan_of(pl, p, slot)];

			if (!s->fab->ports[p].num || !sim_is_switch(s, s->fab->ports[p].node) ||
			    s->ports[p].peer == FAB_NONE)
				continue;
			used += in->used;
			cap += in->cap;
			*max = MAX(*max, (uint32_t)(in->used * 1000000ull / in->cap));
		}
	*mean = cap ? (uint32_t)(used * 1000000 / cap) : 0;
}

void sim_watch_discards(struct sim *s, struct sim_discard_watch w)
{
	s->plane->discards = w;
}

void sim_tap(struct sim *s, struct sim_tap tap)
{
	s->plane->tap = tap;
}

void sim_window(struct sim *s, time_ps start, time_ps end)
{
	struct sim_plane_stats *st = &s->plane->stats;

	memset(&st->latency, 0, sizeof(st->latency));
	memset(&st->header_latency, 0, sizeof(st->header_latency));
	st->window_delivered = st->window_bytes = st->window_generated = 0;
	st->window_start = start;
	st->window_end = end;
	if (s->plane->detail)
		detail_window_now(s);
}
