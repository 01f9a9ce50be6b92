/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Key tables in the manager: a small tree in the laboratory, tables and enforcement read from the devices; policies
 * that change under way, SMPs that get lost, devices that restart, managers that take over.
 * Covers: pkey_tables.c, pkey_updates.c port_classes.c port_values.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "policy/policy.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct bench {
	struct fab *f;
	struct lab *l;
	unsigned short_of, updates; /* notes */
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct bench *b = ctx;

	b->short_of += n->kind == SM_NOTE_NO_ROOM_FOR_KEYS;
	b->updates += n->kind == SM_NOTE_PARTITIONS;
}

static struct pol *policy(const char *text)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if (pol_read_partitions(p, "p.conf", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return p;
}

static void prepare(struct bench *b, struct lab_config *c)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct err e;

	memset(b, 0, sizeof(*b));
	b->f = fab_generate(&g, &e);
	assert_non_null(b->f);
	lab_config_default(c);
	c->sim.traps = true;
	c->threads = 1;
	c->sm.read_back = true;
	c->sm.names = true;
}

static void start(struct bench *b, const struct lab_config *c, const struct pol *p)
{
	struct err e;

	b->l = lab_new(b->f, c, &e);
	lab_on_note(b->l, on_note, b);
	if (p)
		lab_manager_policy(b->l, 0, p);
	lab_power_on(b->l, NULL);
	assert_true(lab_run_ready(b->l, 100 * PS_PER_S));
}

static void down(struct bench *b)
{
	lab_free(b->l);
	fab_free(b->f);
}

static uint64_t smps(const struct bench *b)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += lab_status(b->l)->smps[i];
	return n;
}

/* ---- what devices hold ---- */

static struct pol_port port_of(const struct bench *b, port_id p)
{
	const struct fab_port *x = &b->f->ports[p];
	const struct fab_node *n = &b->f->nodes[x->node];

	return (struct pol_port){.guid = sim_port_guid(lab_sim(b->l), p),
				 .node_guid = n->guid,
				 .type = (enum iba_node_type)n->type,
				 .num = x->num,
				 .description = fab_node_name(b->f, x->node),
				 .is_sm = x->node == lab_sm_node(b->l)};
}

static void holds(const struct bench *b, port_id p, const struct pol *pol, struct pol_port who,
		  bool exactly)
{
	uint16_t keys[32] = {0};
	size_t n = pol_pkeys(pol, &who, keys, 32);
	unsigned there = 0;

	for (unsigned i = 0; i < 32; i++) {
		uint16_t key = sim_pkey(lab_sim(b->l), p, i);
		bool wanted = !key;

		for (size_t j = 0; j < n; j++)
			wanted |= keys[j] == key;
		if (!wanted)
			fail_msg("%s[%u] holds 0x%04x", who.description, b->f->ports[p].num, key);
		there += key != 0;
		if (exactly)
			assert_int_equal(key, keys[i]);
	}
	assert_int_equal(there, n);
	assert_int_equal(sim_pkey(lab_sim(b->l), p, 0), keys[0]);
}

/* Hosts, port 0 of switches, and ports of switches behind which hosts are; exactly: at the indexes that a new port gets. */
static void check(const struct bench *b, const struct pol *pol, bool exactly, bool enforced)
{
	for (port_id p = 0; p < b->f->nports; p++) {
		const struct fab_port *x = &b->f->ports[p];
		const struct iba_port_info *pi = sim_port_info(lab_sim(b->l), p);
		bool sw = fab_is_switch(b->f, x->node);
		bool leaf = sw && x->num && x->peer != FAB_NONE &&
			    !fab_is_switch(b->f, b->f->ports[x->peer].node);

		if (!sim_node_on(lab_sim(b->l), x->node))
			continue;
		if ((sw && !x->num) || (!sw && x->peer != FAB_NONE))
			holds(b, p, pol, port_of(b, p), exactly);
		if (leaf && enforced)
			holds(b, p, pol, port_of(b, x->peer), exactly);
		if (sw && x->num) {
			assert_int_equal(pi->part_enf_in, leaf && enforced);
			assert_int_equal(pi->part_enf_out, leaf && enforced);
		}
	}
}

static const char two[] =
	"Default=0x7fff : ALL=limited, SELF=full;\n"
	"a=0x10, indx0 : 0x0001000000000011=full, 0x0001000000000015=full, 0x0001000000000019;\n"
	"b=0x11 : ALL_CAS=full;\n";
static const char other[] =
	"Default=0x7fff : ALL=full;\n"
	"a=0x10 : 0x0001000000000011=full, 0x0001000000000015=limited, 0x000100000000001d=full;\n"
	"c=0x12, indx0 : ALL=full;\n";

