/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations on a small tree, with each scheme: SMPs, LIDs, packets, and that nothing else changes.
 * Covers: migrate.c, migrate_draw.c, migrate_measure.c, plane_machines.c
 */
#include "vm_fixture.h"

#include "lab/load.h"
#include "lab/migrate.h"

static struct lab_migrate_result run(enum sm_scheme scheme, enum fab_sriov sriov,
				     struct lab_migrate_plan p, bool load)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct traffic_config t = {.payload = 256, .seed = 1, .interval_ps = 10 * PS_PER_US};
	struct fab *f = vm_fabric(&g, sriov, 3), *wire;
	struct lab_migrate_result r;
	struct lab_config c;
	struct lab *l;
	struct err e;

	wire = fab_wire(f, &e);
	lab_config_default(&c);
	c.sm.scheme = scheme;
	c.sm_node = lab_migrate_seat(f);
	c.sim.plane.on = load;
	if (p.full)
		c.sm.mechanism = *sm_mechanism_find("basic");
	l = lab_new(wire, &c, &e);
	p.fab = f;
	p.traffic = load ? &t : NULL;
	p.warmup = p.tail = 100 * PS_PER_US;
	p.limit = PS_PER_S;
	assert_int_equal(lab_migrate_run(l, &p, &r, &e), 0);
	assert_string_equal(r.why, "");
	assert_true(r.up);
	assert_int_equal(r.rounds, p.full);
	if (!p.full)
		assert_int_equal(r.disturbed, 0);
	assert_true(r.v.active && r.v.verified && r.v.lids_unique && r.v.complete);
	lab_free(l);
	fab_free(wire);
	fab_free(f);
	return r;
}

static struct lab_place host(unsigned n, unsigned slot)
{
	struct vm_world w;
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct lab_place p;

	w.fab = vm_fabric(&g, FAB_SRIOV_VSWITCH, 3);
	p = (struct lab_place){vm_host(&w, n), slot};
	fab_free(w.fab);
	return p;
}

TEST(one_vm_inside_a_leaf)
{
	struct lab_migrate_plan p = {.vm = host(0, 0), .to = host(1, 2)};
	struct lab_migrate_result r = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, false);

	assert_int_equal(r.all.n, 1);
	assert_int_equal(r.all.at[0].r.smps_hypervisors, 2);
	assert_int_equal(r.all.at[0].r.smps_tables, 1);
	assert_int_equal(r.all.at[0].r.switches_touched, 1);
	assert_int_equal(r.all.at[0].r.lid_before, r.all.at[0].r.lid_after);
	assert_int_equal(r.all.at[0].to.slot, 2);
	assert_true(r.all.at[0].cut > 0);
	assert_int_equal(r.start_hypervisors, 1);
	assert_int_equal(r.start_tables, 6);
	lab_migrate_free(&r);
}

TEST(drawn_migrations_are_the_same_for_a_seed)
{
	struct lab_migrate_plan p = {.vm = {FAB_NONE, 0}, .count = 12, .seed = 5};
	struct lab_migrate_result a = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, false);
	struct lab_migrate_result b = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, false);

	assert_int_equal(a.all.n, 12);
	assert_int_equal(a.refused, 0);
	assert_true(a.hash == b.hash);
	for (size_t i = 0; i < a.all.n; i++)
		assert_int_equal(a.all.at[i].to.host, b.all.at[i].to.host);
	lab_migrate_free(&a);
	lab_migrate_free(&b);
}

TEST(together_and_under_load)
{
	struct lab_migrate_plan p = {.vm = {FAB_NONE, 0}, .count = 5, .seed = 2, .together = true};
	struct lab_migrate_result r = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, true);

	assert_int_equal(r.all.n, 5);
	assert_true(r.sent > 0);
	assert_int_equal(r.lost, r.lost_vms + r.lost_others);
	assert_int_equal(r.lost_others, 0);
	assert_true(r.lost_vms > 0);
	assert_true(r.cut_others == 0);
	lab_migrate_free(&r);
}

