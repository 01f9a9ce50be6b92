/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route update. State: the options and struct updated, for one run; the way in is the table at the end. Routes
 * nothing itself: src/route does.
 */
#include <time.h>

#include "cli/route_report.h"
#include "route/fewest.h"
#include "route/quality.h"

enum {
	PATTERNS = 64,
	TIMES = 3
}; /* of the meter; measurements of time, of which the shortest counts */

static struct {
	cli_strings without;
	const char *engine;
} o = {.engine = "fera"};

struct measured {
	struct rt_tables *t;
	uint64_t *rank;
	struct rt_changes changes;  /* against the tables before */
	uint64_t bisection, shifts; /* shares */
};

struct times {
	double compute_s, verify_s, plan_s;
};

struct updated {
	const struct rt_engine *engine;
	struct rt_opts opts;
	struct fab *f, *now;
	struct measured before, after, scratch;
	struct rt_fewest fewest;
	struct rt_plan plan;
	struct times times, back_times;
	enum rt_plan_kind back_plan;
	double scratch_s;
	bool verified, quickly, back;
};

/* ---- the fabric after the change ---- */

struct failed {
	bool *node, *port;
};

/* NODE, or NODE[PORT] or NODE:PORT for a link. */
static int failed_add(const struct fab *f, const char *text, struct failed *x)
{
	char *name = mem_strdup(text), *at = strrchr(name, '['), *end;
	node_id n = fab_node_by_text(f, name);
	unsigned long p = 0;
	int rc = CLI_OK;

	if (n == FAB_NONE && !at)
		at = strrchr(name, ':');
	if (n == FAB_NONE && at) {
		p = strtoul(at + 1, &end, 10);
		*at = '\0';
		if (end > at + 1 && (!*end || !strcmp(end, "]")))
			n = fab_node_by_text(f, name);
	}
	if (n == FAB_NONE)
		rc = cli_bad("--without %s: no such node", text);
	else if (!p && at && !*at)
		rc = cli_bad("--without %s: a link has a port from 1 on", text);
	else if (p > f->nodes[n].nports)
		rc = cli_bad("--without %s: the node has %u ports", text, f->nodes[n].nports);
	else if (p && f->ports[fab_port_id(f, n, (unsigned)p)].peer == FAB_NONE)
		rc = cli_bad("--without %s: no cable is connected there", text);
	else if (p)
		x->port[fab_port_id(f, n, (unsigned)p)] = true;
	else
		x->node[n] = true;
	free(name);
	return rc;
}

static void copy_node(struct fab_builder *b, const struct fab *f, node_id n)
{
	const struct fab_node *s = &f->nodes[n];
	node_id k = fab_add_node(b, s->type, s->guid, s->nports, fab_node_name(f, n));
	const struct fab_vlid *v;

	fab_builder_node(b, k)->flags = s->flags;
	fab_builder_node(b, k)->sriov = s->sriov;
	fab_builder_node(b, k)->vfs = s->vfs;
	for (unsigned i = 0; i <= s->nports; i++) {
		const struct fab_port *p = &f->ports[s->first_port + i];
		struct fab_port *d = fab_builder_port(b, k, i);
		uint32_t nv = fab_vlids_of(f, s->first_port + i, &v);

		d->guid = p->guid;
		d->lid = p->lid;
		d->lmc = p->lmc;
		for (uint32_t j = 0; j < nv; j++)
			fab_add_vlid(b, k, v[j].slot, v[j].lid, v[j].guid);
	}
}

static struct fab *fabric_without(const struct fab *f, const struct failed *x)
{
	struct fab_builder *b = fab_builder_new();

	for (node_id n = 0; n < f->nnodes; n++)
		if (!x->node[n])
			copy_node(b, f, n);
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *s = &f->ports[p], *q;

		if (s->peer == FAB_NONE || s->peer < p || x->port[p] || x->port[s->peer])
			continue;
		q = &f->ports[s->peer];
		if (!x->node[s->node] && !x->node[q->node])
			fab_add_link(b, fab_builder_find(b, f->nodes[s->node].guid), s->num,
				     fab_builder_find(b, f->nodes[q->node].guid), q->num);
	}
	return fab_build(b);
}

