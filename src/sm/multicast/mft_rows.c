/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each switch holds of its multicast forwarding table, block by block, as far as acknowledged Sets and reads tell.
 * State: mfts of struct sm_multicast, by GUID, through every discovery. Does not send anything.
 */
#include "sm/manager.h"

enum { PORTS = 16 }; /* of a position */

static uint32_t block_of(uint32_t modifier)
{
	return modifier & 0x1ff;
}

static unsigned pos_of(uint32_t modifier)
{
	return modifier >> 28;
}

struct sm_mft *sm_mft_find(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->multicast.by_guid, guid);

	return at == MAP_NONE ? NULL : &sm->multicast.mfts.at[at];
}

struct sm_mft *sm_mft_make(struct sm *sm, uint64_t guid)
{
	struct sm_mft *m = sm_mft_find(sm, guid);

	if (m)
		return m;
	map64_put(&sm->multicast.by_guid, guid, (uint32_t)sm->multicast.mfts.n);
	vec_push(&sm->multicast.mfts, (struct sm_mft){.guid = guid});
	return &sm->multicast.mfts.at[sm->multicast.mfts.n - 1];
}

/* Of a switch that restarted, blocks that were not written are known: they are empty. */
static struct sm_mft_block *room(struct sm_mft *m, uint32_t modifier)
{
	uint32_t blocks = MAX(m->nblocks, block_of(modifier) + 1);
	unsigned npos = MAX(m->npos, pos_of(modifier) + 1);
	struct sm_mft_block *old = m->at;

	if (blocks > m->nblocks || npos > m->npos) {
		m->at = mem_zarray((size_t)blocks * npos, sizeof(*m->at));
		for (uint32_t b = 0; b < blocks; b++)
			for (unsigned p = 0; p < npos; p++) {
				struct sm_mft_block *x = &m->at[b * npos + p];

				x->known = m->fresh;
				if (b < m->nblocks && p < m->npos)
					*x = old[b * m->npos + p];
			}
		free(old);
		m->nblocks = blocks;
		m->npos = (uint8_t)npos;
	}
	return &m->at[block_of(modifier) * m->npos + pos_of(modifier)];
}

const uint16_t *sm_mft_known(const struct sm_mft *m, uint32_t block, unsigned pos)
{
	static const uint16_t empty[IBA_MFT_BLOCK];

	if (!m)
		return NULL;
	if (block >= m->nblocks || pos >= m->npos)
		return m->fresh ? empty : NULL;
	return m->at[block * m->npos + pos].known ? m->at[block * m->npos + pos].has : NULL;
}

bool sm_mft_is_known(const struct sm *sm, uint64_t guid, uint32_t modifier)
{
	return sm_mft_known(sm_mft_find(sm, guid), block_of(modifier), pos_of(modifier));
}

static struct sm_mft_block *touch(struct sm_mft *m, uint32_t modifier)
{
	struct sm_mft_block *b = room(m, modifier);

	m->recent = b->recent = true;
	return b;
}

static void take(struct sm_mft_block *b, const uint8_t *data)
{
	struct iba_mft t;

	iba_mft_get(&t, data, IBA_SMP_DATA_SIZE);
	memcpy(b->has, t.mask, sizeof(b->has));
	memcpy(b->maybe, t.mask, sizeof(b->maybe));
	b->known = true;
}

void sm_mft_read(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data)
{
	take(touch(sm_mft_make(sm, guid), modifier), data);
	sm_multicast_dirty(sm);
}

/* Set again in this round or the one before: a late copy of the earlier Set may undo this one. */
void sm_mft_set(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data)
{
	struct sm_mft_block *b = touch(sm_mft_make(sm, guid), modifier);
	struct sm_block_sets *s = &b->sets;

	if (s->last && (uint8_t)(sm->audit.generation - s->last) <= 1) {
		s->again = sm->audit.generation;
		sm_audit_rewrote(sm);
	}
	s->last = sm->audit.generation;
	take(b, data);
}

