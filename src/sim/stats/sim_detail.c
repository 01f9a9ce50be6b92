/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics by host, node, link and lane. State: struct plane_detail, allocated on request; the
 * plane reports every change through the detail_*() calls. Way in: detail_new(). Does not change
 * the simulation.
 *
 * Means over time are sums of value times duration: each lane and port keeps its values with the
 * time they were set, and adds them up when one of them changes or is read.
 */
#include "sim/stats/sim_detail.h"
#include "sim/plane/plane_priv.h"

typedef unsigned __int128 u128;

struct lane {
	time_ps since;
	/* as they have been since then */
	uint16_t in_used, credits;
	bool blocked;
	uint32_t queue;
	/* so far */
	uint64_t packets, bytes;
	time_ps no_credit, window_no_credit;
	u128 in_area, credit_area, queue_area; /* in the window */
	uint16_t in_max;
	uint32_t queue_max;
};

struct wire {
	time_ps since;
	bool busy;
	uint32_t queued;
	bool smp; /* what it sends is an SMP, on VL15 */
	time_ps busy_ps, wait_ps, window_busy, window_wait, window_smp;
	u128 queue_area; /* in the window */
	uint32_t queue_max;
};

struct plane_detail {
	struct lane *lanes; /* by channel */
	struct wire *wires; /* by port */
	struct sim_host_detail *hosts;
	uint64_t (*discards)[SIM_NDISCARDS]; /* by port */
	struct hist latency, header;	     /* since they were last read */
};

/* ---- life ---- */

static uint16_t credits_of(const struct plane *pl, uint32_t chan)
{
	const struct out_chan *o = &pl->out[chan];
	unsigned left = (o->fccl - o->fctbs) & 0xfff;

	return (uint16_t)(left <= 2048 ? left : 0);
}

static void lane_read(const struct plane *pl, struct lane *l, uint32_t chan)
{
	bool data = !slot_is_15(pl, chan_slot(pl, chan));

	l->in_used = pl->in[chan].used;
	l->credits = data ? credits_of(pl, chan) : 0;
	l->blocked = data && pl->out[chan].head != CELL_NONE && !link_has_credit(pl, chan);
}

struct plane_detail *detail_new(struct sim *s)
{
	const struct plane *pl = s->plane;
	struct plane_detail *d = mem_zalloc(sizeof(*d));

	d->lanes = mem_zarray((size_t)s->fab->nports << pl->shift, sizeof(*d->lanes));
	d->wires = mem_zarray(s->fab->nports, sizeof(*d->wires));
	d->hosts = mem_zarray(pl->hosts.n, sizeof(*d->hosts));
	d->discards = mem_zarray(s->fab->nports, sizeof(*d->discards));
	for (uint32_t h = 0; h < pl->hosts.n; h++)
		d->hosts[h].port = pl->hosts.at[h];
	for (port_id p = 0; p < s->fab->nports; p++) {
		d->wires[p] = (struct wire){.since = s->main.now, .busy = pl->ports[p].tx_busy};
		for (unsigned slot = 0; slot < pl->nslots; slot++) {
			struct lane *l = &d->lanes[chan_of(pl, p, slot)];

			for (uint32_t c = pl->out[chan_of(pl, p, slot)].head; c != CELL_NONE;
			     c = pl->cells.at[c].next)
				l->queue++;
			d->wires[p].queued += l->queue;
			l->since = s->main.now;
			lane_read(pl, l, chan_of(pl, p, slot));
		}
	}
	return d;
}

void detail_free(struct plane *pl)
{
	struct plane_detail *d = pl->detail;

	if (!d)
		return;
	for (uint32_t h = 0; h < pl->hosts.n; h++) {
		hist_small_clear(&d->hosts[h].latency);
		hist_small_clear(&d->hosts[h].header);
	}
	free(d->lanes);
	free(d->wires);
	free(d->hosts);
	free(d->discards);
	free(d);
}

