/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests in, responses out. State: struct sa, with a ring of short messages that are not sent yet. Ways in: sa_take(),
 * sa_next(), sa_wake(). Knows no record: attributes.c lists what answers which.
 */
#include "sa/registry.h"

enum { RESPONSE = 0x80, HDR_SIZE = 24, STATUS_CLASSES = 9 };

void sa_config_default(struct sa_config *c)
{
	*c = (struct sa_config){.prefix = 0xfe80000000000000, .resp_time = 18};
}

struct sa *sa_new(const struct sa_config *c)
{
	struct sa *sa = mem_zalloc(sizeof(*sa));

	sa->cfg = *c;
	sa->view.aliases = &sa->aliases;
	sa->waiting = mem_array(SA_WAITING, sizeof(*sa->waiting));
	sa->by_attribute = mem_array(sa_nattributes, sizeof(*sa->by_attribute));
	for (size_t i = 0; i < sa_nattributes; i++)
		sa->by_attribute[i] = (struct sa_count){.attr_id = sa_attributes[i].attr_id,
							.name = sa_attributes[i].name};
	sa->transfers.due = sa->held.until = sa->services_due = sa->reports_due = TIME_NEVER;
	return sa;
}

void sa_free(struct sa *sa)
{
	if (!sa)
		return;
	sa_transfers_free(sa);
	sa_held_free(sa);
	sa_copy_free(sa);
	sa_registry_free(sa);
	sa_view_free(&sa->view);
	free(sa->waiting);
	free(sa->by_attribute);
	free(sa);
}

void sa_reconfigure(struct sa *sa, const struct sa_config *c)
{
	sa->cfg = *c;
}

/* ---- out ---- */

bool sa_next(struct sa *sa, struct sa_mad *out, time_ps now)
{
	if (!sa->nwaiting)
		return sa_transfer_next(sa, out, now);
	*out = sa->waiting[sa->head];
	sa->head = (sa->head + 1) % SA_WAITING;
	sa->nwaiting--;
	return true;
}

/* ---- answers ---- */

/* The headers of a response: those of the request, with what is different. */
static void response_head(const struct sa_request *q, const struct sa_answer *a, uint8_t *mad)
{
	unsigned method = iba_smp_method(q->mad);
	struct iba_sa_hdr hdr = q->hdr;

	memset(mad, 0, IBA_SA_DATA_OFF);
	memcpy(mad, q->mad, HDR_SIZE);
	if (method == IBA_SET)
		method = IBA_GET;
	else if (method == IBA_SA_GET_TRACE_TABLE)
		method = IBA_SA_GET_TABLE;
	iba_smp_set_method(mad, (uint8_t)(method | RESPONSE));
	iba_smp_set_status(mad, a->status);
	if (a->attr_id)
		iba_smp_set_attr_id(mad, a->attr_id);
	hdr.sm_key = 0; /* requesters know it, or must not */
	hdr.offset = (uint16_t)(a->size / 8);
	iba_sa_hdr_put(&hdr, mad);
}

static bool respond_short(struct sa *sa, const struct sa_request *q, const struct sa_answer *a,
			  uint8_t sl)
{
	uint8_t mad[IBA_MAD_SIZE] = {0};

	response_head(q, a, mad);
	if (a->len)
		memcpy(mad + IBA_SA_DATA_OFF, a->bytes, MIN(a->len, (size_t)IBA_SA_DATA_SIZE));
	return sa_send(sa, q->lid, sl, mad);
}

/* A table, also an empty one, is a message in segments (15.4.2). */
static bool respond_table(struct sa *sa, const struct sa_request *q, const struct sa_answer *a,
			  uint8_t sl)
{
	uint8_t *bytes = mem_zalloc(IBA_SA_DATA_OFF + a->len);

	response_head(q, a, bytes);
	if (a->len)
		memcpy(bytes + IBA_SA_DATA_OFF, a->bytes, a->len);
	return sa_transfer_begin(sa, q->lid, sl, bytes, IBA_SA_DATA_OFF + a->len, q->now);
}

/* How many records there are decides how a request for one of them ends (15.4.4). */
static void judge(const struct sa_request *q, struct sa_answer *a)
{
	bool one = q->method == SA_GET || q->method == SA_SET || q->method == SA_DELETE;

	if (!a->status && one && !a->n)
		a->status = IBA_SA_NO_RECORDS;
	else if (!a->status && one && a->n > 1)
		a->status = IBA_SA_TOO_MANY;
	if (a->status)
		a->len = a->n = 0;
}

