/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of switches: SwitchInfo, and forwarding tables by block. No state. Linear tables are those that will be in force,
 * as paths are; random and multicast tables are as the switch acknowledged them.
 */
#include "sa/records.h"

enum { RID_SIZE = 4, TABLE_OFF = 8 };

/* The switches that a request asks for: `next` gives them one by one. */
struct switches {
	struct sa *sa;
	const struct sa_request *q;
	bool asked;
	uint16_t lid;
	struct sa_nodes_asked at;
};

static struct switches switches_asked(struct sa *sa, const struct sa_request *q, bool asked,
				      uint16_t lid)
{
	return (struct switches){sa, q, asked, lid, sa_nodes_with(&sa->view, asked, lid)};
}

/* FAB_NONE: no more. */
static node_id next(struct switches *s)
{
	const struct sa_view *v = &s->sa->view;

	while (s->at.first < s->at.end) {
		node_id n = s->at.first++;
		port_id p0 = v->fab->nodes[n].first_port;

		if (fab_is_switch(v->fab, n) && v->fab->ports[p0].lid &&
		    (!s->asked || sa_port_has_lid(v, p0, s->lid)) && sa_may_see(s->sa, s->q, p0))
			return n;
	}
	return FAB_NONE;
}

static uint16_t lid_of(const struct sa_view *v, node_id n)
{
	return v->fab->ports[v->fab->nodes[n].first_port].lid;
}

/* ---- SwitchInfo ---- */

void sa_switch_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct iba_sa_switch ask;
	struct switches s;
	node_id n;

	iba_sa_switch_get(&ask, q->query, IBA_SA_DATA_SIZE);
	s = switches_asked(sa, q, sa_asks(q, switch, lid), ask.lid);
	while ((n = next(&s)) != FAB_NONE) {
		struct iba_sa_switch rid = {.lid = lid_of(v, n)};
		uint8_t data[IBA_SMP_DATA_SIZE], *out;
		struct iba_switch_info si;

		if (!sm_switch_info(v->sm, v->fab->nodes[n].guid, &si))
			continue;
		out = sa_record(a);
		iba_sa_switch_put(&rid, out);
		iba_switch_info_put(&si, data);
		memcpy(out + RID_SIZE, data, a->size - RID_SIZE);
		sa_record_match(a, q, IBA_SA_BIT(switch, lid));
	}
}

/* ---- linear tables ---- */

static void lft_block(const struct sa_view *v, const struct rt_tables *t, node_id n, uint32_t block,
		      uint8_t *out)
{
	uint32_t sw = v->fab->switch_index[n];
	struct iba_sa_lft r = {.lid = lid_of(v, n), .block = (uint16_t)block};

	for (uint32_t i = 0; i < IBA_LFT_BLOCK; i++) {
		uint32_t lid = block * IBA_LFT_BLOCK + i;

		r.ports[i] = lid && lid <= t->top_lid ? rt_row(t, sw)[lid] : IBA_PORT_NONE;
		if (lid && r.ports[i] == IBA_PORT_NONE && t->dflt && lid <= t->top_lid)
			r.ports[i] = t->dflt[sw];
	}
	iba_sa_lft_put(&r, out);
}

void sa_lft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	const struct rt_tables *t = sm_tables_to_stand(v->sm);
	struct iba_sa_lft ask;
	struct switches s;
	node_id n;

	iba_sa_lft_get(&ask, q->query, IBA_SA_DATA_SIZE);
	s = switches_asked(sa, q, sa_asks(q, lft, lid), ask.lid);
	if (!t) {
		a->status = IBA_STATUS_BUSY;
		a->later = true;
	}
	while (t && (n = next(&s)) != FAB_NONE) {
		struct iba_switch_info si;
		uint32_t last;

		if (!sm_switch_info(v->sm, v->fab->nodes[n].guid, &si) || !si.linear_cap)
			continue;
		last = MIN(MAX((uint32_t)si.linear_top, t->top_lid), si.linear_cap - 1u) /
		       IBA_LFT_BLOCK;
		for (uint32_t b = sa_asks(q, lft, block) ? ask.block : 0; b <= last; b++) {
			lft_block(v, t, n, b, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(lft, lid));
			if (sa_asks(q, lft, block))
				break;
		}
	}
}

/* ---- random tables ---- */

void sa_rft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct iba_sa_rft ask;
	struct switches s;
	node_id n;

	iba_sa_rft_get(&ask, q->query, IBA_SA_DATA_SIZE);
	s = switches_asked(sa, q, sa_asks(q, rft, lid), ask.lid);
	while ((n = next(&s)) != FAB_NONE) {
		struct iba_switch_info si;
		struct iba_rft t;

		if (!sm_switch_info(v->sm, v->fab->nodes[n].guid, &si))
			continue;
		for (uint32_t b = 0; b * IBA_RFT_BLOCK < si.random_cap; b++) {
			struct iba_sa_rft r = {.lid = lid_of(v, n), .block = (uint16_t)b};

			if ((sa_asks(q, rft, block) && b != ask.block) ||
			    !sm_rft_entries(v->sm, v->fab->nodes[n].guid, b, &t))
				continue;
			iba_rft_put(&t, r.entries);
			iba_sa_rft_put(&r, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(rft, lid));
		}
	}
}

/* ---- multicast tables ---- */

enum { POSITION_PORTS = 16 };

/* Most switches have room for many more groups than there are: blocks without a member are left out. */
static bool is_empty(const struct iba_mft *t)
{
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		if (t->mask[i])
			return false;
	return true;
}

static void mft_blocks(const struct sa_view *v, const struct sa_request *q,
		       const struct iba_sa_mft *ask, struct sa_answer *a, node_id n)
{
	const struct fab_node *x = &v->fab->nodes[n];
	struct iba_switch_info si;
	struct iba_mft t;

	if (!sm_switch_info(v->sm, x->guid, &si))
		return;
	for (unsigned b = 0; b * IBA_MFT_BLOCK < si.mcast_cap; b++)
		for (unsigned pos = 0; pos <= x->nports / POSITION_PORTS; pos++) {
			struct iba_sa_mft r = {.lid = lid_of(v, n),
					       .position = (uint8_t)pos,
					       .block = (uint16_t)b};

			if ((sa_asks(q, mft, block) && b != ask->block) ||
			    (sa_asks(q, mft, position) && pos != ask->position) ||
			    !sm_mft_block(v->sm, x->guid, b, pos, t.mask) || is_empty(&t))
				continue;
			iba_mft_put(&t, r.masks);
			iba_sa_mft_put(&r, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(mft, lid));
		}
}

void sa_mft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct iba_sa_mft ask;
	struct switches s;
	node_id n;

	iba_sa_mft_get(&ask, q->query, IBA_SA_DATA_SIZE);
	s = switches_asked(sa, q, sa_asks(q, mft, lid), ask.lid);
	while ((n = next(&s)) != FAB_NONE)
		mft_blocks(&sa->view, q, &ask, a, n);
}
