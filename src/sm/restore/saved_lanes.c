/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes in saved state and in mirrors: SL-to-VL tables that devices hold, and the service levels that hosts use. Keeps no
 * state; ways in: sm_save_lanes*(), sm_load_lanes*(), sm_saved_restore_lanes(). Does not decide whether devices still
 * hold them: the forwarding tables saved with them do.
 *
 * Format: first the number of rows of service levels, the highest LID in them, and the number of VLs. With each node: its SL-to-VL tables,
 * input port by input port (hosts: 0 alone), in runs of equal ones, and a bit for each port whose VL arbitration was
 * set. With each switch: the row of each port in runs, then those rows that no switch before it has, two SLs a byte.
 */
#include "sm/restore/saved_state.h"

enum { ABSENT = 0, PRESENT = 1 };

#define UNKNOWN UINT64_MAX /* a table that is not known; at rest no turn is disabled */

bool sm_saved_has_lanes(const struct sm *sm)
{
	return sm->routes.sls.nrows || sm->dev.maps.n ||
	       (sm->routes.sls.known && sm_lanes_wanted(sm));
}

void sm_save_lanes(const struct sm *sm, struct sm_bytes *s)
{
	sm_bytes_put_n(s, sm->routes.sls.nrows, 4);
	sm_bytes_put_n(s, sm->routes.sls.nrows ? sm->routes.sls.top_lid : 0, 2);
	sm_bytes_put_n(s, sm->routes.sls.nvls, 1);
}

/* ---- SL-to-VL tables ---- */

static uint32_t cells_of(uint8_t type, unsigned nports)
{
	return type == IBA_NODE_SWITCH ? (nports + 1u) * (nports + 1u) : nports + 1u;
}

static unsigned bits_of(unsigned nports)
{
	return (nports + 8u) / 8u;
}

static void save_maps(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s)
{
	const struct sm_maps *m = sm_maps_find(sm, n->guid);
	uint32_t cells = cells_of(n->type, n->nports);

	if (m && m->width != n->nports + 1u)
		m = NULL;
	sm_bytes_put_n(s, m ? PRESENT : ABSENT, 1);
	for (uint32_t at = 0, run; m && at < cells; at += run) {
		uint64_t map = m->known[at] ? m->map[at] : UNKNOWN;

		for (run = 1; at + run < cells; run++)
			if ((m->known[at + run] ? m->map[at + run] : UNKNOWN) != map)
				break;
		sm_bytes_put_n(s, run, 2);
		sm_bytes_put_n(s, map, 8);
	}
	if (m)
		sm_bytes_put(s, m->shared, bits_of(n->nports));
}

static void load_maps(struct sm_source *s, struct sm_saved_node *n)
{
	uint32_t cells = cells_of(n->type, n->nports);
	uint64_t present = sm_source_take_n(s, 1);

	s->bad |= present > PRESENT;
	if (s->bad || present == ABSENT)
		return;
	n->maps = s->p;
	for (uint32_t at = 0, run; at < cells && !s->bad; at += run) {
		run = (uint32_t)sm_source_take_n(s, 2);
		sm_source_take_n(s, 8);
		s->bad |= !run || run > cells - at;
	}
	n->shared = sm_source_take(s, bits_of(n->nports));
}

/* ---- service levels ---- */

static size_t row_bytes(uint32_t top_lid)
{
	return top_lid / 2 + 1u;
}

static void save_row(const struct sm_service_levels *x, uint32_t row, struct sm_bytes *s)
{
	const uint8_t *sl = x->sl + (size_t)row * x->stride;

	sm_bytes_put_n(s, row, 4);
	for (uint32_t lid = 0; lid <= x->top_lid; lid += 2)
		sm_bytes_put_n(
			s, (uint8_t)(sl[lid] << 4 | (lid < x->top_lid ? sl[lid + 1] & 15 : 0)), 1);
}

static void save_rows(const struct sm_service_levels *x, uint32_t sw, struct sm_bytes *s)
{
	uint32_t owned = 0;

	for (uint32_t row = 0; row < x->nrows; row++)
		owned += x->owner.at[row] == sw;
	sm_bytes_put_n(s, owned, 4);
	for (uint32_t row = 0; owned && row < x->nrows; row++)
		if (x->owner.at[row] == sw)
			save_row(x, row, s);
}

static void save_sls(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s)
{
	const struct sm_service_levels *x = &sm->routes.sls;
	uint32_t sw = map64_get(&x->by_guid, n->guid), cells, run;
	const uint32_t *row;

	sm_bytes_put_n(s, sw == MAP_NONE ? ABSENT : PRESENT, 1);
	if (sw == MAP_NONE)
		return;
	cells = x->first.at[sw + 1] - x->first.at[sw];
	row = x->row.at + x->first.at[sw];
	sm_bytes_put_n(s, cells, 2);
	for (uint32_t at = 0; at < cells; at += run) {
		for (run = 1; at + run < cells && row[at + run] == row[at]; run++)
			;
		sm_bytes_put_n(s, run, 2);
		sm_bytes_put_n(s, row[at], 4);
	}
	save_rows(x, sw, s);
}

void sm_save_lanes_of(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s)
{
	save_maps(sm, n, s);
	if (n->type == IBA_NODE_SWITCH && sm->routes.sls.nrows)
		save_sls(sm, n, s);
}

