/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small fabric with a data plane: built by hand, its ports and tables written without a manager, packets from
 * a trace. After each event packets, buffers and credits are checked. State: struct pworld. Does not know the
 * expected results: tests do.
 */
#ifndef WEFT_TEST_PLANE_FIXTURE_H
#define WEFT_TEST_PLANE_FIXTURE_H

#include "sim_fixture.h"

#include "sim/plane/plane_priv.h" /* compares buffers with credits after each event; sets port states without SMPs */

enum {
	PW_LID0 = 1,   /* host h has LID PW_LID0 + h */
	PW_BYTES = 26, /* header bytes of a packet on the wire */
};

struct pworld {
	struct fab *fab;
	struct sim *sim;
	struct plane *pl;
	traffic_trace trace;
	bool unchecked; /* check only counters after each event, for long runs */
	void (*after_step)(struct pworld *w);
	void *ctx;
};

/* ---- fabrics ---- */

static inline void draw_rate(struct fab_builder *b, node_id n, unsigned port, unsigned width,
			     unsigned speed)
{
	fab_builder_port(b, n, port)->width = (uint8_t)width;
	fab_builder_port(b, n, port)->speed = (uint8_t)speed;
}

static inline void draw_rated_link(struct fab_builder *b, node_id x, unsigned px, node_id y,
				   unsigned py, unsigned width, unsigned speed)
{
	draw_link(b, x, px, y, py);
	draw_rate(b, x, px, width, speed);
	draw_rate(b, y, py, width, speed);
}

/* A switch with n hosts, host i on port i + 1; node 0 is the switch. */
static inline struct fab *draw_star(unsigned n, unsigned width, unsigned speed)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = draw_switch(b, n);

	for (unsigned i = 0; i < n; i++)
		draw_rated_link(b, sw, i + 1, draw_host(b, 1), 1, width, speed);
	return fab_build(b);
}

/* Two hosts on one cable. */
static inline struct fab *draw_pair(unsigned width, unsigned speed)
{
	struct fab_builder *b = fab_builder_new();
	node_id x = draw_host(b, 1), y = draw_host(b, 1);

	draw_rated_link(b, x, 1, y, 1, width, speed);
	return fab_build(b);
}

/* n switches in a ring with `hosts` hosts each: ports 1 clockwise, 2 back, hosts from 3. Nodes 0 to
 * n - 1 are the switches, then the hosts of switch 0, of switch 1, ... */
static inline struct fab *draw_ring(unsigned n, unsigned hosts, unsigned width, unsigned speed)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		draw_switch(b, 2 + hosts);
	for (unsigned i = 0; i < n; i++)
		draw_rated_link(b, i, 1, (i + 1) % n, 2, width, speed);
	for (unsigned i = 0; i < n; i++)
		for (unsigned h = 0; h < hosts; h++)
			draw_rated_link(b, i, 3 + h, draw_host(b, 1), 1, width, speed);
	return fab_build(b);
}

/* ---- what a manager would set ---- */

static inline struct sim_port *pw_port(struct pworld *w, node_id n, unsigned num)
{
	return node_port(w->sim, n, num);
}

static inline port_id pw_id(const struct pworld *w, node_id n, unsigned num)
{
	return fab_port_id(w->fab, n, num);
}

static inline void pw_port_ready(struct pworld *w, port_id p)
{
	struct sim_port *sp = &w->sim->ports[p];

	sp->pi.oper_vls = w->sim->cfg.vl_cap;
	sp->pi.neighbor_mtu = w->sim->cfg.mtu_cap;
	if (w->pl->host_of[p] != UINT32_MAX)
		sp->pi.lid = (uint16_t)(PW_LID0 + w->pl->host_of[p]);
	if (sp->peer != FAB_NONE && sp->pi.state != IBA_PORT_DOWN)
		port_state_set(&w->sim->main, w->fab->ports[p].node, w->fab->ports[p].num,
			       IBA_PORT_ACTIVE);
}

