/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When packets of former routes have left the network. State: dev.drained_at. Ways in: what was changed
 * under traffic (sm_drain_rerouted(), sm_drain_turn_off()), and sm_drain_wait() in phases that may begin
 * only then. Does not measure anything: cfg.drain_ps is assumed to be longer than any packet lives, and
 * four times as long where the slowest link has one lane of 2.5 Gb/s, since queues are in bytes.
 *
 * A plan holds for packets that entries of its old and new tables have brought to where they are. A packet
 * that waits on account of an entry before those, or behind a turn that was disabled after the switch
 * had chosen its output, is in no plan.
 */
#include "sm/manager.h"

/* LIDs compared, for all turns of a plan; beyond, a turn counts as in use. */
enum { EFFORT = 20000000 };

enum { FULL_RATE = 4 }; /* four lanes of 2.5 Gb/s */

/* In units of one such lane. */
static unsigned rate_of(const struct iba_port_info *pi)
{
	unsigned lanes = pi->width_active == IBA_WIDTH_1X   ? 1
			 : pi->width_active == IBA_WIDTH_2X ? 2
							    : 4;

	return lanes * MAX(pi->speed_active, 1u);
}

void sm_drain_measure(struct sm *sm)
{
	unsigned slowest = FULL_RATE;

	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		if (sm->topo.ports.at[p].peer != NONE)
			slowest = MIN(slowest, rate_of(&sm->topo.ports.at[p].pi));
	sm->dev.drain_ps = sm->cfg.drain_ps * FULL_RATE / slowest;
}

static void drain_from_now(struct sm *sm)
{
	sm->dev.drained_at = sm->core.now + sm->dev.drain_ps;
}

void sm_drain_found(struct sm *sm)
{
	sm->dev.found_at = sm->core.now;
}

void sm_drain_rerouted(struct sm *sm)
{
	if (!sm_technique_now(sm)->stops_all)
		drain_from_now(sm);
}

void sm_drain_moved(struct sm *sm)
{
	drain_from_now(sm);
}

/* Whether packets for a LID take a turn now: an entry before the switch and one in it. */
static bool block_takes(const uint8_t *before, unsigned to, const uint8_t *here, unsigned out)
{
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		if (before[i] == to && here[i] == out)
			return true;
	return false;
}

static bool is_taken(struct sm *sm, uint32_t node, unsigned in, unsigned out)
{
	uint32_t near = sm->topo.nodes.at[node].first_port + in, far = sm->topo.ports.at[near].peer;
	uint32_t row = sm->topo.nodes.at[node].row, from;
	uint32_t blocks = sm->routes.tables->stride / IBA_LFT_BLOCK;
	const struct sm_row *here, *before;

	if (far == NONE)
		return true; /* a silent link: not known */
	from = sm->topo.nodes.at[sm->topo.ports.at[far].node].row;
	if (row == NONE || from == NONE)
		return true; /* a host, which sends to any LID */
	here = &sm->dev.rows.at[row];
	before = &sm->dev.rows.at[from];
	if (here->rft || before->rft || sm->dev.drain_effort > EFFORT)
		return true;
	sm->dev.drain_effort += blocks * IBA_LFT_BLOCK;
	for (uint32_t b = 0; b < blocks; b++) {
		const uint8_t *x = sm_row_block(sm, from, b), *y = sm_row_block(sm, row, b);

		if ((!x && !before->fresh) || (!y && !here->fresh))
			return true; /* not known: it may */
		if (x && y && block_takes(x, sm->topo.ports.at[far].num, y, out))
			return true;
	}
	return false;
}

void sm_drain_begin(struct sm *sm)
{
	sm->dev.drain_effort = 0;
}

/*
 * Packets at the heads of queues have an output by now. Repairs, for which hosts wait, take the time that these
 * need without congestion. Final routes are not urgent: in overload such packets were seen to wait for more
 * than 4 ms on links with one lane, and to be deadlocked.
 */
void sm_drain_turn_off(struct sm *sm, uint32_t node, unsigned in, unsigned out)
{
	time_ps wait =
		sm->routes.stage == SM_PROVISIONAL ? sm->dev.drain_ps / 4 : 4 * sm->dev.drain_ps;

	if (is_taken(sm, node, in, out))
		sm->dev.drained_at = MAX(sm->dev.drained_at, sm->core.now + wait);
}

void sm_drain_wait(struct sm *sm)
{
	time_ps at = sm->dev.drained_at;

	if (sm->core.phase == SM_JOIN && sm->routes.leg)
		at += 3 * sm->dev.drain_ps; /* no host waits for the next leg of a detour */
	if (sm->disc.arrival == SM_ADOPTING)
		at = MAX(at, sm->dev.found_at + sm->dev.drain_ps);
	if (at > sm->core.now && !sm_technique_now(sm)->stops_all)
		sm_phase_hold(sm, at);
}

void sm_drain_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->dev.drained_at, by);
	sm_time_shift(&sm->dev.found_at, by);
}
