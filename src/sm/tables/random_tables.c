/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random forwarding tables: what switches hold and what they shall hold, that is, which LIDs need
 * an entry, in which slot, and which are left to the DefaultPort. State: struct sm_rft, beside
 * the row of the switch. Does not send anything: see random_table_updates.c. An entry keeps its
 * slot as long as its LID needs one, so that a change touches few blocks and a LID changes with
 * one SMP, as in a linear table. Where the engine gives no DefaultPort it leads up in the up/down
 * graph: packets for an unassigned LID (a linear table drops them at once) climb to the root and
 * end there. Any other choice could send them round a ring for ever.
 */
#include "sm/tables/random_tables.h"

enum { NOWHERE = 0 }; /* no up port: DefaultPort 0, where LIDs of other nodes are dropped */

static struct sm_rft *rft_of_node(const struct sm *sm, uint32_t node)
{
	uint32_t row = node < sm->topo.nodes.n ? sm->topo.nodes.at[node].row : NONE;

	return row == NONE ? NULL : sm->dev.rows.at[row].rft;
}

struct sm_rft *sm_rft_of(const struct sm *sm, uint32_t sw)
{
	return rft_of_node(sm, sm->topo.node_of[sm->topo.fab->switches[sw]]);
}

/* ---- life ---- */

static struct sm_rft *rft_new(uint32_t cap)
{
	struct sm_rft *t = mem_zalloc(sizeof(*t));

	t->cap = cap;
	t->nblocks = (cap + IBA_RFT_BLOCK - 1) / IBA_RFT_BLOCK;
	t->has = mem_zarray(t->nblocks * (size_t)IBA_RFT_BLOCK, sizeof(*t->has));
	t->want = mem_zarray(t->nblocks * (size_t)IBA_RFT_BLOCK, sizeof(*t->want));
	t->known = mem_zarray(t->nblocks, 1);
	t->unknown = t->nblocks + 1;
	return t;
}

void sm_rft_free(struct sm_rft *t)
{
	if (!t)
		return;
	free(t->has);
	free(t->want);
	free(t->known);
	free(t->at);
	free(t);
}

void sm_rft_forget(struct sm_rft *t)
{
	memset(t->has, 0, t->nblocks * (size_t)IBA_RFT_BLOCK * sizeof(*t->has));
	memset(t->known, 0, t->nblocks);
	t->dflt_known = 0;
	t->unknown = t->nblocks + 1;
}

void sm_rft_unknown(struct sm *sm, uint32_t node)
{
	struct sm_rft *t = rft_of_node(sm, node);

	if (!t)
		return;
	sm_rft_forget(t);
	sm_switch_doubt(sm, node); /* its DefaultPort cannot show a restart any more */
	sm_row_all_unknown(sm, sm->topo.nodes.at[node].row);
}

void sm_rft_block_unknown(struct sm *sm, uint32_t node, uint32_t block)
{
	struct sm_rft *t = rft_of_node(sm, node);

	if (!t || block >= t->nblocks)
		return;
	memset(t->has + (size_t)block * IBA_RFT_BLOCK, 0, IBA_RFT_BLOCK * sizeof(*t->has));
	t->unknown += t->known[block] != 0;
	t->known[block] = 0;
	sm_row_all_unknown(sm, sm->topo.nodes.at[node].row);
}

/*
 * A switch that restarted has another DefaultPort than was set: where there is no up port it was
 * set to 0, so this always shows.
 */
bool sm_rft_restarted(const struct sm *sm, uint32_t node, const struct iba_switch_info *si)
{
	const struct sm_rft *t = rft_of_node(sm, node);

	return t && t->dflt_known && si->default_port != t->dflt;
}

/* ---- which DefaultPort, which entries ---- */

/* Port 0 is for the switch's own LIDs, whatever the DefaultPort. */
bool sm_rft_explicit(uint8_t port, uint8_t dflt)
{
	return port != IBA_PORT_NONE && (port == 0 || port != dflt);
}

struct tally {
	uint32_t by_port[256], lids;
};

