/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shrinks a failing schedule. State: struct shrink, for one schedule. Way in: swarm_shrink(). Removes events in
 * halves, quarters and so on (delta debugging), then managers, nodes and settings; begins again while that helps.
 */
#include "trial/swarm_trial.h"

enum { RUNS_MAX = 3000, NODES_MAX = 4096 };

struct shrink {
	struct schedule *best;
	enum schedule_fault fault;
	unsigned runs;
	void (*tick)(void *ctx);
	void *ctx;
};

/* Takes the schedule if it fails in the same way, frees it otherwise. */
static bool offer(struct shrink *z, struct schedule *s)
{
	struct schedule_result r;

	if (z->runs >= RUNS_MAX) {
		schedule_free(s);
		return false;
	}
	z->runs++;
	if (z->tick)
		z->tick(z->ctx);
	schedule_run(s, NULL, &r);
	if (r.fault != z->fault) {
		schedule_free(s);
		return false;
	}
	schedule_free(z->best);
	*z->best = *s;
	return true;
}

static bool drop_events(struct shrink *z)
{
	bool better = false;

	for (size_t chunk = MAX(z->best->events.n / 2, 1u); chunk; chunk /= 2)
		for (size_t at = 0; at < z->best->events.n;) {
			size_t n = MIN(chunk, z->best->events.n - at);
			struct schedule s;

			schedule_copy(&s, z->best);
			while (n--)
				schedule_event_remove(&s, at);
			if (offer(z, &s))
				better = true;
			else
				at += chunk;
		}
	return better;
}

static bool drop_managers(struct shrink *z)
{
	bool better = false;

	for (unsigned i = (unsigned)z->best->managers.n; i-- && z->best->managers.n > 1;) {
		struct schedule s;

		schedule_copy(&s, z->best);
		schedule_manager_remove(&s, i);
		better |= offer(z, &s);
	}
	return better;
}

static bool has_manager(const struct schedule *s, uint64_t guid)
{
	for (size_t i = 0; i < s->managers.n; i++)
		if (s->managers.at[i].guid == guid)
			return true;
	return false;
}

/* Events that refer to the node go with it. */
static void leave_out(struct schedule *s, uint64_t guid)
{
	vec_push(&s->without, guid);
	for (size_t i = s->events.n; i--;) {
		struct schedule_event *ev = &s->events.at[i];
		size_t kept = 0;

		for (size_t k = 0; k < ev->nodes.n; k++)
			if (ev->nodes.at[k] != guid)
				ev->nodes.at[kept++] = ev->nodes.at[k];
		if (ev->port.guid == guid || (ev->nodes.n && !kept))
			schedule_event_remove(s, i);
		else
			ev->nodes.n = kept;
	}
}

static bool drop_nodes(struct shrink *z)
{
	struct err e;
	struct fab *f = schedule_fabric(z->best, &e);
	bool better = false;

	for (node_id n = f->nnodes; n--;) {
		struct schedule s;

		if (has_manager(z->best, f->nodes[n].guid))
			continue;
		schedule_copy(&s, z->best);
		leave_out(&s, f->nodes[n].guid);
		better |= offer(z, &s);
	}
	fab_free(f);
	return better;
}

/* Each setting to its default, where that makes no difference to the failure. */
static bool drop_option(struct shrink *z, unsigned i, size_t at, size_t size)
{
	struct schedule_manager usual;
	struct schedule s;

	schedule_manager_default(&usual);
	if (!memcmp((char *)&z->best->managers.at[i] + at, (char *)&usual + at, size))
		return false;
	schedule_copy(&s, z->best);
	memcpy((char *)&s.managers.at[i] + at, (char *)&usual + at, size);
	return offer(z, &s);
}

/* Keys only together: a manager without the keys of the others would fail for another reason. */
static bool drop_keys(struct shrink *z)
{
	bool any = false;
	struct schedule s;

	schedule_copy(&s, z->best);
	for (unsigned i = 0; i < s.managers.n; i++) {
		struct sm_config *c = &s.managers.at[i].sm;

		any |= c->m_key || c->m_keys[0] || c->m_key_protect;
		c->m_key = c->m_keys[0] = 0;
		c->m_key_protect = 0;
	}
	if (any)
		return offer(z, &s);
	schedule_free(&s);
	return false;
}

/*
 * The keys: see drop_keys(). A manager that no longer looks for others between sweeps finds another master later than one
 * that does: the schedule would fail for another reason.
 */
static bool is_kept(const struct schedule_option *o)
{
	return o->at == offsetof(struct schedule_manager, sm.own_port_ps) ||
	       o->at == offsetof(struct schedule_manager, sm.m_key) ||
	       o->at == offsetof(struct schedule_manager, sm.m_keys[0]) ||
	       o->at == offsetof(struct schedule_manager, sm.m_key_protect);
}

static bool drop_options(struct shrink *z)
{
	static const size_t sizes[] = {[SCHEDULE_UINT] = sizeof(unsigned),
				       [SCHEDULE_BOOL] = sizeof(bool),
				       [SCHEDULE_TIME] = sizeof(time_ps),
				       [SCHEDULE_HEX] = sizeof(uint64_t)};
	bool better = drop_keys(z);

	for (unsigned i = 0; i < z->best->managers.n; i++) {
		better |= drop_option(z, i, offsetof(struct schedule_manager, sm.mechanism),
				      sizeof(struct sm_mechanism));
		for (const struct schedule_option *o = schedule_options; o->word; o++)
			better |= !is_kept(o) && drop_option(z, i, o->at, sizes[o->type]);
	}
	return better;
}

static bool drop_extras(struct shrink *z)
{
	bool better = false;
	struct schedule s;

	if (z->best->traffic) {
		schedule_copy(&s, z->best);
		s.traffic = 0;
		better |= offer(z, &s);
	}
	if (!z->best->traps) {
		schedule_copy(&s, z->best);
		s.traps = true;
		better |= offer(z, &s);
	}
	return better;
}

/* Round times, as long as the order stays. */
static bool round_times(struct shrink *z)
{
	static const time_ps units[] = {10 * PS_PER_MS, PS_PER_MS, 100 * PS_PER_US};
	bool better = false;

	for (size_t i = 0; i < z->best->events.n; i++)
		for (size_t u = 0; u < ARRAY_LEN(units); u++) {
			time_ps t = z->best->events.at[i].at / units[u] * units[u];
			struct schedule s;

			if (t == z->best->events.at[i].at)
				break;
			if (i && z->best->events.at[i - 1].at > t)
				continue;
			schedule_copy(&s, z->best);
			s.events.at[i].at = t;
			if (offer(z, &s)) {
				better = true;
				break;
			}
		}
	return better;
}

unsigned swarm_shrink(struct schedule *s, enum schedule_fault fault, void (*tick)(void *ctx),
		      void *ctx)
{
	struct shrink z = {.best = s, .fault = fault, .tick = tick, .ctx = ctx};
	bool better = true;

	for (unsigned round = 0; better && round < 4 && z.runs < RUNS_MAX; round++) {
		better = drop_events(&z);
		better |= drop_managers(&z);
		better |= drop_nodes(&z);
		better |= drop_extras(&z);
		better |= drop_options(&z);
	}
	round_times(&z);
	return z.runs;
}
