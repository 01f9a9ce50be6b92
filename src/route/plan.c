/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to get from tables in use to new ones without deadlock (rt_plan()). State: struct plan, for one
 * call. Programs nothing and trusts no engine: it looks at the dependencies that the tables have.
 *
 * A packet that waits in a switch came by an entry of the previous switch and leaves by an entry of
 * this one, each old or new. All such pairs together, over all destinations, are every dependency that
 * can exist on the way. If they have no cycle there is no deadlock in any order, and no loop, since a
 * loop of entries is a cycle of dependencies. Tables with several lanes are followed packet by packet
 * instead (plan_lanes.c).
 */
#include "route/plan_priv.h"
#include "route/route_priv.h"

struct plan {
	const struct fab *f;
	const struct rt_tables *old, *new;
	const struct rt_tables *given_old, *given_new; /* as the caller gave them: with lanes */
	bool lanes; /* packets may have several SLs, or VLs in the new tables; else one lane is all there is */
	struct plan_graphs g;
	bool cut;	    /* any turn may be disabled, if nothing else helps */
	uint64_t *wired;    /* [switch][4]: ports with a switch behind them */
	uint8_t *open;	    /* an empty row */
	VEC(uint16_t) lids; /* with an entry that differs somewhere */
	uint64_t entries, blocks;
	int threads;
};

/* ---- what differs ---- */

/* A copy of t with LIDs up to top, so that rows of both tables are equally long. */
static struct rt_tables *widen(const struct rt_tables *t, uint32_t top)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, top);

	for (uint32_t s = 0; s < t->nswitches; s++)
		memcpy(rt_row(c, s), rt_row(t, s), t->stride);
	return c;
}

/* Compare one block of a row; marks the LIDs that differ. */
static unsigned block_compare(const struct plan *p, uint32_t s, uint32_t lid0, uint8_t *differs)
{
	const uint8_t *old = rt_row(p->old, s) + lid0, *new = rt_row(p->new, s) + lid0;
	unsigned n = 0;

	if (!memcmp(old, new, 64))
		return 0;
	for (uint32_t i = 0; i < 64; i++)
		if (old[i] != new[i]) {
			__atomic_store_n(&differs[lid0 + i], 1, __ATOMIC_RELAXED);
			n++;
		}
	return n;
}

static void tables_compare(struct plan *p)
{
	uint32_t stride = p->new->stride, n = p->f->nswitches;
	uint8_t *differs = mem_zarray(stride, 1);
	uint64_t entries = 0, blocks = 0;

	RT_OMP(omp parallel for num_threads(p->threads) reduction(+ : entries, blocks))
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t lid0 = 0; lid0 < stride; lid0 += 64) {
			unsigned k = block_compare(p, s, lid0, differs);

			entries += k;
			blocks += k > 0;
		}
	for (uint32_t lid = 0; lid < stride; lid++)
		if (differs[lid])
			vec_push(&p->lids, (uint16_t)lid);
	p->entries = entries;
	p->blocks = blocks;
	free(differs);
}

/* ---- dependencies ---- */

static void wired_make(struct plan *p)
{
	const struct fab *f = p->f;

	p->wired = mem_zarray((size_t)f->nswitches * 4, sizeof(*p->wired));
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned i = 1; i <= f->nodes[f->switches[s]].nports; i++) {
			port_id peer = f->ports[fab_port_id(f, f->switches[s], i)].peer;

			if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
				p->wired[(size_t)s * 4 + i / 64] |= 1ull << i % 64;
		}
}

static bool is_wired(const struct plan *p, uint32_t s, unsigned port)
{
	return p->wired[(size_t)s * 4 + port / 64] >> port % 64 & 1;
}

static uint32_t behind(const struct plan *p, uint32_t s, unsigned port)
{
	const struct fab *f = p->f;

	return f->switch_index[f->ports[f->ports[fab_port_id(f, f->switches[s], port)].peer].node];
}

/* A row, and by its ports the rows of the switches behind them; an empty row where there is
 * none. */
struct rows {
	const uint8_t *own, *behind[256];
};

static void rows_load(const struct plan *p, const struct rt_tables *t, uint32_t s, struct rows *r)
{
	r->own = rt_row(t, s);
	for (unsigned i = 0; i < 256; i++)
		r->behind[i] = is_wired(p, s, i) ? rt_row(t, behind(p, s, i)) : p->open;
}

/* Which port follows which: [port of s][port of the switch behind it]. */
typedef uint8_t seen_ports[256][256];

/* Move what was seen at switch s to the graph. */
static void seen_store(const struct plan *p, uint32_t s, seen_ports seen, struct cdg *c)
{
	const struct fab *f = p->f;

	for (unsigned i = 1; i <= f->nodes[f->switches[s]].nports; i++) {
		uint64_t *row = cdg_row(c, fab_port_id(f, f->switches[s], i), 0, 0);
		uint32_t t;

		if (!is_wired(p, s, i))
			continue;
		t = behind(p, s, i);
		for (unsigned k = 1; k <= f->nodes[f->switches[t]].nports; k++)
			if (seen[i][k] && is_wired(p, t, k))
				row[k / 64] |= 1ull << k % 64;
		memset(seen[i], 0, sizeof(seen[i]));
	}
}