static int fabric_change(struct updated *u)
{
	struct failed x = {mem_zarray(u->f->nnodes, sizeof(bool)),
			   mem_zarray(u->f->nports, sizeof(bool))};
	int rc = CLI_OK;

	for (size_t i = 0; i < o.without.n && !rc; i++)
		rc = failed_add(u->f, o.without.at[i], &x);
	if (!rc)
		u->now = fabric_without(u->f, &x);
	free(x.node);
	free(x.port);
	return rc;
}

/* ---- tables ---- */

static int scratch(const struct updated *u, const struct fab *f, struct measured *m, struct err *e)
{
	int rc = rt_compute(u->engine, f, &u->opts, &m->t, e);

	if (rc)
		return rc;
	rt_tables_fill(m->t);
	if (u->engine->obeys)
		m->rank = rt_tables_ranks(u->engine, f, &u->opts, m->t);
	if (!u->engine->updown)
		return 0;
	m->rank = mem_array((size_t)f->nswitches + 1, sizeof(*m->rank));
	return rt_engine_ranks(u->engine, f, &u->opts, m->rank, e);
}

/* As the manager repairs routes of FERa: over the directions before. */
static int update_fera(const struct updated *u, const struct fab *f, const struct rt_before *b,
		       struct measured *m, struct rt_update_stats *st, struct err *e)
{
	uint64_t *old = mem_array((size_t)f->nswitches + 1, sizeof(*old));
	struct rt_tables *t = rt_tables_carry(b->f, b->t, f);
	struct rt_opts ro = u->opts;
	uint32_t root = 0;
	int rc;

	rt_updown_rank_carry(b->f, b->rank, f, old);
	for (uint32_t s = 0; s < f->nswitches; s++)
		root = old[s] < old[root] ? s : root;
	rt_updown_rank_keep(f, f->nswitches ? f->switches[root] : FAB_NONE, old, m->rank);
	ro.rank = m->rank;
	ro.before = b;
	ro.even = true;
	m->t = rt_tables_new(f->nswitches, fab_top_lid(f));
	rc = rt_update(f, &ro, t, m->t, st, e);
	rt_tables_free(t);
	free(old);
	return rc;
}

/* b: the tables in force; ref: those of the last computation from scratch. */
static int update(const struct updated *u, const struct fab *f, const struct rt_before *b,
		  const struct rt_before *ref, struct measured *m, struct rt_update_stats *st,
		  struct err *e)
{
	if (u->engine->updown || ref->rank)
		m->rank = mem_array((size_t)f->nswitches + 1, sizeof(*m->rank));
	return u->engine->update ? u->engine->update(f, ref, &m->t, m->rank, st, e)
				 : update_fera(u, f, b, m, st, e);
}

static void measured_free(struct measured *m)
{
	rt_tables_free(m->t);
	free(m->rank);
	*m = (struct measured){0};
}

/* Processor time of all threads: others may use the machine, too. */
static double processor_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void shortest(double *s, double start)
{
	double took = processor_s() - start;

	*s = *s == 0.0 || took < *s ? took : *s;
}

static int verify(const struct updated *u, const struct fab *f, const struct measured *m, bool *ok,
		  struct err *e)
{
	struct rt_verify_opts vo = {.threads = u->opts.threads, .rank = m->rank};
	struct rt_report r;
	int rc = rt_verify(f, m->t, &vo, &r, e);

	*ok = !rc && r.ok;
	if (!rc)
		rt_report_free(&r);
	return rc;
}

/* A change from b to tables made from a reference. */
struct step {
	const struct fab *f; /* after the change */
	const struct rt_before *b,
		*ref;	       /* the tables in force; those of the last computation from scratch */
	struct rt_tables *old; /* those of b on f */
	/* what comes of it */
	struct measured *m;
	struct rt_update_stats st;
	struct rt_plan plan;
	struct times times;
	bool quickly;
};

