/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two devices with one GUID, with every mechanism: on a subnet that comes up and on one that runs, the first
 * one keeps its place, the other one is left out and named, and all others work. State: struct world.
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { SWITCHES = 4, HOSTS = 6 };

/* Switches 0 to 3 in a ring (ports 1 and 2), hosts 0 to 3 at port 3 of each, hosts 4 and 5 at port 4 of
 * switches 2 and 3; the manager on host 0. Then a switch 4 at port 5 of switch 1 by its port 4, with host 6
 * at its port 3. */
struct world {
	struct fab *fab;
	struct lab *lab;
	node_id sw[SWITCHES + 1], host[HOSTS + 1];
	struct sm_duplicate noted; /* the last one */
	unsigned notes;
};

/* GUIDs of the two that differ from the rule; 0: none. */
struct odd_guid {
	unsigned at; /* switch or host */
	bool sw;
	uint64_t node, port;
};

static uint64_t host_guid(unsigned i)
{
	return 0x200 + 16 * i;
}

static struct fab *draw(struct world *w, const struct odd_guid *o)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i <= SWITCHES; i++) {
		bool odd = o && o->sw && o->at == i;

		w->sw[i] = fab_add_node(b, IBA_NODE_SWITCH, odd ? o->node : 0x100 + i, 6, "");
		if (odd && o->port)
			fab_builder_port(b, w->sw[i], 0)->guid = o->port;
	}
	for (unsigned i = 0; i < SWITCHES; i++)
		fab_add_link(b, w->sw[i], 1, w->sw[(i + 1) % SWITCHES], 2);
	fab_add_link(b, w->sw[1], 5, w->sw[4], 4);
	for (unsigned i = 0; i <= HOSTS; i++) {
		bool odd = o && !o->sw && o->at == i;
		unsigned at = i < 4 ? i : i < HOSTS ? i - 2 : 4;

		w->host[i] = fab_add_node(b, IBA_NODE_CA, odd && o->node ? o->node : host_guid(i),
					  1, "");
		fab_builder_port(b, w->host[i], 1)->guid =
			odd && o->port ? o->port : host_guid(i) + 1;
		fab_add_link(b, w->sw[at], i < 4 ? 3 : i < HOSTS ? 4 : 3, w->host[i], 1);
	}
	return fab_build(b);
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct world *w = ctx;

	if (n->kind != SM_NOTE_DUPLICATE)
		return;
	w->noted = n->duplicate;
	w->notes++;
}

static void open_world(struct world *w, const struct odd_guid *o, const char *mechanism)
{
	struct lab_config c;
	struct err e;

	*w = (struct world){0};
	w->fab = draw(w, o);
	lab_config_default(&c);
	c.threads = 1;
	c.sm_node = w->host[0];
	c.sm.mechanism = *sm_mechanism_find(mechanism);
	c.sm.sweep_factor = 0;
	c.sm.sweep_period_ps = 20 * PS_PER_MS;
	w->lab = lab_new(w->fab, &c, &e);
	lab_on_note(w->lab, on_note, w);
}

static void settle(struct world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));

	if (!lab_run_settled(w->lab, now + 50 * PS_PER_MS, now + 60 * PS_PER_S))
		fail_msg("does not come to rest");
}

static void close_world(struct world *w)
{
	lab_free(w->lab);
	fab_free(w->fab);
}

static bool active(const struct world *w, node_id n, unsigned port)
{
	return sim_port_info(lab_sim(w->lab), fab_port_id(w->fab, n, port))->state ==
	       IBA_PORT_ACTIVE;
}

/* The port that a device at this node has in every switch that is in the subnet: followed hop by hop. */
static bool reaches(const struct world *w, node_id from, uint16_t lid, node_id to)
{
	struct sim *s = lab_sim(w->lab);

	for (unsigned hops = 0; hops < 16; hops++) {
		unsigned out = sim_lft(s, from, lid);
		port_id peer;

		if (out == 0)
			return from == to;
		if (out == IBA_PORT_NONE || !active(w, from, out))
			return false;
		peer = sim_port_peer(s, fab_port_id(w->fab, from, out));
		from = w->fab->ports[peer].node;
		if (!fab_is_switch(w->fab, from))
			return from == to;
	}
	return false;
}

