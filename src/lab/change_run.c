/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An experiment with one change, in the order of the thesis's experiments (4.4). State: struct run, for the
 * time of the experiment. Way in: lab_change_run(). Does not choose the change: the caller does (change.h).
 */
#include "lab/change_run.h"
#include "lab/device_tables.h"
#include "lab/lab_priv.h"
#include "lab/load.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

struct run {
	struct lab *l;
	const struct lab_change_plan *p;
	struct lab_change_result *r;
	VEC(uint16_t) lids; /* by port, before the change */
	port_id *host_by_lid;
	uint32_t *part; /* by node: nodes with the same number are physically connected */
	struct lab_device_tables tables; /* before the change */
	struct sim_plane_stats *before;
	time_ps gap;	      /* between two sweeps */
	uint64_t futile_late; /* of the futile ones, those after provisional tables served */
	uint64_t to_port0;    /* packets that tables sent to a switch itself */
	struct lab_groups *groups;
};

/*
 * All discards but of packets that tables delivered to the wrong node, because its LID was another one before: the
 * thesis's nodes take any packet. And in the thesis discards end when new tables serve, provisional or not (6.3.2): its
 * hosts no longer send to hosts that are gone.
 */
static uint64_t discarded_now(const struct run *x)
{
	const struct sim_plane_stats *st = sim_plane_stats(x->l->sim);
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		n += i == SIM_DISCARD_WRONG_HOST ? 0 : st->discarded[i] - x->before->discarded[i];
	return n - x->to_port0 - x->futile_late;
}

/* The thesis's simulations end with the assimilation, and so do their statistics. */
static void on_round(void *ctx)
{
	struct run *x = ctx;

	if (x->before)
		x->r->thesis.discarded = discarded_now(x);
}

static int start_traffic(struct run *x, struct err *e)
{
	struct traffic_config t = *x->p->traffic;

	if (x->groups)
		lab_groups_start(x->groups);

	t.start_ps = x->r->traffic_at = sim_now(x->l->sim);
	t.stop_ps = TIME_NEVER / 2;
	t.burst_gap_ps = lab_burst_gap(x->l, &t);
	t.known_only = true;
	t.machines = lab_load_hosts(x->l->fab) < sim_host_count(x->l->sim);
	t.silent_new = x->p->silent_new;
	t.late_lids = x->l->cfg.sm.reassign;
	if (x->p->period)
		lab_series_start(&x->r->series, x->l,
				 x->p->period == TIME_NEVER ? MAX(x->gap / 200, 10 * PS_PER_US)
							    : x->p->period,
				 false);
	return sim_traffic(x->l->sim, &t, e);
}

/* Hosts may get LIDs during the run: search for one that is unknown. */
static port_id host_of(struct run *x, uint16_t lid)
{
	const struct fab *f = x->l->fab;

	if (lid > IBA_LID_MAX_UNICAST)
		return FAB_NONE;
	for (port_id p = 0; x->host_by_lid[lid] == FAB_NONE && p < f->nports; p++)
		if (f->ports[p].num && !fab_is_switch(f, f->ports[p].node) &&
		    sim_port_info(x->l->sim, p)->lid == lid)
			x->host_by_lid[lid] = p;
	return x->host_by_lid[lid];
}

/* Its tables lead to the switch itself, or the switch has this LID now. */
static bool is_for_switch(const struct run *x, node_id n, uint16_t dlid)
{
	const struct fab *f = x->l->fab;

	return fab_is_switch(f, n) && (!sim_lft(x->l->sim, n, dlid) ||
				       sim_port_info(x->l->sim, fab_port_id(f, n, 0))->lid == dlid);
}

static void on_discard(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid,
		       uint16_t dlid)
{
	struct run *x = ctx;
	port_id to;

	(void)port;
	(void)slid;
	if (dlid >= IBA_LID_MCAST_FIRST)
		return; /* copies are counted by group */
	to = host_of(x, dlid);
	x->to_port0 += why == SIM_DISCARD_UNMAPPABLE && is_for_switch(x, n, dlid);
	/* packets that the change itself destroys count as deliverable */
	if (to == FAB_NONE || (x->part && x->part[n] != x->part[x->l->fab->ports[to].node])) {
		x->r->futile++;
		x->futile_late += x->l->lead->st.staged;
	}
}