/* As the manager plans: packets may be lost where tables have no ranks. */
static int plan(const struct updated *u, struct step *s, struct err *e)
{
	const struct measured *m = s->m;

	if (!m->rank)
		return rt_plan_cut(s->f, s->old, m->t, NULL, NULL, u->opts.threads, &s->plan, e);
	if (rt_plan_change(s->f, s->old, m->t, m->rank, s->b, &s->plan))
		return 0;
	return rt_plan(s->f, s->old, m->t, m->rank, NULL, u->opts.threads, &s->plan, e);
}

static int step_once(const struct updated *u, struct step *s, struct err *e)
{
	struct times *t = &s->times;
	double start = processor_s();
	bool ok;
	int rc;

	measured_free(s->m);
	rt_plan_free(&s->plan);
	rc = update(u, s->f, s->b, s->ref, s->m, &s->st, e);
	shortest(&t->compute_s, start);
	if (rc)
		return rc;
	start = processor_s();
	s->quickly = s->m->rank && rt_verify_change(s->f, s->m->t, s->m->rank, s->ref);
	if (!s->quickly)
		rc = verify(u, s->f, s->m, &ok, e);
	shortest(&t->verify_s, start);
	start = processor_s();
	if (!rc)
		rc = plan(u, s, e);
	shortest(&t->plan_s, start);
	return rc;
}

static int step_measure(const struct updated *u, struct step *s, struct err *e)
{
	int rc = 0;

	s->old = rt_tables_carry(s->b->f, s->b->t, s->f);
	for (unsigned i = 0; i < TIMES && !rc; i++)
		rc = step_once(u, s, e);
	return rc;
}

static int change_measure(struct updated *u, const struct rt_before *b, struct err *e)
{
	struct step s = {.f = u->now, .b = b, .ref = b, .m = &u->after};
	int rc = step_measure(u, &s, e);

	u->plan = s.plan;
	u->times = s.times;
	u->quickly = s.quickly;
	if (!rc)
		rt_changes_count(s.old, u->after.t, &u->after.changes);
	if (!rc && u->scratch.t)
		rt_changes_count(s.old, u->scratch.t, &u->scratch.changes);
	rt_tables_free(s.old);
	return rc;
}

/* Whether the tables are the old ones again when the failure is gone. */
static int way_back(struct updated *u, const struct rt_before *ref, struct err *e)
{
	struct rt_before b = {u->now, u->after.rank, u->after.t};
	struct measured back = {0};
	struct step s = {.f = u->f, .b = &b, .ref = ref, .m = &back};
	struct rt_changes c;
	int rc = step_measure(u, &s, e);

	u->back_plan = s.plan.kind;
	u->back_times = s.times;
	rt_plan_free(&s.plan);
	rt_tables_free(s.old);
	if (!rc) {
		rt_changes_count(u->before.t, back.t, &c);
		u->back = !c.entries && rt_lanes_same(u->f, u->before.t, back.t);
	}
	measured_free(&back);
	return rc;
}

static int quality(const struct updated *u, struct measured *m, struct err *e)
{
	struct rt_quality_opts q = {
		.patterns = PATTERNS, .seed = 1, .threads = u->opts.threads, .quick = true};
	struct rt_quality r;
	int rc = rt_quality(u->now, m->t, &q, &r, e);

	if (rc)
		return rc;
	m->bisection = rt_shares_mean(&r.by[RT_BISECTION]);
	m->shifts = rt_shares_mean(&r.by[RT_SHIFTS]);
	rt_quality_free(&r);
	return 0;
}

