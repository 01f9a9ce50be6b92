/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repaired routes beside routes from scratch: what the worker answers, and when the manager asks and acts upon it. The
 * manager runs on a simulated fabric; each test watches its notes and the table blocks that it writes.
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sm/manager.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

/* ---- the worker ---- */

enum { LINKS = 4, HOSTS = 8 };

/* Two switches with parallel links, hosts at both. */
static struct fab *pair_fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[2];

	for (unsigned i = 0; i < 2; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x100 + i, LINKS + HOSTS, "");
	for (unsigned p = 1; p <= LINKS; p++)
		fab_add_link(b, sw[0], p, sw[1], p);
	for (unsigned i = 0; i < 2 * HOSTS; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x200 + i, 1, "");

		fab_builder_port(b, h, 1)->lid = (uint16_t)(3 + i);
		fab_add_link(b, sw[i % 2], LINKS + 1 + i / 2, h, 1);
	}
	for (unsigned i = 0; i < 2; i++)
		fab_builder_port(b, sw[i], 0)->lid = (uint16_t)(1 + i);
	return fab_build(b);
}

struct request {
	struct fab *fab;
	struct rt_tables *old;
	uint64_t rank[2];
	struct sm_compute c;
};

static void request_open(struct request *q)
{
	struct rt_opts o = {.threads = 1, .rank = q->rank};
	struct err e;

	*q = (struct request){.fab = pair_fabric()};
	o.root = q->fab->switches[0];
	rt_updown_rank_by(q->fab, o.root, RT_BY_DISTANCE, q->rank);
	assert_int_equal(rt_compute(&rt_fera, q->fab, &o, &q->old, &e), 0);
	rt_tables_fill(q->old);
	q->c = (struct sm_compute){.epoch = 7,
				   .fab = q->fab,
				   .root = o.root,
				   .stage = SM_FINAL,
				   .supply = sm_supply_find("update"),
				   .plan = true,
				   .compare = true,
				   .old = q->old,
				   .old_rank = q->rank};
}

static void request_close(struct request *q)
{
	rt_tables_free(q->old);
	fab_free(q->fab);
}

/* The first links carry what the others did. */
static void crowd(struct request *q, unsigned to)
{
	for (size_t i = 0; i < (size_t)q->old->nswitches * q->old->stride; i++)
		if (q->old->lft[i] > to && q->old->lft[i] <= LINKS)
			q->old->lft[i] = (uint8_t)(1 + q->old->lft[i] % to);
}

TEST(tables_that_are_as_good_are_not_replaced)
{
	struct sm_work_done done;
	struct sm_routes r;
	struct request q;

	request_open(&q);
	sm_compute_run(&q.c, 1, &r, &done);
	assert_int_equal(r.epoch, 7);
	assert_null(r.tables);
	assert_false(r.verified);
	assert_ptr_equal(done.cost, &rt_fera.cost);
	sm_routes_free(&r);
	request_close(&q);
}

TEST(tables_that_crowd_a_link_are_replaced_without_disabled_turns)
{
	struct rt_verify_opts o = {.threads = 1};
	struct rt_report was = {0}, is = {0};
	struct sm_work_done done;
	struct sm_routes r;
	struct request q;

	request_open(&q);
	crowd(&q, 2);
	sm_compute_run(&q.c, 1, &r, &done);
	assert_int_equal(r.epoch, 7);
	assert_true(r.tables && r.verified && r.rank);
	assert_int_not_equal(r.plan.kind, RT_PLAN_TURNS);
	assert_int_not_equal(r.plan.kind, RT_PLAN_NOTHING);
	assert_int_equal(rt_verify(q.fab, q.old, &o, &was, NULL), 0);
	assert_int_equal(rt_verify(q.fab, r.tables, &o, &is, NULL), 0);
	assert_true(4 * was.link_load_max > 5 * is.link_load_max);
	rt_report_free(&was);
	rt_report_free(&is);
	sm_routes_free(&r);
	request_close(&q);
}

/* ---- tables that do not obey the ranks ---- */

enum { RING = 5 };

