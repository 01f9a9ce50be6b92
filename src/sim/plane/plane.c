/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane as a whole: channels for every port and VL, and what happens in them when links
 * and nodes go up and down. State: struct plane. Ways in: plane_new(), and struct device_net for
 * the devices. Does not route, arbitrate or generate: plane_switch.c, plane_link.c and plane_host.c
 * do.
 */
#include "sim/plane/plane_priv.h"
#include "sim/stats/sim_detail.h"

/* ---- power-on values ---- */

static void channels_reset(struct shard *sh, port_id p)
{
	const struct plane *pl = sh->plane;
	bool endport = !sim_is_switch(sh->sim, sh->fab->ports[p].node);
	unsigned one =
		(iba_mtu_bytes(sh->cfg->mtu_cap) + 24 + 63) / 64; /* a packet at least (2.4.2) */
	uint16_t cap = (uint16_t)MIN(MAX(sh->cfg->plane.buffer_bytes / 64, one), 2048u);

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

/* As at power-on, except the counters. */
static void port_reset(struct shard *sh, port_id p)
{
	const struct fab_port *fp = &sh->fab->ports[p];
	struct plane_port *port = &sh->plane->ports[p];

	*port = (struct plane_port){.byte_q16 = sh->ports[p].byte_q16,
				    .node = fp->node,
				    .first = sh->fab->nodes[fp->node].first_port,
				    .life = sh->nodes[fp->node].incarnation,
				    .num = fp->num,
				    .in_switch = sim_is_switch(sh->sim, fp->node),
				    .rx_cell = CELL_NONE,
				    .retrained_epoch = UINT32_MAX,
				    .counters = port->counters};
}

static void node_power(struct sim *s, node_id n)
{
	for (unsigned num = 0; num <= s->fab->nodes[n].nports; num++)
		s->plane->ports[s->fab->nodes[n].first_port + num].life = s->nodes[n].incarnation;
}

/* ---- SMPs in ---- */

/* From a node's SMI: a host's SMPs go to the port, a switch's enter at port 0 (thesis 4.2.3). */
static void smp_out(struct sim *s, node_id n, unsigned port, uint32_t smp, bool directed)
{
	struct shard *sh = &s->main;
	const struct plane *pl = s->plane;
	const struct sim_smp *m = &sh->whole->dev.pkts.at[smp].smp;
	uint32_t pkt = dpkt_new(sh), cell;
	struct dpkt *p = &pl->pkts.at[pkt];

	p->born = sh->now;
	p->smp = smp;
	p->slid = m->slid;
	p->dlid = m->dlid;
	p->bytes = IBA_SMP_WIRE_BYTES;
	p->blocks = (IBA_SMP_WIRE_BYTES - 2 + 63) / 64;
	cell = cell_new(sh, pkt);
	pl->cells.at[cell].ready = pl->cells.at[cell].tail = sh->now;
	if (!sim_is_switch(sh->sim, n)) {
		out_add(sh, sh->fab->nodes[n].first_port + port, slot15(pl), cell);
		return;
	}
	pl->pkts.at[pkt].fixed_out = directed ? (uint8_t)port : 0;

	uint32_t chan = chan_of(pl, sh->fab->nodes[n].first_port, slot15(pl));
	struct in_chan *in = &pl->in[chan];

	if (in->head == CELL_NONE)
		in->head = cell;
	else
		pl->cells.at[in->tail].next = cell;
	in->tail = cell;
	if (in->head == cell)
		switch_new_head(sh, chan);
}

/* ---- links and nodes go up and down ---- */

static void link_up(struct sim *s, port_id p)
{
	struct shard *sh = &s->main;
	const struct plane *pl = s->plane;

	/* Both ends reset their counters; packets in the far buffer still occupy it (2.4.4). */
	for (unsigned i = 0; i < pl->nslots; i++) {
		struct in_chan *far = &pl->in[chan_of(pl, sh->ports[p].peer, i)];
		struct out_chan *out = &pl->out[chan_of(pl, p, i)];

		far->abr = 0;
		out->fctbs = 0;
		out->fccl = (uint16_t)(far->cap - MIN(far->used, far->cap));
		if (pl->detail)
			detail_lane_now(sh->whole, chan_of(pl, p, i));
	}
	refresh_start(sh, p);
	link_kick(sh, p);
}

/* Packets on the link to this port are lost; one that is partly received loses its tail. */
static void link_down(struct sim *s, port_id p)
{
	struct shard *sh = &s->main;
	const struct plane *pl = s->plane;

	cut_receiving(sh, p, SIM_DISCARD_INACTIVE_PORT);
	pl->ports[p].fc_due = 0;
	pl->ports[p].retraining = false;
	pl->ports[p].phy_errors = 0;
	link_kick(sh, p); /* packets that wait for it are discarded */
}

static void clear_list(struct shard *sh, node_id n, unsigned num, uint32_t cell)
{
	const struct plane *pl = sh->plane;

	while (cell != CELL_NONE) {
		uint32_t next = pl->cells.at[cell].next;

		if (!pl->cells.at[cell].trail)
			plane_discard(sh, n, num, pl->cells.at[cell].pkt, SIM_DISCARD_CLEARED);
		cell_free(sh, cell);
		cell = next;
	}
}

static void node_clear(struct sim *s, node_id n)
{
	struct shard *sh = &s->main;
	const struct plane *pl = s->plane;
	const struct fab_node *fn = &sh->fab->nodes[n];

	for (unsigned num = 0; num <= fn->nports; num++) {
		port_id p = fn->first_port + num;

		for (unsigned i = 0; i < pl->nslots; i++) {
			clear_list(sh, n, num, pl->in[chan_of(pl, p, i)].head);
			clear_list(sh, n, num, pl->out[chan_of(pl, p, i)].head);
		}
		channels_reset(sh, p);
		port_reset(sh, p);
		if (pl->detail)
			detail_cleared_now(sh->whole, p);
	}
	pl->switches[n] =
		(struct plane_switch){CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE};
}

/* ---- ports ---- */

static void port_changed(struct shard *sh, port_id p)
{
	if (sh->ports[p].pi.state == IBA_PORT_ACTIVE)
		host_active(sh->sim, p);
	if (sh->plane->ports[p].num)
		link_kick(sh, p); /* packets that wait may leave now, or are discarded */
}

/* ---- life ---- */

static const struct device_net net = {
	.port_changed = port_changed,
	.lid_set = host_lid_set,
	.link_up = link_up,
	.link_down = link_down,
	.node_clear = node_clear,
	.node_power = node_power,
	.function_set = host_machine,
	.guid_set = host_alias,
	.smp_out = smp_out,
};

void plane_new(struct sim *s)
{
	struct plane *pl = mem_zalloc(sizeof(*pl));

	kernel_set_plane(s, pl, &net);
	rng_seed(&pl->error_rng, s->cfg.seed, 2);
	pl->nvl = iba_vl_count(s->cfg.vl_cap);
	pl->nslots = pl->nvl + 1;
	while (1u << pl->shift < pl->nslots)
		pl->shift++;
	pl->in = mem_lines((size_t)s->fab->nports << pl->shift, sizeof(*pl->in));
	pl->out = mem_lines((size_t)s->fab->nports << pl->shift, sizeof(*pl->out));
	pl->ports = mem_lines(s->fab->nports, sizeof(*pl->ports));
	pl->switches = mem_zarray(s->fab->nnodes, sizeof(*pl->switches));
	pl->host_of = mem_array(s->fab->nports, sizeof(*pl->host_of));
	for (port_id p = 0; p < s->fab->nports; p++) {
		const struct fab_port *fp = &s->fab->ports[p];

		port_reset(&s->main, p);
		channels_reset(&s->main, p);
		pl->host_of[p] = UINT32_MAX;
		if (s->fab->nodes[fp->node].type == IBA_NODE_CA && fp->num &&
		    fp->peer != FAB_NONE) {
			pl->host_of[p] = (uint32_t)pl->hosts.n;
			vec_push(&pl->hosts, p);
		}
	}
	pl->known = mem_zarray(pl->hosts.n, sizeof(*pl->known));
	pl->silent = mem_zarray(pl->hosts.n, sizeof(*pl->silent));
	pl->away = mem_zarray(pl->hosts.n, sizeof(*pl->away));
	pl->machine_guid = mem_zarray(pl->hosts.n, sizeof(*pl->machine_guid));
	pl->nports_hosts = (uint32_t)pl->hosts.n;
	for (node_id n = 0; n < s->fab->nnodes; n++)
		pl->switches[n] = (struct plane_switch){CHAN_NONE, CHAN_NONE, CHAN_NONE, CHAN_NONE,
							CHAN_NONE};
	plane_own_init(&s->main.own, 0, TIME_NEVER);
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
	free(pl->silent);
	free(pl->away);
	free(pl->machine_guid);
	free(pl->member_of);
	vec_free(&pl->members);
	vec_free(&pl->pkts);
	vec_free(&pl->cells);
	vec_free(&pl->hosts);
	map64_free(&pl->machines);
	traffic_free(pl->traffic);
	free(pl->next);
	free(pl->allowed);
	free(pl->copies_left);
	vec_free(&s->main.own.lineage);
	free(pl);
}

/* ---- queries ---- */

uint32_t sim_host_count(const struct sim *s)
{
	return s->plane ? s->plane->nports_hosts : 0;
}

void sim_watch_discards(struct sim *s, struct sim_discard_watch w)
{
	s->plane->discards = w;
}

void sim_watch_deliveries(struct sim *s, struct sim_delivery_watch w)
{
	s->plane->deliveries = w;
}

void sim_tap(struct sim *s, struct sim_tap tap)
{
	s->plane->tap = tap;
}

void sim_window(struct sim *s, time_ps start, time_ps end)
{
	struct sim_plane_stats *st = &s->main.own.stats;

	memset(&st->latency, 0, sizeof(st->latency));
	memset(&st->header_latency, 0, sizeof(st->header_latency));
	st->window_delivered = st->window_bytes = st->window_generated = 0;
	st->window_start = start;
	st->window_end = end;
	if (s->plane->detail)
		detail_window_now(s);
}

void sim_detail_start(struct sim *s)
{
	if (!s->plane->detail)
		s->plane->detail = detail_new(s);
}
