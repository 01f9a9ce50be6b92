/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loss of a node or link would cost: the experiment of `weft sim change`, with its defaults. State: struct
 * trial, for one command. Way in: the command whatif. Blocks until the experiment ends, and leaves the run alone. Says from
 * time to time how far it is: a process that must not wait runs it in a copy of itself.
 */
#include "base/rng.h"
#include "lab/change.h"
#include "lab/change_run.h"
#include "lab/load.h"
#include "window/window_priv.h"

/* Per cent of a host's link, if the command does not say; in large fabrics less, so that an answer comes soon: about so many
 * packets in the time that a change takes, and none above so many hosts. */
enum { LOAD = 10, PACKETS = 400000, HOSTS = 512 };
enum { JOB_MAX = 40 };
/* Of a bring-up, measured: trees and tori from 128 to 11,664 hosts. */
enum { EVENTS_OF_SMP = 4, EVENTS_OF_HOP = 3, EVENTS_OF_PACKET_HOP = 9 };
#define CHANGE_TIME (400 * PS_PER_US) /* for each switch */

struct whatif {
	struct fab *before, *after;
	struct lab_change *change;
	struct lab_config lab;
	struct traffic_config traffic;
	uint64_t load;	 /* per cent; 0: no traffic, unless there is a rate */
	uint64_t rate;	 /* packets per second of each host instead; 0: as load says */
	bool large;	 /* too many hosts for packets within seconds */
	char target[64]; /* as options of weft sim change name it */
	/* progress */
	struct window *w;
	struct lab *running;
	const char *job;   /* as the command names it; NULL: nothing is told */
	uint64_t expected; /* events, a guess */
	bool fails;	   /* the change has happened */
};

/* ---- the fabric before and after ---- */

static int without_node(struct window *w, json_t *args, struct whatif *x, struct err *e)
{
	bool *gone;
	node_id n;

	if (window_arg_node(w, args, "kill", &n, e))
		return -EINVAL;
	snprintf(x->target, sizeof(x->target), "--kill 0x%016llx",
		 (unsigned long long)w->fabric.fab->nodes[n].guid);
	gone = mem_zarray(x->before->nnodes, sizeof(*gone));
	gone[n] = true;
	x->after = lab_without(x->before, gone);
	free(gone);
	return 0;
}

static int without_link(struct window *w, json_t *args, struct whatif *x, struct err *e)
{
	const struct fab *f = w->fabric.fab;
	port_id p;

	if (window_arg_port(w, args, "unlink", &p, e))
		return -EINVAL;
	p = fab_port_id(x->before, f->ports[p].node, f->ports[p].num);
	if (x->before->ports[p].peer == FAB_NONE)
		return err_set(e, -EINVAL, "unlink: this port has no link");
	snprintf(x->target, sizeof(x->target), "--unlink '0x%016llx[%u]'",
		 (unsigned long long)f->nodes[f->ports[p].node].guid, f->ports[p].num);
	x->after = lab_without_link(x->before, p);
	return 0;
}

/* Nodes of the wire view have the numbers of the compact one; functions follow. */
static int make_change(struct window *w, json_t *args, struct whatif *x, struct err *e)
{
	if (window_arg_has(args, "kill") == window_arg_has(args, "unlink"))
		return err_set(e, -EINVAL, "expected kill or unlink");
	x->before = fab_devices(w->fabric.fab, e);
	if (!x->before)
		return -EINVAL;
	if (window_arg_has(args, "kill") ? without_node(w, args, x, e)
					 : without_link(w, args, x, e))
		return -EINVAL;
	x->change = lab_change_new(x->before, x->after, e);
	return x->change ? 0 : -EINVAL;
}

/* ---- the experiment ---- */

static uint64_t count_senders(const struct fab *f)
{
	uint64_t n = 0;

	for (node_id i = 0; i < f->nnodes; i++)
		n += !fab_is_switch(f, i);
	return n;
}

/* Per second of each host. */
static uint64_t bounded_rate(const struct whatif *x)
{
	uint64_t hosts = MAX(count_senders(x->before), 1u);
	uint64_t ms = MAX(x->before->nswitches * CHANGE_TIME / PS_PER_MS, 1u);

	return MAX(PACKETS * 1000ull / ms / hosts, 1u);
}

static int make_traffic(json_t *args, struct whatif *x, struct err *e)
{
	bool given = window_arg_has(args, "load");
	uint64_t bps = lab_host_bps(x->before);

	x->load = LOAD;
	if (given && window_arg_u64(args, "load", 100, &x->load, e))
		return -EINVAL;
	if (!bps || !x->load) {
		x->load = 0;
		return 0;
	}
	if (!given && count_senders(x->before) > HOSTS) {
		x->large = true;
		x->load = 0;
		return 0;
	}
	lab_load_network(&x->lab.sim);
	lab_load_traffic(&x->traffic, x->lab.sim.seed);
	x->traffic.interval_ps =
		lab_load_share_interval(bps, x->traffic.payload, prob_q32((double)x->load / 100));
	if (given || x->traffic.interval_ps >= lab_load_interval(bounded_rate(x)))
		return 0;
	x->rate = bounded_rate(x);
	x->traffic.interval_ps = lab_load_interval(x->rate);
	return 0;
}

