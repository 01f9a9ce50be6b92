/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * InformInfo and InformInfoRecord (IBA 13.4.8.3, 15.2.5.12): who wants to be told of which notices. State:
 * sa->subscriptions, in the order in which they were made. Ways in: sa_inform(), sa_inform_records(). Sends nothing:
 * reports.c does.
 */
#include "sa/registry.h"

enum { INFORM = 36, ANY_LID = 0xffff, RECORD_INFORM_OFF = 24, GSI_QP = 1 };

static bool same_subscription(const struct sa_subscription *s, const uint8_t gid[16],
			      const struct iba_sa_inform *f)
{
	return !memcmp(s->gid, gid, 16) && s->f.is_generic == f->is_generic &&
	       s->f.type == f->type && s->f.trap_number == f->trap_number && s->f.qpn == f->qpn &&
	       s->f.producer_type == f->producer_type && s->f.lid_first == f->lid_first &&
	       s->f.lid_last == f->lid_last && !memcmp(s->f.gid, f->gid, 16);
}

static size_t find(const struct sa *sa, const uint8_t gid[16], const struct iba_sa_inform *f)
{
	for (size_t i = 0; i < sa->subscriptions.n; i++)
		if (same_subscription(&sa->subscriptions.at[i], gid, f))
			return i;
	return SIZE_MAX;
}

/* The key has what same_subscription() compares, by GID instead of LID. */
static void item_key(const struct sa_subscription *s, uint8_t key[16 + INFORM])
{
	struct iba_sa_inform f = s->f;

	memcpy(key, s->gid, 16);
	f.subscribe = 0;
	f.resp_time = 0;
	iba_sa_inform_put(&f, key + 16);
}

static void save(struct sa *sa, const struct sa_subscription *s)
{
	uint8_t key[16 + 40], value[4 + 40];

	item_key(s, key);
	iba_be16_put(value, s->lid);
	value[2] = s->sl;
	value[3] = 0;
	iba_sa_inform_put(&s->f, value + 4);
	sa_item_put(sa, SA_ITEM_SUBSCRIPTION, key, 16 + INFORM, value, sizeof(value));
}

static uint16_t free_number(const struct sa *sa, const uint8_t gid[16])
{
	uint16_t n = 1;

	for (size_t i = 0; i < sa->subscriptions.n; i++)
		if (!memcmp(sa->subscriptions.at[i].gid, gid, 16))
			n = (uint16_t)MAX(n, sa->subscriptions.at[i].number + 1);
	return n;
}

static unsigned count_of(const struct sa *sa, const uint8_t gid[16])
{
	unsigned n = 0;

	for (size_t i = 0; i < sa->subscriptions.n; i++)
		n += !memcmp(sa->subscriptions.at[i].gid, gid, 16);
	return n;
}

static uint16_t subscribe(struct sa *sa, struct sa_subscription *s)
{
	if (sa->subscriptions.n >= SA_SUBSCRIPTIONS ||
	    count_of(sa, s->gid) >= SA_SUBSCRIPTIONS_OF_ONE)
		return IBA_SA_NO_RESOURCES;
	s->number = free_number(sa, s->gid);
	vec_push(&sa->subscriptions, *s);
	save(sa, s);
	return 0;
}

static void drop(struct sa *sa, size_t i)
{
	uint8_t key[16 + 40];

	item_key(&sa->subscriptions.at[i], key);
	sa_reports_drop(sa, sa_gid_guid(sa->subscriptions.at[i].gid),
			sa->subscriptions.at[i].number);
	sa_item_drop(sa, SA_ITEM_SUBSCRIPTION, key, 16 + INFORM);
	memmove(&sa->subscriptions.at[i], &sa->subscriptions.at[i + 1],
		(sa->subscriptions.n - i - 1) * sizeof(sa->subscriptions.at[0]));
	sa->subscriptions.n--;
}

void sa_inform(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct sa_subscription s = {.lid = q->lid};
	size_t at;
	bool known;

	iba_sa_inform_get(&s.f, q->query, IBA_SA_DATA_SIZE);
	s.f.qpn = GSI_QP; /* a subscription has none, its end names the one that it came from */
	known = sa_gid_of_lid(sa, q->lid, s.gid);
	at = find(sa, s.gid, &s.f);
	if (!known)
		a->status = IBA_SA_INVALID;
	else if (s.f.subscribe > 1 || s.f.is_generic > 1)
		a->status = IBA_SA_INVALID;
	else if (s.f.subscribe && at == SIZE_MAX)
		a->status = subscribe(sa, &s);
	else if (!s.f.subscribe && at == SIZE_MAX)
		a->status = IBA_SA_INVALID;
	else if (!s.f.subscribe)
		drop(sa, at);
	if (!a->status)
		iba_sa_inform_put(&s.f, sa_record(a));
}

void sa_inform_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	for (size_t i = sa->subscriptions.n; i-- > 0;) {
		const struct sa_subscription *s = &sa->subscriptions.at[i];
		uint8_t *out, inform[40];
		uint32_t before = a->n;

		if (!q->trusted && s->lid != q->lid)
			continue;
		out = sa_record(a);
		memcpy(out, s->gid, 16);
		iba_be16_put(out + 16, s->number);
		iba_sa_inform_put(&s->f, inform);
		memcpy(out + RECORD_INFORM_OFF, inform, INFORM);
		sa_record_match(a, q, 0);
		if (q->method == SA_DELETE && a->n > before) {
			drop(sa, i);
			return;
		}
	}
}

void sa_subscriptions_port_gone(struct sa *sa, uint64_t guid)
{
	for (size_t i = sa->subscriptions.n; i-- > 0;)
		if (sa_gid_guid(sa->subscriptions.at[i].gid) == guid)
			drop(sa, i);
}

bool sa_subscription_seed(struct sa *sa, const struct sa_item *it)
{
	struct sa_subscription s = {.sl = it->value[2]};

	if (it->key_len != 16 + INFORM || it->len != 4 + 40 ||
	    iba_sa_inform_get(&s.f, it->value + 4, 40))
		return false;
	s.lid = iba_be16(it->value);
	memcpy(s.gid, it->key, 16);
	return s.lid <= IBA_LID_MAX_UNICAST && s.f.subscribe == 1 &&
	       find(sa, s.gid, &s.f) == SIZE_MAX && !subscribe(sa, &s);
}

void sa_subscriptions_tell_all(struct sa *sa)
{
	for (size_t i = 0; i < sa->subscriptions.n; i++)
		save(sa, &sa->subscriptions.at[i]);
}

void sa_subscriptions_free(struct sa *sa)
{
	vec_free(&sa->subscriptions);
	sa_reports_free(sa);
}