/* Every host but `out` is Active, and every switch forwards to it; `out` is not. out_sw: a switch that is
 * left out with what is behind it. */
static void assert_all_but(const struct world *w, node_id out, node_id out_sw)
{
	for (unsigned i = 0; i <= HOSTS; i++) {
		const struct iba_port_info *pi =
			sim_port_info(lab_sim(w->lab), fab_port_id(w->fab, w->host[i], 1));
		bool left = w->host[i] == out || (i == HOSTS && out_sw == w->sw[4]);

		assert_int_equal(pi->state == IBA_PORT_ACTIVE, !left);
		for (unsigned k = 0; k <= SWITCHES && !left; k++)
			if (w->sw[k] != out_sw && !reaches(w, w->sw[k], pi->lid, w->host[i]))
				fail_msg("switch %u does not reach host %u", k, i);
	}
}

static const char *const mechanisms[] = {"basic", "improved", "improved+partial", "improved+traps",
					 "weft"};

/* ---- a subnet that comes up ---- */

static void come_up(const struct odd_guid *o, uint64_t guid, node_id *const out, bool sw)
{
	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++) {
		struct world w;
		struct sm_duplicate d, more;

		open_world(&w, o, mechanisms[m]);
		lab_power_on(w.lab, NULL);
		settle(&w);
		assert_true(sm_duplicate_at(lab_sm(w.lab), 0, &d));
		assert_false(sm_duplicate_at(lab_sm(w.lab), 1, &more));
		assert_true(d.guid == guid);
		assert_int_equal(w.notes, 1);
		assert_memory_equal(&d, &w.noted, sizeof(d));
		*out = fab_node_by_guid(w.fab, d.left_at.guid);
		*out = w.fab->ports[w.fab->ports[fab_port_id(w.fab, *out, d.left_at.port)].peer]
			       .node;
		assert_all_but(&w, sw ? FAB_NONE : *out, sw ? *out : FAB_NONE);
		close_world(&w);
	}
}

TEST(two_hosts_with_one_port_guid)
{
	node_id out;

	come_up(&(struct odd_guid){.at = 5, .port = host_guid(2) + 1}, host_guid(2) + 1, &out,
		false);
}

/* The switch is in the subnet, whichever is met first. */
TEST(a_host_with_the_port_guid_of_a_switch)
{
	struct world w;
	node_id out;

	open_world(&w, NULL, "basic");
	come_up(&(struct odd_guid){.at = 1, .port = 0x102}, 0x102, &out, false);
	assert_int_equal(out, w.host[1]);
	come_up(&(struct odd_guid){.at = 4, .port = 0x101}, 0x101, &out, false);
	assert_int_equal(out, w.host[4]);
	close_world(&w);
}

TEST(two_hosts_with_one_node_guid)
{
	node_id out;

	come_up(&(struct odd_guid){.at = 5, .node = host_guid(3), .port = host_guid(3) + 1},
		host_guid(3), &out, false);
}

TEST(a_host_with_the_guids_of_the_managers)
{
	struct world w;
	node_id out;

	open_world(&w, NULL, "basic");
	come_up(&(struct odd_guid){.at = 3, .node = host_guid(0), .port = host_guid(0) + 1},
		host_guid(0), &out, false);
	assert_int_equal(out, w.host[3]);
	close_world(&w);
}

TEST(two_switches_with_one_guid)
{
	struct world w;
	node_id out;

	open_world(&w, NULL, "basic");
	come_up(&(struct odd_guid){.at = 4, .sw = true, .node = 0x102}, 0x102, &out, true);
	assert_int_equal(out, w.sw[4]);
	close_world(&w);
}

/* ---- a subnet that runs ---- */

