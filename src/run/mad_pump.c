/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs from the transport to the manager and back, and the manager's clock. State: struct run_pump, with
 * a ring of MADs that the transport has not accepted yet. Ways in: run_pump_event(), run_pump_turn().
 * Does not wait and does not decide when the next turn is: session.c does.
 */
#include "run/mad_pump.h"

enum {
	BATCH = 32,    /* the most MADs received at a time */
	BEYOND = 1024, /* places in the ring besides the window: responses and TrapRepresses */
	DAYS = 100,    /* 64 bits of picoseconds hold 213 */
	QUERIES = 32,  /* of counters, sent in a turn: so few are before the manager's next SMP */
};

void run_pump_init(struct run_pump *p, struct tp *tp, struct sm *sm, unsigned window,
		   uint64_t (*clock_ns)(void), const struct run_pump_calls *call)
{
	*p = (struct run_pump){
		.tp = tp,
		.sm = sm,
		.call = *call,
		.clock_ns = clock_ns,
		.zero_ns = clock_ns(),
		.back_after = DAYS * 86400 * PS_PER_S,
		.wake = TIME_NEVER,
		.size = window + BEYOND,
		.batch = MIN(MAX(window / 2, 1u), (unsigned)BATCH),
	};
	p->ring = mem_array(p->size, sizeof(*p->ring));
}

void run_pump_set_sa(struct run_pump *p, struct sa *sa)
{
	p->sa = sa;
}

void run_pump_set_perf(struct run_pump *p, struct perf *perf)
{
	p->perf = perf;
}

void run_pump_set_pause(struct run_pump *p, time_ps pause)
{
	p->pause = pause;
}

void run_pump_free(struct run_pump *p)
{
	sm_actions_free(&p->out);
	free(p->ring);
	*p = (struct run_pump){0};
}

time_ps run_pump_at(const struct run_pump *p, uint64_t clock_ns)
{
	return (clock_ns - p->zero_ns) * PS_PER_NS;
}

time_ps run_pump_now(const struct run_pump *p)
{
	return run_pump_at(p, p->clock_ns());
}

/* ---- out ---- */

static void enqueue(struct run_pump *p, const struct sm_send *s)
{
	struct tp_mad *m;

	if (p->n == p->size) {
		p->lost++;
		return;
	}
	if (p->call.set && !s->qp && !s->aside && iba_smp_method(s->mad) == IBA_SET)
		p->call.set(p->call.ctx);
	p->own++;
	m = &p->ring[(p->head + p->n++) % p->size];
	memcpy(m->mad, s->mad, IBA_MAD_SIZE);
	m->slid = s->slid;
	m->dlid = s->dlid;
	m->sl = s->sl;
	m->qp = s->qp;
	m->lost = false;
}

bool run_pump_send(struct run_pump *p, const struct tp_mad *m)
{
	if (p->n >= p->size / 2) /* the manager's own MADs need the rest */
		return false;
	p->ring[(p->head + p->n++) % p->size] = *m;
	return true;
}

/*
 * The process was stopped: another manager may be master by now, and the manager asks before its next Set. Those
 * that wait here time out, and are repeated then.
 */
static void drop_sets(struct run_pump *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct tp_mad *m = &p->ring[(p->head + i) % p->size];

		if (iba_smp_method(m->mad) != IBA_SET)
			p->ring[(p->head + kept++) % p->size] = *m;
	}
	p->lost += p->n - kept;
	p->n = kept;
}

static int flush(struct run_pump *p)
{
	int moved = 0;

	while (p->n) {
		time_ps now = run_pump_now(p);
		uint32_t run;
		int rc;

		if (p->pause && now > p->ran + p->pause)
			drop_sets(p);
		p->ran = now;
		run = MIN(p->n, p->size - p->head);
		rc = tp_send(p->tp, &p->ring[p->head], run);

		if (rc < 0)
			return rc;
		p->head = (p->head + (uint32_t)rc) % p->size;
		p->n -= (uint32_t)rc;
		p->sent += (uint32_t)rc;
		moved += rc;
		if (rc < (int)run)
			break;
	}
	return moved;
}

/* ---- steps ---- */