static void count_end(struct sa *sa, struct sa_count *c, const struct sa_answer *a, bool sent)
{
	enum sa_result r = !sent ? SA_DROPPED : a->status ? SA_REFUSED : SA_ANSWERED;

	if (c)
		c->results[r]++;
	if (sent)
		sa->counts.responses++;
	if (r == SA_REFUSED)
		sa->counts.by_status[MIN(a->status >> 8, STATUS_CLASSES - 1)]++;
}

static void respond(struct sa *sa, const struct sa_request *q, struct sa_answer *a, uint8_t sl,
		    struct sa_count *c)
{
	bool table = !a->status &&
		     (q->method == SA_TABLE || q->method == SA_MULTI || q->method == SA_TRACE);

	count_end(sa, c, a, table ? respond_table(sa, q, a, sl) : respond_short(sa, q, a, sl));
	free(a->bytes);
}

/* ---- requests ---- */

static unsigned method_of(unsigned method)
{
	switch (method) {
	case IBA_GET:
		return SA_GET;
	case IBA_SET:
		return SA_SET;
	case IBA_SA_GET_TABLE:
		return SA_TABLE;
	case IBA_SA_DELETE:
		return SA_DELETE;
	case IBA_SA_GET_MULTI:
		return SA_MULTI;
	case IBA_SA_GET_TRACE_TABLE:
		return SA_TRACE;
	}
	return 0;
}

static const struct sa_attribute *attribute_of(uint16_t id)
{
	for (const struct sa_attribute *t = sa_attributes; t->attr_id; t++)
		if (t->attr_id == id)
			return t;
	return NULL;
}

static size_t record_size(const struct sa_request *q)
{
	return q->layout ? q->layout->table_size : IBA_SA_DATA_SIZE;
}

static void dispatch(struct sa *sa, struct sa_request *q, uint8_t sl)
{
	const struct sa_attribute *t = attribute_of(iba_smp_attr_id(q->mad));
	struct sa_count *c = t ? &sa->by_attribute[t - sa_attributes] : NULL;
	struct sa_answer a = {.size = record_size(q)};

	if (c)
		c->requests++;
	/* 15.4.5: a request with a wrong key is not answered. Without a key of its own, the manager takes any. */
	if (q->hdr.sm_key && sa->cfg.sm_key && q->hdr.sm_key != sa->cfg.sm_key) {
		if (c)
			c->results[SA_UNTRUSTED]++;
		return;
	}
	q->trusted = q->hdr.sm_key != 0;
	if (iba_smp_class_version(q->mad) != IBA_SA_CLASS_VERSION)
		a.status = IBA_STATUS_BAD_VERSION;
	else if (!q->method)
		a.status = IBA_STATUS_BAD_METHOD;
	else if (!t || !(t->methods & q->method))
		a.status = IBA_STATUS_BAD_METHOD_ATTR;
	else if (!sa->view.fab)
		a.status = IBA_STATUS_BUSY;
	else
		t->answer(sa, q, &a);
	if (a.later && sa_hold(sa, q, sl)) { /* it is counted when it is answered */
		c->requests--;
		sa->counts.requests--;
		free(a.bytes);
		return;
	}
	sa->counts.busy += a.status == IBA_STATUS_BUSY;
	judge(q, &a);
	respond(sa, q, &a, sl, c);
}

static void request(struct sa *sa, const struct sa_mad *in, const uint8_t *mad, size_t len,
		    time_ps now)
{
	struct sa_request q = {.mad = mad,
			       .len = len,
			       .query = mad + IBA_SA_DATA_OFF,
			       .layout = iba_sa_layout(iba_smp_attr_id(mad)),
			       .method = method_of(iba_smp_method(mad)),
			       .lid = in->lid,
			       .now = now};

	iba_sa_hdr_get(&q.hdr, mad);
	sa->counts.requests++;
	dispatch(sa, &q, in->sl);
}