static void load_rows(struct sm_source *s, struct sm_saved *m)
{
	for (uint64_t n = sm_source_take_n(s, 4); n && !s->bad; n--) {
		uint64_t row = sm_source_take_n(s, 4);
		const uint8_t *p = sm_source_take(s, row_bytes(m->top_lid));

		s->bad |= row >= m->nrows || (p && m->rows.at[row]);
		if (!s->bad)
			m->rows.at[row] = p;
	}
}

static void load_sls(struct sm_source *s, struct sm_saved *m, struct sm_saved_node *n)
{
	uint64_t present = sm_source_take_n(s, 1);
	uint32_t cells;

	s->bad |= present > PRESENT;
	if (s->bad || present == ABSENT)
		return;
	cells = (uint32_t)sm_source_take_n(s, 2);
	s->bad |= cells != n->nports + 1u;
	n->sls = s->p;
	for (uint32_t at = 0, run; at < cells && !s->bad; at += run) {
		run = (uint32_t)sm_source_take_n(s, 2);
		s->bad |= !run || run > cells - at || sm_source_take_n(s, 4) >= m->nrows;
	}
	load_rows(s, m);
}

void sm_load_lanes_of(struct sm_source *s, struct sm_saved *m, struct sm_saved_node *n)
{
	load_maps(s, n);
	if (n->type == IBA_NODE_SWITCH && m->nrows)
		load_sls(s, m, n);
}

void sm_load_lanes(struct sm_source *s, struct sm_saved *m)
{
	m->nrows = (uint32_t)sm_source_take_n(s, 4);
	m->top_lid = (uint16_t)sm_source_take_n(s, 2);
	m->nvls = (uint8_t)sm_source_take_n(s, 1);
	s->bad |= m->nvls > RT_MAX_VLS || m->top_lid > IBA_LID_MAX_UNICAST || m->nrows > s->left;
	for (uint32_t i = 0; !s->bad && i < m->nrows; i++)
		vec_push(&m->rows, NULL);
}

bool sm_saved_lanes_whole(const struct sm_saved *m)
{
	for (uint32_t row = 0; row < m->nrows; row++)
		if (!m->rows.at[row])
			return false;
	return true;
}

/* ---- taking them ---- */

/* Those of a switch that lost its forwarding table are lost with it; a host is judged by its link (sm_maps_of_hosts()). */
static void restore_maps(struct sm *sm, uint32_t node, const struct sm_saved_node *n)
{
	const struct sm_node *now = &sm->topo.nodes.at[node];
	uint32_t cells = cells_of(n->type, n->nports);
	struct sm_source s = {.p = n->maps, .left = SIZE_MAX};

	if (!n->maps || now->gone || now->type != n->type || now->nports != n->nports ||
	    (n->type == IBA_NODE_SWITCH && !sm_row_block(sm, now->row, 0)))
		return;
	for (uint32_t at = 0; at < cells;) {
		uint32_t run = (uint32_t)sm_source_take_n(&s, 2);
		uint64_t map = sm_source_take_n(&s, 8);

		for (; run; run--, at++)
			if (map != UNKNOWN)
				sm_map_recall(sm, node, at / (n->nports + 1u),
					      at % (n->nports + 1u), map);
	}
	sm_map_recall_shared(sm, node, n->shared, bits_of(n->nports));
}

static void restore_switch_sls(struct sm_service_levels *x, const struct sm_saved_node *n)
{
	struct sm_source s = {.p = n->sls, .left = SIZE_MAX};

	map64_put(&x->by_guid, n->guid, (uint32_t)x->first.n);
	vec_push(&x->first, (uint32_t)x->row.n);
	for (uint32_t at = 0; at <= n->nports;) {
		uint32_t run = (uint32_t)sm_source_take_n(&s, 2),
			 row = (uint32_t)sm_source_take_n(&s, 4);

		for (; run; run--, at++)
			vec_push(&x->row, row);
	}
}

static void restore_rows(struct sm_service_levels *x, const struct sm_saved *m)
{
	x->nrows = m->nrows;
	x->nvls = m->nvls;
	x->top_lid = m->top_lid;
	x->stride = m->top_lid + 1u;
	x->sl = mem_zarray(m->nrows, x->stride);
	for (uint32_t row = 0; row < m->nrows; row++)
		for (uint32_t lid = 0; lid <= m->top_lid; lid++)
			x->sl[(size_t)row * x->stride + lid] =
				m->rows.at[row][lid / 2] >> (lid % 2 ? 0 : 4) & 15;
}

void sm_saved_restore_lanes(struct sm *sm)
{
	const struct sm_saved *m = sm->restored.saved;
	struct sm_service_levels x = {.known = true, .number = sm->routes.sls.number};

	if (!m || !m->lanes)
		return;
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct sm_saved_node *n = &m->nodes.at[i];
		uint32_t node = map64_get(&sm->topo.by_guid, n->guid);

		if (node != MAP_NONE)
			restore_maps(sm, node, n);
		if (n->sls)
			restore_switch_sls(&x, n);
	}
	vec_push(&x.first, (uint32_t)x.row.n);
	if (m->nrows)
		restore_rows(&x, m);
	sm_sls_recall(sm, &x);
}
