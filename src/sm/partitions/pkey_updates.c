/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Key tables brought to what the policy wants: read, then keys added, then keys removed, then enforcement at switches.
 * State: stage and cursor of struct sm_partitions. Ways in: sm_pkeys_next(), in the phase that configures devices and at
 * rest. Does not decide about members: src/policy does.
 */
#include "sm/manager.h"

enum {
	SETS_MOST = 64
}; /* of one table, before the device counts as one that does not keep what is set */

/* ---- beginning ---- */

/* A Set without an answer may be carried out late. */
void sm_pkeys_table_begin(struct sm *sm, struct sm_pkey_table *t)
{
	for (unsigned b = 0; b < t->nblocks; b++) {
		if (t->block[b] == SM_PKEYS_SENT)
			sm_pkeys_doubt(sm, t, sm_copies_until(sm));
		if (t->block[b] != SM_PKEYS_KNOWN)
			t->block[b] = SM_PKEYS_UNKNOWN;
	}
	t->sets = 0;
	t->asking = false;
}

static void begin(struct sm *sm)
{
	struct sm_partitions *s = &sm->partitions;

	for (size_t i = 0; i < s->nodes.n; i++)
		for (unsigned p = 0; p < s->nodes.at[i].width; p++)
			sm_pkeys_table_begin(sm, &s->nodes.at[i].ports[p]);
	s->stage = SM_PKEYS_READ;
	s->at = (struct sm_cursor){0};
	s->asked = 0;
}

static void restarted_unknown(struct sm *sm)
{
	if (!sm->partitions.nodes.n && !sm->partitions.aliases.blocks.n)
		return;
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++)
		if (sm->topo.nodes.at[i].type == IBA_NODE_SWITCH &&
		    !sm->topo.nodes.at[i].si.linear_top)
			sm_pkeys_unknown(sm, i);
}

void sm_pkeys_round(struct sm *sm)
{
	sm_aliases_round(sm);
	restarted_unknown(sm);
	if (!sm->partitions.serving && !sm->partitions.values)
		return;
	for (size_t i = 0; i < sm->partitions.nodes.n; i++)
		for (unsigned p = 0; p < sm->partitions.nodes.at[i].width; p++)
			sm->partitions.nodes.at[i].ports[p].given_up = false;
	sm->partitions.written = 0;
	sm->partitions.restart = false;
	begin(sm);
}

void sm_pkeys_at_rest(struct sm *sm)
{
	if (sm->partitions.asked || sm_pkeys_updating(sm))
		begin(sm);
	if (sm_aliases_busy(sm))
		sm_aliases_round(sm);
}

void sm_policy_set(struct sm *sm, const struct pol *p)
{
	struct sm_partitions *s = &sm->partitions;

	if (pol_same(s->policy, p))
		return;
	pol_free(s->policy);
	s->policy = pol_copy(p);
	s->number++;
	s->serving |= p->configured;
	s->restart = true;
	if (sm->core.phase == SM_READY && sm->cfg.qos) { /* tables of VLs are written in a round */
		sm_unfinished(sm);
		sm_change_later(sm, SM_CAUSE_ORDER, SM_ABOUT_NOTHING);
	}
}

/* ---- what a table should hold ---- */

/* The name decides, and is not known: the table stays as it is until it is. */
static bool name_missing(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return pol_names_used(sm_policy(sm)) && !sm_name_known(sm, sm->topo.nodes.at[p->node].guid);
}

/* Keys that are wanted, over those that are held. */
static void keys_wanted(struct sm *sm, struct sm_pkey_place at, bool adding, const uint16_t *held,
			uint16_t *keys)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);
	unsigned room = sm_pkey_room(sm, at.port);
	int rc;

	sm_pkey_holders(sm, at, adding);
	memset(keys, 0, (size_t)t->nblocks * SM_PKEY_BLOCK * sizeof(*keys));
	rc = pol_pkeys_over_all(sm_policy(sm), sm->partitions.who.at, sm->partitions.who.n, held,
				held ? room : 0, keys, room);
	if (rc == -ENOSPC && !t->short_of)
		sm_note(sm, .kind = SM_NOTE_NO_ROOM_FOR_KEYS, .about = sm_about_port(sm, at.port),
			.room = {(uint32_t)pol_pkeys_all(sm_policy(sm), sm->partitions.who.at,
							 sm->partitions.who.n, NULL, 0),
				 room});
	t->short_of = rc == -ENOSPC;
}

