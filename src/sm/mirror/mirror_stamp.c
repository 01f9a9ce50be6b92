/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stamp in the master's own switch. State: struct sm_stamp. Ways in: sm_stamp_set(),
 * sm_mirror_holds_set(). Does not know what the number means. It is the last block that the switch's
 * linear table has room for, beyond LinearFDBTop: no packet is forwarded by it. Each entry is one bit, as
 * port 0 or 1, which every switch has; all entries "no port" is no stamp.
 */
#include "sm/manager.h"

bool sm_stamp_is(const uint8_t *block, uint64_t value)
{
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		if (block[i] != (value >> i & 1))
			return false;
	return true;
}

static void block_fill(uint8_t *block, uint64_t value)
{
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		block[i] = value ? (uint8_t)(value >> i & 1) : IBA_PORT_NONE;
}

/* The switch that all the manager's SMPs go through: if it fails, the manager is cut off. */
static uint32_t own_switch(const struct sm *sm)
{
	uint32_t peer;

	if (!sm->topo.nodes.n)
		return NONE;
	if (sm->topo.nodes.at[0].type == IBA_NODE_SWITCH)
		return 0;
	peer = sm->topo.ports.at[sm_own_port(sm)].peer;
	if (peer == NONE)
		return NONE;
	return sm->topo.nodes.at[sm->topo.ports.at[peer].node].type == IBA_NODE_SWITCH
		       ? sm->topo.ports.at[peer].node
		       : NONE;
}

bool sm_stamp_place(struct sm *sm)
{
	struct sm_stamp *s = &sm->mirror.stamp;
	uint32_t node = own_switch(sm);
	const struct sm_node *n = node == NONE ? NULL : &sm->topo.nodes.at[node];

	if (!n || !n->ask.has_si || !n->si.linear_cap ||
	    n->si.linear_cap > IBA_LID_MAX_UNICAST + 1 ||
	    (n->si.linear_cap - 1u) / IBA_LFT_BLOCK <= n->si.linear_top / IBA_LFT_BLOCK)
		return false;
	s->hop = node ? (uint8_t)sm->cfg.port : 0;
	s->guid = n->guid;
	s->block = (n->si.linear_cap - 1u) / IBA_LFT_BLOCK;
	s->m_key = sm_key_of(sm, n->first_port);
	s->fresh = !n->si.linear_top;
	return true;
}

static void put_on_wire(struct sm *sm)
{
	struct sm_stamp *s = &sm->mirror.stamp;
	/* Not by the topology database, which a discovery may have cleared. */
	struct sm_req r = {.method = s->state == SM_STAMP_READING ? IBA_GET : IBA_SET,
			   .attr_id = IBA_ATTR_LFT,
			   .attr_mod = s->block,
			   .purpose = SM_FOR_MIRROR,
			   .extra_hop = s->hop,
			   .keyed = true,
			   .m_key = s->m_key,
			   .aside = true};

	s->tries++;
	s->deadline = sm->core.now + sm_timeout(sm);
	block_fill(r.data, s->value);
	sm_send_now(sm, &r, sm_tid_aside(s->gen));
}

static void begin(struct sm *sm, enum sm_stamp_state state, uint64_t value)
{
	struct sm_stamp *s = &sm->mirror.stamp;

	s->state = state;
	s->value = value;
	s->tries = 0;
	s->gen++;
	put_on_wire(sm);
}

void sm_stamp_set(struct sm *sm, uint64_t value)
{
	begin(sm, SM_STAMP_SETTING, value);
}

void sm_stamp_unknown(struct sm *sm)
{
	sm->mirror.stamp.state = SM_STAMP_UNKNOWN;
	sm->mirror.stamp.deadline = TIME_NEVER;
}

static void end(struct sm *sm, enum sm_stamp_state state)
{
	sm->mirror.stamp.state = state;
	sm->mirror.stamp.deadline = TIME_NEVER;
	sm_sets_release(sm);
}

/* Whether a block may be a stamp, of any number. */
static bool has_any(const uint8_t *block)
{
	bool any = false;

	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++) {
		if (block[i] > 1)
			return false;
		any |= block[i];
	}
	return any;
}

bool sm_stamp_response(struct sm *sm, const struct sm_event *ev)
{
	struct sm_stamp *s = &sm->mirror.stamp;
	uint8_t block[IBA_LFT_BLOCK];
	bool kept;

	if (s->deadline == TIME_NEVER ||
	    sm_tid_aside(s->gen) != (iba_smp_tid(ev->mad) & UINT32_MAX))
		return false;
	if (s->state == SM_STAMP_READING && has_any(iba_smp_data_const(ev->mad))) {
		begin(sm, SM_STAMP_CLEARING, 0);
		return true;
	}
	block_fill(block, s->value);
	kept = !(iba_smp_status(ev->mad) & 0x7fff) &&
	       !memcmp(block, iba_smp_data_const(ev->mad), sizeof(block));
	if (s->state == SM_STAMP_SETTING)
		end(sm, kept ? SM_STAMP_SET : SM_STAMP_REFUSED);
	else
		end(sm, SM_STAMP_CLEAR);
	return true;
}

/* A switch that does not answer forwards nothing for this manager either: it is not waited for longer. */
void sm_stamp_overdue(struct sm *sm)
{
	struct sm_stamp *s = &sm->mirror.stamp;

	if (sm->core.now < s->deadline)
		return;
	if (s->tries <= sm->cfg.retries)
		put_on_wire(sm);
	else
		end(sm, s->state == SM_STAMP_SETTING ? SM_STAMP_UNKNOWN : SM_STAMP_CLEAR);
}

/* A change was detected, and Sets will follow: the switch answers while the change is looked into. */
void sm_stamp_clear(struct sm *sm)
{
	if (sm->mirror.stamp.state == SM_STAMP_SETTING || sm->mirror.stamp.state == SM_STAMP_SET)
		begin(sm, SM_STAMP_CLEARING, 0);
}

bool sm_mirror_holds_set(struct sm *sm)
{
	struct sm_stamp *s = &sm->mirror.stamp;

	sm_mirror_outdated(sm);
	switch (s->state) {
	case SM_STAMP_CLEAR:
	case SM_STAMP_REFUSED:
		return false;
	case SM_STAMP_READING:
	case SM_STAMP_CLEARING:
		return true;
	case SM_STAMP_UNKNOWN:
		if (!sm_mirror_is_on(sm) || !sm_stamp_place(sm))
			return false;
		if (s->fresh) {
			s->state = SM_STAMP_CLEAR;
			return false;
		}
		begin(sm, SM_STAMP_READING, 0);
		return true;
	case SM_STAMP_SETTING:
	case SM_STAMP_SET:
		break;
	}
	begin(sm, SM_STAMP_CLEARING, 0);
	return true;
}