/* One manager: the first of the setup. */
static int make_lab(struct window *w, json_t *args, struct whatif *x, struct err *e)
{
	const struct schedule_manager *m = w->next.managers.n ? &w->next.managers.at[0] : NULL;

	lab_config_default(&x->lab);
	x->lab.threads = 1;
	x->lab.sm_node = lab_change_sm(x->change);
	if (m) {
		x->lab.sm_node = fab_node_by_guid(lab_change_fab(x->change), m->guid);
		x->lab.sm.mechanism = m->sm.mechanism;
	}
	if (x->lab.sm_node == FAB_NONE || !lab_change_has(x->change, x->lab.sm_node))
		return err_set(e, -EINVAL, "the manager's node would fail: expected another one");
	return make_traffic(args, x, e);
}

/* ---- progress ---- */

/* By node: hops from the manager. */
static uint16_t *distances(const struct fab *f, node_id from)
{
	uint16_t *d = mem_array(f->nnodes, sizeof(*d));
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	memset(d, 0xff, f->nnodes * sizeof(*d));
	d[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned k = 1; k <= f->nodes[n].nports; k++) {
			port_id q = f->ports[fab_port_id(f, n, k)].peer;
			node_id m = q == FAB_NONE ? from : f->ports[q].node;

			if (d[m] != UINT16_MAX)
				continue;
			d[m] = (uint16_t)(d[n] + 1);
			queue[tail++] = m;
		}
	}
	free(queue);
	return d;
}

/* SMPs of a bring-up by device, each with events at each hop there and back; then data packets until the change is over. */
static uint64_t guess_events(const struct whatif *x)
{
	const struct fab *f = x->before;
	uint16_t *d = distances(f, x->lab.sm_node < f->nnodes ? x->lab.sm_node : 0);
	uint64_t sum = 0, packets = 0, far = 1;

	for (node_id n = 0; n < f->nnodes; n++) {
		uint64_t smps =
			fab_is_switch(f, n) ? 6 + 3ull * f->nodes[n].nports + f->nnodes / 64 : 9;

		if (d[n] == UINT16_MAX)
			continue;
		sum += smps * (EVENTS_OF_HOP * d[n] + EVENTS_OF_SMP);
		far = MAX(far, d[n]);
	}
	free(d);
	if (x->load)
		packets = (x->before->nswitches * CHANGE_TIME + 2 * PS_PER_MS) /
			  MAX(x->traffic.interval_ps, 1u) * count_senders(f);
	return sum + packets * far * EVENTS_OF_PACKET_HOP;
}

/* Called from time to time while it runs. */
static void tell(void *ctx)
{
	struct whatif *x = ctx;
	uint64_t events = sim_events(lab_sim(x->running));
	struct json j = {.line = true};

	/* A guess that was too low grows with what is there. */
	x->expected = MAX(x->expected, events + events / 50);
	json_open(&j, NULL, '{');
	json_open(&j, "progress", '{');
	json_str(&j, "job", x->job);
	json_str(&j, "part", x->fails ? "fails" : "comes up");
	json_u64(&j, "events", events);
	json_u64(&j, "expected", x->expected);
	json_close(&j);
	json_close(&j);
	window_emit_json(x->w, &j);
}

static void about_to(void *ctx)
{
	struct whatif *x = ctx;

	x->fails = true;
}

static int run(struct whatif *x, struct lab_change_result *r, struct err *e)
{
	struct lab_change_plan p = {.change = x->change,
				    .traffic = x->load ? &x->traffic : NULL,
				    .warmup = PS_PER_MS,
				    .tail = PS_PER_MS,
				    .limit = 1000 * PS_PER_S,
				    .about_to = about_to,
				    .ctx = x};
	struct lab *l = lab_new(lab_change_fab(x->change), &x->lab, e);
	int rc;

	*r = (struct lab_change_result){0};
	if (!l)
		return -EINVAL;
	x->running = l;
	x->expected = guess_events(x);
	if (x->job)
		lab_on_tick(l, tell, x);
	rc = lab_change_run(l, &p, r, e);
	lab_free(l);
	if (!rc && !r->changed_at)
		rc = err_set(e, -EINVAL, "the fabric does not come up before the change");
	return rc;
}

/* ---- figures ---- */

/* Host ports at the switches that links join with this one; these are marked. */
static uint64_t count_hosts(const struct fab *f, node_id from, bool *seen, node_id *queue)
{
	uint32_t head = 0, tail = 0;
	uint64_t hosts = 0;

	seen[from] = true;
	queue[tail++] = from;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned k = 1; k <= f->nodes[n].nports; k++) {
			port_id q = f->ports[fab_port_id(f, n, k)].peer;
			node_id m = q == FAB_NONE ? from : f->ports[q].node;

			hosts += !fab_is_switch(f, m);
			if (seen[m] || !fab_is_switch(f, m))
				continue;
			seen[m] = true;
			queue[tail++] = m;
		}
	}
	return hosts;
}

