/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SL-to-VL tables that devices hold, as far as acknowledged Sets and reads tell. State: dev.maps, by GUID through every
 * discovery; empty while no tables need lanes. Does not send anything, nor decide what a device should hold: see
 * lane_maps.c. Tables of disabled turns are not kept here: see disabled_turns.c.
 */
#include "sm/manager.h"

uint64_t sm_map_pack(const uint8_t vl[RT_SLS])
{
	uint64_t map = 0;

	for (unsigned sl = 0; sl < RT_SLS; sl++)
		map |= (uint64_t)(vl[sl] & 15) << 4 * sl;
	return map;
}

bool sm_map_is_off(const uint8_t vl[RT_SLS])
{
	return sm_map_pack(vl) == UINT64_MAX;
}

static uint64_t map_from(const uint8_t *data)
{
	struct iba_slvl_table t;

	iba_slvl_table_get(&t, data, IBA_SMP_DATA_SIZE);
	return sm_map_pack(t.vl);
}

/* ---- devices ---- */

struct sm_maps *sm_maps_find(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->dev.maps_by, guid);

	return at == MAP_NONE ? NULL : &sm->dev.maps.at[at];
}

static struct sm_maps *maps_of(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	struct sm_maps *m = sm_maps_find(sm, n->guid);
	size_t pairs = (n->nports + 1u) * (n->nports + 1u);

	if (m && m->width == n->nports + 1u)
		return m;
	if (!m) {
		map64_put(&sm->dev.maps_by, n->guid, (uint32_t)sm->dev.maps.n);
		vec_push(&sm->dev.maps, (struct sm_maps){.guid = n->guid});
		m = &sm->dev.maps.at[sm->dev.maps.n - 1];
	}
	free(m->map);
	free(m->known);
	free(m->sets);
	*m = (struct sm_maps){.guid = n->guid,
			      .width = (uint16_t)(n->nports + 1u),
			      .map = mem_zarray(pairs, sizeof(*m->map)),
			      .known = mem_zarray(pairs, sizeof(*m->known)),
			      .sets = mem_zarray(pairs, sizeof(*m->sets))};
	return m;
}

void sm_maps_free(struct sm *sm)
{
	for (size_t i = 0; i < sm->dev.maps.n; i++) {
		free(sm->dev.maps.at[i].map);
		free(sm->dev.maps.at[i].known);
		free(sm->dev.maps.at[i].sets);
	}
	vec_free(&sm->dev.maps);
	map64_free(&sm->dev.maps_by);
}

/* ---- one table ---- */

static bool pair_at(const struct sm_maps *m, unsigned in, unsigned out, size_t *at)
{
	*at = m ? (size_t)in * m->width + out : 0;
	return m && in < m->width && out < m->width;
}

bool sm_map_known(const struct sm *sm, uint64_t guid, unsigned in, unsigned out, uint64_t *map)
{
	const struct sm_maps *m = sm_maps_find(sm, guid);
	size_t at;

	if (!pair_at(m, in, out, &at) || !m->known[at])
		return false;
	*map = m->map[at];
	return true;
}

int sm_vl_of(const struct sm *sm, uint64_t node_guid, unsigned in, unsigned out, unsigned sl)
{
	uint64_t map;

	if (sl >= RT_SLS)
		return -1;
	if (sm_map_known(sm, node_guid, in, out, &map))
		return (int)(map >> 4 * sl & 15);
	return !sl && sm->routes.tables && !sm->routes.tables->lanes ? 0 : -1;
}

/* Set again in this round or the one before: a late copy of the earlier Set may undo this one. */
static void map_set(struct sm *sm, uint32_t node, unsigned in, unsigned out, uint64_t map)
{
	struct sm_maps *m = maps_of(sm, node);
	struct sm_block_sets *s;
	size_t at;

	if (!pair_at(m, in, out, &at))
		return;
	s = &m->sets[at];
	if (s->last && (uint8_t)(sm->audit.generation - s->last) <= 1 &&
	    !(m->known[at] && m->map[at] == map)) {
		s->again = sm->audit.generation;
		sm_audit_rewrote(sm);
	}
	s->last = sm->audit.generation;
	m->map[at] = map;
	m->known[at] = true;
}

void sm_map_acknowledged(struct sm *sm, const struct sm_txn *t)
{
	const uint8_t *sent = iba_smp_data_const(t->send.mad);
	unsigned num = t->target.kind == SM_TARGET_PORT ? sm->topo.ports.at[t->target.port].num : 0;
	uint32_t turn = iba_smp_attr_mod(t->send.mad);
	uint64_t map;

	if ((t->attr_id != IBA_ATTR_SLVL_TABLE && t->attr_id != IBA_ATTR_VLARB_TABLE) ||
	    (!sm->dev.maps.n && !(sm->routes.tables && sm->routes.tables->lanes)))
		return;
	if (t->attr_id == IBA_ATTR_VLARB_TABLE) {
		maps_of(sm, t->target.node)->shared[num / 8] |= (uint8_t)(1u << num % 8);
		return;
	}
	map = map_from(sent);
	if (map == UINT64_MAX)
		return; /* a turn that is disabled */
	if (t->target.kind == SM_TARGET_PORT)
		map_set(sm, t->target.node, 0, num, map);
	else
		map_set(sm, t->target.node, turn >> 8 & 0xff, turn & 0xff, map);
}

