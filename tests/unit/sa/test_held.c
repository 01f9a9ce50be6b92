/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests for paths while the subnet changes: which are answered at once, which wait for the forwarding tables, and that the
 * answers are those of the tables that stand.
 */
#include "sa_fixture.h"

static void gid_of(uint64_t guid, uint8_t gid[16])
{
	iba_be64_put(gid, 0xfe80000000000000);
	iba_be64_put(gid + 8, guid);
}

static port_id host(const struct fab *f, unsigned n)
{
	for (node_id i = 0; i < f->nnodes; i++)
		if (f->nodes[i].type == IBA_NODE_CA && !n--)
			return fab_port_id(f, i, 1);
	fail();
	return 0;
}

static struct sa_ask path_ask(uint64_t from, uint64_t to, unsigned method)
{
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .method = (uint8_t)method,
			   .mask = IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid)};
	struct iba_sa_path q = {0};

	gid_of(from, q.sgid);
	gid_of(to, q.dgid);
	iba_sa_path_put(&q, a.query);
	return a;
}

static uint64_t guid_at(const struct sa_rig *g, unsigned n)
{
	return sim_port_guid(lab_sim(g->lab), host(g->fab, n));
}

static uint16_t lid_at(const struct sa_rig *g, unsigned n)
{
	return sim_port_info(lab_sim(g->lab), host(g->fab, n))->lid;
}

/* ---- while the subnet changes ---- */

struct waiting {
	struct sa_rig *g;
	unsigned asked, answered, held;
};

static void collect(struct waiting *w)
{
	struct sa_mad m;

	while (sa_next(w->g->sa, &m, sa_rig_now(w->g))) {
		struct iba_sa_path p;

		assert_int_equal(iba_smp_status(m.mad), 0);
		iba_sa_path_get(&p, m.mad + IBA_SA_DATA_OFF, IBA_SA_DATA_SIZE);
		assert_int_equal(p.dlid, lid_at(w->g, 7));
		w->answered++;
	}
}

/* A request at each event of a change: each is answered, none with "busy", and none names a host that is not there. */
TEST(no_request_is_lost_while_routes_change)
{
	struct waiting w = {0};
	struct sa_rig g;
	struct sim *sim;
	time_ps end;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	w.g = &g;
	sim = lab_sim(g.lab);
	for (port_id p = 0;; p++) /* between two switches */
		if (g.fab->ports[p].num && g.fab->ports[p].peer != FAB_NONE &&
		    fab_is_switch(g.fab, g.fab->ports[p].node) &&
		    fab_is_switch(g.fab, g.fab->ports[g.fab->ports[p].peer].node)) {
			sim_uncable(sim, p);
			break;
		}
	end = sim_now(sim) + 200 * PS_PER_MS;
	while (sim_next(sim) < end) {
		struct sa_ask a = path_ask(guid_at(&g, 0), guid_at(&g, 7), IBA_GET);
		struct sa_mad m;

		lab_run_until(g.lab, sim_next(sim));
		sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
		sa_ask_mad(&g, &a, &m);
		m.lid = 1;
		sa_take(g.sa, lab_sm(g.lab), &m, sa_rig_now(&g));
		w.asked++;
		w.held += !sm_tables_to_stand(lab_sm(g.lab));
		collect(&w);
	}
	sa_rig_settle(&g);
	sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
	collect(&w);
	assert_true(w.asked > 10);
	assert_int_equal(w.answered, w.asked);
	sa_rig_close(&g);
}

/* ---- while routes are computed ---- */

enum { HOSTS = 8 };

struct meanwhile {
	struct sa_rig *g;
	unsigned answered, waiting;
	bool at_once[HOSTS][HOSTS];
	uint8_t record[HOSTS][HOSTS][64];
};

