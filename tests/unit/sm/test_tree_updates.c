/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast tables at rest: a join or leave is one Set to each switch whose masks change, sent at once, and nothing else; what
 * makes no sense is refused; MulticastFDBTop and capacities. Keeps one lab for each test.
 * Covers: tree_updates.c, wanted_groups.c, some_groups.c, multicast_state.c, mft_rows.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "route/multicast_trees.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct room {
	struct fab *f;
	struct lab *l;
	struct sm_group_member m[8];
};

static void room_open(struct room *r)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 3}, .ndims = 2};
	struct lab_config c;
	struct err e;

	r->f = fab_generate(&g, &e);
	assert_non_null(r->f);
	lab_config_default(&c);
	c.threads = 1;
	c.sm.sweep_factor = 0;
	r->l = lab_new(r->f, &c, &e);
	assert_non_null(r->l);
	lab_power_on(r->l, NULL);
	assert_true(lab_run_ready(r->l, 10 * PS_PER_S));
}

static void room_close(struct room *r)
{
	lab_free(r->l);
	fab_free(r->f);
}

/* The n-th host of the fabric. */
static struct sm_group_member host(const struct room *r, unsigned n)
{
	for (node_id i = 0;; i++)
		if (!fab_is_switch(r->f, i) && !n--)
			return (struct sm_group_member){r->f->ports[fab_port_id(r->f, i, 1)].guid,
							true, true};
}

static void group(struct room *r, unsigned members)
{
	struct sm_group g = {IBA_LID_MCAST_FIRST + 3, 0, r->m, members};

	assert_true(lab_manager_groups(r->l, 0, &g, 1));
	assert_true(lab_run_ready(r->l, sim_now(lab_sim(r->l)) + 10 * PS_PER_S));
}

/* Masks of one MLID in all switches; how many differ from those before. */
static unsigned changed(const struct room *r, uint64_t (*mask)[4])
{
	unsigned n = 0;

	for (uint32_t s = 0; s < r->f->nswitches; s++) {
		uint64_t now[4];

		sim_mft(lab_sim(r->l), r->f->switches[s], IBA_LID_MCAST_FIRST + 3, now);
		n += memcmp(now, mask[s], sizeof(now)) != 0;
		memcpy(mask[s], now, sizeof(now));
	}
	return n;
}

static uint64_t sent(const struct room *r)
{
	const struct sm_status *st = lab_status(r->l);
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += i == SM_FOR_NAMES ? 0 : st->smps[i];
	return n;
}

TEST(a_join_is_one_set_for_each_switch_that_changes)
{
	uint64_t(*mask)[4], before;
	uint32_t rounds;
	struct room r;
	time_ps start;

	room_open(&r);
	mask = mem_zarray(r.f->nswitches, sizeof(*mask));
	rounds = lab_status(r.l)->rounds;
	for (unsigned n = 1; n <= 8; n++) {
		r.m[n - 1] = host(&r, 2 * (n - 1));
		before = sent(&r);
		start = sim_now(lab_sim(r.l));
		group(&r, n);
		assert_int_equal(sent(&r) - before, changed(&r, mask));
		assert_true(sim_now(lab_sim(r.l)) - start < PS_PER_MS);
	}
	for (unsigned n = 8; n-- > 0;) {
		before = sent(&r);
		group(&r, n);
		assert_int_equal(sent(&r) - before, changed(&r, mask));
	}
	for (uint32_t s = 0; s < r.f->nswitches; s++)
		assert_false(mask[s][0] | mask[s][1]);
	assert_int_equal(lab_status(r.l)->rounds, rounds);
	free(mask);
	room_close(&r);
}

/* ---- many groups ---- */

enum { GROUPS = 70, HOSTS = 16 };

struct many {
	struct room r;
	bool in[GROUPS][HOSTS];
	struct sm_group_member m[GROUPS][HOSTS];
	struct sm_group g[GROUPS];
	struct rt_member placed[GROUPS][HOSTS];
	struct rt_group wanted[GROUPS];
};

static void tell(struct many *x)
{
	assert_true(lab_manager_groups(x->r.l, 0, x->g, GROUPS));
	assert_true(lab_run_ready(x->r.l, sim_now(lab_sim(x->r.l)) + 10 * PS_PER_S));
}

static port_id port_of(const struct room *r, uint64_t guid)
{
	port_id p = 0;

	while (r->f->ports[p].guid != guid)
		p++;
	return p;
}

static void members_of(struct many *x, unsigned k)
{
	struct sm_group *g = &x->g[k];
	uint32_t n = 0;

	for (unsigned h = 0; h < HOSTS; h++)
		if (x->in[k][h]) {
			x->m[k][n] = host(&x->r, h);
			x->placed[k][n] =
				(struct rt_member){port_of(&x->r, x->m[k][n].port_guid), true};
			n++;
		}
	*g = (struct sm_group){(uint16_t)(IBA_LID_MCAST_FIRST + k), 0, x->m[k], n};
	x->wanted[k] = (struct rt_group){g->mlid, 0, x->placed[k], n};
}

/* What the devices hold delivers every group. */
static void deliver(struct many *x)
{
	rt_mtrees trees = {0};
	struct rt_mreport r;

	for (unsigned k = 0; k < GROUPS; k++) {
		struct rt_mtree t = {.mlid = x->g[k].mlid};

		for (uint32_t s = 0; s < x->r.f->nswitches; s++) {
			struct rt_ports p;

			sim_mft(lab_sim(x->r.l), x->r.f->switches[s], x->g[k].mlid, p.w);
			if (!rt_ports_none(&p))
				vec_push(&t.at, (struct rt_branch){s, p});
		}
		vec_push(&trees, t);
	}
	rt_multicast_verify(x->r.f, NULL, NULL, x->wanted, GROUPS, &trees, &r);
	assert_int_equal(r.missing + r.doubled + r.strangers + r.loops + r.dead, 0);
	rt_mtrees_free(&trees);
}