static void mark_part(struct run *x, node_id from, uint32_t number, node_id *queue)
{
	const struct fab *f = x->l->fab;
	uint32_t head = 0, tail = 0;

	x->part[from] = number;
	queue[tail++] = from;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id q = sim_port_peer(x->l->sim, fab_port_id(f, n, p));
			node_id m = q == FAB_NONE ? FAB_NONE : f->ports[q].node;

			if (m != FAB_NONE && !x->part[m] && sim_node_on(x->l->sim, m)) {
				x->part[m] = number;
				queue[tail++] = m;
			}
		}
	}
}

/* The parts that are physically connected after the change; each node that is off is a part alone. */
static void find_parts(struct run *x)
{
	const struct fab *f = x->l->fab;
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));

	x->part = mem_zarray(f->nnodes, sizeof(*x->part));
	for (node_id n = 0; n < f->nnodes; n++)
		if (!x->part[n] && sim_node_on(x->l->sim, n))
			mark_part(x, n, n + 1, queue);
	for (node_id n = 0; n < f->nnodes; n++)
		x->part[n] = x->part[n] ? x->part[n] : f->nnodes + 1 + n;
	free(queue);
}

static void record_before(struct run *x)
{
	const struct sim_plane_stats *st = sim_plane_stats(x->l->sim);

	for (port_id p = 0; p < x->l->fab->nports; p++)
		vec_push(&x->lids, sim_port_info(x->l->sim, p)->lid);
	lab_device_tables_read(x->l, &x->tables);
	if (!x->p->traffic)
		return;
	x->before = mem_alloc(sizeof(*x->before));
	*x->before = *st;
	x->r->in_flight_before = st->in_flight;
	x->host_by_lid = mem_array(IBA_LID_MAX_UNICAST + 1u, sizeof(*x->host_by_lid));
	memset(x->host_by_lid, 0xff, (IBA_LID_MAX_UNICAST + 1u) * sizeof(*x->host_by_lid));
	for (port_id p = 0; p < x->l->fab->nports; p++)
		if (x->lids.at[p])
			host_of(x, x->lids.at[p]);
	sim_watch_discards(x->l->sim, (struct sim_discard_watch){on_discard, x});
	lab_watch_start(&x->r->watch, x->l);
}

/* Groups are in the tables before the manager's sweeps are timed. */
static bool groups_up(struct run *x)
{
	if (!x->p->groups || !x->p->traffic)
		return true;
	x->groups = lab_groups_new(x->l, x->p->groups);
	return lab_groups_settle(x->groups, x->p->limit);
}

/* The manager estimates the time of the first sweep; the next two show the real period. */
static bool run_to_rest(struct run *x)
{
	time_ps first;

	if (!lab_run_settled(x->l, 0, x->p->limit) || !groups_up(x))
		return false;
	first = x->l->lead->st.last_sweep_start;
	if (!lab_run_settled(x->l, first + 1, x->p->limit))
		return false;
	x->gap = x->l->lead->st.last_sweep_start - first;
	x->r->sweep = x->l->lead->st.last_sweep_time;
	return true;
}

/* The moment of the change: as given, or half-way between two sweeps, after the quiet time and the warm-up. */
static time_ps change_time(const struct run *x, time_ps warmup)
{
	time_ps now = sim_now(x->l->sim), at = x->l->lead->st.last_sweep_start + x->gap / 2;

	if (x->p->change_at)
		return x->p->change_at;
	at = MAX(at, x->p->traffic_at);
	while (at < now + x->p->quiet + warmup)
		at += x->gap;
	return at;
}

static int up_to_change(struct run *x, struct err *e)
{
	time_ps warmup = x->p->traffic ? x->p->warmup : 0, at = change_time(x, warmup);
	time_ps from = x->p->traffic_at ? x->p->traffic_at : at - MIN(warmup, at);
	int rc = 0;

	if (at < sim_now(x->l->sim) || (x->p->traffic && from < sim_now(x->l->sim)))
		return err_set(
			e, -EINVAL,
			"the subnet was at rest after %llu ms: expected traffic and change later",
			(unsigned long long)(sim_now(x->l->sim) / PS_PER_MS));
	if (x->p->traffic) {
		lab_run_to(x->l, MIN(from, at));
		rc = start_traffic(x, e);
	}
	if (!rc)
		lab_run_to(x->l, at);
	return rc;
}