/* Those behind the last LID in use are of ports that are gone. */
static void collect_new(struct plan *p, uint32_t s, seen_ports seen)
{
	struct rows r;

	rows_load(p, p->new, s, &r);
	for (uint32_t lid = 0; lid < p->new->stride; lid++) {
		uint8_t port = r.own[lid];

		seen[port][r.behind[port][lid]] = 1;
	}
	seen_store(p, s, seen, &p->g.now);
}

/* Pairs in which old entries take part. The order outwards rules out only one kind: an entry
 * changes after the one behind it, so no packet arrives by a new entry and meets an old one. */
static void collect_old(struct plan *p, uint32_t s, seen_ports seen, seen_ports any,
			seen_ports before)
{
	struct rows old, new;

	rows_load(p, p->old, s, &old);
	rows_load(p, p->new, s, &new);
	for (size_t i = 0; i < p->lids.n; i++) {
		uint32_t lid = p->lids.at[i];
		uint8_t was = old.own[lid], is = new.own[lid];

		seen[was][old.behind[was][lid]] = before[was][old.behind[was][lid]] = 1;
		seen[was][new.behind[was][lid]] = 1;
		if (was != is)
			any[is][old.behind[is][lid]] = 1;
	}
	seen_store(p, s, seen, &p->g.outward);
	seen_store(p, s, any, &p->g.any);
	seen_store(p, s, before, &p->g.old);
}

/* One lane. Every switch's channels are its own, so threads never meet in a graph. */
static void collect(struct plan *p)
{
	RT_OMP(omp parallel num_threads(p->threads))
	{
		seen_ports *seen = mem_zarray(3, sizeof(*seen));

		RT_OMP(omp for schedule(dynamic, 16))
		for (uint32_t s = 0; s < p->f->nswitches; s++) {
			collect_new(p, s, seen[0]);
			collect_old(p, s, seen[0], seen[1], seen[2]);
		}
		free(seen);
	}
	cdg_unite(&p->g.outward, &p->g.now);
	cdg_unite(&p->g.any, &p->g.outward);
}

static void cut_off(struct plan *p, const rt_turns *off)
{
	for (size_t i = 0; off && i < off->n; i++) {
		cdg_cut(&p->g.now, off->at[i].sw, off->at[i].in, off->at[i].out);
		cdg_cut(&p->g.outward, off->at[i].sw, off->at[i].in, off->at[i].out);
		cdg_cut(&p->g.any, off->at[i].sw, off->at[i].in, off->at[i].out);
		cdg_cut(&p->g.old, off->at[i].sw, off->at[i].in, off->at[i].out);
	}
}

/* ---- the verdict ---- */

static bool is_cyclic(const struct cdg *c)
{
	uint32_t *part = mem_array((size_t)c->nvls * c->f->nports, sizeof(*part));
	uint32_t n = cdg_parts(c, part);

	free(part);
	return n;
}

static bool takes_turn(const struct cdg *c, const struct rt_turn *t)
{
	const struct fab *f = c->f;
	port_id from = f->ports[fab_port_id(f, f->switches[t->sw], t->in)].peer;

	return cdg_row(c, from, 0, 0)[t->out / 64] >> t->out % 64 & 1;
}

/*
 * Turns that neither tables take cost no packet but those on mixed routes: if they suffice, they are taken.
 */
static int turns_find(struct plan *p, const uint64_t *rank, struct rt_plan *out, struct err *e)
{
	struct cdg both;
	int rc = -EINVAL;

	if (!p->lanes) {
		cdg_init(&both, p->f, 1);
		cdg_unite(&both, &p->g.now);
		cdg_unite(&both, &p->g.old);
		rc = turns_choose(&p->g.outward, &both, rank, &out->turns, e);
		cdg_free(&both);
	}
	if (rc)
		rc = turns_choose(&p->g.outward, &p->g.now, rank, &out->turns, e);
	for (size_t i = 0; i < out->turns.n; i++)
		out->turns_in_use |= takes_turn(&p->g.old, &out->turns.at[i]);
	return rc;
}

/* Ranks do not help: any turn, as few as possible of those that are in use. */
static int turns_find_any(struct plan *p, struct rt_plan *out, struct err *e)
{
	if (p->lanes)
		plan_lanes_old(p->f, p->given_old, &p->g, p->threads);
	out->turns.n = 0;
	out->turns_in_use = true;
	return turns_cut(&p->g.outward, &p->g.now, &p->g.old, &out->turns, e);
}