/* The same over what the port holds; false: not all of it is known. */
static bool final_keys(struct sm *sm, struct sm_pkey_place at, bool adding, uint16_t *keys)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);

	if (t->given_up || (!at.slot && name_missing(sm, sm_pkeys_of(sm, at.port))) ||
	    !sm_pkeys_known(t))
		return false;
	keys_wanted(sm, at, adding, t->held, keys);
	return true;
}

/* While keys are only added: what is held stays, unless the wanted key is the full one of the same partition. */
static uint16_t added(uint16_t held, uint16_t final)
{
	if (!held || (!((held ^ final) & POL_DEFAULT_KEY) && final & POL_FULL_BIT))
		return final;
	return held;
}

/* A port that carries no data yet is not disturbed by anything. */
static bool carries_data(const struct sm *sm, struct sm_pkey_place at)
{
	const struct sm_port *p = &sm->topo.ports.at[at.port];

	return p->pi.state == IBA_PORT_ACTIVE && (p->num || sm->core.phase == SM_READY) &&
	       (!at.slot ||
		sm_slot_of(sm, sm_vhost_of(sm, &sm->topo.nodes.at[p->node]), at.slot)->has_lid);
}

/* ---- requests ---- */

/* The SMA of a vSwitch has the tables of all functions, each at its port: of the PF and of VFs that have no LID yet. */
static uint32_t port_in_modifier(const struct sm *sm, struct sm_pkey_place at)
{
	const struct sm_port *p = &sm->topo.ports.at[at.port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	if (n->type == IBA_NODE_SWITCH)
		return p->num;
	return sm_pkey_slots(sm, n) ? FAB_SLOT0_PORT + at.slot : 0;
}

static void request_make(struct sm *sm, struct sm_pkey_place at, unsigned block,
			 enum iba_method method, struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[at.port];
	uint32_t modifier = port_in_modifier(sm, at) << 16 | block;

	if (sm->topo.nodes.at[p->node].type == IBA_NODE_SWITCH) {
		sm_req_node(sm, r, method, SM_FOR_CONFIGURATION, p->node, IBA_ATTR_PKEY_TABLE,
			    modifier);
		r->target = sm_target_port(sm, at.port);
	} else {
		sm_req_port(sm, r, method, SM_FOR_CONFIGURATION, at.port);
		r->attr_id = IBA_ATTR_PKEY_TABLE;
		r->attr_mod = modifier;
	}
	r->question = Q_PKEYS;
	r->aside = true;
	sm->partitions.asked++;
}

/* Names and NodeInfo of a device that was restored from saved state are asked for where they are needed. */
static bool device_read(struct sm *sm, uint32_t port, struct sm_pkey_table *t, struct sm_req *r)
{
	bool name = name_missing(sm, port);

	if (t->given_up || t->asking || (sm_pkey_room(sm, port) && !name))
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_CONFIGURATION, port);
	r->attr_id = name ? IBA_ATTR_NODE_DESC : IBA_ATTR_NODE_INFO;
	r->attr_mod = 0;
	r->question = Q_PKEYS;
	t->asking = true;
	sm->partitions.asked++;
	return true;
}

static bool read_next(struct sm *sm, struct sm_pkey_place at, struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);

	if (!at.slot && sm_pkeys_of(sm, at.port) == at.port && device_read(sm, at.port, t, r))
		return true;
	for (unsigned b = 0; !t->given_up && b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_UNKNOWN) {
			t->block[b] = SM_PKEYS_ASKED;
			request_make(sm, at, b, IBA_GET, r);
			return true;
		}
	return false;
}

static void block_set(struct sm *sm, struct sm_pkey_place at, unsigned b, const uint16_t *keys,
		      struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);
	struct iba_pkey_table data;

	memcpy(data.pkey, keys, sizeof(data.pkey));
	memcpy(t->held + b * SM_PKEY_BLOCK, keys, sizeof(data.pkey));
	t->block[b] = SM_PKEYS_SENT;
	t->sets++;
	t->set_at = MAX(sm->core.now, 1);
	sm->partitions.written++;
	request_make(sm, at, b, IBA_SET, r);
	iba_pkey_table_put(&data, r->data);
}

/* The first block that differs; blind: or that is not known. */
static bool block_next(struct sm *sm, struct sm_pkey_place at, const uint16_t *keys, bool blind,
		       struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);

	if (t->sets > SETS_MOST)
		t->given_up = true;
	for (unsigned b = 0; !t->given_up && b < t->nblocks; b++) {
		bool differs = memcmp(t->held + b * SM_PKEY_BLOCK, keys + b * SM_PKEY_BLOCK,
				      SM_PKEY_BLOCK * sizeof(*keys));

		if ((t->block[b] == SM_PKEYS_KNOWN && differs) ||
		    (t->block[b] == SM_PKEYS_UNKNOWN && blind)) {
			block_set(sm, at, b, keys + b * SM_PKEY_BLOCK, r);
			return true;
		}
	}
	return false;
}