static void count_packets(struct run *x)
{
	const struct sim_plane_stats *st = sim_plane_stats(x->l->sim);
	struct lab_change_result *r = x->r;

	r->sent = st->generated - x->before->generated;
	r->received = st->delivered - x->before->delivered;
	r->in_flight = st->in_flight;
	r->copies = st->copies - x->before->copies;
	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		r->discarded[i] = st->discarded[i] - x->before->discarded[i];
		r->lost += r->discarded[i];
	}
	r->conserved =
		r->in_flight_before + r->sent + r->copies == r->received + r->lost + r->in_flight;
}

static void fill_tables(struct run *x)
{
	const struct rt_tables *t = x->l->lead->sm ? sm_tables(x->l->lead->sm) : NULL;

	x->r->switches = t ? t->nswitches : 0;
	x->r->lids = x->l->lead->st.lids;
	x->r->table_room = t ? MAX(t->stride, x->l->lead->cfg.lft_entries) : 0;
}

/* Before the tail: a trap that is repeated late may start another round there. */
static void fill_result(struct run *x)
{
	struct lab_change_result *r = x->r;

	r->settled_at = sim_now(x->l->sim);
	r->sum = *lab_sum(x->l);
	lab_thesis_terms(&r->sum, &r->thesis);
	fill_tables(x);
	if (x->tables.port)
		r->entries_changed = lab_device_tables_changed(x->l, &x->tables);
	for (port_id p = 0; p < x->lids.n; p++) {
		uint16_t now = sim_port_info(x->l->sim, p)->lid;

		r->lids_moved += x->lids.at[p] && now && now != x->lids.at[p];
	}
	lab_judge(x->l, &r->v);
}

/* All else is measured already. */
static void groups_end(struct run *x)
{
	if (!x->groups)
		return;
	lab_groups_stop(x->groups);
	lab_groups_drain(x->groups);
	lab_groups_result(x->groups, x->r->changed_at, x->part, &x->r->multicast);
	lab_groups_free(x->groups);
}

static void finish(struct run *x)
{
	struct lab_change_result *r = x->r;

	r->ended_at = sim_now(x->l->sim);
	r->hash = sim_hash(x->l->sim);
	r->events = sim_events(x->l->sim);
	lab_on_round(x->l, NULL, NULL);
	if (x->before)
		count_packets(x);
	lab_series_stop(&r->series);
	lab_watch_stop(&r->watch);
	if (x->before)
		sim_watch_discards(x->l->sim, (struct sim_discard_watch){0});
	groups_end(x);
	vec_free(&x->lids);
	lab_device_tables_free(&x->tables);
	free(x->before);
	free(x->host_by_lid);
	free(x->part);
}

static int run_all(struct run *x, struct err *e)
{
	struct lab *l = x->l;
	int rc;

	lab_power_on(l, lab_change_on(x->p->change));
	if (!run_to_rest(x)) {
		fill_result(x);
		return 0;
	}
	x->r->up = *lab_sum(l);
	rc = up_to_change(x, e);
	if (rc)
		return rc;
	record_before(x);
	lab_sum_reset(l);
	lab_on_round(l, on_round, x);
	x->r->changed_at = sim_now(l->sim);
	if (x->p->about_to)
		x->p->about_to(x->p->ctx);
	lab_change_apply(x->p->change, l->sim);
	find_parts(x);
	x->r->settled = lab_run_settled(l, x->r->changed_at, x->r->changed_at + x->p->limit);
	fill_result(x);
	if (x->p->traffic)
		lab_run_to(x->l, x->r->settled_at + x->p->tail);
	return 0;
}

int lab_change_run(struct lab *l, const struct lab_change_plan *p, struct lab_change_result *r,
		   struct err *e)
{
	struct run x = {.l = l, .p = p, .r = r};
	int rc;

	memset(r, 0, sizeof(*r));
	rc = run_all(&x, e);
	finish(&x);
	return rc;
}

void lab_change_result_free(struct lab_change_result *r)
{
	rt_report_free(&r->v.report);
	lab_watch_free(&r->watch);
	lab_series_free(&r->series);
}
