/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations on computed tables, for weft route migrate. State: struct mig. Ways in: mig_make(), mig_draw(),
 * mig_run(). Which entries change and in which order is src/route/moves.h.
 */
#include "route/migrations.h"

const char *const mig_class_name[] = {"leaf", "pod", "across", NULL};

/* ---- making it ---- */

static bool is_hypervisor(const struct fab *f, node_id n)
{
	const struct fab_node *x = &f->nodes[n];
	port_id peer = x->type == IBA_NODE_CA && x->nports == 1 ? f->ports[x->first_port + 1].peer
								: FAB_NONE;

	return peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node);
}

/* The fabric with so many VFs on each host, and LIDs. */
static struct fab *with_vfs(const struct fab *f, const struct mig_opts *o, struct err *e)
{
	struct fab_builder *b = fab_builder_from(f);
	struct fab *bare, *g;

	for (node_id n = 0; n < f->nnodes && o->vfs; n++)
		if (is_hypervisor(f, n)) {
			fab_builder_node(b, n)->sriov = FAB_SRIOV_VSWITCH;
			fab_builder_node(b, n)->vfs = (uint8_t)o->vfs;
		}
	fab_builder_drop_vlids(b);
	bare = fab_build(b);
	g = o->swap ? fab_assign_vf_lids(bare, 0, e) : fab_assign_lids(bare, 0, e);
	fab_free(bare);
	return g;
}

static uint32_t switch_of(const struct fab *f, node_id host)
{
	return f->switch_index[f->ports[f->ports[fab_port_id(f, host, 1)].peer].node];
}

/* The slots of one host: its VFs with LIDs, or itself. */
static void host_slots(struct mig *m, node_id n)
{
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(m->f, fab_port_id(m->f, n, 1), &v);

	for (uint32_t i = 0; i < nv; i++)
		vec_push(&m->slots, (struct mig_slot){n, v[i].slot, v[i].lid});
	if (!nv)
		vec_push(&m->slots,
			 (struct mig_slot){n, 0, m->f->ports[fab_port_id(m->f, n, 1)].lid});
}

static void slots_make(struct mig *m)
{
	const struct fab *f = m->f;

	m->first = mem_array(f->nswitches + 1, sizeof(*m->first));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		m->first[s] = (uint32_t)m->slots.n;
		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, n, p)].peer;

			if (peer != FAB_NONE && is_hypervisor(f, f->ports[peer].node))
				host_slots(m, f->ports[peer].node);
		}
	}
	m->first[f->nswitches] = (uint32_t)m->slots.n;
}

/* Dynamic: a VM starts on each host; it gets the next free LID, which goes where its host's goes. */
static int vms_start(struct mig *m, struct err *e)
{
	VEC(struct rt_move) moves = {0};
	uint32_t lid = m->t->top_lid;

	if (lid + m->slots.n > IBA_LID_MAX_UNICAST)
		return err_set(e, -ENOSPC, "%zu VMs and LIDs up to %u: there are %u LIDs",
			       m->slots.n, lid, IBA_LID_MAX_UNICAST);
	for (uint32_t i = 0; i < m->slots.n; i++) {
		vec_push(&moves, (struct rt_move){(uint16_t)++lid, m->slots.at[i].lid});
		vec_push(&m->vms, (struct mig_vm){(uint16_t)lid, i});
	}
	rt_moves_reach(m->t, lid);
	rt_moves_effects(m->f, m->t, moves.at, moves.n, &m->e);
	rt_moves_apply(m->t, &m->e);
	vec_free(&moves);
	return 0;
}

/* The fabric with LIDs where they are now, so that the verifier follows routes to them. */
static void lids_place(struct mig *m)
{
	struct fab_builder *b = fab_builder_from(m->f);
	uint8_t *used = mem_zarray(m->f->nnodes, 1);
	struct fab *f;

	fab_builder_drop_vlids(b);
	for (size_t i = 0; i < m->slots.n && m->swap; i++) {
		const struct mig_slot *s = &m->slots.at[i];

		if (s->slot)
			fab_add_vlid(b, s->host, s->slot, s->lid, 0);
		else
			fab_builder_port(b, s->host, 1)->lid = s->lid;
	}
	for (size_t i = 0; i < m->vms.n; i++) {
		node_id host = m->slots.at[m->vms.at[i].slot].host;
		struct fab_node *n = fab_builder_node(b, host);

		n->sriov = FAB_SRIOV_VSWITCH;
		n->vfs = MAX(n->vfs, ++used[host]);
		fab_add_vlid(b, host, used[host], m->vms.at[i].lid, 0);
	}
	f = fab_build(b);
	fab_free(m->f);
	m->f = f;
	free(used);
}