/* A new window: resets what was counted in the last one. */
void detail_window_now(struct sim *s)
{
	struct plane_detail *d = s->plane->detail;

	for (uint32_t h = 0; h < s->plane->hosts.n; h++) {
		struct sim_host_detail *x = &d->hosts[h];

		hist_small_clear(&x->latency);
		hist_small_clear(&x->header);
		x->window_generated = x->window_delivered = x->window_bytes = 0;
	}
	for (size_t i = 0; i < (size_t)s->fab->nports << s->plane->shift; i++) {
		struct lane *l = &d->lanes[i];

		l->window_no_credit = 0;
		l->in_area = l->credit_area = l->queue_area = 0;
		l->in_max = 0;
		l->queue_max = 0;
	}
	for (port_id p = 0; p < s->fab->nports; p++) {
		d->wires[p].window_busy = d->wires[p].window_wait = d->wires[p].window_smp = 0;
		d->wires[p].queue_area = d->wires[p].queue_max = 0;
	}
}

/* ---- time ---- */

/* The part of the time since then that is in the window. */
static time_ps in_window(const struct sim *s, time_ps since)
{
	const struct sim_plane_stats *st = &s->main.own.stats;
	time_ps from = MAX(since, st->window_start), to = MIN(s->main.now, st->window_end);

	return to > from ? to - from : 0;
}

static bool window_open(const struct sim *s)
{
	return s->main.now >= s->main.own.stats.window_start &&
	       s->main.now < s->main.own.stats.window_end;
}

static void lane_upto_now(const struct sim *s, struct lane *l)
{
	time_ps span = in_window(s, l->since);

	l->in_area += (u128)l->in_used * span;
	l->credit_area += (u128)l->credits * span;
	l->queue_area += (u128)l->queue * span;
	if (span) {
		l->in_max = MAX(l->in_max, l->in_used);
		l->queue_max = MAX(l->queue_max, l->queue);
	}
	if (l->blocked) {
		l->no_credit += s->main.now - l->since;
		l->window_no_credit += span;
	}
	l->since = s->main.now;
}

static void wire_upto_now(const struct sim *s, struct wire *w)
{
	time_ps span = in_window(s, w->since), all = s->main.now - w->since;

	if (w->busy) {
		w->busy_ps += all;
		w->window_busy += span;
		w->window_smp += w->smp ? span : 0;
	} else if (w->queued) {
		w->wait_ps += all;
		w->window_wait += span;
	}
	w->queue_area += (u128)w->queued * span;
	if (span)
		w->queue_max = MAX(w->queue_max, w->queued);
	w->since = s->main.now;
}

/* ---- reports of the plane ---- */

/* Buffer, credits or head of the queue have changed. */
void detail_lane_now(struct sim *s, uint32_t chan)
{
	struct lane *l = &s->plane->detail->lanes[chan];

	lane_upto_now(s, l);
	lane_read(s->plane, l, chan);
}

void detail_link_now(struct sim *s, port_id port)
{
	struct wire *w = &s->plane->detail->wires[port];

	wire_upto_now(s, w);
	w->smp &= w->busy; /* detail_sent_now() sets it for the next packet */
	w->busy = s->plane->ports[port].tx_busy;
}

/* One packet more in the output queue, or one less. */
void detail_queue_now(struct sim *s, uint32_t chan, int change)
{
	struct plane_detail *d = s->plane->detail;
	port_id port = chan_port(s->plane, chan);

	detail_lane_now(s, chan);
	detail_link_now(s, port);
	d->lanes[chan].queue += (uint32_t)change;
	d->wires[port].queued += (uint32_t)change;
}

void detail_sent_now(struct sim *s, uint32_t chan, const struct dpkt *p)
{
	struct lane *l = &s->plane->detail->lanes[chan];

	l->packets++;
	l->bytes += p->bytes;
	detail_lane_now(s, chan);
	detail_link_now(s, chan_port(s->plane, chan));
	s->plane->detail->wires[chan_port(s->plane, chan)].smp =
		slot_is_15(s->plane, chan_slot(s->plane, chan));
}

void detail_cleared_now(struct sim *s, port_id port)
{
	struct plane_detail *d = s->plane->detail;

	for (unsigned slot = 0; slot < s->plane->nslots; slot++) {
		detail_lane_now(s, chan_of(s->plane, port, slot));
		d->lanes[chan_of(s->plane, port, slot)].queue = 0;
	}
	detail_link_now(s, port);
	d->wires[port].queued = 0;
}

void detail_made_now(struct sim *s, uint32_t host)
{
	struct sim_host_detail *h = &s->plane->detail->hosts[host];

	h->generated++;
	h->window_generated += window_open(s);
}

