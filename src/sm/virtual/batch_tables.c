/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables of a batch: which columns move, the entries that change and the order in which they may, blocks of a
 * stage, and the tables and the snapshot in force afterwards. No route is computed. State: entries, plan and blocks of
 * struct sm_batch. Does not send anything.
 */
#include "sm/tables/random_tables.h"

typedef VEC(struct rt_move) moves;

uint16_t *sm_batch_job_of(struct sm_batch *b)
{
	if (!b->job_of)
		b->job_of = mem_zarray(IBA_LID_MAX_UNICAST + 1u, sizeof(*b->job_of));
	return b->job_of;
}

static void move_add(struct sm *sm, moves *m, uint32_t job, uint16_t lid, uint16_t like)
{
	struct sm_batch *b = &sm->virtual.batch;

	vec_push(m, (struct rt_move){lid, like});
	b->job_of[lid] = (uint16_t)job;
	if (like)
		b->top = MAX(b->top, lid);
}

/* A copy of the column of the new host's PF, or a swap with the LID of the VF that the VM gets. */
static void moves_of(struct sm *sm, uint32_t job, moves *m)
{
	const struct sm_job *j = &sm->virtual.batch.jobs.at[job];
	const struct sm_vhost *h = &sm->virtual.hosts.at[j->to == NONE ? j->from : j->to];
	bool dynamic = sm->cfg.scheme == SM_SCHEME_DYNAMIC;

	if (h->sriov == FAB_SRIOV_SHARED || j->from == j->to)
		return;
	if (j->to == NONE || j->from == NONE) {
		if (dynamic)
			move_add(sm, m, job, j->to == NONE ? j->result.lid_before : j->lid,
				 j->to == NONE ? 0 : sm_vhost_lid(sm, j->to));
		return;
	}
	move_add(sm, m, job, j->lid,
		 dynamic || !j->lid_left ? sm_vhost_lid(sm, j->to) : j->lid_left);
	if (!dynamic && j->lid_left)
		move_add(sm, m, job, j->lid_left, j->lid);
}

static bool any_random_table(const struct sm *sm)
{
	for (uint32_t sw = 0; sw < sm->topo.fab->nswitches; sw++)
		if (sm_rft_of(sm, sw))
			return true;
	return false;
}

int sm_batch_check(const struct sm *sm, struct err *e)
{
	return any_random_table(sm) ? err_set(e, -ENOTSUP, "a switch has a random forwarding table")
				    : 0;
}

static bool same_block(const struct rt_move_entry *a, const struct rt_move_entry *b)
{
	return a->sw == b->sw && a->lid / IBA_LFT_BLOCK == b->lid / IBA_LFT_BLOCK;
}

/* Each request has its share: switches where its LIDs have other entries. */
void sm_batch_count(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;
	uint32_t *last = mem_array(b->jobs.n, sizeof(*last));

	memset(last, 0xff, b->jobs.n * sizeof(*last));
	for (size_t i = 0; i < b->entries.n; i++) {
		uint32_t job = b->job_of[b->entries.at[i].lid];

		if (last[job] != b->entries.at[i].sw)
			b->jobs.at[job].result.switches_touched++;
		last[job] = b->entries.at[i].sw;
	}
	for (size_t i = 0; i < b->jobs.n; i++)
		b->jobs.at[i].result.stages =
			b->jobs.at[i].result.switches_touched ? b->plan.stages : 0;
	free(last);
}

int sm_batch_plan(struct sm *sm, struct err *e)
{
	struct sm_batch *b = &sm->virtual.batch;
	const struct fab *f = sm_data_fab(sm);
	bool ranked = sm->routes.ranked && sm->routes.rank;
	moves m = {0};
	int rc = 0;

	sm_batch_job_of(b);
	b->entries.n = 0;
	b->top = 0;
	b->plan = (struct rt_moves_plan){0};
	for (uint32_t i = 0; i < b->jobs.n; i++)
		moves_of(sm, i, &m);
	if (m.n)
		rc = sm_batch_check(sm, e);
	if (!rc)
		rt_moves_effects(f, sm->routes.tables, m.at, m.n, &b->entries);
	vec_free(&m);
	if (rc || !b->entries.n)
		return rc;
	/* With ranks there is a short order without them; they take long to collect. */
	if (!sm->virtual.deps && !ranked)
		sm->virtual.deps = rt_move_deps_new(f, sm->routes.tables);
	rc = rt_moves_plan(f, sm->routes.tables, ranked ? sm->routes.rank : NULL,
			   ranked ? NULL : sm->virtual.deps, &b->entries, &b->plan, e);
	if (!rc)
		sm_batch_count(sm);
	return rc;
}