static void step(struct run_pump *p, struct sm_event *ev, time_ps now)
{
	ev->now = now;
	sm_step(p->sm, ev, &p->out);
	p->wake = p->out.wake;
	for (size_t i = 0; i < p->out.sends.n; i++)
		enqueue(p, &p->out.sends.at[i]);
	for (size_t i = 0; i < p->out.notes.n; i++)
		p->call.note(p->call.ctx, &p->out.notes.at[i]);
	for (size_t i = 0; p->call.vm && i < p->out.vms.n; i++)
		p->call.vm(p->call.ctx, &p->out.vms.at[i]);
	if (p->out.compute.epoch)
		p->call.compute(p->call.ctx, &p->out.compute);
}

/* Leaves an eighth of the time: flaps and holds, which the manager compares with, are far shorter. */
static time_ps clock_set_back(struct run_pump *p, time_ps now)
{
	time_ps by = p->back_after - p->back_after / 8;

	if (now < p->back_after)
		return now;
	sm_time_back(p->sm, by);
	if (p->sa)
		sa_time_back(p->sa, by);
	if (p->perf)
		perf_time_back(p->perf, by);
	p->zero_ns += by / PS_PER_NS;
	p->ran = p->ran > by ? p->ran - by : 0;
	if (p->wake != TIME_NEVER)
		p->wake = p->wake > by ? p->wake - by : 0;
	return run_pump_now(p);
}

void run_pump_event(struct run_pump *p, struct sm_event *ev)
{
	step(p, ev, clock_set_back(p, run_pump_now(p)));
}

/* ---- subnet administration ---- */

static void administer(struct run_pump *p, const struct tp_mad *m, time_ps now)
{
	struct sa_mad in = {.lid = m->slid, .sl = m->sl};

	memcpy(in.mad, m->mad, IBA_MAD_SIZE);
	sa_take(p->sa, p->sm, &in, now);
}

static void tell_subscribers(struct run_pump *p, const struct tp_mad *m, time_ps now)
{
	struct sa_mad in = {.lid = m->slid, .sl = m->sl};

	memcpy(in.mad, m->mad, IBA_MAD_SIZE);
	sa_trap(p->sa, p->sm, &in, now);
}

/* Groups that are wanted, to the manager: all of them once, then those with other members. */
static void trees_tell(struct run_pump *p, time_ps now)
{
	bool all = !p->trees_known;
	struct sa_tree_member *members;
	struct sm_group_member *m;
	struct sa_tree *trees;
	struct sm_group *g;
	uint32_t ntrees, nmembers;

	p->trees = sa_trees_number(p->sa);
	p->trees_known = true;
	sa_trees(p->sa, all, &trees, &ntrees, &members, &nmembers);
	g = mem_array(MAX(ntrees, 1u), sizeof(*g));
	m = mem_array(MAX(nmembers, 1u), sizeof(*m));
	for (uint32_t i = 0; i < nmembers; i++)
		m[i] = (struct sm_group_member){members[i].guid, members[i].receives,
						members[i].sends};
	for (uint32_t i = 0; i < ntrees; i++)
		g[i] = (struct sm_group){trees[i].mlid, trees[i].sl, m + trees[i].first,
					 trees[i].n};
	step(p,
	     &(struct sm_event){.kind = SM_EV_GROUPS, .groups = g, .ngroups = ntrees, .some = !all},
	     now);
	free(trees);
	free(members);
	free(g);
	free(m);
}

static void aliases_tell(struct run_pump *p, time_ps now)
{
	struct sm_alias *list;
	size_t n = sa_aliases_list(p->sa, &list);

	p->aliases = sa_aliases_number(p->sa);
	if (n || p->aliases_known)
		step(p, &(struct sm_event){.kind = SM_EV_ALIASES, .aliases = list, .naliases = n},
		     now);
	p->aliases_known = true;
	free(list);
}

/* False: there is none. */
static bool response_send(struct run_pump *p, uint16_t own_lid, time_ps now)
{
	struct tp_mad *m = &p->ring[(p->head + p->n) % p->size];
	struct sa_mad out;

	if (!sa_next(p->sa, &out, now))
		return false;
	memcpy(m->mad, out.mad, IBA_MAD_SIZE);
	m->slid = own_lid;
	m->dlid = out.lid;
	m->sl = out.sl;
	m->qp = 1;
	m->lost = false;
	p->n++;
	return true;
}