static inline void pw_lft_set(struct pworld *w, node_id n, unsigned lid, unsigned port)
{
	struct sim_node *node = &w->sim->nodes[n];

	if (!node->lft) {
		node->lft_size = 64;
		node->lft = mem_array(node->lft_size, 1);
		memset(node->lft, IBA_PORT_NONE, node->lft_size);
		node->si.linear_top = (uint16_t)(node->lft_size - 1);
	}
	assert_true(lid < node->lft_size);
	node->lft[lid] = (uint8_t)port;
}

/* To every host by the lowest port on a shortest path. */
static inline void pw_lft_shortest(struct pworld *w, node_id n)
{
	uint32_t *dist = mem_array(w->fab->nnodes, sizeof(*dist));

	for (uint32_t h = 0; h < w->pl->hosts.n; h++) {
		unsigned best = IBA_PORT_NONE;

		fab_distances(w->fab, w->fab->ports[w->pl->hosts.at[h]].node, dist);
		for (unsigned p = w->fab->nodes[n].nports; p; p--) {
			port_id q = w->fab->ports[pw_id(w, n, p)].peer;

			if (q != FAB_NONE && dist[w->fab->ports[q].node] + 1 == dist[n])
				best = p;
		}
		pw_lft_set(w, n, PW_LID0 + h, best);
	}
	free(dist);
}

static inline void pw_node_ready(struct pworld *w, node_id n)
{
	for (unsigned p = 1; p <= w->fab->nodes[n].nports; p++)
		pw_port_ready(w, pw_id(w, n, p));
	if (fab_is_switch(w->fab, n))
		pw_lft_shortest(w, n);
}

static inline void pw_all_ready(struct pworld *w)
{
	for (node_id n = 0; n < w->fab->nnodes; n++)
		pw_node_ready(w, n);
}

/* Map an SL to this VL, from any port to any. */
static inline void pw_slvl_set(struct pworld *w, node_id n, unsigned sl, unsigned vl)
{
	unsigned width = w->fab->nodes[n].nports + 1u, size = width * width * 16;
	uint8_t *all = mem_array(size, 1);

	for (unsigned i = 0; i < size; i++)
		all[i] = i % 16 == sl ? (uint8_t)vl
				      : (uint8_t)sim_slvl(w->sim, n, i / 16 / width, i / 16 % width,
							  i % 16);
	free(w->sim->nodes[n].slvl);
	w->sim->nodes[n].slvl = all;
}

/* One entry of a VL arbitration table. */
static inline void pw_vlarb_set(struct pworld *w, port_id p, bool high, unsigned i, unsigned vl,
				unsigned weight)
{
	struct sim_port *sp = &w->sim->ports[p];

	if (!sp->vlarb)
		sp->vlarb = mem_zarray(4, sizeof(*sp->vlarb));
	sp->vlarb[(high ? 2 : 0) + i / 32].vl[i % 32] = (uint8_t)vl;
	sp->vlarb[(high ? 2 : 0) + i / 32].weight[i % 32] = (uint8_t)weight;
}

/* ---- open and close ---- */

static inline void pw_config(struct sim_config *c)
{
	sim_config_default(c);
	c->plane.on = true;
}

/* Takes ownership of the fabric. All ports are Active; tables have shortest paths. */
static inline void pw_open(struct pworld *w, struct fab *f, const struct sim_config *c)
{
	struct sim_config standard;

	if (!c)
		pw_config(&standard);
	memset(w, 0, sizeof(*w));
	w->fab = f;
	w->sim = sim_new(f, c ? c : &standard);
	w->pl = w->sim->plane;
	for (node_id n = 0; n < f->nnodes; n++)
		sim_node_power(w->sim, n, true);
	pw_all_ready(w);
}

static inline void pw_close(struct pworld *w)
{
	sim_free(w->sim);
	fab_free(w->fab);
	vec_free(&w->trace);
}

/* ---- checks ---- */

static inline uint64_t pw_discarded(const struct pworld *w)
{
	const struct sim_plane_stats *st = sim_plane_stats(w->sim);
	uint64_t sum = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		sum += st->discarded[i];
	return sum;
}