static int tables_make(struct mig *m, const struct mig_opts *o, struct err *e)
{
	const struct rt_engine *g = rt_engine_find(o->engine);
	struct rt_opts routes = o->routes;
	int rc = rt_compute(g, m->f, &routes, &m->t, e);

	if (rc)
		return rc;
	rt_tables_fill(m->t);
	free(m->t->dflt);
	m->t->dflt = NULL;
	if (g->updown) {
		m->rank = mem_array(m->f->nswitches, sizeof(*m->rank));
		rt_updown_rank_by(m->f, o->routes.root, o->routes.directions, m->rank);
	}
	return 0;
}

int mig_make(struct mig *m, const struct fab *f, const struct mig_opts *o, struct err *e)
{
	int rc;

	*m = (struct mig){.swap = o->swap, .threads = o->routes.threads, .f = with_vfs(f, o, e)};
	if (!m->f)
		return -ENOSPC;
	rc = tables_make(m, o, e);
	if (rc)
		return rc;
	m->lids = m->t->top_lid;
	slots_make(m);
	if (!o->swap) {
		rc = vms_start(m, e);
		lids_place(m);
	}
	return rc;
}

void mig_free(struct mig *m)
{
	vec_free(&m->e);
	vec_free(&m->slots);
	vec_free(&m->vms);
	free(m->first);
	free(m->rank);
	rt_tables_free(m->t);
	fab_free(m->f);
}

/* ---- pairs ---- */

uint32_t mig_find(const struct mig *m, node_id host, unsigned slot)
{
	for (uint32_t i = 0; i < m->slots.n; i++)
		if (m->slots.at[i].host == host && m->slots.at[i].slot == slot)
			return i;
	return FAB_NONE;
}