static uint64_t computed_for_some(const struct many *x)
{
	struct sm_multicast_status st;

	sm_multicast_status(lab_sm(x->r.l), &st);
	return st.some;
}

/*
 * Joins and leaves of single groups have trees of these computed alone, and every group is delivered after each of them. When a
 * link fails all are computed, and then single ones again.
 */
TEST(a_group_changes_and_the_others_stay)
{
	struct many x;
	struct rng rng;
	port_id cut = 0;

	room_open(&x.r);
	rng_seed(&rng, 7, 0);
	memset(x.in, 0, sizeof(x.in));
	for (unsigned k = 0; k < GROUPS; k++) {
		x.in[k][k % HOSTS] = x.in[k][(k + 5) % HOSTS] = true;
		members_of(&x, k);
	}
	tell(&x);
	deliver(&x);
	for (unsigned i = 0; i < 120; i++) {
		uint64_t before = computed_for_some(&x);
		unsigned k = rng_below(&rng, GROUPS), h = rng_below(&rng, HOSTS);

		if (i % 40 == 39) { /* a link that is not the manager's */
			cut = fab_port_id(x.r.f, x.r.f->switches[x.r.f->nswitches - 1], 1 + i / 40);
			sim_uncable(lab_sim(x.r.l), cut);
			lab_run_until(x.r.l, sim_now(lab_sim(x.r.l)) + 10 * PS_PER_MS);
			assert_true(lab_run_ready(x.r.l, sim_now(lab_sim(x.r.l)) + 10 * PS_PER_S));
		}
		x.in[k][h] = !x.in[k][h];
		members_of(&x, k);
		tell(&x);
		deliver(&x);
		/* the first change after a failure has all computed, and the next one finds all in place */
		assert_int_equal(computed_for_some(&x), before + (i % 40 != 39));
	}
	room_close(&x.r);
}

TEST(the_same_groups_again_cost_nothing)
{
	struct room r;
	uint64_t before;

	room_open(&r);
	r.m[0] = host(&r, 0);
	r.m[1] = host(&r, 9);
	group(&r, 2);
	before = sent(&r);
	group(&r, 2);
	assert_int_equal(sent(&r), before);
	room_close(&r);
}

TEST(groups_that_make_no_sense_are_refused)
{
	struct sm_config c;
	struct sm_actions out = {0};
	struct sm_group bad[] = {{0xbfff, 0, NULL, 0}, {0xffff, 0, NULL, 0}, {0xc000, 16, NULL, 0}};
	struct sm_group twice[] = {{0xc001, 0, NULL, 0}, {0xc001, 0, NULL, 0}};
	struct sm *sm;

	sm_config_default(&c);
	sm = sm_new(&c);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(sm_step(sm,
					 &(struct sm_event){.kind = SM_EV_GROUPS,
							    .groups = &bad[i],
							    .ngroups = 1},
					 &out),
				 -EINVAL);
	assert_int_equal(
		sm_step(sm, &(struct sm_event){.kind = SM_EV_GROUPS, .groups = twice, .ngroups = 2},
			&out),
		-EINVAL);
	assert_int_equal(sm_step(sm, &(struct sm_event){.kind = SM_EV_GROUPS, .some = true}, &out),
			 -EINVAL); /* of what is not known yet */
	assert_int_equal(sm_step(sm, &(struct sm_event){.kind = SM_EV_GROUPS}, &out), 0);
	assert_int_equal(sm_step(sm, &(struct sm_event){.kind = SM_EV_GROUPS, .some = true}, &out),
			 0);
	sm_actions_free(&out);
	sm_free(sm);
}

TEST(what_others_see)
{
	struct sm_multicast_status st;
	uint16_t masks[IBA_MFT_BLOCK];
	struct room r;
	unsigned with = 0;

	room_open(&r);
	r.m[0] = host(&r, 0);
	r.m[1] = host(&r, 15);
	group(&r, 2);
	sm_multicast_status(lab_sm(r.l), &st);
	assert_int_equal(st.groups, 1);
	assert_int_equal(st.partial, 0);
	assert_false(st.busy);
	assert_int_equal(st.mlids, sm_mlids(lab_sm(r.l)));
	assert_int_equal(st.mlids, 1024);
	assert_int_equal(sm_multicast_sls(lab_sm(r.l)), 0xffff);
	for (uint32_t s = 0; s < r.f->nswitches; s++) {
		assert_true(
			sm_mft_block(lab_sm(r.l), r.f->nodes[r.f->switches[s]].guid, 0, 0, masks));
		with += masks[3] != 0;
	}
	assert_int_equal(with, 5); /* up to the top of the tree and down again */
	assert_false(sm_mft_block(lab_sm(r.l), r.f->nodes[r.f->switches[0]].guid, 32, 0, masks));
	assert_false(sm_mft_block(lab_sm(r.l), r.f->nodes[r.f->switches[0]].guid, 0, 1, masks));
	assert_false(sm_mft_block(lab_sm(r.l), 1, 0, 0, masks));
	room_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_is_one_set_for_each_switch_that_changes),
		cmocka_unit_test(a_group_changes_and_the_others_stay),
		cmocka_unit_test(the_same_groups_again_cost_nothing),
		cmocka_unit_test(groups_that_make_no_sense_are_refused),
		cmocka_unit_test(what_others_see),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
