/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns that are mapped to VL15. State: sm->off in the order in which they went off, each with a serial
 * number that grows along it, sm->off_by from turn to serial, and how many each row has. Does not send
 * anything: see breaks.c. A large fabric has 75,000 of them at once, so nobody may walk along all.
 */
#include "sm/sm_priv.h"

static uint64_t key_of(uint32_t row, unsigned in, unsigned out)
{
	return (uint64_t)row << 16 | in << 8 | out;
}

/* One that is gone left its serial in the map; nobody has that serial any more. */
static size_t at_serial(const struct sm *sm, uint32_t serial)
{
	size_t low = 0, high = sm->off.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sm->off.at[mid].serial < serial)
			low = mid + 1;
		else
			high = mid;
	}
	return low < sm->off.n && sm->off.at[low].serial == serial ? low : SIZE_MAX;
}

size_t sm_off_find(const struct sm *sm, uint64_t guid, unsigned in, unsigned out)
{
	uint32_t row = map64_get(&sm->row_by_guid, guid), serial;

	if (row == MAP_NONE || !sm->rows.at[row].noff)
		return SIZE_MAX;
	serial = map64_get(&sm->off_by, key_of(row, in, out));
	return serial == MAP_NONE ? SIZE_MAX : at_serial(sm, serial);
}

bool sm_off_any(const struct sm *sm, uint64_t guid)
{
	uint32_t row = map64_get(&sm->row_by_guid, guid);

	return row != MAP_NONE && sm->rows.at[row].noff;
}

static void number_anew(struct sm *sm)
{
	map64_clear(&sm->off_by);
	for (size_t i = 0; i < sm->off.n; i++) {
		struct sm_turn_off *x = &sm->off.at[i];

		x->serial = (uint32_t)i;
		map64_put(&sm->off_by, key_of(map64_get(&sm->row_by_guid, x->guid), x->in, x->out),
			  x->serial);
	}
	sm->off_serial = (uint32_t)sm->off.n;
}

size_t sm_off_add(struct sm *sm, uint64_t guid, unsigned in, unsigned out, bool sure)
{
	size_t at = sm_off_find(sm, guid, in, out);
	uint32_t row;

	if (at != SIZE_MAX)
		return at;
	if (!sm->off.n || sm->off_serial == MAP_NONE)
		number_anew(sm);
	row = sm_row_find(sm, guid);
	vec_push(&sm->off,
		 (struct sm_turn_off){guid, sm->off_serial, (uint8_t)in, (uint8_t)out, sure});
	map64_put(&sm->off_by, key_of(row, in, out), sm->off_serial++);
	sm->rows.at[row].noff++;
	return sm->off.n - 1;
}

/* Those behind it move up. */
void sm_off_remove(struct sm *sm, size_t at)
{
	sm->rows.at[map64_get(&sm->row_by_guid, sm->off.at[at].guid)].noff--;
	memmove(&sm->off.at[at], &sm->off.at[at + 1], (--sm->off.n - at) * sizeof(sm->off.at[0]));
}

void sm_off_clear(struct sm *sm)
{
	sm->off.n = 0;
	for (uint32_t i = 0; i < sm->rows.n; i++)
		sm->rows.at[i].noff = 0;
}

/* Whoever restarted should have all turns on; but it only seems that it did. */
void sm_off_doubt(struct sm *sm, uint32_t row)
{
	if (sm->rows.at[row].noff)
		for (size_t i = 0; i < sm->off.n; i++)
			if (sm->off.at[i].guid == sm->rows.at[row].guid)
				sm->off.at[i].sure = false;
}
