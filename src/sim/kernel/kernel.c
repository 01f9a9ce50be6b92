/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel: shards with their clock and queue, callbacks, watchers and the hash. State: struct
 * sim and struct shard. Ways in: kernel_init(), sim_push(), shard_next(). Does not know what an
 * event does: simulation.c does.
 */
#include "sim/kernel/kernel_priv.h"

/* ---- shards ---- */

static void shard_init(struct shard *sh, const struct sim *s)
{
	*sh = (struct shard){.sim = s,
			     .fab = s->fab,
			     .cfg = &s->cfg,
			     .plane = s->plane,
			     .nodes = s->nodes,
			     .ports = s->ports,
			     .hash = s->hash};
}

void shard_begin(struct shard *sh, const struct sim *s, unsigned self)
{
	shard_init(sh, s);
	sh->self = self;
	sh->now = s->main.now;
	sh->q.seq = s->main.q.seq;
}

void shard_end(struct shard *sh, struct sim *s)
{
	struct shard *main = &s->main;
	struct ev e;

	while (evq_pop(&sh->q, &e))
		evq_put(&main->q, &e);
	main->q.seq = MAX(main->q.seq, sh->q.seq);
	main->events += sh->events;
	shard_advance(main, sh->now);
	evq_free(&sh->q);
}

void shard_advance(struct shard *sh, time_ps now)
{
	sh->now = MAX(sh->now, now);
}

/* ---- outboxes ---- */

void outbox_open(struct outbox *o, ev_list *to, time_ps horizon)
{
	o->to = to;
	o->horizon = horizon;
	o->earliest = TIME_NEVER;
}

void outbox_attach(struct outbox *o, struct shard *sh, const uint16_t *shard_of)
{
	o->shard_of = shard_of;
	sh->outbox = o;
	outbox_note(o, evq_next(&sh->q));
}

void outbox_note(struct outbox *o, time_ps next)
{
	o->earliest = MIN(o->earliest, next);
}

/* ---- the whole ---- */

void kernel_init(struct sim *s, const struct fab *f, const struct sim_config *c)
{
	s->fab = f;
	s->cfg = *c;
	s->cfg.random_only = NULL;
	s->cfg.link_pairs |= c->express;
	s->call_free = UINT32_MAX;
	s->hash = mem_zarray(f->nnodes, sizeof(*s->hash));
	shard_init(&s->main, s);
	s->main.whole = s;
}

void kernel_set_devices(struct sim *s, struct sim_node *nodes, struct sim_port *ports)
{
	s->nodes = s->main.nodes = nodes;
	s->ports = s->main.ports = ports;
}

void kernel_set_plane(struct sim *s, struct plane *pl, const struct device_net *net)
{
	s->plane = pl;
	s->main.plane = pl;
	s->net = net;
}

void kernel_free(struct sim *s)
{
	evq_free(&s->main.q);
	vec_free(&s->calls);
	free(s->hash);
}

/* ---- scheduling ---- */

/* 64 bits of picoseconds are 213 days: an event beyond that never happens. */
void sim_push(struct shard *sh, time_ps when, uint8_t priority, struct ev_what what)
{
	evq_push(&sh->q, when < sh->now ? TIME_NEVER : when, priority, what);
}

static bool mail(struct outbox *o, unsigned self, port_id at, const struct ev *e)
{
	unsigned to = o->shard_of[at];

	if (to == self)
		return false;
	assert(e->when >= o->horizon);
	vec_push(&o->to[to], *e);
	o->earliest = MIN(o->earliest, e->when);
	return true;
}

/*
 * Arrivals come before other events of a node at that time, by port. So the order does not depend
 * on what the rest of the network was doing when the packet was sent, and nodes can be simulated
 * apart from each other (parallel.c).
 */