/* Counters add up, and the number in flight equals the number of heads of data packets. */
static inline void pw_check_packets(const struct pworld *w)
{
	const struct plane *pl = w->pl;
	const struct sim_plane_stats *st = sim_plane_stats(w->sim);
	bool *unused = mem_zarray(pl->cells.n + 1, sizeof(*unused));
	uint64_t heads = 0;

	assert_int_equal(st->generated + st->copies,
			 st->delivered + pw_discarded(w) + st->in_flight);
	for (uint32_t c = w->sim->main.own.cell_free; c != CELL_NONE; c = pl->cells.at[c].next)
		unused[c] = true;
	for (uint32_t c = 0; c < pl->cells.n; c++)
		heads += !unused[c] && !pl->cells.at[c].trail &&
			 pl->pkts.at[pl->cells.at[c].pkt].smp == PKT_NONE;
	free(unused);
	assert_int_equal(heads, st->in_flight);
}

static inline unsigned pw_list_blocks(const struct plane *pl, uint32_t cell)
{
	unsigned sum = 0;

	for (; cell != CELL_NONE; cell = pl->cells.at[cell].next)
		sum += pl->cells.at[cell].blocks;
	return sum;
}

/* In the crossbar, and not yet in the queue of the output. */
static inline unsigned pw_crossing_blocks(const struct pworld *w, port_id p, unsigned slot)
{
	const struct fab_node *fn = &w->fab->nodes[w->fab->ports[p].node];
	unsigned sum = 0;

	for (unsigned i = 0; i < (fn->nports + 1u) * w->pl->nslots; i++) {
		uint32_t c = chan_of(w->pl, fn->first_port + i / w->pl->nslots, i % w->pl->nslots);
		const struct in_chan *in = &w->pl->in[c];

		if (in->state == IN_CROSSING && in->out == w->fab->ports[p].num &&
		    in->out_slot == slot && !w->pl->cells.at[in->head].trail)
			sum += w->pl->cells.at[in->head].blocks;
	}
	return sum;
}

/* No buffer is overrun, and each count of bytes is right. */
static inline void pw_check_buffers(const struct pworld *w)
{
	const struct plane *pl = w->pl;

	for (port_id p = 0; p < w->fab->nports; p++)
		for (unsigned slot = 0; slot < pl->nslots && w->fab->ports[p].num; slot++) {
			const struct in_chan *in = &pl->in[chan_of(pl, p, slot)];
			const struct out_chan *out = &pl->out[chan_of(pl, p, slot)];
			const struct plane_port *port = &pl->ports[p];
			unsigned sending =
				port->tx_busy && port->tx_slot == slot ? port->tx_blocks : 0;

			assert_true(in->used <= in->cap);
			assert_int_equal(in->used, pw_list_blocks(pl, in->head));
			if (out->cap == UINT16_MAX)
				continue;
			assert_true(out->used <= out->cap);
			assert_int_equal(out->used, pw_list_blocks(pl, out->head) + sending +
							    pw_crossing_blocks(w, p, slot));
		}
	assert_int_equal(sim_plane_stats(w->sim)->discarded[SIM_DISCARD_BUFFER], 0);
}

/* Credits and packets on the wire never exceed the receiving buffer. True: no credit is missing.
 */
static inline bool pw_credits(const struct pworld *w, port_id p, unsigned slot, unsigned *sum)
{
	const struct plane *pl = w->pl;
	const struct out_chan *out = &pl->out[chan_of(pl, p, slot)];
	const struct in_chan *far = &pl->in[chan_of(pl, w->sim->ports[p].peer, slot)];

	*sum = ((unsigned)out->fccl - out->fctbs) & 0xfff; /* may be sent */
	*sum += ((unsigned)out->fctbs - far->abr) & 0xfff; /* on the wire */
	*sum += far->used;
	return *sum == far->cap;
}

static inline bool pw_link_is_up(const struct pworld *w, port_id p)
{
	return w->fab->ports[p].num && w->sim->ports[p].peer != FAB_NONE &&
	       w->sim->ports[p].pi.state != IBA_PORT_DOWN;
}