uint16_t sa_look(struct sa *sa, const struct sm *sm, uint16_t attr_id, uint64_t mask,
		 const uint8_t *query, struct sa_records *out, time_ps now)
{
	const struct sa_attribute *t = attribute_of(attr_id);
	uint8_t mad[IBA_MAD_SIZE] = {0};
	struct sa_request q = {.mad = mad,
			       .len = sizeof(mad),
			       .query = mad + IBA_SA_DATA_OFF,
			       .layout = iba_sa_layout(attr_id),
			       .hdr = {.mask = mask},
			       .method = SA_TABLE,
			       .trusted = true,
			       .now = now};
	struct sa_answer a = {.size = record_size(&q)};

	*out = (struct sa_records){0};
	sa_manager(sa, sm, now);
	if (!t || !(t->methods & SA_TABLE) || !q.layout || !sa->view.fab)
		return IBA_STATUS_BUSY;
	if (query)
		memcpy(mad + IBA_SA_DATA_OFF, query, q.layout->wire_size);
	q.lid = sa->own_lid;
	sa->view.sm = sm;
	t->answer(sa, &q, &a);
	sa->view.sm = NULL;
	*out = (struct sa_records){.bytes = a.bytes, .size = a.size, .n = a.status ? 0 : a.n};
	return a.status;
}

/* A request in segments that is complete; its end may be shorter than a MAD. */
static void long_request(struct sa *sa, const struct sa_mad *in, uint8_t *whole, size_t len,
			 time_ps now)
{
	if (len < IBA_MAD_SIZE) {
		whole = mem_resize(whole, IBA_MAD_SIZE, 1);
		memset(whole + len, 0, IBA_MAD_SIZE - len);
		len = IBA_MAD_SIZE;
	}
	request(sa, in, whole, len, now);
	free(whole);
}

static bool is_sound(const struct sa_mad *in)
{
	return iba_smp_base_version(in->mad) == 1 &&
	       iba_smp_mgmt_class(in->mad) == IBA_CLASS_SUBN_ADM && in->lid &&
	       in->lid <= IBA_LID_MAX_UNICAST;
}

static void take(struct sa *sa, const struct sa_mad *in, time_ps now)
{
	uint8_t *whole = NULL;
	size_t len = 0;

	if (iba_rmpp_active(in->mad)) {
		sa_transfer_take(sa, in, now, &whole, &len);
		if (whole)
			long_request(sa, in, whole, len, now);
		return;
	}
	if (iba_smp_method(in->mad) == IBA_REPORT_RESP)
		sa_report_answered(sa, in);
	else if (iba_smp_method(in->mad) & RESPONSE)
		sa->counts.bad++;
	else if (!sa_transfer_is_under_way(sa, in->lid, iba_smp_tid(in->mad)))
		request(sa, in, in->mad, IBA_MAD_SIZE, now);
}

void sa_take(struct sa *sa, const struct sm *sm, const struct sa_mad *in, time_ps now)
{
	if (!is_sound(in)) {
		sa->counts.bad++;
		return;
	}
	sa_manager(sa, sm, now);
	if (!sa->serving && sa->copy.asking && iba_smp_method(in->mad) & RESPONSE) {
		sa_copy_take(sa, in, now);
		return;
	}
	if (!sa->serving) {
		sa->counts.silent++;
		return;
	}
	sa->view.sm = sm;
	take(sa, in, now);
	sa->view.sm = NULL;
}

/* ---- the manager, time ---- */

static void own_place(struct sa *sa, const struct sm_standing *st)
{
	sa->own_lid = st->lid;
	sa_gid_of_lid(sa, st->lid, sa->own_gid);
}

/* To find the SLs for multicast takes as long as 16 verifications of routes: only where that is short. */
static void levels_follow(struct sa *sa, const struct sm *sm)
{
	enum { MOST_SWITCHES = 128 };
	uint32_t number = sm_sls_number(sm);

	if (!sa->serving || !sa->view.fab || sa->groups.sls_number == number ||
	    sa->view.fab->nswitches > MOST_SWITCHES)
		return;
	sa->groups.sls_number = number;
	sa_permanent_levels(sa, sm_multicast_sls(sm));
}

/* Groups of the configuration, and what a copy of an earlier master gave. */
static void follow_role(struct sa *sa, const struct sm *sm, bool was)
{
	if (sa->serving && !was && sa->copy.whole) {
		sa_registry_tell_all(sa);
		sa->copy.whole = false;
	}
	if (!sa->serving)
		sa->policy_known = false;
	else if (!sa->policy_known || sa->policy != sm_policy_number(sm)) {
		sa_policy_groups(sa, sm);
		sa->policy = sm_policy_number(sm);
		sa->policy_known = true;
	}
}