/* A ring of switches with a host each, all routes the shorter way round. */
static struct fab *ring_fabric(struct rt_tables **t)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[RING];
	struct fab *f;

	for (unsigned i = 0; i < RING; i++) {
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x100 + i, 3, "");
		fab_builder_port(b, sw[i], 0)->lid = (uint16_t)(1 + i);
	}
	for (unsigned i = 0; i < RING; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x200 + i, 1, "");

		fab_add_link(b, sw[i], 1, sw[(i + 1) % RING], 2);
		fab_builder_port(b, h, 1)->lid = (uint16_t)(1 + RING + i);
		fab_add_link(b, sw[i], 3, h, 1);
	}
	f = fab_build(b);
	*t = rt_tables_new(RING, 2 * RING);
	for (unsigned s = 0; s < RING; s++)
		for (unsigned lid = 1; lid <= 2 * RING; lid++) {
			unsigned ahead = ((lid - 1) % RING + RING - s) % RING;

			rt_row(*t, s)[lid] = (uint8_t)(ahead	    ? (ahead <= RING / 2 ? 1 : 2)
						       : lid > RING ? 3
								    : 0);
		}
	return f;
}

/* As with tables that another manager left, and ranks that sm_rank_ensure() gave: nothing may follow from those. */
TEST(a_repair_does_not_trust_ranks_that_tables_do_not_obey)
{
	struct rt_tables *t;
	struct fab *f = ring_fabric(&t);
	uint64_t rank[RING];
	struct rt_before before = {f, rank, t};
	rt_turns off = {0};
	struct rt_verify_opts o = {.threads = 1};
	struct rt_report r = {0};
	struct sm_work_done done;
	struct sm_routes got;
	struct sm_compute c = {.epoch = 9,
			       .fab = f,
			       .root = f->switches[0],
			       .stage = SM_PROVISIONAL,
			       .supply = sm_supply_find("repair"),
			       .old = t,
			       .old_rank = rank,
			       .before = &before,
			       .off = &off};

	rt_updown_rank_by(f, f->switches[0], RT_BY_DISTANCE, rank);
	assert_true(rt_verify_change(f, t, rank, &before)); /* it trusts the ranks */
	sm_compute_run(&c, 1, &got, &done);
	assert_true(got.tables && got.verified && got.rank);
	o.rank = got.rank;
	assert_int_equal(rt_verify(f, got.tables, &o, &r, NULL), 0);
	assert_true(r.ok);
	assert_int_equal(r.down_up, 0);
	rt_report_free(&r);
	sm_routes_free(&got);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- the manager ---- */

struct story {
	struct fab *fab;
	struct lab *lab;
	unsigned blocks, rounds; /* table blocks that switches received; rounds for the balance */
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	s->rounds += n->kind == SM_NOTE_CHANGE && n->change.cause == SM_CAUSE_BALANCE;
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *m, unsigned detail)
{
	struct story *s = ctx;

	(void)n, (void)port, (void)detail;
	s->blocks += what == SIM_SEEN_RECV && iba_smp_method(m->mad) == IBA_SET &&
		     iba_smp_attr_id(m->mad) == IBA_ATTR_LFT;
}

static struct sm_status status(const struct story *s)
{
	struct sm_status st;

	sm_status(lab_sm(s->lab), &st);
	return st;
}

static void settle(struct story *s)
{
	time_ps now = sim_now(lab_sim(s->lab));
	struct lab_verdict v;

	assert_true(lab_run_settled(s->lab, now, now + 60 * PS_PER_S));
	lab_judge(s->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
	assert_false(status(s).comparing);
}

static void begin(struct story *s, uint64_t seed, const char *cpu)
{
	struct fab_gen g = {.kind = "irregular", .dims = {8}, .ndims = 1, .ports = 6, .seed = seed};
	struct lab_config c;
	struct err e;

	*s = (struct story){.fab = fab_generate(&g, &e)};
	lab_config_default(&c);
	c.threads = 1;
	c.cpu = lab_cpu_find(cpu);
	s->lab = lab_new(s->fab, &c, &e);
	lab_on_note(s->lab, on_note, s);
	sim_watch(lab_sim(s->lab), (struct sim_watch){on_seen, s});
	lab_power_on(s->lab, NULL);
	settle(s);
}

static void end(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
}

/* Until the failure is repaired and the repair is being compared. */
static void cut(struct story *s, port_id p)
{
	uint32_t rounds = status(s).rounds;

	sim_uncable(lab_sim(s->lab), p);
	while (status(s).rounds == rounds || !status(s).comparing) {
		assert_true(sim_now(lab_sim(s->lab)) < 10 * PS_PER_S);
		lab_run_until(s->lab, sim_next(lab_sim(s->lab)));
	}
	s->blocks = 0;
}

/* Links between switches fail and return, one after another, up to this port. */
static void wear(struct story *s, port_id end)
{
	for (port_id p = 0; p < end; p++) {
		port_id q = s->fab->ports[p].peer;

		if (q == FAB_NONE || q < p || !fab_is_switch(s->fab, s->fab->ports[p].node) ||
		    !fab_is_switch(s->fab, s->fab->ports[q].node))
			continue;
		sim_uncable(lab_sim(s->lab), p);
		settle(s);
		sim_cable(lab_sim(s->lab), p, q);
		settle(s);
	}
	assert_int_equal(s->rounds, 0);
}

/* Repairs of this link stay, at first as even as routes from scratch. */
enum { SEED = 52, LINK = 19 };

TEST(a_repair_that_is_as_good_is_measured_and_no_block_is_written)
{
	struct sm_status st;
	struct story s;

	begin(&s, SEED, "host");
	cut(&s, LINK);
	st = status(&s);
	assert_true(st.phase == SM_READY && st.comparing && !st.change_pending);
	settle(&s);
	assert_int_equal(s.blocks, 0);
	assert_int_equal(s.rounds, 0);
	assert_int_equal(status(&s).rounds, st.rounds);
	end(&s);
}

static uint64_t busiest(const struct story *s)
{
	const struct sm *sm = lab_sm(s->lab);
	struct rt_verify_opts o = {.threads = 1};
	struct rt_report r = {0};
	uint64_t load;

	assert_int_equal(rt_verify(sm_fabric(sm), sm_tables(sm), &o, &r, NULL), 0);
	load = r.link_load_max;
	rt_report_free(&r);
	return load;
}

/* The round of the failure ends with the repair; another one mends the balance. */
TEST(a_repair_that_crowds_a_link_is_followed_by_even_routes)
{
	struct sm_status st;
	struct story s;
	uint64_t load;

	begin(&s, SEED, "host");
	wear(&s, LINK);
	cut(&s, LINK);
	st = status(&s);
	load = busiest(&s);
	assert_true(st.phase == SM_READY && st.comparing);
	assert_int_equal(st.last.cause, SM_CAUSE_TRAP);
	settle(&s);
	assert_int_equal(s.rounds, 1);
	assert_true(s.blocks > 0);
	assert_true(4 * load > 5 * busiest(&s));
	assert_int_equal(status(&s).rounds, st.rounds + 1);
	assert_int_equal(status(&s).last.cause, SM_CAUSE_BALANCE);
	assert_int_equal(status(&s).last.smps[SM_FOR_DISCOVERY], 0);
	end(&s);
}

/* With the thesis's CPU a comparison takes longer than the repair of the next failure. */
TEST(a_failure_during_the_comparison_is_repaired_at_once)
{
	struct story s;
	uint32_t id, rounds;

	begin(&s, SEED, "thesis");
	cut(&s, LINK);
	id = lab_sm(s.lab)->routes.balance.id;
	assert_true(id != 0);
	rounds = status(&s).rounds;
	sim_uncable(lab_sim(s.lab), LINK + 1);
	while (status(&s).rounds == rounds)
		lab_run_until(s.lab, sim_next(lab_sim(s.lab)));
	assert_int_not_equal(status(&s).last.cause, SM_CAUSE_BALANCE);
	assert_int_not_equal(lab_sm(s.lab)->routes.balance.id, id);
	settle(&s);
	end(&s);
}

/* Other settings may mean other repairs: what was computed with the old ones is dropped, and requested again. */
TEST(a_comparison_that_is_dropped_is_requested_again)
{
	struct story s;
	uint32_t id;

	begin(&s, SEED, "thesis");
	cut(&s, LINK);
	id = lab_sm(s.lab)->routes.balance.id;
	sm_reconfigure((struct sm *)(uintptr_t)lab_sm(s.lab), &lab_config(s.lab)->sm);
	assert_int_equal(lab_sm(s.lab)->routes.balance.id, 0);
	settle(&s);
	assert_true(lab_sm(s.lab)->routes.request_id > id);
	assert_true(lab_sm(s.lab)->routes.balance.measured);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_that_are_as_good_are_not_replaced),
		cmocka_unit_test(tables_that_crowd_a_link_are_replaced_without_disabled_turns),
		cmocka_unit_test(a_repair_does_not_trust_ranks_that_tables_do_not_obey),
		cmocka_unit_test(a_repair_that_is_as_good_is_measured_and_no_block_is_written),
		cmocka_unit_test(a_repair_that_crowds_a_link_is_followed_by_even_routes),
		cmocka_unit_test(a_failure_during_the_comparison_is_repaired_at_once),
		cmocka_unit_test(a_comparison_that_is_dropped_is_requested_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