static inline void pw_check_credits(const struct pworld *w)
{
	unsigned sum;

	for (port_id p = 0; p < w->fab->nports; p++)
		for (unsigned slot = 0; slot < w->pl->nvl && pw_link_is_up(w, p); slot++) {
			pw_credits(w, p, slot, &sum);
			assert_true(sum <=
				    w->pl->in[chan_of(w->pl, w->sim->ports[p].peer, slot)].cap);
		}
}

/* At rest: buffers are empty and each sender has credit for the whole receiving buffer. */
static inline void pw_check_rest(const struct pworld *w)
{
	unsigned sum;

	assert_int_equal(sim_plane_stats(w->sim)->in_flight, 0);
	for (port_id p = 0; p < w->fab->nports; p++)
		for (unsigned slot = 0; slot < w->pl->nslots; slot++) {
			assert_int_equal(w->pl->in[chan_of(w->pl, p, slot)].used, 0);
			assert_int_equal(w->pl->out[chan_of(w->pl, p, slot)].used, 0);
			if (slot < w->pl->nvl && pw_link_is_up(w, p))
				assert_true(pw_credits(w, p, slot, &sum));
		}
}

/* ---- running ---- */

static inline bool pw_step(struct pworld *w)
{
	if (!sim_step(w->sim))
		return false;
	if (w->after_step)
		w->after_step(w);
	if (w->unchecked)
		return true;
	pw_check_packets(w);
	pw_check_buffers(w);
	pw_check_credits(w);
	return true;
}

static inline void pw_run(struct pworld *w, time_ps until)
{
	sim_call(w->sim, until, world_tick, NULL, 0);
	while (sim_next(w->sim) <= until)
		pw_step(w);
}

/* Run until all packets that can arrive have arrived, then check the network at rest. */
static inline void pw_drain(struct pworld *w, time_ps how_long)
{
	pw_run(w, sim_now(w->sim) + how_long);
	pw_check_rest(w);
}

/* ---- packets ---- */

static inline void pw_packet(struct pworld *w, time_ps when, uint32_t src, uint32_t dst,
			     unsigned payload, unsigned sl)
{
	vec_push(&w->trace, (struct traffic_trace_item){.when_ps = when,
							.src = src,
							.dst = dst,
							.bytes = (uint16_t)payload,
							.sl = (uint8_t)sl});
}

/* n packets from `when` on, one every `gap`. */
static inline void pw_stream(struct pworld *w, time_ps when, time_ps gap, unsigned n, uint32_t src,
			     uint32_t dst, unsigned payload, unsigned sl)
{
	for (unsigned i = 0; i < n; i++)
		pw_packet(w, when + i * gap, src, dst, payload, sl);
}

static inline int pw_by_time(const void *a, const void *b)
{
	const struct traffic_trace_item *x = a, *y = b;

	return (x->when_ps > y->when_ps) - (x->when_ps < y->when_ps);
}

/* Send all packets added so far. Their order at the same time does not matter to tests.
 */
static inline void pw_start(struct pworld *w)
{
	struct traffic_config c = {
		.pattern = TRAFFIC_TRACE, .trace = &w->trace, .stop_ps = TIME_NEVER};
	struct err e = {{0}};

	qsort(w->trace.at, w->trace.n, sizeof(*w->trace.at), pw_by_time);
	if (sim_traffic(w->sim, &c, &e))
		fail_msg("%s", e.text);
}

static inline uint64_t pw_lost(const struct pworld *w, enum sim_discard why)
{
	return sim_plane_stats(w->sim)->discarded[why];
}

static inline uint64_t pw_delivered(const struct pworld *w)
{
	return sim_plane_stats(w->sim)->delivered;
}

/* Expect this many delivered, this many discarded for this reason, none for another. */
static inline void pw_expect(const struct pworld *w, uint64_t delivered, enum sim_discard why,
			     uint64_t discarded)
{
	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		uint64_t expected = i == why ? discarded : 0;

		if (pw_lost(w, i) != expected)
			fail_msg("%s: %llu discarded, expected %llu", sim_discard_name(i),
				 (unsigned long long)pw_lost(w, i), (unsigned long long)expected);
	}
	assert_int_equal(pw_delivered(w), delivered);
}

#endif