static void follow(struct sa *sa, const struct sm *sm, time_ps now)
{
	struct sm_standing st;
	bool was = sa->serving, other;

	sm_standing(sm, &st);
	sa->now = now;
	sa->serving = st.state == IBA_SM_MASTER;
	sa_copy_work(sa, sm, now);
	follow_role(sa, sm, was);
	other = st.snapshot != sa->view.number || sm_fabric(sm) != sa->view.fab;
	if (other)
		sa_view_update(&sa->view, sm);
	if (!sa->view.fab || (!other && was == sa->serving && sa->vms == sm_vms_number(sm)))
		return;
	sa->groups.mlids = sm_mlids(sm);
	sa->vms = sm_vms_number(sm);
	own_place(sa, &st);
	if (!sa->serving)
		return;
	sa->view.sm = sm;
	sa_registry_ports_changed(sa);
	sa->view.sm = NULL;
}

/* Other partitions: a port loses what it registered in those that it is not in any more. */
static void registrations_follow(struct sa *sa, const struct sm *sm)
{
	uint32_t number = sm_policy_number(sm);

	if (!sa->serving)
		sa->checked_known = false;
	if (!sa->serving || !sa->view.fab || (sa->checked_known && sa->checked == number))
		return;
	sa->checked = number;
	sa->checked_known = true;
	sa->view.sm = sm;
	sa_registry_keys_changed(sa);
	sa->view.sm = NULL;
}

/* A manager that is no longer master answers none of those that waited. */
static void answer_held(struct sa *sa, const struct sm *sm, time_ps now)
{
	struct sa_held held;

	if (!sa_held_release(sa, sm, now, &held))
		return;
	sa->held.open = true;
	sa->view.sm = sm;
	for (size_t i = 0; sa->serving && i < held.list.n; i++)
		take(sa, &held.list.at[i], now);
	sa->view.sm = NULL;
	sa->held.open = false;
	vec_free(&held.list);
}

void sa_manager(struct sa *sa, const struct sm *sm, time_ps now)
{
	follow(sa, sm, now);
	registrations_follow(sa, sm);
	levels_follow(sa, sm);
	answer_held(sa, sm, now);
}

void sa_wake(struct sa *sa, time_ps now)
{
	sa->now = now;
	sa_transfers_late(sa, now);
	sa_services_due(sa, now);
	sa_reports_due(sa, now);
}

time_ps sa_due(const struct sa *sa)
{
	return MIN(MIN(sa->transfers.due, MIN(sa->held.until, sa_copy_due(sa))),
		   MIN(sa_services_next(sa), sa_reports_next(sa)));
}

static void back(time_ps *t, time_ps by)
{
	if (*t != TIME_NEVER)
		*t -= MIN(by, *t);
}

void sa_time_back(struct sa *sa, time_ps by)
{
	back(&sa->now, by);
	back(&sa->transfers.due, by);
	back(&sa->held.until, by);
	back(&sa->services_due, by);
	back(&sa->reports_due, by);
	back(&sa->copy.due, by);
	for (size_t i = 0; i < sa->transfers.list.n; i++)
		back(&sa->transfers.list.at[i].due, by);
	for (size_t i = 0; i < sa->services.n; i++)
		back(&sa->services.at[i].ends, by);
	for (size_t i = 0; i < sa->reports.n; i++)
		back(&sa->reports.at[i].due, by);
}

void sa_status(const struct sa *sa, struct sa_status *st)
{
	*st = sa->counts;
	st->serving = sa->serving && sa->view.fab;
	st->transfers = sa->transfers.n;
	st->transfer_bytes = sa->transfers.bytes;
	st->segments_sent = sa->transfers.segments;
	st->transfers_failed = sa->transfers.failed;
	st->waiting = sa->nwaiting;
	st->copies = sa->copy.copies;
	st->groups = (uint32_t)sa->groups.list.n;
	st->members = sa->groups.members;
	st->services = (uint32_t)sa->services.n;
	st->subscriptions = (uint32_t)sa->subscriptions.n;
	st->aliases = sa->aliases.n;
	st->reports_waiting = (uint32_t)sa->reports.n;
}

bool sa_count_at(const struct sa *sa, size_t n, struct sa_count *c)
{
	if (n >= sa_nattributes)
		return false;
	*c = sa->by_attribute[n];
	return true;
}