/* ---- the tests ---- */

TEST(without_partitions_nothing_is_sent)
{
	struct lab_config c;
	struct pol *none = pol_new();
	struct bench a, b;
	uint16_t keys[SM_PKEYS_A_BLOCK];

	prepare(&a, &c);
	start(&a, &c, NULL);
	prepare(&b, &c);
	start(&b, &c, none);
	assert_int_equal(smps(&a), smps(&b));
	check(&a, none, true, false);
	assert_true(sm_pkey_block(lab_sm(a.l), a.f->nodes[0].guid, 0, 0, keys));
	assert_int_equal(keys[0], 0xffff);
	down(&a);
	down(&b);
	pol_free(none);
}

TEST(tables_before_ports_are_active)
{
	struct lab_config c;
	struct pol *p = policy(two);
	struct bench b;
	uint16_t keys[SM_PKEYS_A_BLOCK];

	prepare(&b, &c);
	start(&b, &c, p);
	check(&b, p, true, true);
	assert_int_equal(b.updates, 0); /* all of it during the round */
	for (port_id q = 0; q < b.f->nports; q++)
		if (!fab_is_switch(b.f, b.f->ports[q].node) && b.f->ports[q].peer != FAB_NONE) {
			assert_true(sm_pkey_block(lab_sm(b.l), b.f->nodes[b.f->ports[q].node].guid,
						  b.f->ports[q].num, 0, keys));
			for (unsigned i = 0; i < 32; i++)
				assert_int_equal(keys[i], sim_pkey(lab_sim(b.l), q, i));
			assert_false(sm_pkey_block(lab_sm(b.l), b.f->nodes[b.f->ports[q].node].guid,
						   b.f->ports[q].num, 1, keys));
		}
	down(&b);
	pol_free(p);
}

TEST(directions_of_enforcement)
{
	struct lab_config c;
	struct pol *p = policy(two);
	struct bench b;

	prepare(&b, &c);
	c.sm.part_enforce = SM_ENFORCE_OFF;
	start(&b, &c, p);
	check(&b, p, true, false);
	down(&b);
	pol_free(p);
}

/* ---- changes ---- */

static bool device_shares(const struct bench *b, port_id p, port_id q)
{
	for (unsigned i = 0; i < 32; i++)
		for (unsigned j = 0; j < 32; j++) {
			uint16_t x = sim_pkey(lab_sim(b->l), p, i),
				 y = sim_pkey(lab_sim(b->l), q, j);

			if (x & 0x7fff && !((x ^ y) & 0x7fff) && (x | y) & 0x8000)
				return true;
		}
	return false;
}

static void talk(const struct bench *b, const struct pol *old, const struct pol *new)
{
	for (port_id p = 0; p < b->f->nports; p++)
		for (port_id q = 0; q < p; q++) {
			struct pol_port x, y;

			if (fab_is_switch(b->f, b->f->ports[p].node) ||
			    fab_is_switch(b->f, b->f->ports[q].node) ||
			    b->f->ports[p].peer == FAB_NONE || b->f->ports[q].peer == FAB_NONE)
				continue;
			x = port_of(b, p);
			y = port_of(b, q);
			if (pol_share(old, &x, &y, 0, NULL) && pol_share(new, &x, &y, 0, NULL))
				assert_true(device_shares(b, p, q));
		}
}

/* Whoever may talk before and after may talk at every moment between. */
TEST(a_new_policy_disturbs_nothing_that_stays)
{
	struct pol *p = policy(two), *q = policy(other), *none = pol_new();
	struct lab_config c;
	struct bench b;

	prepare(&b, &c);
	start(&b, &c, p);
	for (unsigned i = 0; i < 4; i++) {
		struct pol *old = i & 1 ? q : p, *new = i & 1 ? p : q;

		lab_manager_policy(b.l, 0, new);
		while (lab_status(b.l)->change_pending) {
			lab_run_to(b.l, sim_now(lab_sim(b.l)) + PS_PER_US);
			talk(&b, old, new);
		}
		check(&b, new, false, true);
	}
	assert_int_equal(b.updates, 4);
	lab_manager_policy(b.l, 0, none); /* what was changed is changed back */
	assert_true(lab_run_ready(b.l, 100 * PS_PER_S));
	check(&b, none, false, false);
	down(&b);
	pol_free(p);
	pol_free(q);
	pol_free(none);
}