/* The cheapest kind of plan that leaves no cycle. */
static int choose(struct plan *p, const uint64_t *rank, struct rt_plan *out, struct err *e)
{
	int rc;

	out->kind = RT_PLAN_ANY_ORDER;
	if (!is_cyclic(&p->g.any))
		return 0;
	out->kind = RT_PLAN_OUTWARDS;
	if (!is_cyclic(&p->g.outward))
		return 0;
	if (is_cyclic(&p->g.now))
		return err_set(e, -EINVAL, "plan: the new tables are not free of deadlock");
	out->kind = RT_PLAN_TURNS;
	rc = turns_find(p, rank, out, e);
	if (rc && p->cut)
		rc = turns_find_any(p, out, e);
	for (size_t i = 0; i < out->turns.n; i++)
		cdg_cut(&p->g.outward, out->turns.at[i].sw, out->turns.at[i].in,
			out->turns.at[i].out);
	if (!rc && is_cyclic(&p->g.outward))
		rc = err_set(e, -EINVAL, "plan: disabling turns is not enough");
	return rc;
}

/* The dependencies of all mixtures, and the verdict on them. */
static int mixtures_judge(struct plan *p, const uint64_t *rank, const rt_turns *off,
			  struct rt_plan *out, struct err *e)
{
	unsigned nvls = p->lanes ? MAX(rt_nvls(p->given_old), rt_nvls(p->given_new)) : 1;
	int rc;

	cdg_init(&p->g.now, p->f, nvls);
	cdg_init(&p->g.outward, p->f, nvls);
	cdg_init(&p->g.any, p->f, nvls);
	cdg_init(&p->g.old, p->f, nvls);
	if (p->lanes) {
		plan_lanes_collect(p->f, p->given_old, p->given_new, &p->g, p->threads);
	} else {
		p->open = mem_array(p->new->stride, 1);
		memset(p->open, IBA_PORT_NONE, p->new->stride);
		wired_make(p);
		collect(p);
		free(p->wired);
		free(p->open);
	}
	cut_off(p, off);
	rc = choose(p, rank, out, e);
	cdg_free(&p->g.now);
	cdg_free(&p->g.outward);
	cdg_free(&p->g.any);
	cdg_free(&p->g.old);
	return rc;
}

static int plan_make(struct plan *p, const uint64_t *rank, const rt_turns *off, struct rt_plan *out,
		     struct err *e)
{
	int rc = 0;

	tables_compare(p);
	out->entries = p->entries;
	out->blocks = p->blocks;
	out->lanes = !rt_lanes_same(p->f, p->given_old, p->given_new);
	p->lanes = plan_lanes_count(p->given_old, p->given_new);
	if (p->entries || out->lanes)
		rc = mixtures_judge(p, rank, off, out, e);
	vec_free(&p->lids);
	return rc;
}

static int plan_between(struct plan *p, const uint64_t *rank, const rt_turns *off, unsigned threads,
			struct rt_plan *out, struct err *e)
{
	const struct fab *f = p->f;
	const struct rt_tables *old = p->given_old, *new = p->given_new;
	struct rt_tables *wide = NULL;
	uint32_t top = MAX(old->top_lid, new->top_lid);
	int rc;

	*out = (struct rt_plan){.kind = RT_PLAN_NOTHING};
	if (old->nswitches != f->nswitches || new->nswitches != f->nswitches)
		return err_set(e, -EINVAL,
			       "plan: tables of %u and %u switches for a fabric with %u",
			       old->nswitches, new->nswitches, f->nswitches);
	rc = rt_lanes_check(f, old, e);
	if (!rc)
		rc = rt_lanes_check(f, new, e);
	if (rc)
		return rc;
	if (old->stride < new->stride)
		p->old = wide = widen(old, top);
	else if (new->stride < old->stride)
		p->new = wide = widen(new, top);
	p->threads = rt_threads(threads, f->nswitches, (uint64_t)f->nswitches * top);
	rc = plan_make(p, rank, off, out, e);
	if (rc)
		rt_plan_free(out);
	rt_tables_free(wide);
	return rc;
}

int rt_plan(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
	    const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *out,
	    struct err *e)
{
	struct plan p = {.f = f, .old = old, .new = new, .given_old = old, .given_new = new};

	return plan_between(&p, rank, off, threads, out, e);
}

int rt_plan_cut(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *out,
		struct err *e)
{
	struct plan p = {
		.f = f, .old = old, .new = new, .given_old = old, .given_new = new, .cut = true};

	return plan_between(&p, rank, off, threads, out, e);
}

void rt_plan_free(struct rt_plan *p)
{
	vec_free(&p->turns);
}

const char *rt_plan_name(enum rt_plan_kind k)
{
	switch (k) {
	case RT_PLAN_NOTHING:
		return "nothing";
	case RT_PLAN_ANY_ORDER:
		return "any order";
	case RT_PLAN_OUTWARDS:
		return "outwards";
	case RT_PLAN_TURNS:
		return "disable turns";
	}
	return "?";
}
