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
static void table_begin(struct sm *sm, struct sm_pkey_table *t)
{
	for (unsigned b = 0; b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_ASKED) {
			t->block[b] = SM_PKEYS_UNKNOWN;
			if (t->set_at)
				sm_pkeys_doubt(sm, t, sm_copies_until(sm));
		}
	t->sets = 0;
	t->asking = false;
}

static void begin(struct sm *sm)
{
	struct sm_partitions *s = &sm->partitions;

	for (size_t i = 0; i < s->nodes.n; i++)
		for (unsigned p = 0; p < s->nodes.at[i].width; p++)
			table_begin(sm, &s->nodes.at[i].ports[p]);
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

struct pol_port sm_pol_port(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return (struct pol_port){
		.guid = p->guid,
		.node_guid = n->guid,
		.type = (enum iba_node_type)n->type,
		.num = p->num,
		.description = sm_node_desc(sm, n->guid),
		.is_sm = sm_is_own(sm, p),
	};
}

/* The name decides, and is not known: the table stays as it is until it is. */
static bool name_missing(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return pol_names_used(sm_policy(sm)) && !sm_name_known(sm, sm->topo.nodes.at[p->node].guid);
}

/* Keys that are wanted, over those that are held; false: not all that is held is known. */
static bool final_keys(struct sm *sm, uint32_t port, struct sm_pkey_table *t, uint16_t *keys)
{
	uint32_t of = sm_pkeys_of(sm, port);
	struct pol_port who;
	int rc;

	if (t->given_up || name_missing(sm, of))
		return false;
	for (unsigned b = 0; b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_UNKNOWN)
			return false;
	who = sm_pol_port(sm, of);
	memset(keys, 0, (size_t)t->nblocks * SM_PKEY_BLOCK * sizeof(*keys));
	rc = pol_pkeys_over(sm_policy(sm), &who, t->held, sm_pkey_room(sm, port), keys,
			    sm_pkey_room(sm, port));
	if (rc == -ENOSPC && !t->short_of)
		sm_note(sm, .kind = SM_NOTE_NO_ROOM_FOR_KEYS, .about = sm_about_port(sm, port),
			.room = {(uint32_t)pol_pkeys(sm_policy(sm), &who, NULL, 0),
				 sm_pkey_room(sm, port)});
	t->short_of = rc == -ENOSPC;
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
static bool carries_data(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return p->pi.state == IBA_PORT_ACTIVE && (p->num || sm->core.phase == SM_READY);
}

/* ---- requests ---- */

static void request_make(struct sm *sm, uint32_t port, unsigned block, enum iba_method method,
			 struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (sm->topo.nodes.at[p->node].type == IBA_NODE_SWITCH) {
		sm_req_node(sm, r, method, SM_FOR_CONFIGURATION, p->node, IBA_ATTR_PKEY_TABLE,
			    (uint32_t)p->num << 16 | block);
		r->target = sm_target_port(sm, port);
	} else {
		sm_req_port(sm, r, method, SM_FOR_CONFIGURATION, port);
		r->attr_id = IBA_ATTR_PKEY_TABLE;
		r->attr_mod = block;
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

static bool read_next(struct sm *sm, uint32_t port, struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, port);

	if (sm_pkeys_of(sm, port) == port && device_read(sm, port, t, r))
		return true;
	for (unsigned b = 0; !t->given_up && b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_UNKNOWN) {
			t->block[b] = SM_PKEYS_ASKED;
			request_make(sm, port, b, IBA_GET, r);
			return true;
		}
	return false;
}

static void block_set(struct sm *sm, uint32_t port, struct sm_pkey_table *t, unsigned b,
		      const uint16_t *keys, struct sm_req *r)
{
	struct iba_pkey_table data;

	memcpy(data.pkey, keys, sizeof(data.pkey));
	memcpy(t->held + b * SM_PKEY_BLOCK, keys, sizeof(data.pkey));
	t->block[b] = SM_PKEYS_ASKED;
	t->sets++;
	t->set_at = MAX(sm->core.now, 1);
	sm->partitions.written++;
	request_make(sm, port, b, IBA_SET, r);
	iba_pkey_table_put(&data, r->data);
}

static bool write_next(struct sm *sm, uint32_t port, bool only_add, struct sm_req *r)
{
	struct sm_pkey_table *t = sm_pkey_table(sm, port);
	uint16_t keys[POL_MOST_KEYS];

	if ((only_add && !carries_data(sm, port)) || !final_keys(sm, port, t, keys))
		return false;
	if (t->sets > SETS_MOST)
		t->given_up = true;
	for (unsigned i = 0; only_add && i < t->nblocks * SM_PKEY_BLOCK; i++)
		keys[i] = added(t->held[i], keys[i]);
	for (unsigned b = 0; !t->given_up && b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_KNOWN &&
		    memcmp(t->held + b * SM_PKEY_BLOCK, keys + b * SM_PKEY_BLOCK,
			   SM_PKEY_BLOCK * sizeof(*keys))) {
			block_set(sm, port, t, b, keys + b * SM_PKEY_BLOCK, r);
			return true;
		}
	return false;
}

/* ---- enforcement ---- */

static void enforcement(struct sm *sm, uint32_t port, uint8_t *in, uint8_t *out)
{
	const struct sm_pkey_table *t =
		sm_pkeys_of(sm, port) == NONE ? NULL : sm_pkey_table(sm, port);
	bool on = t && sm_policy(sm)->configured && t->nblocks && !t->given_up && !t->short_of;

	*in = on &&
	      (sm->cfg.part_enforce == SM_ENFORCE_BOTH || sm->cfg.part_enforce == SM_ENFORCE_IN);
	*out = on &&
	       (sm->cfg.part_enforce == SM_ENFORCE_BOTH || sm->cfg.part_enforce == SM_ENFORCE_OUT);
}

static bool values_differ(const struct iba_port_info *is, const struct iba_port_info *to)
{
	return is->part_enf_in != to->part_enf_in || is->part_enf_out != to->part_enf_out ||
	       is->hoq_life != to->hoq_life || is->vl_stall_count != to->vl_stall_count ||
	       is->local_phy_errors != to->local_phy_errors ||
	       is->overrun_errors != to->overrun_errors || is->vl_high_limit != to->vl_high_limit ||
	       to->speed_enabled || to->speed_ext_enabled || to->width_enabled;
}

/* The Set that arms a port carries all of it where the port is not Armed yet. */
static bool values_next(struct sm *sm, uint32_t port, struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	struct iba_port_info pi;
	uint8_t in, out;

	if (!p->num || p->peer == NONE)
		return false;
	sm_link_fill(sm, p, &pi);
	if (sm->partitions.serving && n->type == IBA_NODE_SWITCH && n->si.partition_enf_cap) {
		enforcement(sm, port, &in, &out);
		pi.part_enf_in = in;
		pi.part_enf_out = out;
	}
	if (!values_differ(&p->pi, &pi))
		return false;
	if (p->pi.state < IBA_PORT_ARMED) {
		sm_port_enforce(sm, port, pi.part_enf_in, pi.part_enf_out);
		return false;
	}
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	r->question = Q_PKEYS;
	iba_port_info_put(&pi, r->data);
	sm->partitions.asked++;
	sm->partitions.written++;
	return true;
}

/* ---- one after the other ---- */

static bool port_next(struct sm *sm, uint32_t port, struct sm_req *r)
{
	bool table = sm->partitions.serving && sm_pkeys_of(sm, port) != NONE &&
		     (sm_pkeys_of(sm, port) == port ||
		      (sm->cfg.part_enforce != SM_ENFORCE_OFF && sm_policy(sm)->configured));

	switch (sm->partitions.stage) {
	case SM_PKEYS_READ:
		return table && read_next(sm, port, r);
	case SM_PKEYS_ADD:
		return table && write_next(sm, port, true, r);
	case SM_PKEYS_REMOVE:
		return table && write_next(sm, port, false, r);
	case SM_PKEYS_VALUES:
		return values_next(sm, port, r);
	case SM_PKEYS_END:
		break;
	}
	return false;
}

/* Ports of the snapshot that have a link, and port 0 of switches. */
static bool stage_next(struct sm *sm, struct sm_req *r)
{
	const struct fab *f = sm->topo.fab;
	struct sm_cursor *at = &sm->partitions.at;

	for (; at->node < f->nnodes; at->node++, at->step = 0) {
		const struct sm_node *n = &sm->topo.nodes.at[sm->topo.node_of[at->node]];

		for (; at->step <= n->nports; at->step++) {
			bool sw0 = !at->step && n->type == IBA_NODE_SWITCH;

			if ((sw0 ||
			     f->ports[f->nodes[at->node].first_port + at->step].peer != FAB_NONE) &&
			    port_next(sm, n->first_port + at->step, r)) {
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

static void table_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_pkey_table *x = sm_pkey_table(sm, t->target.port);
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
		sm_port_learn(sm, t->target.port, data);
		sm_mirror_outdated(sm);
	} else {
		sm_pkey_table(sm, t->target.port)->asking = false;
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
	x = sm_pkey_table(sm, t->target.port);
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