/* Responses go out as long as half of the ring is free: the manager's own MADs need the rest. */
static void administration_send(struct run_pump *p, time_ps now)
{
	struct sm_standing st;
	struct sa_item it;

	sa_manager(p->sa, p->sm, now);
	if (now >= sa_due(p->sa))
		sa_wake(p->sa, now);
	while (sa_changed(p->sa, &it))
		if (p->call.registered)
			p->call.registered(p->call.ctx, &it);
	sm_standing(p->sm, &st);
	if (st.state == IBA_SM_MASTER && (!p->trees_known || p->trees != sa_trees_number(p->sa)))
		trees_tell(p, now);
	if (st.state == IBA_SM_MASTER &&
	    (!p->aliases_known || p->aliases != sa_aliases_number(p->sa)))
		aliases_tell(p, now);
	/* What hosts register with the master meanwhile is known in part at best. */
	if (st.state == IBA_SM_STANDBY)
		sm_reregister(p->sm, true);
	do
		p->owes = p->n >= p->size / 2;
	while (!p->owes && response_send(p, st.lid, now));
}

/* ---- performance management ---- */

/* Queries go out while nothing else waits: SMPs and responses to hosts come first. */
static void queries_send(struct run_pump *p, time_ps now)
{
	struct perf_event ev;
	struct perf_mad out;
	struct sm_standing st;

	sm_standing(p->sm, &st);
	perf_manager(p->perf, p->sm, &st, now);
	if (now >= perf_due(p->perf))
		perf_wake(p->perf, now);
	while (perf_event(p->perf, &ev)) {
		if (ev.kind == PERF_ISOLATE || ev.kind == PERF_REINSTATE)
			step(p,
			     &(struct sm_event){.kind = SM_EV_ISOLATE,
						.guid = ev.guid,
						.port = ev.port,
						.isolate = ev.kind == PERF_ISOLATE},
			     now);
		if (p->call.counted)
			p->call.counted(p->call.ctx, &ev);
	}
	for (unsigned i = 0; p->n == i && i < QUERIES && perf_next(p->perf, &out, now); i++) {
		struct tp_mad m = {.slid = st.lid, .dlid = out.lid, .sl = out.sl, .qp = 1};

		memcpy(m.mad, out.mad, IBA_MAD_SIZE);
		run_pump_send(p, &m);
	}
}

static void counters_came(struct run_pump *p, const struct tp_mad *m, time_ps now)
{
	struct perf_mad in = {.lid = m->slid, .sl = m->sl};

	if (p->perf && perf_owns(m->mad)) {
		memcpy(in.mad, m->mad, IBA_MAD_SIZE);
		if (m->lost)
			perf_lost(p->perf, m->mad, now);
		else
			perf_take(p->perf, &in, now);
	} else if (p->call.perf && !m->lost) {
		p->call.perf(p->call.ctx, m->mad);
	}
}

/* ---- in ---- */

static void receive(struct run_pump *p, const struct tp_mad *m, time_ps now)
{
	if (m->qp && iba_smp_mgmt_class(m->mad) == IBA_CLASS_PERF) {
		counters_came(p, m, now);
		return;
	}
	if (m->qp && m->lost)
		return;
	if (!m->qp && !m->lost && p->sa && iba_smp_method(m->mad) == IBA_TRAP &&
	    iba_smp_attr_id(m->mad) == IBA_ATTR_NOTICE)
		tell_subscribers(p, m, now);
	if (m->qp && p->sa && iba_smp_mgmt_class(m->mad) == IBA_CLASS_SUBN_ADM) {
		administer(p, m, now);
		return;
	}
	p->own++;
	step(p,
	     &(struct sm_event){.kind = m->lost ? SM_EV_LOST : SM_EV_SMP,
				.mad = m->mad,
				.slid = m->slid,
				.qp = m->qp},
	     now);
}

int run_pump_turn(struct run_pump *p)
{
	struct tp_mad in[BATCH];
	int got = tp_recv(p->tp, in, p->batch), moved, ours = 0;
	time_ps now;

	if (got < 0)
		return got;
	now = clock_set_back(p, run_pump_now(p));
	if (!p->n)
		p->ran = now;
	p->in += (unsigned)got;
	p->full = got == (int)p->batch;
	for (int i = 0; i < got; i++) {
		receive(p, &in[i], now);
		ours += !in[i].qp;
	}
	/* After a stall, responses that have arrived are handled before timeouts, up to a whole window. */
	p->more = got == (int)p->batch && ours ? p->more + p->batch : 0;
	if (now >= p->wake && (!p->more || p->more > SM_MAX_WINDOW)) {
		p->more = 0;
		step(p, &(struct sm_event){.kind = SM_EV_WAKE}, now);
	}
	if (p->sa)
		administration_send(p, now);
	if (p->perf)
		queries_send(p, now);
	moved = flush(p);
	return moved < 0 ? moved : got + moved;
}