/* Ordered pairs of host ports between which links lead. */
static uint64_t count_pairs(const struct fab *f)
{
	bool *seen = mem_zarray(f->nnodes, sizeof(*seen));
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));
	uint64_t pairs = 0, hosts;

	for (uint32_t i = 0; i < f->nswitches; i++) {
		if (seen[f->switches[i]])
			continue;
		hosts = count_hosts(f, f->switches[i], seen, queue);
		pairs += hosts * (hosts - !!hosts);
	}
	free(seen);
	free(queue);
	return pairs;
}

static void figure_us(struct json *j, const char *name, time_ps t)
{
	char text[40];

	snprintf(text, sizeof(text), "%llu.%03llu us", (unsigned long long)(t / PS_PER_US),
		 (unsigned long long)(t % PS_PER_US / PS_PER_NS));
	json_pair(j, name, text);
}

static void add_packets(struct json *j, const struct whatif *x, const struct lab_change_result *r)
{
	char name[100];

	if (x->rate)
		snprintf(name, sizeof(name), "%llu packets/s", (unsigned long long)x->rate);
	else
		snprintf(name, sizeof(name), "%llu %%", (unsigned long long)x->load);
	json_pair(j, "load of each host", name);
	json_pair_u64(j, "packets sent", r->sent);
	json_pair_u64(j, "packets lost", r->lost);
	json_pair_u64(j, "packets lost to hosts that are gone", r->futile);
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		if (r->discarded[i]) {
			snprintf(name, sizeof(name), "packets lost: %s",
				 sim_discard_name((enum sim_discard)i));
			json_pair_u64(j, name, r->discarded[i]);
		}
	snprintf(name, sizeof(name), "%u.%02u %%", r->watch.connectivity_min / 10000,
		 r->watch.connectivity_min / 100 % 100);
	json_pair(j, "connectivity at least", name);
	figure_us(j, "some pair without a route for", r->watch.below);
}

static void add_figures(struct json *j, const struct whatif *x, const struct lab_change_result *r)
{
	uint64_t smps = 0;
	char what[128];

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += r->sum.smps[i];
	lab_change_text(x->change, what, sizeof(what));
	json_open(j, "figures", '[');
	json_pair(j, "change", what);
	json_pair_u64(j, "pairs cut", count_pairs(x->before) - count_pairs(x->after));
	json_pair(j, "settled", r->settled ? "yes" : "no");
	figure_us(j, "time until at rest", r->settled_at - r->changed_at);
	figure_us(j, "time of the reaction", MAX(r->sum.last_end, r->changed_at) - r->changed_at);
	json_pair_u64(j, "rounds", r->sum.rounds);
	json_pair_u64(j, "SMPs", smps);
	json_pair_u64(j, "table entries changed", r->entries_changed);
	if (x->load)
		add_packets(j, x, r);
	json_close(j);
}

/* The command that gives the same figures. */
static void add_text(struct json *j, const struct window *w, const struct whatif *x)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "weft sim change %s %s --sm 0x%016llx --mechanism %s",
		    w->next.netlist ? w->next.netlist : "fabric.net", x->target,
		    (unsigned long long)lab_change_fab(x->change)->nodes[x->lab.sm_node].guid,
		    x->lab.sm.mechanism.name);
	/* Commands choose an engine where the mechanism updates routes. */
	if (x->lab.sm.mechanism.routes->update ||
	    x->lab.sm.mechanism.routes != sm_mechanism_find(x->lab.sm.mechanism.name)->routes)
		strbuf_addf(&b, " --routes %s", x->lab.sm.mechanism.routes->name);
	if (x->rate)
		strbuf_addf(&b, " --rate %llu", (unsigned long long)x->rate);
	else if (x->load)
		strbuf_addf(&b, " --load %llu%%", (unsigned long long)x->load);
	if (x->large)
		strbuf_addf(
			&b,
			"\n\nWithout data packets: they take minutes with more than %d hosts. With them, add: --rate %llu",
			HOSTS, (unsigned long long)bounded_rate(x));
	json_str(j, "text", b.s);
	strbuf_free(&b);
}

int window_cmd_whatif(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct lab_change_result r = {0};
	struct whatif x = {.w = w};
	int rc;

	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	if (window_arg_has(args, "job") && window_arg_text(args, "job", &x.job, e))
		return -EINVAL;
	if (x.job && strlen(x.job) > JOB_MAX)
		return err_set(e, -EINVAL, "job: expected at most %d characters", JOB_MAX);
	rc = make_change(w, args, &x, e);
	if (!rc)
		rc = make_lab(w, args, &x, e);
	if (!rc) {
		rc = run(&x, &r, e);
		if (!rc) {
			add_figures(reply, &x, &r);
			add_text(reply, w, &x);
			json_hex64(reply, "hash", r.hash);
		}
		lab_change_result_free(&r);
	}
	lab_change_free(x.change);
	fab_free(x.before);
	fab_free(x.after);
	return rc;
}