void sm_map_recall(struct sm *sm, uint32_t node, unsigned in, unsigned out, uint64_t map)
{
	struct sm_maps *m = maps_of(sm, node);
	size_t at;

	if (!pair_at(m, in, out, &at))
		return;
	m->map[at] = map;
	m->known[at] = true;
}

void sm_map_recall_shared(struct sm *sm, uint32_t node, const uint8_t *bits, unsigned bytes)
{
	struct sm_maps *m = maps_of(sm, node);

	memcpy(m->shared, bits, MIN(bytes, sizeof(m->shared)));
}

void sm_map_read(struct sm *sm, uint32_t node, unsigned in, unsigned out, const uint8_t *data)
{
	sm_map_recall(sm, node, in, out, map_from(data));
}

/* On a mismatch the device's value is recorded; the next round corrects it. */
bool sm_map_as_set(struct sm *sm, uint32_t node, unsigned in, unsigned out, const uint8_t *data)
{
	uint64_t map, is = map_from(data);

	if (!sm_map_known(sm, sm->topo.nodes.at[node].guid, in, out, &map) || map == is)
		return true;
	sm_map_read(sm, node, in, out, data);
	return false;
}

void sm_map_unknown(struct sm *sm, uint64_t guid, unsigned in, unsigned out)
{
	struct sm_maps *m = sm_maps_find(sm, guid);
	size_t at;

	if (pair_at(m, in, out, &at))
		m->known[at] = false;
}

/* ---- many ---- */

void sm_maps_unknown(struct sm *sm, uint64_t guid)
{
	struct sm_maps *m = sm_maps_find(sm, guid);

	if (!m)
		return;
	memset(m->known, 0, (size_t)m->width * m->width * sizeof(*m->known));
	memset(m->shared, 0, sizeof(m->shared));
}

void sm_maps_all_unknown(struct sm *sm)
{
	for (size_t i = 0; i < sm->dev.maps.n; i++)
		sm_maps_unknown(sm, sm->dev.maps.at[i].guid);
}

void sm_maps_port_read(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH && p->pi.state < IBA_PORT_ARMED)
		sm_maps_unknown(sm, sm->topo.nodes.at[p->node].guid);
}

void sm_maps_of_hosts(struct sm *sm)
{
	for (uint32_t p = 0; sm->dev.maps.n && p < sm->topo.ports.n; p++)
		if (sm->topo.ports.at[p].num && sm->topo.ports.at[p].peer != NONE)
			sm_maps_port_read(sm, p);
}

/* The next table that was set twice in this round, of any device that is there. */
bool sm_map_again_next(struct sm *sm, struct sm_cursor *at, uint32_t *node, uint32_t *turn)
{
	for (; at->node < sm->dev.maps.n; at->node++, at->step = 0) {
		const struct sm_maps *m = &sm->dev.maps.at[at->node];

		*node = map64_get(&sm->topo.by_guid, m->guid);
		while (*node != MAP_NONE && sm->topo.nodes.at[*node].fab != FAB_NONE &&
		       at->step < (uint32_t)m->width * m->width) {
			uint32_t i = at->step++;

			*turn = i / m->width << 8 | i % m->width;
			if (m->known[i] && m->sets[i].again == sm->audit.generation)
				return true;
		}
	}
	return false;
}

/* ---- for requests ---- */

static void switch_tell(const struct sm *sm, struct rt_tables *old, uint32_t sw)
{
	const struct sm_node *n = &sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[sw]]];
	uint64_t last = 0;
	unsigned number = 0; /* all tables of a switch are mostly the same */

	for (unsigned in = 0; in <= n->nports; in++)
		for (unsigned out = 0; out <= n->nports; out++) {
			struct rt_sl2vl x;
			uint64_t map;

			if (!sm_map_known(sm, n->guid, in, out, &map))
				map = UINT64_MAX;
			for (unsigned sl = 0; sl < RT_SLS; sl++)
				x.vl[sl] = (uint8_t)(map >> 4 * sl & 15);
			if ((!in && !out) || map != last)
				number = rt_sl2vl_map(old, &x);
			if (!in && !out)
				rt_sl2vl_use(old, sw, RT_ANY_PORT, RT_ANY_PORT, number);
			else
				rt_sl2vl_use(old, sw, in, out, number);
			last = map;
		}
}

/* A pair of ports without a known table has carried no packet. */
void sm_maps_tell(const struct sm *sm, struct rt_tables *old)
{
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
		switch_tell(sm, old, s);
}
