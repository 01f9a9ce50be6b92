/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations a second, as far as tables are concerned: the entries that change, their stages, the change
 * (src/route/moves.h), for random migrations in batches, in CPU time. State: struct bench. Sends no SMP.
 * usage: moves-bench [PORTS LEVELS [VFS]]
 */
#include "base/rng.h"
#include "route/moves.h"

#include <time.h>

struct bench {
	struct fab *f;
	uint64_t *rank;
	struct rt_tables *t;
	struct rt_move_deps *deps;
	uint16_t *pf; /* by host */
	uint32_t nhosts;
	uint16_t first_vf; /* LID of the first VM or VF */
	uint32_t nvfs;	   /* in all; VF k belongs to host k % nhosts at first */
	struct rng rng;
	uint32_t *mark, batch; /* by VF: the batch it moves in */
	rt_move_entries e;
};

struct totals {
	uint64_t migrations, entries, smps, stages, batches, drains;
	double effects, plan, apply;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void vms_start(struct bench *b, unsigned vfs)
{
	VEC(struct rt_move) m = {0};

	b->nvfs = vfs * b->nhosts;
	b->first_vf = (uint16_t)(b->t->top_lid + 1);
	for (uint32_t k = 0; k < b->nvfs; k++)
		vec_push(&m, (struct rt_move){(uint16_t)(b->first_vf + k), b->pf[k % b->nhosts]});
	rt_moves_reach(b->t, b->first_vf + b->nvfs - 1);
	rt_moves_effects(b->f, b->t, m.at, m.n, &b->e);
	rt_moves_apply(b->t, &b->e);
	vec_free(&b->e);
	vec_free(&m);
	b->mark = mem_zarray(b->nvfs, sizeof(*b->mark));
}

static int bench_make(struct bench *b, unsigned ports, unsigned levels, unsigned vfs)
{
	struct fab_gen g = {.kind = "mtree", .dims = {ports, levels}, .ndims = 2};
	struct rt_opts o = {.root = FAB_NONE};
	struct err e;
	struct fab *bare = fab_generate(&g, &e);

	if (!bare || !(b->f = fab_assign_lids(bare, 0, &e))) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	fab_free(bare);
	b->rank = mem_array(b->f->nswitches, sizeof(*b->rank));
	o.root = rt_root_choose(b->f, NULL, 0, FAB_NONE);
	rt_updown_rank(b->f, o.root, b->rank);
	if (rt_compute(&rt_fera, b->f, &o, &b->t, &e))
		return 1;
	b->pf = mem_array(b->f->nhosts, sizeof(*b->pf));
	for (node_id n = 0; n < b->f->nnodes; n++)
		if (!fab_is_switch(b->f, n))
			b->pf[b->nhosts++] = b->f->ports[fab_port_id(b->f, n, 1)].lid;
	vms_start(b, vfs);
	rng_seed(&b->rng, 1, 1);
	return 0;
}

static void bench_free(struct bench *b)
{
	vec_free(&b->e);
	rt_move_deps_free(b->deps);
	rt_tables_free(b->t);
	free(b->pf);
	free(b->mark);
	free(b->rank);
	fab_free(b->f);
}

/* A VF that does not move in this batch yet. */
static uint16_t vf_draw(struct bench *b)
{
	for (;;) {
		uint32_t k = rng_below(&b->rng, b->nvfs);

		if (b->mark[k] != b->batch) {
			b->mark[k] = b->batch;
			return (uint16_t)(b->first_vf + k);
		}
	}
}

static size_t batch_draw(struct bench *b, bool swap, unsigned n, struct rt_move *m)
{
	size_t k = 0;

	b->batch++;
	for (unsigned i = 0; i < n; i++) {
		uint16_t lid = vf_draw(b);

		if (swap) {
			uint16_t other = vf_draw(b);

			m[k++] = (struct rt_move){lid, other};
			m[k++] = (struct rt_move){other, lid};
		} else {
			m[k++] = (struct rt_move){lid, b->pf[rng_below(&b->rng, b->nhosts)]};
		}
	}
	return k;
}

static int batch_run(struct bench *b, const struct rt_move *m, size_t n, struct totals *s)
{
	struct rt_moves_plan p;
	struct err e;
	double t0 = now(), t1, t2;

	b->e.n = 0;
	rt_moves_effects(b->f, b->t, m, n, &b->e);
	t1 = now();
	if (rt_moves_plan(b->f, b->t, b->rank, b->deps, &b->e, &p, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	t2 = now();
	if (b->deps)
		rt_move_deps_apply(b->deps, b->t, &b->e);
	rt_moves_apply(b->t, &b->e);
	s->effects += t1 - t0;
	s->plan += t2 - t1;
	s->apply += now() - t2;
	s->entries += b->e.n;
	s->smps += rt_moves_blocks(&b->e, NULL);
	s->stages += p.stages;
	s->drains += (uint64_t)__builtin_popcountll(p.drain);
	s->batches++;
	return 0;
}

static int scheme_run(struct bench *b, bool swap, unsigned size)
{
	struct rt_move *m = mem_array(2 * (size_t)size, sizeof(*m));
	struct totals s = {0};
	double all;

	while (s.effects + s.plan + s.apply < 2 || s.batches < 3) {
		size_t n = batch_draw(b, swap, size, m);

		if (batch_run(b, m, n, &s))
			return 1;
		s.migrations += size;
	}
	free(m);
	all = s.effects + s.plan + s.apply;
	printf("%-5s %5u  %-5s %8.0f  %7.3f %7.3f %7.3f  %8.1f  %8.1f  %5.2f  %5.2f\n",
	       swap ? "swap" : "copy", size, b->deps ? "yes" : "no", (double)s.migrations / all,
	       s.effects * 1e3 / (double)s.migrations, s.plan * 1e3 / (double)s.migrations,
	       s.apply * 1e3 / (double)s.migrations, (double)s.entries / (double)s.migrations,
	       (double)s.smps / (double)s.migrations, (double)s.stages / (double)s.batches,
	       (double)s.drains / (double)s.batches);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned sizes[] = {1, 10, 100, 1000};
	unsigned ports = argc > 2 ? (unsigned)atoi(argv[1]) : 36,
		 levels = argc > 2 ? (unsigned)atoi(argv[2]) : 3,
		 vfs = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	struct bench b = {0};
	double t;
	int rc = bench_make(&b, ports, levels, vfs);

	if (rc)
		return rc;
	printf("%u switches, %u hosts, %u VFs on each, LIDs up to %u\n", b.f->nswitches, b.nhosts,
	       vfs, b.t->top_lid);
	printf("%-5s %5s  %-5s %8s  %7s %7s %7s  %8s  %8s  %5s  %5s\n", "what", "batch", "graph",
	       "per s", "effects", "plan", "apply", "entries", "SMPs", "stages", "drains");
	for (int graph = 0; graph < 2 && !rc; graph++) {
		t = now();
		if (graph) {
			b.deps = rt_move_deps_new(b.f, b.t);
			printf("dependency graph: %.3f s\n", now() - t);
		}
		for (int swap = 0; swap < 2 && !rc; swap++)
			for (size_t i = 0; i < ARRAY_LEN(sizes) && !rc; i++)
				rc = scheme_run(&b, swap, sizes[i]);
	}
	bench_free(&b);
	return rc;
}
