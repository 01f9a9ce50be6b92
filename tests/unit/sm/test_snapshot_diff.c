/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links and nodes that went and came are named with both ends, by every mechanism; a link that went down
 * and came up between two sweeps as well; many of them do not flood a log.
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/notes.h"

struct world {
	struct fab *fab;
	struct lab *lab;
	struct strbuf lines; /* "|" before each: what a log would show */
	unsigned listed;     /* notes of links and nodes */
	struct sm_note many; /* the last SM_NOTE_MORE_CHANGES */
};

static const char *name_of(const void *ctx, uint64_t guid)
{
	const struct world *w = ctx;

	return fab_node_name(w->fab, fab_node_by_guid(w->fab, guid));
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct world *w = ctx;

	if (n->kind == SM_NOTE_MORE_CHANGES)
		w->many = *n;
	if (!sm_note_is_change(n))
		return;
	w->listed++;
	if (n->more)
		return;
	strbuf_add(&w->lines, "|");
	sm_note_text(n, &(struct sm_names){name_of, w}, &w->lines);
}

static void settle(struct world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));

	assert_true(lab_run_settled(w->lab, now, now + 60 * PS_PER_S));
}

static void begin(struct world *w, const char *mechanism, unsigned ports)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2, .dims = {ports, 2}};
	struct lab_config c;
	struct err e;

	*w = (struct world){.fab = fab_generate(&g, &e)};
	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find(mechanism);
	w->lab = lab_new(w->fab, &c, &e);
	lab_on_note(w->lab, on_note, w);
}

static void up(struct world *w, const char *mechanism, unsigned ports)
{
	begin(w, mechanism, ports);
	lab_power_on(w->lab, NULL);
	settle(w);
	assert_int_equal(w->listed, 0); /* the first discovery: all of it is new */
}

static void down(struct world *w)
{
	lab_free(w->lab);
	fab_free(w->fab);
	strbuf_free(&w->lines);
}

/* What was noted since the last time. */
static void noted(struct world *w, const char *lines)
{
	settle(w);
	assert_string_equal(w->lines.len ? w->lines.s : "", lines);
	w->lines.len = w->listed = 0;
}

static port_id port_of(const struct world *w, const char *name, unsigned num)
{
	return fab_port_id(w->fab, fab_node_by_text(w->fab, name), num);
}

TEST(links_and_nodes_by_every_mechanism)
{
	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		struct world w;
		node_id root;
		port_id p;

		up(&w, m->name, 4);
		p = port_of(&w, "leaf0", 3);
		root = fab_node_by_text(w.fab, "root1");
		sim_uncable(lab_sim(w.lab), p);
		noted(&w, "|leaf0 port 3 <-> root0 port 1 went down");
		sim_cable(lab_sim(w.lab), p, w.fab->ports[p].peer);
		noted(&w, "|leaf0 port 3 <-> root0 port 1 came up");
		sim_node_power(lab_sim(w.lab), root, false);
		noted(&w, "|switch root1 is gone|leaf0 port 4 <-> root1 port 1 went down"
			  "|leaf1 port 4 <-> root1 port 2 went down"
			  "|leaf2 port 4 <-> root1 port 3 went down"
			  "|leaf3 port 4 <-> root1 port 4 went down");
		sim_node_power(lab_sim(w.lab), root, true);
		noted(&w, "|switch root1 came up|leaf0 port 4 <-> root1 port 1 came up"
			  "|leaf1 port 4 <-> root1 port 2 came up"
			  "|leaf2 port 4 <-> root1 port 3 came up"
			  "|leaf3 port 4 <-> root1 port 4 came up");
		down(&w);
	}
}

/* No discovery sees it Down. */
TEST(a_link_that_went_and_came)
{
	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		struct world w;
		port_id p;

		up(&w, m->name, 4);
		p = port_of(&w, "leaf2", 4);
		sim_uncable(lab_sim(w.lab), p);
		sim_cable(lab_sim(w.lab), p, w.fab->ports[p].peer);
		noted(&w, "|leaf2 port 4 <-> root1 port 3 went down"
			  "|leaf2 port 4 <-> root1 port 3 came up");
		down(&w);
	}
}

/* The manager and its switch first, then 447 nodes at once. */
TEST(many_do_not_flood)
{
	struct world w;
	unsigned shown = 0;
	bool *on;

	begin(&w, "weft", 28);
	on = mem_zarray(w.fab->nnodes, sizeof(*on));
	on[lab_sm_node(w.lab)] = on[fab_node_by_text(w.fab, "leaf0")] = true;
	lab_power_on(w.lab, on);
	settle(&w);
	assert_int_equal(w.listed, 0);
	for (node_id n = 0; n < w.fab->nnodes; n++)
		if (!on[n])
			sim_node_power(lab_sim(w.lab), n, true);
	settle(&w);
	for (const char *s = w.lines.s; *s; s++)
		shown += *s == '|';
	assert_true(shown >= SM_NOTES_SHOWN && shown <= 4 * SM_NOTES_SHOWN);
	assert_true(w.listed >= SM_NOTES_LISTED);
	assert_true(w.many.changes.nodes_came > 0 && w.many.changes.links_up > 0);
	assert_int_equal(w.many.changes.more, w.many.changes.nodes_came + w.many.changes.links_up +
						      w.many.changes.nodes_gone +
						      w.many.changes.links_down - SM_NOTES_SHOWN);
	free(on);
	down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_and_nodes_by_every_mechanism),
		cmocka_unit_test(a_link_that_went_and_came),
		cmocka_unit_test(many_do_not_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
