/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices to those who subscribed to them, as Report(Notice), repeated until each answers (IBA 13.4.9). State: sa->reports,
 * not acknowledged yet, where each is by transaction, and how many wait for each LID. Who answers none takes no more than its share. Ways in: sa_notice(), sa_report_answered(), sa_reports_due().
 */
#include "policy/policy.h"
#include "sa/paths.h"
#include "sa/registry.h"

enum {
	TRIES = 8,
	FIRST_MS = 250, /* doubled with each try: given up after about a minute */
	ANY16 = 0xffff,
	ANY24 = 0xffffff,
	ISSUER_OFF = 64, /* of the GID behind a Notice in a Report */
	CLASS_MANAGER = 4,
	DETAILS_GID = 6, /* where a notice about a GID has it */
};
enum { GID_CAME = 64, GROUP_CAME = 66, GROUP_ENDED = 67 };

static bool wants(const struct sa_subscription *s, const struct iba_notice *n,
		  const uint8_t issuer[16])
{
	static const uint8_t none[16];

	if (s->f.is_generic != n->is_generic || (s->f.type != ANY16 && s->f.type != n->type) ||
	    (s->f.trap_number != ANY16 && s->f.trap_number != n->trap_number) ||
	    (s->f.producer_type != ANY24 && s->f.producer_type &&
	     s->f.producer_type != n->producer_type))
		return false;
	if (memcmp(s->f.gid, none, 16)) /* a GID takes the place of LIDs */
		return !memcmp(s->f.gid, issuer, 16);
	return s->f.lid_first == ANY16 || (n->issuer_lid >= s->f.lid_first &&
					   n->issuer_lid <= MAX(s->f.lid_last, s->f.lid_first));
}

/* Of the manager: a port or a group came or went, whose GID is in the details. */
static bool is_about_gid(const struct iba_notice *n)
{
	return n->is_generic && n->producer_type == CLASS_MANAGER && n->trap_number >= GID_CAME &&
	       n->trap_number <= GROUP_ENDED;
}

/* Subscribers get notices of ports that share a partition with theirs, and of groups of their partitions (IBA o13-17.1.1). What is
 * not there any more has no partition. */
static bool may_know(struct sa *sa, const struct sa_subscription *s, const struct iba_notice *n,
		     const uint8_t issuer[16])
{
	const uint8_t *gid = is_about_gid(n) ? n->details + DETAILS_GID : issuer;
	struct sa_end room[2];
	const struct sa_end *who, *of;
	const struct sa_group *g;
	uint16_t any;

	if (!sa->view.sm || !sa->view.fab || !sm_policy(sa->view.sm)->configured)
		return true;
	who = sa_end_by_guid(&sa->view, sa_gid_guid(s->gid), &room[0]);
	if (!who)
		return true; /* no report is sent to it */
	if (is_about_gid(n) && n->trap_number >= GROUP_CAME) {
		g = sa_group_find(sa, gid);
		return !g || sa_end_has_key(sa, who, g->r.pkey);
	}
	of = sa_end_by_guid(&sa->view, sa_gid_guid(gid), &room[1]);
	return !of || of->lid == who->lid || sa_ends_share(sa, who, of, 0, &any);
}

/* ---- those that wait ---- */

static uint32_t key_of(uint64_t tid)
{
	return (uint32_t)tid; /* what comes back of it */
}

static bool has_room(const struct sa *sa, uint16_t lid)
{
	return sa->reports.n < SA_REPORTS && sa->reports_of[lid] < SA_REPORTS_OF_ONE;
}

static void add(struct sa *sa, const struct sa_report *r)
{
	map64_put(&sa->report_by, key_of(r->tid), (uint32_t)sa->reports.n);
	sa->reports_of[r->lid]++;
	vec_push(&sa->reports, *r);
}

static void end(struct sa *sa, size_t i)
{
	struct sa_report *r = &sa->reports.at[i];

	map64_del(&sa->report_by, key_of(r->tid));
	sa->reports_of[r->lid]--;
	*r = sa->reports.at[--sa->reports.n];
	if (i < sa->reports.n)
		map64_put(&sa->report_by, key_of(r->tid), (uint32_t)i);
}

void sa_reports_free(struct sa *sa)
{
	while (sa->reports.n)
		end(sa, sa->reports.n - 1);
	vec_free(&sa->reports);
	map64_free(&sa->report_by);
}

