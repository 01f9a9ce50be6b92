/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulated hosts that ask subnet administration in band, from power-on: all get answers, and devices lead where these say;
 * also with SMPs and GMPs that get lost, links that fail meanwhile, a manager that restarts and one that takes over.
 * Covers: sa_clients.c, administration.c
 */
#include "unit_test.h"

#include "lab/sa_clients.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct bench {
	struct fab *f;
	struct lab *l;
	struct lab_clients *c;
	struct lab_clients_count n;
};

static void prepare(struct bench *b, struct lab_config *c)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct err e;

	memset(b, 0, sizeof(*b));
	b->f = fab_generate(&g, &e);
	assert_non_null(b->f);
	lab_config_default(c);
	c->threads = 1;
	c->sim.traps = true;
	c->sm.read_back = true;
	c->sa = true;
}

static void begin(struct bench *b, const struct lab_config *c, node_id second)
{
	struct err e;

	b->l = lab_new(b->f, c, &e);
	assert_non_null(b->l);
	if (second != FAB_NONE) {
		lab_manager_add(b->l, second, &c->sm);
		lab_master_leads(b->l);
	}
	b->c = lab_clients_new(b->l, &(struct lab_clients_config){100, 5, 7});
	lab_power_on(b->l, NULL);
}

static void end(struct bench *b)
{
	assert_true(lab_clients_run(b->c, sim_now(lab_sim(b->l)) + 60 * PS_PER_S));
	lab_clients_result(b->c, &b->n);
	assert_int_equal(b->n.done, b->n.clients);
	assert_int_equal(b->n.members, b->n.clients);
	assert_int_equal(b->n.paths, 5 * b->n.clients);
	assert_int_equal(b->n.answers, 7 * b->n.clients);
	assert_int_equal(b->n.wrong_paths, 0);
	assert_int_equal(b->n.wrong_trees, 0);
	lab_clients_free(b->c);
	lab_free(b->l);
	fab_free(b->f);
}

TEST(hosts_get_answers)
{
	struct lab_config c;
	struct bench a, b;

	prepare(&a, &c);
	begin(&a, &c, FAB_NONE);
	end(&a);
	assert_int_equal(a.n.clients, 7); /* all but the manager's host */
	assert_int_equal(a.n.repeated + a.n.refused, 0);
	assert_true(a.n.mean_ps && a.n.longest_ps < PS_PER_MS);
	prepare(&b, &c);
	begin(&b, &c, FAB_NONE);
	end(&b);
	assert_memory_equal(&a.n, &b.n, sizeof(a.n));
}

/* What is lost is asked again. */
TEST(lost_mads)
{
	uint64_t repeated = 0;

	for (unsigned seed = 1; seed <= 5; seed++) {
		struct lab_config c;
		struct bench b;

		prepare(&b, &c);
		c.sim.seed = seed;
		c.sim.faults.loss_q32 = (1ull << 32) / 25;
		c.sm.retries = 8;
		begin(&b, &c, FAB_NONE);
		end(&b);
		repeated += b.n.repeated;
	}
	assert_true(repeated);
}

/* Trees and tables change while hosts ask; what they have in the end holds. */
TEST(links_that_fail)
{
	for (unsigned i = 0; i < 4; i++) {
		struct lab_config c;
		struct bench b;
		port_id cable = 0;

		prepare(&b, &c);
		begin(&b, &c, FAB_NONE);
		for (unsigned k = i; cable < b.f->nports; cable++)
			if (b.f->ports[cable].peer != FAB_NONE &&
			    fab_is_switch(b.f, b.f->ports[cable].node) &&
			    fab_is_switch(b.f, b.f->ports[b.f->ports[cable].peer].node) && !k--)
				break;
		lab_run_to(b.l, 10 * PS_PER_MS + i * 400 * PS_PER_US);
		sim_uncable(lab_sim(b.l), cable);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 200 * PS_PER_MS);
		end(&b);
	}
}

/* A manager that restarts has what hosts registered; hosts that wait ask again. */
TEST(a_manager_restarts)
{
	for (unsigned i = 0; i < 6; i++) {
		struct lab_config c;
		struct bench b;

		prepare(&b, &c);
		begin(&b, &c, FAB_NONE);
		lab_run_to(b.l, 10 * PS_PER_MS + i * 300 * PS_PER_US);
		lab_manager_stop(b.l, 0);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 5 * PS_PER_MS);
		if (i & 1)
			lab_manager_start(b.l, 0, true);
		else
			lab_manager_resume(b.l, 0);
		end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_get_answers),
		cmocka_unit_test(lost_mads),
		cmocka_unit_test(links_that_fail),
		cmocka_unit_test(a_manager_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
