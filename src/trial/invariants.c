/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold while a schedule runs and at its end. State: struct run_checks. Way in: run_check_*(), run_is_right().
 * Does not trust managers: it looks at the devices (verdict.h, watch.h).
 */
#include "lab/verdict.h"
#include "sim/plane/sim_plane.h"
#include "trial/run_priv.h"

#define LOOK   (100 * PS_PER_US) /* connections change rarely */
#define COPIES (20 * PS_PER_MS)	 /* they are up to 2 ms late; what they undo is read back */

/* The first seven kinds of events concern managers alone. */
static bool only_managers_fail(const struct schedule *s)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i].kind > SCHEDULE_ORDER)
			return false;
	return true;
}

static bool all_promise(const struct schedule *s)
{
	for (size_t i = 0; i < s->managers.n; i++)
		if (strcmp(s->managers.at[i].sm.mechanism.name, "weft"))
			return false;
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i].kind == SCHEDULE_LIE)
			return false;
	return true;
}

void run_checks_begin(struct run *r)
{
	r->checks.part = mem_zarray(r->fab->nports, sizeof(*r->checks.part));
	r->checks.watched = all_promise(r->s);
	if (r->checks.watched || r->s->traffic)
		lab_watch_start(&r->checks.watch, r->lab);
}

void run_checks_end(struct run *r)
{
	lab_watch_free(&r->checks.watch);
	free(r->checks.part);
}

/* ---- two masters ---- */

void run_sweep_begins(struct run *r, unsigned manager)
{
	r->checks.swept[manager] = sim_now(r->sim);
}

void run_forgive(struct run *r)
{
	memset(r->checks.near, 0, sizeof(r->checks.near));
	memset(r->checks.since, 0, sizeof(r->checks.since));
	r->checks.looked = 0;
}

static void look(struct run *r)
{
	time_ps now = sim_now(r->sim);

	if (r->checks.looked && now < r->checks.looked + LOOK)
		return;
	lab_parts(r->lab, r->checks.part);
	r->checks.looked = MAX(now, 1u);
}

static bool reach(struct run *r, unsigned i, unsigned k)
{
	uint32_t a = r->checks.part[lab_manager_port(r->lab, i)];

	return a && a == r->checks.part[lab_manager_port(r->lab, k)] &&
	       lab_manager_cfg(r->lab, i)->sm_key == lab_manager_cfg(r->lab, k)->sm_key;
}

static bool wire_is_bad(const struct run *r)
{
	const struct sim_faults *f = &r->faults.smps;

	return f->loss_q32 || f->delay_q32 || r->faults.slow;
}

/* A sweep has begun since then; one that does not come in time is not waited for. */
static bool has_swept(const struct run *r, unsigned i, time_ps since)
{
	const struct sm_config *c = lab_manager_cfg(r->lab, i);

	return r->checks.swept[i] >= since || c->sweep_factor ||
	       sim_now(r->sim) >= since + c->sweep_period_ps;
}

/* The lab turns traps on for the mechanism of the first manager. */
static bool has_traps(const struct run *r)
{
	return r->s->traps || r->s->managers.at[0].sm.mechanism.traps;
}

/* A way by which the one is asked leads there: no sweep is needed. */
static bool is_asked(const struct run *r, unsigned i, unsigned k)
{
	const struct sm *sm = lab_manager_sm(r->lab, i);
	uint8_t hops[IBA_MAX_HOPS];

	for (unsigned w = 0; sm && w < SM_MANAGER_WAYS; w++) {
		unsigned n = sm_manager_way(sm, lab_manager_guid(r->lab, k), w, hops);

		if (lab_way_leads(r->lab, lab_manager_node(r->lab, i), hops, n,
				  lab_manager_node(r->lab, k)))
			return true;
	}
	return false;
}

/*
 * Masters of two parts that never were one subnet do not know each other; no way that they know leads to one whose cable was
 * moved, or where other links connect them than before. Without a trap, a sweep is the first to show such a link.
 */
static bool can_learn(const struct run *r, unsigned i, unsigned k, time_ps since)
{
	return has_traps(r) || has_swept(r, i, since) || has_swept(r, k, since) ||
	       is_asked(r, i, k) || is_asked(r, k, i);
}

static void check_pair(struct run *r, unsigned i, unsigned k)
{
	time_ps now = sim_now(r->sim), *near = &r->checks.near[i][k],
		*since = &r->checks.since[i][k];

	if (lab_manager_is_master(r->lab, k) && !wire_is_bad(r))
		look(r);
	if (!lab_manager_is_master(r->lab, k) || wire_is_bad(r) || !reach(r, i, k)) {
		*near = *since = 0;
		return;
	}
	if (!*near)
		*near = MAX(now, 1u);
	if (!*since && can_learn(r, i, k, *near))
		*since = MAX(now, 1u);
	r->out->masters = MAX(r->out->masters, now - *near);
	if (*since && now - *since > SCHEDULE_MASTERS_BOUND)
		run_fail(r, SCHEDULE_TWO_MASTERS,
			 "managers %u and %u are both master since %llu us", k, i,
			 (unsigned long long)(*near / PS_PER_US));
}

void run_check_masters(struct run *r)
{
	unsigned n = lab_managers(r->lab);

	for (unsigned i = 1; i < n; i++) {
		if (!lab_manager_is_master(r->lab, i)) {
			memset(r->checks.near[i], 0, sizeof(r->checks.near[i]));
			memset(r->checks.since[i], 0, sizeof(r->checks.since[i]));
			continue;
		}
		for (unsigned k = 0; k < i; k++)
			check_pair(r, i, k);
	}
}