static void tally_row(const struct sm *sm, uint32_t sw, struct tally *c)
{
	const uint8_t *row = rt_row(sm->routes.tables, sw);

	memset(c, 0, sizeof(*c));
	for (uint32_t lid = 1; lid <= sm->routes.tables->top_lid; lid++) {
		c->by_port[row[lid]]++;
		c->lids += row[lid] != IBA_PORT_NONE;
	}
}

static uint32_t entries_with(const struct tally *c, uint8_t dflt)
{
	return c->lids - (dflt == NOWHERE || dflt == IBA_PORT_NONE ? 0 : c->by_port[dflt]);
}

static bool leads_up(const struct sm *sm, uint32_t sw, unsigned port)
{
	const struct fab *f = sm->topo.fab;
	node_id n = f->switches[sw];
	port_id peer = port && port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer
							  : FAB_NONE;
	uint32_t far = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

	return far != FAB_NONE && sm->routes.rank[far] < sm->routes.rank[sw];
}

/*
 * The engine's choice; else the one in use while it serves; else the up port that saves most
 * entries.
 */
static uint8_t choose(struct sm *sm, uint32_t sw, const struct tally *c)
{
	const struct sm_rft *t = sm_rft_of(sm, sw);
	uint8_t best = NOWHERE;

	if (sm->routes.tables->dflt)
		return sm->routes.tables->dflt[sw] == IBA_PORT_NONE ? NOWHERE
								    : sm->routes.tables->dflt[sw];
	sm_rank_ensure(sm);
	if (t->dflt_known && leads_up(sm, sw, t->dflt) && entries_with(c, t->dflt) <= t->cap)
		return t->dflt;
	for (unsigned p = 1; p <= sm->topo.fab->nodes[sm->topo.fab->switches[sw]].nports; p++)
		if (leads_up(sm, sw, p) && (best == NOWHERE || c->by_port[p] > c->by_port[best]))
			best = (uint8_t)p;
	return best;
}

uint8_t sm_rft_choose(struct sm *sm, uint32_t sw)
{
	struct tally c;

	tally_row(sm, sw, &c);
	return choose(sm, sw, &c);
}

/* Which switches have such a table; a device whose capacity changed is treated as new. */
static void recognise(struct sm *sm, uint32_t sw)
{
	const struct sm_node *n = &sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[sw]]];
	struct sm_row *row = &sm->dev.rows.at[n->row];
	uint32_t cap = n->si.linear_cap ? 0 : n->si.random_cap;

	if ((row->rft ? row->rft->cap : 0) == cap)
		return;
	sm_rft_free(row->rft);
	row->rft = cap ? rft_new(cap) : NULL;
	sm_row_all_unknown(sm, n->row);
}

static bool fits(struct sm *sm, uint32_t sw)
{
	const struct sm_rft *t = sm_rft_of(sm, sw);
	struct tally c;
	uint32_t need;

	if (!t)
		return true;
	tally_row(sm, sw, &c);
	need = entries_with(&c, choose(sm, sw, &c));
	if (need <= t->cap)
		return true;
	sm_note(sm, .kind = SM_NOTE_NO_ROOM,
		.about = sm_about_node(sm, sm->topo.node_of[sm->topo.fab->switches[sw]]),
		.room = {need, t->cap});
	return false;
}

enum sm_rft_fit sm_rft_prepare(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;
	enum sm_rft_fit fit = SM_RFT_FITS;

	for (uint32_t sw = 0; sw < f->nswitches; sw++)
		recognise(sm, sw);
	for (uint32_t sw = 0; sw < f->nswitches; sw++) {
		if (fits(sm, sw))
			continue;
		if (sm->topo.node_of[f->switches[sw]] == 0)
			fit = SM_RFT_OWN_FULL;
		else if (fit == SM_RFT_FITS)
			fit = SM_RFT_OTHERS_FULL;
		sm_exclude(sm, f->nodes[f->switches[sw]].guid);
	}
	return fit;
}

/* ---- slots ---- */

void sm_rft_reset(struct sm_rft *t, uint32_t nlids)
{
	memcpy(t->want, t->has, t->nblocks * (size_t)IBA_RFT_BLOCK * sizeof(*t->want));
	t->at = mem_resize(t->at, nlids, sizeof(*t->at));
	t->nat = nlids;
	memset(t->at, 0, t->nat * sizeof(*t->at));
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->want[i].lid && t->want[i].lid < t->nat)
			t->at[t->want[i].lid] = (uint16_t)(i + 1);
	t->free_at = t->flying = 0;
}