/* A host asks, and if it gets no answer at once, it asks again with the same MAD. */
static void one_asks(struct meanwhile *w, unsigned from, unsigned to)
{
	struct sa_ask a = path_ask(guid_at(w->g, from), guid_at(w->g, to), IBA_GET);
	struct sa_mad m, out;
	time_ps now = sa_rig_now(w->g);

	sa_ask_mad(w->g, &a, &m);
	m.lid = lid_at(w->g, from);
	sa_take(w->g->sa, lab_sm(w->g->lab), &m, now);
	if (!sa_next(w->g->sa, &out, now)) {
		sa_take(w->g->sa, lab_sm(w->g->lab), &m, now);
		assert_false(sa_next(w->g->sa, &out, now));
		w->waiting++;
		return;
	}
	assert_int_equal(iba_smp_status(out.mad), 0);
	memcpy(w->record[from][to], out.mad + IBA_SA_DATA_OFF, 64);
	w->at_once[from][to] = true;
	w->answered++;
}

static void until_computing(struct sa_rig *g)
{
	while (sm_tables_to_stand(lab_sm(g->lab)))
		lab_run_until(g->lab, sim_next(lab_sim(g->lab)));
	sa_manager(g->sa, lab_sm(g->lab), sa_rig_now(g));
	assert_int_equal(lab_status(g->lab)->phase, SM_COMPUTE);
}

/* What was answered at once is what is answered later, and what waited is answered once. */
static void compare_later(struct meanwhile *w)
{
	struct sa_mad m;

	sa_rig_settle(w->g);
	sa_manager(w->g->sa, lab_sm(w->g->lab), sa_rig_now(w->g));
	for (; sa_next(w->g->sa, &m, sa_rig_now(w->g)); w->waiting--)
		assert_int_equal(iba_smp_status(m.mad), 0);
	assert_int_equal(w->waiting, 0);
	for (unsigned i = 0; i < HOSTS; i++)
		for (unsigned k = 0; k < HOSTS; k++) {
			struct sa_ask a = path_ask(guid_at(w->g, i), guid_at(w->g, k), IBA_GET);
			struct sa_reply r = sa_rig_ask(w->g, &a);

			if (w->at_once[i][k])
				assert_memory_equal(r.records, w->record[i][k], 64);
			sa_reply_free(&r);
		}
}

static port_id cable_between_switches(const struct sa_rig *g, unsigned n)
{
	for (port_id p = 0;; p++) {
		port_id q = g->fab->ports[p].peer;

		if (q != FAB_NONE && q > p && fab_is_switch(g->fab, g->fab->ports[p].node) &&
		    fab_is_switch(g->fab, g->fab->ports[q].node) && !n--)
			return p;
	}
}

/* Two cables at once: no repair for that was computed ahead. */
TEST(what_depends_on_no_route_is_answered_while_routes_are_computed)
{
	struct meanwhile w = {0};
	struct sa_rig g;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, "auto");
	w.g = &g;
	sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
	sim_uncable(lab_sim(g.lab), cable_between_switches(&g, 0));
	sim_uncable(lab_sim(g.lab), cable_between_switches(&g, 2));
	until_computing(&g);
	for (unsigned i = 0; i < HOSTS; i++)
		for (unsigned k = 0; k < HOSTS; k++)
			one_asks(&w, i, k);
	assert_true(w.answered > HOSTS);
	assert_true(w.waiting > HOSTS); /* over a cable that is gone */
	compare_later(&w);
	sa_rig_close(&g);
}

/* With a slower link between switches, the rate of a path depends on its route. */
TEST(a_path_waits_for_its_route_where_links_differ)
{
	struct fab *f = fabric_make(GEN("mtree", 4, 2));
	struct sa_rig g = {.fab = f};
	struct meanwhile w = {.g = &g};
	port_id slow = cable_between_switches(&g, 5);

	f->ports[slow].width = f->ports[f->ports[slow].peer].width = 1;
	sa_rig_open(&g, f, 0, "auto");
	sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
	sim_uncable(lab_sim(g.lab), cable_between_switches(&g, 0));
	sim_uncable(lab_sim(g.lab), cable_between_switches(&g, 2));
	until_computing(&g);
	for (unsigned k = 0; k < HOSTS; k++)
		one_asks(&w, 0, k);
	assert_int_equal(w.waiting, HOSTS);
	compare_later(&w);
	sa_rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_request_is_lost_while_routes_change),
		cmocka_unit_test(what_depends_on_no_route_is_answered_while_routes_are_computed),
		cmocka_unit_test(a_path_waits_for_its_route_where_links_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
