/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disabled turns: turns mapped to VL15. State: dev.off in the order in which they were disabled,
 * each with an increasing serial number, dev.off_by from turn to serial, and a count in each row.
 * Does not send anything: see turn_updates.c. A large fabric has 75,000 of them at once, so
 * lookups must not be linear.
 */
#include "sm/manager.h"

static uint64_t key_of(uint32_t row, unsigned in, unsigned out)
{
	return (uint64_t)row << 16 | in << 8 | out;
}

/* A turn that was removed leaves its serial in the map; no other turn gets that serial. */
static size_t at_serial(const struct sm *sm, uint32_t serial)
{
	size_t low = 0, high = sm->dev.off.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sm->dev.off.at[mid].serial < serial)
			low = mid + 1;
		else
			high = mid;
	}
	return low < sm->dev.off.n && sm->dev.off.at[low].serial == serial ? low : SIZE_MAX;
}

size_t sm_disabled_find(const struct sm *sm, uint64_t guid, unsigned in, unsigned out)
{
	uint32_t row = map64_get(&sm->dev.row_by_guid, guid), serial;

	if (row == MAP_NONE || !sm->dev.rows.at[row].noff)
		return SIZE_MAX;
	serial = map64_get(&sm->dev.off_by, key_of(row, in, out));
	return serial == MAP_NONE ? SIZE_MAX : at_serial(sm, serial);
}

bool sm_disabled_any(const struct sm *sm, uint64_t guid)
{
	uint32_t row = map64_get(&sm->dev.row_by_guid, guid);

	return row != MAP_NONE && sm->dev.rows.at[row].noff;
}

static void renumber(struct sm *sm)
{
	map64_clear(&sm->dev.off_by);
	for (size_t i = 0; i < sm->dev.off.n; i++) {
		struct sm_turn_off *x = &sm->dev.off.at[i];

		x->serial = (uint32_t)i;
		map64_put(&sm->dev.off_by,
			  key_of(map64_get(&sm->dev.row_by_guid, x->guid), x->in, x->out),
			  x->serial);
	}
	sm->dev.off_serial = (uint32_t)sm->dev.off.n;
}

/* Of a switch that was marked before. */
static bool shows_mark(const struct sm *sm, uint64_t guid)
{
	uint32_t node = map64_get(&sm->topo.by_guid, guid);

	return node != MAP_NONE && !sm->topo.nodes.at[node].markless &&
	       sm_is_marked(sm, &sm->topo.ports.at[sm->topo.nodes.at[node].first_port]);
}

void sm_turns_mark(struct sm *sm, uint64_t guid)
{
	sm->dev.rows.at[sm_row_find(sm, guid)].marked = shows_mark(sm, guid);
}

size_t sm_disabled_add(struct sm *sm, uint64_t guid, unsigned in, unsigned out, bool sure)
{
	size_t at = sm_disabled_find(sm, guid, in, out);
	uint32_t row;

	if (at != SIZE_MAX)
		return at;
	if (!sm->dev.off.n || sm->dev.off_serial == MAP_NONE)
		renumber(sm);
	row = sm_row_find(sm, guid);
	vec_push(&sm->dev.off,
		 (struct sm_turn_off){guid, sm->dev.off_serial, (uint8_t)in, (uint8_t)out, sure});
	map64_put(&sm->dev.off_by, key_of(row, in, out), sm->dev.off_serial++);
	if (!sm->dev.rows.at[row].noff++)
		sm_turns_mark(sm, guid);
	return sm->dev.off.n - 1;
}

/* Later entries move up. */
void sm_disabled_remove(struct sm *sm, size_t at)
{
	sm->dev.rows.at[map64_get(&sm->dev.row_by_guid, sm->dev.off.at[at].guid)].noff--;
	memmove(&sm->dev.off.at[at], &sm->dev.off.at[at + 1],
		(--sm->dev.off.n - at) * sizeof(sm->dev.off.at[0]));
}

void sm_disabled_clear(struct sm *sm)
{
	sm->dev.off.n = 0;
	for (uint32_t i = 0; i < sm->dev.rows.n; i++)
		sm->dev.rows.at[i].noff = 0;
}

/* A switch that restarted has all turns enabled; but the restart is only inferred. */
void sm_disabled_doubt(struct sm *sm, uint32_t row)
{
	if (sm->dev.rows.at[row].noff)
		for (size_t i = 0; i < sm->dev.off.n; i++)
			if (sm->dev.off.at[i].guid == sm->dev.rows.at[row].guid)
				sm->dev.off.at[i].sure = false;
}