static bool write_next(struct sm *sm, struct sm_pkey_place at, bool only_add, struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, at);
	uint16_t keys[POL_MOST_KEYS];

	if ((only_add && !carries_data(sm, at)) || !final_keys(sm, at, only_add, keys))
		return false;
	for (unsigned i = 0; only_add && i < t->nblocks * SM_PKEY_BLOCK; i++)
		keys[i] = added(t->held[i], keys[i]);
	return block_next(sm, at, keys, false, r);
}

bool sm_pkeys_write(struct sm *sm, struct sm_pkey_place at, const uint16_t *held, struct sm_req *r)
{
	uint16_t keys[POL_MOST_KEYS];

	if (sm_pkey_table(sm, at)->given_up)
		return false;
	keys_wanted(sm, at, false, held, keys);
	return block_next(sm, at, keys, true, r);
}

/* ---- one after the other ---- */

/* Whether the table of this place is looked after. */
static bool has_table(struct sm *sm, struct sm_pkey_place at)
{
	uint32_t of = sm_pkeys_of(sm, at.port);

	if (!sm->partitions.serving || of == NONE)
		return false;
	if (at.slot)
		return sm_pkey_slot_serves(sm, at);
	return of == at.port ||
	       (sm->cfg.part_enforce != SM_ENFORCE_OFF && sm_policy(sm)->configured);
}

bool sm_pkeys_place_next(struct sm *sm, struct sm_pkey_place at, enum sm_pkeys_stage stage,
			 struct sm_req *r)
{
	switch (stage) {
	case SM_PKEYS_READ:
		return has_table(sm, at) && read_next(sm, at, r);
	case SM_PKEYS_ADD:
		return has_table(sm, at) && write_next(sm, at, true, r);
	case SM_PKEYS_REMOVE:
		return has_table(sm, at) && write_next(sm, at, false, r);
	case SM_PKEYS_VALUES:
		return !at.slot && sm_port_values_next(sm, at.port, r);
	case SM_PKEYS_END:
		break;
	}
	return false;
}

/* Ports of the snapshot that have a link, and port 0 of switches; VFs behind their port. */
static bool is_place(const struct sm *sm, uint32_t node, uint32_t step)
{
	const struct fab *f = sm->topo.fab;
	const struct sm_node *n = &sm->topo.nodes.at[sm->topo.node_of[node]];
	unsigned num = step <= n->nports ? step : 1;

	return (!num && n->type == IBA_NODE_SWITCH) ||
	       f->ports[f->nodes[node].first_port + num].peer != FAB_NONE;
}

static bool stage_next(struct sm *sm, struct sm_req *r)
{
	struct sm_cursor *at = &sm->partitions.at;

	for (; at->node < sm->topo.fab->nnodes; at->node++, at->step = 0) {
		const struct sm_node *n = &sm->topo.nodes.at[sm->topo.node_of[at->node]];
		unsigned last = n->nports + sm_pkey_slots(sm, n);

		for (; at->step <= last; at->step++) {
			struct sm_pkey_place p = {n->first_port + at->step, 0};

			if (at->step > n->nports)
				p = (struct sm_pkey_place){n->first_port + 1, at->step - n->nports};
			if (is_place(sm, at->node, at->step) &&
			    sm_pkeys_place_next(sm, p, sm->partitions.stage, r)) {
				at->step += sm->partitions.stage == SM_PKEYS_VALUES;
				return true;
			}
		}
	}
	return false;
}

static void end(struct sm *sm)
{
	if (sm->partitions.written && sm->core.phase == SM_READY)
		sm_note(sm, .kind = SM_NOTE_PARTITIONS, .times = sm->partitions.written);
	sm->partitions.written = 0;
}