/* The twin is plugged in, then the first one is taken away, then it comes back. */
static void plug_in(const struct odd_guid *o, unsigned first, unsigned twin, const char *mechanism)
{
	struct world w;
	struct sm_duplicate d;
	struct sim *s;
	port_id p, q;

	open_world(&w, o, mechanism);
	s = lab_sim(w.lab);
	p = fab_port_id(w.fab, w.host[twin], 1);
	q = fab_port_id(w.fab, w.host[first], 1);
	sim_uncable(s, p);
	lab_power_on(w.lab, NULL);
	settle(&w);
	assert_int_equal(w.notes, 0);
	sim_cable(s, p, w.fab->ports[p].peer);
	settle(&w);
	assert_int_equal(w.notes, 1);
	assert_true(sm_duplicate_at(lab_sm(w.lab), 0, &d));
	assert_all_but(&w, w.host[twin], FAB_NONE);
	sim_uncable(s, q);
	settle(&w);
	assert_false(sm_duplicate_at(lab_sm(w.lab), 0, &d));
	assert_true(active(&w, w.host[twin], 1));
	sim_cable(s, q, w.fab->ports[q].peer);
	settle(&w);
	assert_true(sm_duplicate_at(lab_sm(w.lab), 0, &d));
	assert_all_but(&w, w.host[first], FAB_NONE);
	sim_uncable(s, q);
	settle(&w);
	assert_false(sm_duplicate_at(lab_sm(w.lab), 0, &d));
	close_world(&w);
}

TEST(a_twin_is_plugged_in)
{
	static const struct odd_guid row[] = {
		{.at = 5, .port = 0x200 + 16 * 2 + 1},
		{.at = 5, .node = 0x200 + 16 * 2, .port = 0x200 + 16 * 2 + 1},
	};

	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++)
		for (size_t i = 0; i < ARRAY_LEN(row); i++)
			plug_in(&row[i], 2, 5, mechanisms[m]);
}

/* The host that was there keeps its place though a full discovery meets the other one first. */
TEST(a_full_discovery_keeps_the_first)
{
	struct world w;
	struct sm_duplicate d;
	port_id p;

	open_world(&w, &(struct odd_guid){.at = 1, .port = host_guid(2) + 1}, "basic");
	p = fab_port_id(w.fab, w.host[1], 1);
	sim_uncable(lab_sim(w.lab), p);
	lab_power_on(w.lab, NULL);
	settle(&w);
	sim_cable(lab_sim(w.lab), p, w.fab->ports[p].peer);
	settle(&w);
	assert_all_but(&w, w.host[1], FAB_NONE);
	sim_node_power(lab_sim(w.lab), w.host[5], false);
	settle(&w); /* another full discovery */
	assert_true(sm_duplicate_at(lab_sm(w.lab), 0, &d));
	assert_true(active(&w, w.host[2], 1));
	assert_false(active(&w, w.host[1], 1));
	assert_int_equal(w.notes, 1);
	close_world(&w);
}

TEST(a_host_that_moves_is_no_duplicate)
{
	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++) {
		struct world w;
		port_id p;

		open_world(&w, NULL, mechanisms[m]);
		lab_power_on(w.lab, NULL);
		settle(&w);
		p = fab_port_id(w.fab, w.host[5], 1);
		sim_uncable(lab_sim(w.lab), p);
		sim_cable(lab_sim(w.lab), p, fab_port_id(w.fab, w.sw[0], 6));
		settle(&w);
		assert_int_equal(w.notes, 0);
		assert_true(active(&w, w.host[5], 1));
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_with_one_port_guid),
		cmocka_unit_test(a_host_with_the_port_guid_of_a_switch),
		cmocka_unit_test(two_hosts_with_one_node_guid),
		cmocka_unit_test(a_host_with_the_guids_of_the_managers),
		cmocka_unit_test(two_switches_with_one_guid),
		cmocka_unit_test(a_twin_is_plugged_in),
		cmocka_unit_test(a_full_discovery_keeps_the_first),
		cmocka_unit_test(a_host_that_moves_is_no_duplicate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