static void put(struct sm_rft *t, uint32_t slot, uint16_t lid, uint8_t port)
{
	t->want[slot] = (struct sm_rft_slot){lid, port};
	t->at[lid] = (uint16_t)(slot + 1);
}

/* An empty slot from *from on; with `now` only one that is empty in the device as well. */
static bool find_slot(const struct sm_rft *t, bool now, uint32_t *from)
{
	for (; *from < t->cap; (*from)++)
		if (!t->want[*from].lid && !(now && t->has[*from].lid))
			return true;
	return false;
}

void sm_rft_lay_out(struct sm *sm, uint32_t sw, uint8_t dflt)
{
	struct sm_rft *t = sm_rft_of(sm, sw);
	const uint8_t *row = rt_row(sm->routes.tables, sw);
	uint32_t top = sm->routes.tables->top_lid, unused = 0, freed = 0;

	sm_rft_reset(t, sm->routes.tables->stride);
	t->want_dflt = dflt;
	for (uint32_t i = 0; i < t->cap; i++) {
		uint16_t lid = t->want[i].lid;

		if (!lid)
			continue;
		if (lid <= top && t->at[lid] == i + 1 && sm_rft_explicit(row[lid], dflt)) {
			t->want[i].port = row[lid];
		} else {
			if (lid <= top && t->at[lid] == i + 1)
				t->at[lid] = 0;
			t->want[i] = (struct sm_rft_slot){0};
		}
	}
	for (uint32_t lid = 1; lid <= top; lid++) {
		if (t->at[lid] || !sm_rft_explicit(row[lid], dflt))
			continue;
		if (find_slot(t, true, &unused))
			put(t, unused, (uint16_t)lid, row[lid]);
		else if (find_slot(t, false, &freed))
			put(t, freed, (uint16_t)lid, row[lid]);
	}
}

bool sm_rft_crowded(const struct sm *sm, uint32_t sw)
{
	const struct sm_rft *t = sm_rft_of(sm, sw);
	const uint8_t *row = rt_row(sm->routes.tables, sw);
	uint32_t used = 0;

	for (uint32_t i = 0; i < t->cap; i++)
		used += t->want[i].lid != 0;
	for (uint32_t lid = 1; lid <= sm->routes.tables->top_lid; lid++)
		used += !t->at[lid] && sm_rft_explicit(row[lid], t->dflt);
	return used > t->cap;
}

bool sm_rft_differs(const struct sm *sm, uint32_t sw, uint16_t lid)
{
	const struct sm_rft *t = sm_rft_of(sm, sw);
	uint8_t port = rt_row(sm->routes.tables, sw)[lid];
	uint32_t slot = lid < t->nat ? t->at[lid] : 0;

	if (!sm_rft_explicit(port, t->dflt))
		return slot != 0;
	return !slot || t->want[slot - 1].port != port;
}

uint32_t sm_rft_place(struct sm *sm, uint32_t sw, uint16_t lid)
{
	struct sm_rft *t = sm_rft_of(sm, sw);
	uint8_t port = rt_row(sm->routes.tables, sw)[lid];
	uint32_t slot = t->at[lid];

	if (slot && !sm_rft_explicit(port, t->dflt)) {
		t->want[slot - 1] = (struct sm_rft_slot){0};
		t->at[lid] = 0;
		t->free_at = MIN(t->free_at, slot - 1);
		return (slot - 1) / IBA_RFT_BLOCK;
	}
	if (!slot && !find_slot(t, false, &t->free_at))
		return 0; /* not expected: the final pass finds it */
	slot = slot ? slot - 1 : t->free_at;
	put(t, slot, lid, port);
	return slot / IBA_RFT_BLOCK;
}

/* ---- acknowledged ---- */

static uint32_t sw_of(const struct sm *sm, uint32_t node)
{
	return sm->topo.fab->switch_index[sm->topo.nodes.at[node].fab];
}