static bool tables_next(struct sm *sm, struct sm_req *r)
{
	struct sm_partitions *s = &sm->partitions;

	if (!sm_pkeys_updating(sm))
		return false;
	if (s->restart)
		sm_pkeys_round(sm);
	while (s->stage != SM_PKEYS_END) {
		if (stage_next(sm, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		s->stage++;
		s->at = (struct sm_cursor){0};
	}
	end(sm);
	return false;
}

bool sm_pkeys_next(struct sm *sm, struct sm_req *r)
{
	return sm->topo.fab && (tables_next(sm, r) || sm_aliases_next(sm, r));
}

/* ---- answers ---- */

static unsigned block_of(const struct sm_txn *t)
{
	return iba_smp_attr_mod(t->send.mad) & 0xffff;
}

/* Whose table a request is about; of other attributes: that of the port. */
static struct sm_pkey_place place_of(const struct sm *sm, const struct sm_txn *t)
{
	unsigned num = iba_smp_attr_mod(t->send.mad) >> 16;
	bool vf = t->attr_id == IBA_ATTR_PKEY_TABLE && num > FAB_SLOT0_PORT &&
		  sm->topo.nodes.at[t->target.node].type != IBA_NODE_SWITCH;

	return (struct sm_pkey_place){t->target.port, vf ? num - FAB_SLOT0_PORT : 0};
}

static void table_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_pkey_table *x = sm_pkey_table(sm, place_of(sm, t));
	unsigned b = block_of(t);
	struct iba_pkey_table is;

	if (b >= x->nblocks)
		return;
	iba_pkey_table_get(&is, data, IBA_SMP_DATA_SIZE);
	memcpy(x->held + b * SM_PKEY_BLOCK, is.pkey, sizeof(is.pkey));
	x->block[b] = SM_PKEYS_KNOWN;
	if (t->method == IBA_SET && (t->tries > 1 || sm->audit.doubling))
		sm_pkeys_doubt(
			sm, x,
			sm_copies_until(sm)); /* an earlier copy may arrive after a later Set */
}

/* A link that went down meanwhile stays as it is known: discovery must find it other than before. */
static void values_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info is;

	iba_port_info_get(&is, data, IBA_SMP_DATA_SIZE);
	if (is.state != sm->topo.ports.at[t->target.port].pi.state)
		return;
	sm_port_learn(sm, t->target.port, data);
	sm_mirror_outdated(sm);
}

bool sm_pkeys_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_node_info ni;

	if (t->question != Q_PKEYS)
		return false;
	if (t->attr_id == IBA_ATTR_GUID_INFO) {
		sm_aliases_recv(sm, t, data);
		return true;
	}
	sm->partitions.asked -= sm->partitions.asked > 0;
	if (t->attr_id == IBA_ATTR_PKEY_TABLE) {
		table_recv(sm, t, data);
	} else if (t->attr_id == IBA_ATTR_PORT_INFO) {
		values_recv(sm, t, data);
	} else {
		sm_pkey_table(sm, place_of(sm, t))->asking = false;
		if (t->attr_id == IBA_ATTR_NODE_DESC) {
			sm_names_recv(sm, t, data);
		} else {
			iba_node_info_get(&ni, data, IBA_SMP_DATA_SIZE);
			sm_node_partition_cap(sm, t->target.node, MAX(ni.partition_cap, 1));
		}
		sm->partitions.at = (struct sm_cursor){0}; /* its table can be read now */
	}
	return true;
}

/* The table stays as it is until the next round. A device that is gone is found missing by others. */
bool sm_pkeys_fail(struct sm *sm, const struct sm_txn *t)
{
	struct sm_pkey_table *x;

	if (t->question != Q_PKEYS)
		return false;
	if (t->attr_id == IBA_ATTR_GUID_INFO) {
		sm_aliases_fail(sm, t);
		sm_note_failed(sm, t);
		return true;
	}
	sm->partitions.asked -= sm->partitions.asked > 0;
	x = sm_pkey_table(sm, place_of(sm, t));
	x->given_up = true;
	if (t->method == IBA_SET)
		sm_pkeys_doubt(sm, x, sm_copies_until(sm));
	if (t->attr_id == IBA_ATTR_PKEY_TABLE && block_of(t) < x->nblocks)
		x->block[block_of(t)] = SM_PKEYS_UNKNOWN;
	sm_note_failed(sm, t);
	return true;
}

/* ---- time ---- */

void sm_pkeys_wake_up(struct sm *sm)
{
	struct sm_partitions *s = &sm->partitions;

	if (sm->core.now < s->reread_at || sm_pkeys_busy(sm))
		return;
	s->reread_at = TIME_NEVER;
	for (size_t i = 0; i < s->nodes.n; i++)
		for (unsigned p = 0; p < s->nodes.at[i].width; p++) {
			struct sm_pkey_table *t = &s->nodes.at[i].ports[p];

			if (t->doubtful && t->block)
				memset(t->block, SM_PKEYS_UNKNOWN, t->nblocks);
			t->doubtful = false;
		}
	sm_aliases_doubts_end(sm);
	if (s->serving || s->values)
		begin(sm);
}