void sm_mft_sent(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data)
{
	struct sm_mft_block *b = touch(sm_mft_make(sm, guid), modifier);
	struct iba_mft t;

	iba_mft_get(&t, data, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		b->maybe[i] |= t.mask[i];
	b->known = false;
	sm_multicast_dirty(sm);
}

bool sm_mft_as_set(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data)
{
	const uint16_t *has =
		sm_mft_known(sm_mft_find(sm, guid), block_of(modifier), pos_of(modifier));
	struct iba_mft t;

	iba_mft_get(&t, data, IBA_SMP_DATA_SIZE);
	if (has && !memcmp(has, t.mask, sizeof(t.mask)))
		return true;
	sm_mft_read(sm, guid, modifier, data);
	return false;
}

static void unknown(struct sm_mft *m)
{
	m->fresh = false;
	for (size_t i = 0; i < (size_t)m->nblocks * m->npos; i++)
		m->at[i].known = false;
}

void sm_mft_unknown(struct sm *sm, uint64_t guid)
{
	struct sm_mft *m = sm_mft_find(sm, guid);

	if (!m)
		return;
	unknown(m);
	sm_multicast_dirty(sm);
}

/*
 * The restart may have been before or after the Sets since the switch was last known to be as it was: it acknowledged them, but
 * they can be all that it holds, or lost. Both count.
 */
void sm_mft_restarted(struct sm *sm, uint64_t guid)
{
	struct sm_mft *m = sm_mft_make(sm, guid);

	for (size_t i = 0; i < (size_t)m->nblocks * m->npos; i++) {
		struct sm_mft_block *b = &m->at[i];

		b->known = !b->recent;
		if (b->recent)
			continue;
		memset(b->has, 0, sizeof(b->has));
		memset(b->maybe, 0, sizeof(b->maybe));
	}
	m->fresh = true;
	sm_multicast_dirty(sm);
}

void sm_mfts_intact(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	for (uint32_t s = 0; f && s < f->nswitches; s++) {
		struct sm_mft *m = sm_mft_find(sm, f->nodes[f->switches[s]].guid);

		if (!m || !m->recent)
			continue;
		for (size_t i = 0; i < (size_t)m->nblocks * m->npos; i++)
			m->at[i].recent = false;
		m->recent = false;
	}
}

void sm_mfts_unknown(struct sm *sm)
{
	for (size_t i = 0; i < sm->multicast.mfts.n; i++)
		unknown(&sm->multicast.mfts.at[i]);
	sm_multicast_dirty(sm);
}

void sm_mfts_forget(struct sm *sm)
{
	for (size_t i = 0; i < sm->multicast.mfts.n; i++)
		free(sm->multicast.mfts.at[i].at);
	sm->multicast.mfts.n = 0;
	map64_clear(&sm->multicast.by_guid);
	sm_multicast_dirty(sm);
}

/* ---- trees ---- */

static struct rt_ports ports_at(const struct sm_mft *m, uint32_t mlid)
{
	struct rt_ports p = {{0}};
	uint32_t block = mlid / IBA_MFT_BLOCK;

	for (unsigned pos = 0; block < m->nblocks && pos < m->npos; pos++)
		p.w[pos / 4] |= (uint64_t)m->at[block * m->npos + pos].maybe[mlid % IBA_MFT_BLOCK]
				<< pos % 4 * PORTS;
	return p;
}

void sm_mfts_tree(const struct sm *sm, uint16_t mlid, rt_mtrees *out)
{
	const struct fab *f = sm->topo.fab;
	struct rt_mtree t = {.mlid = mlid};

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct sm_mft *m = sm_mft_find(sm, f->nodes[f->switches[s]].guid);
		struct rt_ports p =
			m ? ports_at(m, mlid - IBA_LID_MCAST_FIRST) : (struct rt_ports){{0}};

		if (!rt_ports_none(&p))
			vec_push(&t.at, (struct rt_branch){s, p});
	}
	if (t.at.n)
		vec_push(out, t);
}

void sm_mfts_trees(const struct sm *sm, rt_mtrees *out)
{
	const struct fab *f = sm->topo.fab;
	const struct sm_mft **m = mem_zarray(f->nswitches + 1u, sizeof(*m));
	uint32_t blocks = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		m[s] = sm_mft_find(sm, f->nodes[f->switches[s]].guid);
		blocks = MAX(blocks, m[s] ? m[s]->nblocks : 0);
	}
	for (uint32_t mlid = 0; mlid < blocks * IBA_MFT_BLOCK; mlid++) {
		struct rt_mtree t = {.mlid = (uint16_t)(IBA_LID_MCAST_FIRST + mlid)};

		for (uint32_t s = 0; s < f->nswitches; s++) {
			struct rt_ports p = m[s] ? ports_at(m[s], mlid) : (struct rt_ports){{0}};

			if (!rt_ports_none(&p))
				vec_push(&t.at, (struct rt_branch){s, p});
		}
		if (t.at.n)
			vec_push(out, t);
	}
	free(m);
}

uint32_t sm_mft_blocks(const struct sm *sm, uint32_t node)
{
	uint32_t cap = sm->topo.nodes.at[node].si.mcast_cap;

	return MIN((cap + IBA_MFT_BLOCK - 1) / IBA_MFT_BLOCK, 0x4000u / IBA_MFT_BLOCK);
}