/* ---- tables and packets ---- */

static uint64_t discards(const struct run *r)
{
	const struct sim_plane_stats *st = sim_plane_stats(r->sim);
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		n += st->discarded[i];
	return n;
}

/* Which pairs of the election's table this manager has met. */
void run_see_pairs(struct run *r, unsigned i)
{
	const struct sm *sm = lab_manager_sm(r->lab, i);

	for (unsigned s = 0; sm && s < SM_NSM_STATES; s++)
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++)
			if (sm_election_taken(sm, (enum iba_sm_state)s, (enum sm_election_event)e))
				r->out->pairs[s] |= 1ull << e;
}

/*
 * A wire that doubles SMPs, as no link of IBA does, may carry out an earlier Set after a later one, until the manager sees the
 * second response and reads back what it set.
 */
static void forgive_copies(struct run *r)
{
	struct lab_watch *w = &r->checks.watch;

	if (r->faults.smps.dup_q32)
		r->checks.copies_until = sim_now(r->sim) + COPIES;
	if (w->unsafe_at != TIME_NEVER && w->unsafe_at <= r->checks.copies_until)
		w->unsafe_at = TIME_NEVER;
	if (w->locked_at != TIME_NEVER && w->locked_at <= r->checks.copies_until)
		w->locked_at = TIME_NEVER;
}

void run_check_watch(struct run *r)
{
	const struct lab_watch *w = &r->checks.watch;

	forgive_copies(r);
	if (r->checks.watched && w->unsafe_at != TIME_NEVER)
		run_fail(r, SCHEDULE_CYCLE, "at %llu us the tables allowed a deadlock of %zu links",
			 (unsigned long long)(w->unsafe_at / PS_PER_US), w->ncycle);
	if (r->checks.watched && r->s->traffic && w->locked_at != TIME_NEVER)
		run_fail(r, SCHEDULE_DEADLOCK,
			 "at %llu us packets at %zu ports wait for each other",
			 (unsigned long long)(w->locked_at / PS_PER_US), w->nring);
	if (r->checks.watched && r->checks.traffic && only_managers_fail(r->s) && discards(r))
		run_fail(r, SCHEDULE_PACKETS_LOST,
			 "only managers failed, and %llu packets were discarded",
			 (unsigned long long)discards(r));
}

/* ---- rest ---- */

static bool serves(const struct run *r, unsigned i)
{
	return lab_manager_sm(r->lab, i) && sim_node_on(r->sim, lab_manager_node(r->lab, i));
}

static bool master_rests(const struct run *r, unsigned i, time_ps since)
{
	const struct sm_status *st = lab_manager_status(r->lab, i);

	return st->phase == SM_READY && !st->change_pending && st->rounds && st->clean_sweeps &&
	       st->last_sweep_start >= since && st->last_sweep_start >= st->last.end;
}

static unsigned masters_near(struct run *r, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < lab_managers(r->lab); k++)
		n += serves(r, k) && lab_manager_is_master(r->lab, k) && (k == i || reach(r, i, k));
	return n;
}

bool run_at_rest(struct run *r, time_ps since)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++) {
		enum iba_sm_state state = lab_manager_status(r->lab, i)->state;

		if (!serves(r, i))
			continue;
		if (lab_manager_status(r->lab, i)->phase == SM_OFF || state == IBA_SM_DISCOVERING ||
		    (state == IBA_SM_MASTER && !master_rests(r, i, since)))
			return false;
	}
	r->checks.looked = 0;
	look(r);
	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (serves(r, i) && masters_near(r, i) != 1)
			return false;
	return true;
}

bool run_is_one_subnet(struct run *r)
{
	uint32_t part = 0;

	r->checks.looked = 0;
	look(r);
	for (port_id p = 0; p < r->fab->nports; p++) {
		const struct fab_port *fp = &r->fab->ports[p];

		if (fab_is_switch(r->fab, fp->node) || !fp->num || fp->peer == FAB_NONE)
			continue;
		if (part && r->checks.part[p] != part)
			return false;
		part = r->checks.part[p];
	}
	return true;
}

static bool master_is_right(struct run *r, unsigned i, bool final)
{
	struct lab_verdict v;
	bool right;

	lab_manager_lead(r->lab, i);
	lab_judge(r->lab, &v);
	right = v.active && v.verified && v.lids_unique && v.complete;
	if (!right && final)
		run_fail(r, SCHEDULE_WRONG_SUBNET, "at rest, manager %u is master: %.200s", i,
			 v.why);
	rt_report_free(&v.report);
	return right;
}

bool run_is_right(struct run *r, bool final)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (serves(r, i) && lab_manager_is_master(r->lab, i) &&
		    !master_is_right(r, i, final))
			return false;
	return true;
}

void run_describe(struct run *r, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (unsigned i = 0; i < lab_managers(r->lab) && at < size; i++) {
		const struct sm_status *st = lab_manager_status(r->lab, i);

		if (serves(r, i))
			at += (size_t)snprintf(text + at, size - at, "%smanager %u %s, %s",
					       at ? "; " : "", i,
					       iba_format_word(IBA_FMT_SM_STATE, st->state),
					       sm_phase_name(st->phase));
	}
}