/* VFs without a VM neither send nor receive: packets are as many as with dynamic LIDs. */
TEST(packets_of_both_schemes_are_comparable)
{
	struct lab_migrate_plan p = {
		.vm = {FAB_NONE, 0}, .count = 2, .vms = 8, .seed = 4, .together = true};
	struct lab_migrate_result a = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, true);
	struct lab_migrate_result b = run(SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, p, true);
	double rate_a = (double)a.sent / (double)(a.time + 100 * PS_PER_US);
	double rate_b = (double)b.sent / (double)(b.time + 100 * PS_PER_US);

	assert_int_equal(a.vms, 8);
	assert_int_equal(b.all.n, 2);
	assert_true(rate_b > 0.8 * rate_a && rate_b < 1.25 * rate_a);
	assert_int_equal(b.lost_others, 0);
	assert_true(b.lost_vms > 0);
	assert_true(b.cut_others == 0);
	lab_migrate_free(&a);
	lab_migrate_free(&b);
}

/* Each of them goes on, while the old host discards what comes for the VM. */
TEST(others_send_to_the_old_host_of_a_shared_port_until_they_know)
{
	struct lab_migrate_plan p = {.vm = {FAB_NONE, 0}, .count = 3, .seed = 1, .together = true};
	struct lab_migrate_result now = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, p, true), late;

	p.inform = PS_PER_MS;
	late = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, p, true);
	assert_int_equal(late.lost_others, 0);
	assert_true(late.lost_vms > now.lost_vms);
	for (size_t i = 0; i < 3; i++) {
		assert_true(now.all.at[i].cut > 0);
		assert_true(late.all.at[i].cut > now.all.at[i].cut + PS_PER_MS * 9 / 10);
	}
	lab_migrate_free(&now);
	lab_migrate_free(&late);
}

/* The mechanism basic stops all traffic to write all tables. */
TEST(full_reconfiguration)
{
	struct lab_migrate_plan p = {.vm = host(0, 0), .to = host(5, 0), .full = true};
	struct lab_migrate_result r = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, p, true);

	assert_int_equal(r.all.at[0].r.lid_before, r.all.at[0].r.lid_after);
	assert_true(r.round_tables >= 6);
	assert_true(r.lost_others > 0);
	assert_true(r.cut_others > 0);
	assert_true(r.all.at[0].cut >= r.cut_others);
	lab_migrate_free(&r);
}

/* A swap of two LIDs: at most two blocks a switch. */
TEST(prepopulated_lids_are_swapped)
{
	struct lab_migrate_plan p = {.vm = {FAB_NONE, 0}, .count = 12, .seed = 3};
	struct lab_migrate_result r = run(SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, p, false);

	for (size_t i = 0; i < r.all.n; i++) {
		assert_int_equal(r.all.at[i].r.lid_before, r.all.at[i].r.lid_after);
		assert_true(r.all.at[i].r.switches_touched <= 6);
	}
	assert_int_equal(r.start_tables, 0);
	lab_migrate_free(&r);
}

TEST(a_shared_port_changes_the_lid)
{
	struct lab_migrate_plan p = {.vm = host(0, 0), .to = host(5, 0)};
	struct lab_migrate_result r = run(SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, p, false);

	assert_int_equal(r.all.at[0].r.smps_hypervisors, 2);
	assert_int_equal(r.all.at[0].r.smps_tables, 0);
	assert_int_not_equal(r.all.at[0].r.lid_before, r.all.at[0].r.lid_after);
	lab_migrate_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_vm_inside_a_leaf),
		cmocka_unit_test(drawn_migrations_are_the_same_for_a_seed),
		cmocka_unit_test(together_and_under_load),
		cmocka_unit_test(packets_of_both_schemes_are_comparable),
		cmocka_unit_test(others_send_to_the_old_host_of_a_shared_port_until_they_know),
		cmocka_unit_test(full_reconfiguration),
		cmocka_unit_test(prepopulated_lids_are_swapped),
		cmocka_unit_test(a_shared_port_changes_the_lid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