static int run(struct updated *u, struct err *e)
{
	struct rt_before b;
	double start;
	struct err no;
	int rc;

	cli_stage("computing routes");
	rc = scratch(u, u->f, &u->before, e);
	if (rc)
		return rc;
	b = (struct rt_before){u->f, u->before.rank, u->before.t};
	start = cli_wall_s();
	if (scratch(u, u->now, &u->scratch, &no)) /* not of this shape any more */
		measured_free(&u->scratch);
	u->scratch_s = cli_wall_s() - start;
	rc = change_measure(u, &b, e);
	cli_stage("verifying");
	if (!rc)
		rc = verify(u, u->now, &u->after, &u->verified, e);
	if (!rc)
		rc = way_back(u, &b, e);
	if (!rc)
		rc = rt_fewest_changes(u->now, &b, &u->fewest, e);
	cli_stage("measuring");
	if (!rc)
		rc = quality(u, &u->after, e);
	if (!rc && u->scratch.t)
		rc = quality(u, &u->scratch, e);
	return rc;
}

/* ---- output ---- */

/* Thousandths of the shares of a computation from scratch, the smaller of the two. */
static uint64_t balance(const struct updated *u)
{
	const struct measured *a = &u->after, *s = &u->scratch;
	uint64_t one = s->bisection ? a->bisection * 1000 / s->bisection : 1000;
	uint64_t two = s->shifts ? a->shifts * 1000 / s->shifts : 1000;

	return MIN(one, two);
}

static void json_counts(struct json *j, const char *key, uint64_t entries, uint64_t blocks)
{
	json_open(j, key, '{');
	json_u64(j, "entries", entries);
	json_u64(j, "blocks", blocks);
}

static void json_shares(struct json *j, const char *key, const struct measured *m)
{
	json_open(j, key, '{');
	json_fixed(j, "bisection", m->bisection / 1000, 6);
	json_fixed(j, "shifts", m->shifts / 1000, 6);
	json_close(j);
}

static void json_times(struct json *j, const struct times *t)
{
	json_double(j, "compute_s", t->compute_s);
	json_double(j, "verify_s", t->verify_s);
	json_double(j, "plan_s", t->plan_s);
}

static int print_json(const struct updated *u)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "engine", u->engine->name);
	json_open(&j, "without", '[');
	for (size_t i = 0; i < o.without.n; i++)
		json_str(&j, NULL, o.without.at[i]);
	json_close(&j);
	json_u64(&j, "entries", u->after.changes.entries);
	json_u64(&j, "blocks", u->after.changes.blocks);
	json_u64(&j, "switches", u->after.changes.switches);
	json_counts(&j, "fewest", u->fewest.entries, u->fewest.blocks);
	json_close(&j);
	if (u->scratch.t) {
		json_counts(&j, "from_scratch", u->scratch.changes.entries,
			    u->scratch.changes.blocks);
		json_double(&j, "wall_s", u->scratch_s);
		json_close(&j);
		json_fixed(&j, "balance", balance(u), 3);
	} else {
		json_none(&j, "from_scratch");
		json_none(&j, "balance");
	}
	json_shares(&j, "shares", &u->after);
	if (u->scratch.t)
		json_shares(&j, "shares_from_scratch", &u->scratch);
	json_bool(&j, "back_to_original", u->back);
	json_bool(&j, "verified", u->verified);
	json_bool(&j, "verified_quickly", u->quickly);
	json_str(&j, "plan", rt_plan_name(u->plan.kind));
	json_u64(&j, "turns", u->plan.turns.n);
	json_times(&j, &u->times);
	json_open(&j, "return", '{');
	json_str(&j, "plan", rt_plan_name(u->back_plan));
	json_times(&j, &u->back_times);
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static void print_counts(const char *what, uint64_t entries, uint64_t blocks)
{
	printf("%-14s %s entries", what, cli_count(entries));
	printf(" in %s blocks", cli_count(blocks));
}

static void print_times(const char *what, const struct times *t)
{
	printf("%-14s %.1f ms computing, %.1f ms verifying, %.1f ms planning\n", what,
	       t->compute_s * 1e3, t->verify_s * 1e3, t->plan_s * 1e3);
}