void detail_header_now(struct sim *s, port_id port, const struct dpkt *p)
{
	struct plane_detail *d = s->plane->detail;
	uint32_t host = s->plane->host_of[port];

	hist_add(&d->header, s->main.now - p->born);
	if (host != UINT32_MAX && window_open(s))
		hist_small_add(&d->hosts[host].header, s->main.now - p->born);
}

void detail_delivered_now(struct sim *s, port_id port, const struct dpkt *p)
{
	struct plane_detail *d = s->plane->detail;
	uint32_t host = s->plane->host_of[port];
	struct sim_host_detail *h;

	hist_add(&d->latency, s->main.now - p->born);
	if (host == UINT32_MAX)
		return; /* a port that had no cable at the start is no host of the generator
			 */
	h = &d->hosts[host];
	h->delivered++;
	h->latency_sum += s->main.now - p->born;
	if (!window_open(s))
		return;
	h->window_delivered++;
	h->window_bytes += p->bytes;
	hist_small_add(&h->latency, s->main.now - p->born);
}

void detail_discarded_now(struct sim *s, port_id port, const struct dpkt *p, enum sim_discard why)
{
	s->plane->detail->discards[port][why]++;
	s->plane->detail->hosts[p->src].lost++;
}

/* ---- queries ---- */

static uint32_t share(u128 part, u128 whole)
{
	return whole ? (uint32_t)MIN(part * 1000000 / whole, (u128)1000000) : 0;
}

unsigned sim_vl_count(const struct sim *s)
{
	return s->plane->nvl;
}

const struct sim_host_detail *sim_host_detail(const struct sim *s, uint32_t host)
{
	return &s->plane->detail->hosts[host];
}

const uint64_t *sim_port_discards(const struct sim *s, port_id p)
{
	return s->plane->detail->discards[p];
}

void sim_port_detail(const struct sim *s, port_id p, struct sim_port_detail *d)
{
	struct wire w = s->plane->detail->wires[p];
	time_ps passed = in_window(s, 0);

	wire_upto_now(s, &w);
	*d = (struct sim_port_detail){.busy = w.busy_ps,
				      .wait = w.wait_ps,
				      .use = share(w.window_busy, passed),
				      .wait_share = share(w.window_wait, passed),
				      .smp_share = share(w.window_smp, passed),
				      .queue_milli =
					      passed ? (uint64_t)(w.queue_area * 1000 / passed) : 0,
				      .queue_max = w.queue_max};
}

void sim_lane_detail(const struct sim *s, port_id p, unsigned vl, struct sim_lane_detail *d)
{
	const struct plane *pl = s->plane;
	struct lane l = pl->detail->lanes[chan_of(pl, p, vl)];
	port_id far = s->ports[p].peer;
	u128 passed = in_window(s, 0);
	unsigned cap = pl->in[chan_of(pl, p, vl)].cap;
	unsigned far_cap = far == FAB_NONE ? 0 : pl->in[chan_of(pl, far, vl)].cap;

	lane_upto_now(s, &l);
	*d = (struct sim_lane_detail){.packets = l.packets,
				      .bytes = l.bytes,
				      .no_credit = l.no_credit,
				      .no_credit_share = share(l.window_no_credit, passed),
				      .credits = share(l.credit_area, passed * far_cap),
				      .buffer = share(l.in_area, passed * cap),
				      .buffer_max = share(l.in_max, cap),
				      .queue_milli =
					      passed ? (uint64_t)(l.queue_area * 1000 / passed) : 0,
				      .queue_max = l.queue_max};
}

uint32_t sim_lane_buffer(const struct sim *s, port_id p, unsigned vl)
{
	const struct in_chan *in = &s->plane->in[chan_of(s->plane, p, vl)];

	return share(in->used, in->cap);
}

uint32_t sim_lane_queue(const struct sim *s, port_id p, unsigned vl)
{
	return s->plane->detail->lanes[chan_of(s->plane, p, vl)].queue;
}

void sim_detail_latency(struct sim *s, struct hist *packet, struct hist *header)
{
	struct plane_detail *d = s->plane->detail;

	*packet = d->latency;
	*header = d->header;
	memset(&d->latency, 0, sizeof(d->latency));
	memset(&d->header, 0, sizeof(d->header));
}