static uint32_t neighbour(const struct fab *f, uint32_t s, unsigned port)
{
	port_id peer = f->ports[fab_port_id(f, f->switches[s], port)].peer;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* Between the hosts of two slots. */
static enum mig_class class_of(const struct mig *m, uint32_t a, uint32_t b)
{
	const struct fab *f = m->f;
	uint32_t x = switch_of(f, m->slots.at[a].host), y = switch_of(f, m->slots.at[b].host);

	if (x == y)
		return MIG_LEAF;
	for (unsigned p = 1; p <= f->nodes[f->switches[x]].nports; p++) {
		uint32_t n = neighbour(f, x, p);

		if (n == y)
			return MIG_POD;
		for (unsigned q = 1; n != FAB_NONE && q <= f->nodes[f->switches[n]].nports; q++)
			if (neighbour(f, n, q) == y)
				return MIG_POD;
	}
	return MIG_ACROSS;
}

/* A switch next to s, drawn among its ports; s itself where there is none at that port. */
static uint32_t step_draw(const struct fab *f, struct rng *r, uint32_t s)
{
	uint32_t n = neighbour(f, s, 1 + rng_below(r, f->nodes[f->switches[s]].nports));

	return n == FAB_NONE ? s : n;
}

static uint32_t slot_of(const struct mig *m, uint32_t vm)
{
	return m->swap ? vm : m->vms.at[vm].slot;
}

static bool pair_draw(const struct mig *m, struct rng *r, enum mig_class want, uint32_t *vm,
		      uint32_t *to)
{
	uint32_t n = (uint32_t)m->slots.n, from, s;

	*vm = rng_below(r, n);
	*to = rng_below(r, n);
	from = slot_of(m, *vm);
	if (want == MIG_LEAF || want == MIG_POD) {
		s = switch_of(m->f, m->slots.at[from].host);
		if (want == MIG_POD)
			s = step_draw(m->f, r, step_draw(m->f, r, s));
		n = m->first[s + 1] - m->first[s];
		if (!n)
			return false;
		*to = m->first[s] + rng_below(r, n);
	}
	return m->slots.at[from].host != m->slots.at[*to].host &&
	       (want == MIG_NCLASSES || class_of(m, from, *to) == want);
}

bool mig_draw(const struct mig *m, struct rng *r, enum mig_class want, uint32_t *vm, uint32_t *to)
{
	for (int i = 0; i < 1000 && m->slots.n; i++)
		if (pair_draw(m, r, want, vm, to))
			return true;
	return false;
}

/* ---- one migration ---- */

/* Tables on the way: no loop, no cycle, no turn that the ranks forbid, and no pair cut off but those to
 * LIDs that move. */
static int state_verify(const struct mig *m, size_t moving, struct mig_result *out, struct err *e)
{
	struct rt_verify_opts o = {.rank = m->rank, .threads = m->threads};
	struct rt_report r;
	uint64_t ports;
	int rc = rt_verify(m->f, m->t, &o, &r, e);

	if (rc)
		return rc;
	ports = m->f->nswitches + (uint64_t)m->f->nhosts + m->f->nvlids;
	out->states++;
	if (r.loops || r.cycles || r.down_up || r.discarded || r.unreachable > moving * ports)
		out->sound = false;
	rt_report_free(&r);
	return 0;
}

/* Mixtures of one stage, and all of it. */
static int stage_verify(struct mig *m, unsigned stage, unsigned draws, struct rng *r,
			struct mig_result *out, struct err *e)
{
	rt_move_entries drawn = {0};
	int rc = 0;

	for (unsigned i = 0; i <= draws && !rc; i++) {
		drawn.n = 0;
		for (size_t k = 0; k < m->e.n; k++)
			if (m->e.at[k].stage == stage && (i == draws || rng_below(r, 2)))
				vec_push(&drawn, m->e.at[k]);
		rt_moves_apply(m->t, &drawn);
		rc = state_verify(m, m->swap ? 2 : 1, out, e);
		if (i < draws)
			rt_moves_undo(m->t, &drawn);
	}
	vec_free(&drawn);
	return rc;
}

static size_t moves_of(const struct mig *m, uint32_t vm, uint32_t to, struct rt_move move[2])
{
	uint16_t other = m->slots.at[to].lid;

	if (!m->swap) {
		move[0] = (struct rt_move){m->vms.at[vm].lid, other};
		return 1;
	}
	move[0] = (struct rt_move){m->slots.at[vm].lid, other};
	move[1] = (struct rt_move){other, m->slots.at[vm].lid};
	return 2;
}

static void vm_place(struct mig *m, uint32_t vm, uint32_t to)
{
	if (m->swap) {
		uint16_t lid = m->slots.at[vm].lid;

		m->slots.at[vm].lid = m->slots.at[to].lid;
		m->slots.at[to].lid = lid;
	} else {
		m->vms.at[vm].slot = to;
	}
}

/* The stages one by one, then all with LIDs at their new places: every pair is connected. */
static int way_verify(struct mig *m, unsigned stages, unsigned draws, struct rng *r,
		      struct mig_result *out, struct err *e)
{
	int rc = 0;

	for (unsigned k = 0; k < stages && !rc; k++)
		rc = stage_verify(m, k, draws, r, out, e);
	lids_place(m);
	return rc ? rc : state_verify(m, 0, out, e);
}

int mig_run(struct mig *m, uint32_t vm, uint32_t to, unsigned verify, struct rng *r,
	    struct mig_result *out, struct err *e)
{
	struct rt_move move[2];
	struct rt_moves_plan p;
	size_t n = moves_of(m, vm, to, move);
	int rc;

	*out = (struct mig_result){
		.class = class_of(m, slot_of(m, vm), to), .lid = move[0].lid, .sound = true};
	m->e.n = 0;
	rt_moves_effects(m->f, m->t, move, n, &m->e);
	out->together = rt_moves_blocks(&m->e, &out->switches);
	rc = rt_moves_plan(m->f, m->t, m->rank, NULL, &m->e, &p, e);
	if (rc)
		return rc;
	out->smps = rt_moves_blocks(&m->e, NULL);
	out->entries = (uint32_t)m->e.n;
	out->stages = p.stages;
	out->drains = (uint32_t)__builtin_popcountll(p.drain);
	memcpy(out->why, p.why, sizeof(out->why));
	vm_place(m, vm, to);
	if (verify)
		rc = way_verify(m, p.stages, verify, r, out, e);
	else
		rt_moves_apply(m->t, &m->e);
	return rc;
}