static void print_text(const struct updated *u)
{
	printf("%-14s %s\n", "engine", u->engine->name);
	print_counts("changed", u->after.changes.entries, u->after.changes.blocks);
	printf(" of %s switches\n", cli_count(u->after.changes.switches));
	print_counts("at least", u->fewest.entries, u->fewest.blocks);
	printf(" by any routing\n");
	if (u->scratch.t) {
		print_counts("from scratch", u->scratch.changes.entries, u->scratch.changes.blocks);
		printf(", computed in %.3f s\n", u->scratch_s);
		printf("%-14s %.1f %% of that from scratch\n", "balance", (double)balance(u) / 10);
	} else {
		printf("%-14s not possible: the engine does not route what is left\n",
		       "from scratch");
	}
	printf("%-14s %s\n", "afterwards",
	       u->back ? "the original tables again when the failure is gone"
		       : "NOT the original tables when the failure is gone");
	printf("%-14s %s%s\n", "verified", u->verified ? "yes" : "NO",
	       u->verified && !u->quickly ? ", but only as a whole" : "");
	printf("%-14s %s\n", "plan", rt_plan_name(u->plan.kind));
	print_times("time", &u->times);
	print_times("its return", &u->back_times);
}

static int route_update(char **args, unsigned nargs UNUSED)
{
	struct updated u = {.engine = rt_engine_find(o.engine)};
	struct fab *f;
	struct err e;
	int rc;

	u.opts =
		(struct rt_opts){.threads = route_o.threads, .directions = route_directions_find()};
	if (!o.without.n)
		return cli_bad("expected --without WHAT: a switch, a host or a link that fails");
	if (!u.engine->update && u.engine != &rt_fera)
		return cli_bad("engine '%s' has no update: it computes from scratch",
			       u.engine->name);
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	u.f = fab_assign_lids(f, route_o.lmc, &e);
	fab_free(f);
	if (!u.f)
		return cli_bad("%s: %s", args[0], e.text);
	rc = route_root_find(u.f, args[0], &u.opts.root);
	if (!rc)
		rc = fabric_change(&u);
	if (!rc && run(&u, &e))
		rc = cli_bad("%s: %s", args[0], e.text);
	cli_progress_end();
	if (!rc && cli_json)
		rc = print_json(&u);
	else if (!rc)
		print_text(&u);
	rc = rc ? rc : u.verified ? CLI_OK : CLI_NO;
	measured_free(&u.before);
	measured_free(&u.after);
	measured_free(&u.scratch);
	rt_plan_free(&u.plan);
	fab_free(u.now);
	fab_free(u.f);
	return rc;
}

static const struct cli_opt update_opts[] = {
	{"without", 'w', CLI_LIST, &o.without, "WHAT",
	 "what fails: a switch or a host, or NODE[PORT] for a link; may be given several times",
	 NULL, 0, 0},
	{"engine", 'e', CLI_CHOICE, &o.engine, "NAME", "routing engine; default fera",
	 rt_engine_names, 0, 0},
	{"lmc", 'l', CLI_UINT, &route_o.lmc, "N", "give every host port 2^N LIDs; default 0", NULL,
	 0, 7},
	ROUTE_GRAPH_OPTS,
	{0},
};

const struct cli_cmd cmd_route_update = {
	.name = "route update",
	.args = "FILE",
	.summary = "change tables after a failure, as little as possible",
	.about =
		"Computes the tables of the netlist, takes away what --without names, and changes the\n"
		"tables as the manager does: routes that still lead to their destination stay. Tells how\n"
		"many entries and blocks of 64 entries differ, how many a computation from scratch would\n"
		"change, and how many have to change whatever the routing is. Balance is the share of\n"
		"bandwidth that flows get, in random bisections and in shifts, beside that from scratch; the\n"
		"smaller of the two. Times are processor time, the shortest of three measurements, of the\n"
		"failure and of its return.\n"
		"\n"
		"Exit status 1 when the new tables fail the verifier.",
	.examples = "weft route update fabric.net --engine tree --without S-0002000000000001\n"
		    "weft route update fabric.net --engine tree --without 'leaf0_1[4]' --json\n",
	.opts = update_opts,
	.min_args = 1,
	.max_args = 1,
	.run = route_update,
};