TEST(lost_smps)
{
	struct pol *p = policy(two), *q = policy(other);

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct lab_config c;
		struct bench b;

		prepare(&b, &c);
		c.sim.seed = seed;
		c.sim.faults.loss_q32 = (1ull << 32) / 30;
		c.sim.faults.dup_q32 = (1ull << 32) / 30;
		c.sim.faults.delay_max_ps = PS_PER_MS;
		c.sm.retries = 8;
		start(&b, &c, p);
		lab_manager_policy(b.l, 0, q);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 50 * PS_PER_MS);
		assert_true(lab_run_ready(b.l, 100 * PS_PER_S));
		check(&b, q, false, true);
		down(&b);
	}
	pol_free(p);
	pol_free(q);
}

TEST(devices_that_restart)
{
	struct pol *p = policy(two);
	struct lab_config c;
	struct bench b;

	prepare(&b, &c);
	start(&b, &c, p);
	for (node_id n = 0; n < b.f->nnodes; n++) {
		if (n == lab_sm_node(b.l) ||
		    b.f->ports[b.f->ports[fab_port_id(b.f, lab_sm_node(b.l), 1)].peer].node == n)
			continue;
		sim_node_power(lab_sim(b.l), n, false);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 100 * PS_PER_MS);
		assert_true(lab_run_ready(b.l, 100 * PS_PER_S));
		sim_node_power(lab_sim(b.l), n, true);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 100 * PS_PER_MS);
		assert_true(lab_run_ready(b.l, 100 * PS_PER_S));
		check(&b, p, false, true);
	}
	down(&b);
	pol_free(p);
}

/* A manager that starts again, with what the earlier one saved or without, and with another policy. */
TEST(the_next_manager)
{
	struct pol *p = policy(two), *q = policy(other);

	for (unsigned resume = 0; resume < 2; resume++) {
		struct lab_config c;
		struct bench b;
		uint64_t before;

		prepare(&b, &c);
		start(&b, &c, p);
		lab_run_to(b.l, sim_now(lab_sim(b.l)) + 10 * PS_PER_MS);
		for (unsigned i = 0; i < 2; i++) {
			lab_manager_stop(b.l, 0);
			if (i)
				lab_manager_policy(b.l, 0, q);
			if (resume)
				assert_true(lab_manager_resume(b.l, 0));
			else
				lab_manager_start(b.l, 0, true);
			before = sim_now(lab_sim(b.l));
			assert_true(lab_run_ready(b.l, before + 100 * PS_PER_S));
			lab_run_to(b.l, sim_now(lab_sim(b.l)) + 10 * PS_PER_MS);
			check(&b, i ? q : p, false, true);
		}
		down(&b);
	}
	pol_free(p);
	pol_free(q);
}

TEST(members_by_name)
{
	struct pol *p = policy("Default=0x7fff : ALL=full;\na=0x10 : NONE;\n");
	struct pol_member m;
	struct lab_config c;
	struct bench b;
	struct err e;

	assert_int_equal(pol_member_parse(&m, "host [0]", "full", &e),
			 0); /* no such pattern: matches nothing */
	vec_push(&p->partitions.at[1].members, m);
	assert_int_equal(pol_member_parse(&m, "host *", "limited", &e), 0);
	vec_push(&p->partitions.at[1].members, m);
	assert_int_equal(pol_member_parse(&m, "host 3", "full", &e), 0);
	vec_push(&p->partitions.at[1].members, m);
	prepare(&b, &c);
	start(&b, &c, p);
	check(&b, p, true, true);
	down(&b);
	pol_free(p);
}

TEST(more_keys_than_there_is_room_for)
{
	struct strbuf text = {0};
	struct lab_config c;
	struct bench b;
	struct pol *p;

	for (unsigned i = 1; i <= 40; i++)
		strbuf_addf(&text, "p%u=0x%x : ALL_CAS=full;\n", i, i);
	p = policy(text.s);
	prepare(&b, &c);
	start(&b, &c, p);
	assert_true(b.short_of >= 8); /* hosts, and ports of switches */
	for (port_id q = 0; q < b.f->nports; q++)
		if (fab_is_switch(b.f, b.f->ports[q].node) && b.f->ports[q].num)
			assert_int_equal(sim_port_info(lab_sim(b.l), q)->part_enf_in, 0);
	down(&b);
	pol_free(p);
	strbuf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_partitions_nothing_is_sent),
		cmocka_unit_test(tables_before_ports_are_active),
		cmocka_unit_test(directions_of_enforcement),
		cmocka_unit_test(a_new_policy_disturbs_nothing_that_stays),
		cmocka_unit_test(lost_smps),
		cmocka_unit_test(devices_that_restart),
		cmocka_unit_test(the_next_manager),
		cmocka_unit_test(members_by_name),
		cmocka_unit_test(more_keys_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