/* The route of a LID without an entry; an unassigned LID counts as in a linear table. */
static uint8_t by_default(const struct sm *sm, uint32_t sw, const struct sm_rft *t, uint32_t lid)
{
	return lid >= sm->routes.tables->stride ||
			       rt_row(sm->routes.tables, sw)[lid] == IBA_PORT_NONE
		       ? IBA_PORT_NONE
		       : t->dflt;
}

/* The whole row, once everything is known. */
static void view(struct sm *sm, uint32_t node, const struct sm_rft *t)
{
	uint32_t sw = sw_of(sm, node), stride = sm->routes.tables->stride;
	uint8_t *row;

	if (t->unknown)
		return;
	row = sm_row_whole(sm, sm->topo.nodes.at[node].row, stride / IBA_LFT_BLOCK);
	for (uint32_t lid = 0; lid < stride; lid++)
		row[lid] = by_default(sm, sw, t, lid);
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->has[i].lid && t->has[i].lid < stride)
			row[t->has[i].lid] = t->has[i].port;
}

static struct sm_rft_slot slot_in(const struct iba_rft *b, unsigned i)
{
	return b->valid[i] ? (struct sm_rft_slot){b->lid[i], b->port[i]} : (struct sm_rft_slot){0};
}

void sm_rft_take(struct sm *sm, uint32_t node, uint32_t block, const struct iba_rft *b)
{
	struct sm_rft *t = rft_of_node(sm, node);
	uint32_t row = sm->topo.nodes.at[node].row, sw = sw_of(sm, node);
	struct sm_rft_slot *has = t->has + (size_t)block * IBA_RFT_BLOCK, is, was;
	bool news = !t->known[block], changed = false;

	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++) {
		was = has[i];
		is = has[i] = slot_in(b, i);
		if (was.lid == is.lid && was.port == is.port)
			continue;
		changed = true;
		sm_count_entries(sm, 1);
		if (was.lid && was.lid != is.lid)
			sm_row_entry(sm, row, was.lid, by_default(sm, sw, t, was.lid));
		if (is.lid)
			sm_row_entry(sm, row, is.lid, is.port);
	}
	if (!news && changed && (uint8_t)(sm->audit.generation - t->known[block]) <= 1)
		sm_audit_rewrote(sm);
	t->known[block] = sm->audit.generation;
	t->unknown -= news;
	if (news)
		view(sm, node, t);
}

void sm_rft_take_default(struct sm *sm, uint32_t node, uint8_t port)
{
	struct sm_rft *t = rft_of_node(sm, node);

	if (t->dflt_known && t->dflt != port &&
	    (uint8_t)(sm->audit.generation - t->dflt_known) <= 1)
		sm_audit_rewrote(sm);
	t->unknown -= !t->dflt_known;
	t->dflt = port;
	t->dflt_known = sm->audit.generation;
	view(sm, node, t);
}

void sm_rft_settle(struct sm *sm)
{
	for (uint32_t sw = 0; sw < sm->topo.fab->nswitches; sw++)
		if (sm_rft_of(sm, sw))
			view(sm, sm->topo.node_of[sm->topo.fab->switches[sw]], sm_rft_of(sm, sw));
}

static bool overlay(uint8_t *entry, uint8_t dflt)
{
	if (*entry != IBA_PORT_NONE)
		return false;
	*entry = dflt;
	return true;
}

/*
 * A LID that was unassigned when the tables were made, and is assigned now, already takes the
 * DefaultPort. A plan from the tables in the switches must know it.
 */
bool sm_rft_overlay(const struct sm *sm, struct rt_tables *old)
{
	const struct fab *f = sm->topo.fab;
	bool any = false;

	for (uint32_t sw = 0; sw < f->nswitches; sw++) {
		const struct sm_rft *t = sm_rft_of(sm, sw);
		uint8_t *row = rt_row(old, sw);

		if (!t || t->unknown)
			continue;
		for (port_id p = 0; p < f->nports; p++)
			for (uint32_t k = 0; f->ports[p].lid && k < 1u << f->ports[p].lmc; k++)
				any |= overlay(&row[f->ports[p].lid + k], t->dflt);
		for (uint32_t i = 0; i < f->nvlids; i++)
			any |= overlay(&row[f->vlids[i].lid], t->dflt);
	}
	return any;
}