/* ---- blocks ---- */

void sm_batch_blocks(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;
	bool any = false;
	uint32_t first = 0;

	b->blocks.n = 0;
	for (uint32_t i = 0; i < b->entries.n; i++) {
		if (i && !same_block(&b->entries.at[i - 1], &b->entries.at[i])) {
			first = i;
			any = false;
		}
		if (b->entries.at[i].stage != b->stage || any)
			continue;
		any = true;
		vec_push(&b->blocks, first);
		b->jobs.at[b->job_of[b->entries.at[i].lid]].result.smps_tables++;
	}
}

/* Beyond the last LID of the tables a switch may hold entries of former ones, which must not come into force. */
static void former_drop(const struct sm *sm, uint32_t block, uint8_t *data)
{
	for (uint32_t i = 0; i < IBA_LFT_BLOCK; i++)
		if (block * IBA_LFT_BLOCK + i > sm->routes.tables->top_lid)
			data[i] = IBA_PORT_NONE;
}

static bool has_entries(const struct sm_batch *b, uint32_t sw, uint32_t block)
{
	size_t low = 0, high = b->entries.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct rt_move_entry *e = &b->entries.at[mid];

		if (e->sw < sw || (e->sw == sw && e->lid / IBA_LFT_BLOCK < block))
			low = mid + 1;
		else
			high = mid;
	}
	return low < b->entries.n && b->entries.at[low].sw == sw &&
	       b->entries.at[low].lid / IBA_LFT_BLOCK == block;
}

/* Blocks with entries of the batch are right already. */
bool sm_batch_fill_make(struct sm *sm, uint32_t sw, uint32_t block, struct sm_req *r)
{
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];
	uint32_t row = sm->topo.nodes.at[node].row;
	const uint8_t *has = sm_row_block(sm, row, block);
	uint8_t data[IBA_LFT_BLOCK];

	if ((!has && sm->dev.rows.at[row].fresh) || has_entries(&sm->virtual.batch, sw, block))
		return false;
	memset(data, IBA_PORT_NONE, sizeof(data));
	if (has || block < sm->routes.tables->stride / IBA_LFT_BLOCK)
		memcpy(data,
		       has ? has : rt_row(sm->routes.tables, sw) + (size_t)block * IBA_LFT_BLOCK,
		       sizeof(data));
	former_drop(sm, block, data);
	if (has && !memcmp(data, has, sizeof(data)))
		return false;
	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, block);
	r->target = sm_target_block(node, block);
	memcpy(r->data, data, sizeof(data));
	return true;
}

/* What the switch holds, with the entries of this stage and those before it. */
void sm_batch_block_make(struct sm *sm, uint32_t at, struct sm_req *r)
{
	const struct sm_batch *b = &sm->virtual.batch;
	uint32_t i = b->blocks.at[at], sw = b->entries.at[i].sw;
	uint32_t block = b->entries.at[i].lid / IBA_LFT_BLOCK;
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];
	const uint8_t *has = sm_row_block(sm, sm->topo.nodes.at[node].row, block);

	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, block);
	r->target = sm_target_block(node, block);
	if (!has && block < sm->routes.tables->stride / IBA_LFT_BLOCK)
		has = rt_row(sm->routes.tables, sw) + (size_t)block * IBA_LFT_BLOCK;
	if (has)
		memcpy(r->data, has, IBA_LFT_BLOCK);
	else
		memset(r->data, IBA_PORT_NONE, IBA_LFT_BLOCK);
	former_drop(sm, block, r->data);
	for (; i < b->entries.n && same_block(&b->entries.at[b->blocks.at[at]], &b->entries.at[i]);
	     i++)
		if (b->entries.at[i].stage <= b->stage)
			r->data[b->entries.at[i].lid % IBA_LFT_BLOCK] = b->entries.at[i].to;
}

/* ---- afterwards ---- */

void sm_batch_apply(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;
	const struct rt_engine *reference = sm_reference_in_force(sm); /* and stays so */

	if (b->entries.n) {
		struct rt_tables *t = sm_tables_writable(sm);

		if (sm->virtual.deps)
			rt_move_deps_apply(sm->virtual.deps, t, &b->entries);
		rt_moves_reach(t, b->top);
		rt_moves_apply(t, &b->entries);
		sm_defragment_moved(sm, &b->entries);
	}
	sm_ahead_reset(sm); /* these were for the tables before */
	sm_balance_reset(sm);
	sm_snapshot_vlids(sm);
	if (reference)
		sm_reference_take(sm, reference);
}