void sim_push_arrival(struct shard *sh, time_ps when, port_id at, struct ev_what what)
{
	uint64_t order = evq_rank(PRIO_NET, (uint64_t)at << 1 | (what.kind == EV_P_FC));

	when = when < sh->now ? TIME_NEVER : when;
	if (!sh->outbox || !mail(sh->outbox, sh->self, at, &(struct ev){when, order, what}))
		evq_add(&sh->q, when, order, what);
}

void sim_call(struct sim *s, time_ps when, void (*fn)(void *ctx, uint64_t cookie), void *ctx,
	      uint64_t cookie)
{
	uint32_t c = s->call_free;

	if (c == UINT32_MAX) {
		c = (uint32_t)s->calls.n;
		vec_push(&s->calls, (struct call){.next = UINT32_MAX});
	} else {
		s->call_free = s->calls.at[c].next;
	}
	s->calls.at[c] = (struct call){fn, ctx, cookie, UINT32_MAX};
	sim_push(&s->main, MAX(when, s->main.now), PRIO_CALL,
		 (struct ev_what){.kind = EV_CALL, .call = {c}});
}

void sim_run_call(struct sim *s, uint32_t slot)
{
	struct call call = s->calls.at[slot];

	s->calls.at[slot].next = s->call_free;
	s->call_free = slot;
	call.fn(call.ctx, call.cookie);
}

time_ps sim_now(const struct sim *s)
{
	return s->main.now;
}

time_ps sim_next(const struct sim *s)
{
	return evq_next(&s->main.q);
}

/* ---- watchers and the hash ---- */

void sim_watch(struct sim *s, struct sim_watch w)
{
	s->watch = w;
}

void sim_watch_smis(struct sim *s, struct sim_watch w)
{
	s->smi_watch = w;
}

void sim_watch_changes(struct sim *s, struct sim_change_watch w)
{
	s->changes = w;
}

void sim_watch_hops(struct sim *s, struct sim_hop_watch w)
{
	s->hops = w;
}

void sim_seen(struct shard *sh, enum sim_seen what, node_id n, unsigned port,
	      const struct sim_smp *smp, unsigned detail)
{
	const struct sim_watch *w = &sh->sim->watch;

	if (what == SIM_SEEN_PORT || what == SIM_SEEN_NODE) {
		sim_hash_add(sh, n, sh->now);
		sim_hash_add(sh, n, (uint64_t)n << 32 | port << 16 | detail << 8 | what);
	}
	if (w->seen)
		w->seen(w->ctx, what, n, port, smp, detail);
}

void sim_changed(const struct sim *s, node_id n, enum sim_change what)
{
	if (s->changes.changed)
		s->changes.changed(s->changes.ctx, n, what);
}

void sim_hash_smp(struct sim *s, node_id n, const struct sim_smp *smp)
{
	uint64_t w[11];

	if (s->cfg.express) /* depends on real time: no two runs are equal */
		return;
	memcpy(w, smp->mad, 24);
	memcpy(w + 3, iba_smp_data_const(smp->mad), 64);
	sim_hash_add(&s->main, n, s->main.now);
	sim_hash_add(&s->main, n, (uint64_t)n << 32 | (uint32_t)smp->slid << 16 | smp->dlid);
	for (unsigned i = 0; i < ARRAY_LEN(w); i++)
		sim_hash_add(&s->main, n, w[i]);
}

uint64_t sim_events(const struct sim *s)
{
	return s->main.events;
}

static uint64_t hash_from(const struct sim *s, uint64_t h)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		h = hash64_add(h, s->hash[n]);
	return h;
}

uint64_t sim_hash(const struct sim *s)
{
	return hash_from(s, s->main.events);
}

uint64_t sim_trace_hash(const struct sim *s)
{
	return hash_from(s, 0);
}

/* ---- configuration ---- */

void sim_set_faults(struct sim *s, const struct sim_faults *f)
{
	s->cfg.faults = *f;
}

void sim_set_training(struct sim *s, time_ps t)
{
	s->cfg.training_ps = t;
}