static void send(struct sa *sa, struct sa_report *r, time_ps now)
{
	uint8_t mad[IBA_MAD_SIZE] = {0};

	iba_smp_set_base_version(mad, 1);
	iba_smp_set_mgmt_class(mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(mad, IBA_REPORT);
	iba_smp_set_tid(mad, r->tid);
	iba_smp_set_attr_id(mad, IBA_SA_NOTICE);
	iba_notice_put(&r->n, mad + IBA_SA_DATA_OFF);
	memcpy(mad + IBA_SA_DATA_OFF + ISSUER_OFF, r->issuer, 16);
	sa_send(sa, r->lid, r->sl, mad); /* without room it is repeated */
	r->due = now + ((time_ps)FIRST_MS << r->tries++) * PS_PER_MS;
	sa->reports_due = MIN(sa->reports_due, r->due);
}

void sa_notice(struct sa *sa, struct iba_notice *n, const uint8_t issuer[16])
{
	for (size_t i = 0; i < sa->subscriptions.n; i++) {
		const struct sa_subscription *s = &sa->subscriptions.at[i];
		struct sa_report r = {
			.guid = sa_gid_guid(s->gid), .number = s->number, .sl = s->sl, .n = *n};

		if (!wants(s, n, issuer) || !may_know(sa, s, n, issuer))
			continue;
		r.lid = sa_gid_lid(sa, s->gid);
		if (!r.lid || r.lid > IBA_LID_MAX_UNICAST)
			continue; /* it is not in the subnet any more, or not yet */
		if (!has_room(sa, r.lid)) {
			sa->counts.reports_dropped++;
			continue;
		}
		r.tid = ++sa->report_tid;
		memcpy(r.issuer, issuer, 16);
		send(sa, &r, sa->now);
		add(sa, &r);
		sa->counts.reports++;
	}
}

void sa_notice_gid(struct sa *sa, unsigned trap, const uint8_t gid[16])
{
	struct iba_notice n = {.is_generic = 1,
			       .type = 3,
			       .producer_type = CLASS_MANAGER,
			       .trap_number = (uint16_t)trap,
			       .issuer_lid = sa->own_lid};

	memcpy(n.details + DETAILS_GID, gid, 16);
	sa_notice(sa, &n, sa->own_gid);
}

void sa_report_answered(struct sa *sa, const struct sa_mad *in)
{
	uint32_t at = map64_get(&sa->report_by, key_of(iba_smp_tid(in->mad)));

	if (at != MAP_NONE && sa->reports.at[at].lid == in->lid)
		end(sa, at);
}

void sa_reports_moved(struct sa *sa, uint64_t guid, uint16_t lid)
{
	for (size_t i = 0; i < sa->reports.n; i++)
		if (sa->reports.at[i].guid == guid) {
			sa->reports_of[sa->reports.at[i].lid]--;
			sa->reports_of[lid]++;
			sa->reports.at[i].lid = lid;
		}
}

void sa_reports_drop(struct sa *sa, uint64_t guid, uint16_t number)
{
	for (size_t i = sa->reports.n; i-- > 0;)
		if (sa->reports.at[i].guid == guid && sa->reports.at[i].number == number)
			end(sa, i);
}

void sa_reports_due(struct sa *sa, time_ps now)
{
	if (now < sa->reports_due)
		return;
	sa->reports_due = TIME_NEVER;
	for (size_t i = sa->reports.n; i-- > 0;) {
		struct sa_report *r = &sa->reports.at[i];

		if (now < r->due) {
			sa->reports_due = MIN(sa->reports_due, r->due);
		} else if (r->tries < TRIES) {
			send(sa, r, now);
		} else {
			sa->counts.reports_unanswered++;
			end(sa, i);
		}
	}
}

time_ps sa_reports_next(const struct sa *sa)
{
	return sa->reports_due;
}

/* A trap of a device, which the manager got: subscribers get it with the GID of who issued it. */
void sa_trap(struct sa *sa, const struct sm *sm, const struct sa_mad *in, time_ps now)
{
	struct iba_notice n;
	uint8_t issuer[16] = {0};

	if (!sa->serving || !sa->subscriptions.n ||
	    iba_notice_get(&n, iba_smp_data_const(in->mad), IBA_SMP_DATA_SIZE))
		return;
	sa->now = now;
	sa->view.sm = sm;
	sa_gid_of_lid(sa, n.issuer_lid, issuer);
	sa_notice(sa, &n, issuer);
	sa->view.sm = NULL;
}
