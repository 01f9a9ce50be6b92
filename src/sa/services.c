/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ServiceRecord and ServiceAssociationRecord (IBA 15.2.5.14, 15.2.5.15). State: sa->services, in the order of ServiceID,
 * ServiceGID and ServiceP_Key, which identify a record, with the end of each lease. Ways in: sa_services(),
 * sa_associations(), sa_services_due().
 */
#include "sa/registry.h"

#define HAS(q, component) sa_asks(q, service, component)

enum { ID_BYTES = 26, LEASE_OFF = 28, KEY_OFF = 32, RECORD = 176, FOR_EVER = -1 };

static size_t place(const struct sa *sa, const uint8_t id[ID_BYTES], bool *found)
{
	size_t lo = 0, hi = sa->services.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (memcmp(sa->services.at[mid].record, id, ID_BYTES) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*found = lo < sa->services.n && !memcmp(sa->services.at[lo].record, id, ID_BYTES);
	return lo;
}

static unsigned count_of(const struct sa *sa, const uint8_t gid[16])
{
	unsigned n = 0;

	if (sa->services.n < SA_SERVICES_OF_ONE)
		return 0;
	for (size_t i = 0; i < sa->services.n; i++)
		n += !memcmp(sa->services.at[i].record + 8, gid, 16);
	return n;
}

static time_ps lease_end(const struct iba_sa_service *r, time_ps now)
{
	return r->lease == (uint32_t)FOR_EVER ? TIME_NEVER : now + r->lease * PS_PER_S;
}

static bool store(struct sa *sa, const uint8_t record[RECORD], time_ps now)
{
	struct sa_service s = {.ends = TIME_NEVER};
	struct iba_sa_service r;
	bool found;
	size_t at = place(sa, record, &found);

	memcpy(s.record, record, RECORD);
	iba_sa_service_get(&r, record, RECORD);
	s.ends = lease_end(&r, now);
	if (!found) {
		if (sa->services.n >= SA_SERVICES || count_of(sa, r.gid) >= SA_SERVICES_OF_ONE)
			return false;
		vec_push(&sa->services, s);
		memmove(&sa->services.at[at + 1], &sa->services.at[at],
			(sa->services.n - 1 - at) * sizeof(s));
	}
	sa->services.at[at] = s;
	sa->services_due = MIN(sa->services_due, s.ends);
	sa_item_put(sa, SA_ITEM_SERVICE, record, ID_BYTES, record, RECORD);
	return true;
}

static void drop(struct sa *sa, size_t at)
{
	sa_item_drop(sa, SA_ITEM_SERVICE, sa->services.at[at].record, ID_BYTES);
	memmove(&sa->services.at[at], &sa->services.at[at + 1],
		(sa->services.n - at - 1) * sizeof(sa->services.at[0]));
	sa->services.n--;
}

/* Only trusted requesters see a ServiceKey (15.4.1.1). */
static void hide_key(const struct sa_request *q, uint8_t *record)
{
	if (!q->trusted)
		memset(record + KEY_OFF, 0, 16);
}

static void add(const struct sa_request *q, struct sa_answer *a, const struct sa_service *s)
{
	uint32_t before = a->n;
	uint8_t *out = sa_record(a);

	memcpy(out, s->record, RECORD);
	sa_record_match(a, q, IBA_SA_BIT(service, lease));
	if (a->n > before)
		hide_key(q, out);
}

/* The GID of a service, by its GUID: programs are known that give another prefix. */
static void gid_of(const struct sa *sa, const struct iba_sa_service *r, uint8_t gid[16])
{
	sa_gid_make(sa, sa_gid_guid(r->gid), gid);
}

static bool is_own(const struct sa *sa, const struct sa_request *q, const struct iba_sa_service *r)
{
	uint8_t gid[16];

	gid_of(sa, r, gid);
	return q->trusted || sa_gid_is_at(sa, gid, q->lid);
}

/* Its port must be in the partition that a record names; others do not see it. */
static bool port_has_key(struct sa *sa, const struct iba_sa_service *r)
{
	struct sa_end shared;
	const struct sa_end *e = sa_end_by_guid(&sa->view, sa_gid_guid(r->gid), &shared);

	return e && sa_end_has_key(sa, e, r->pkey);
}

static void set(struct sa *sa, const struct sa_request *q, const struct iba_sa_service *ask,
		struct sa_answer *a)
{
	uint8_t gid[16], record[RECORD];

	memcpy(record, q->query, RECORD);
	if (!HAS(q, lease)) /* then it has no end */
		memset(record + LEASE_OFF, 0xff, 4);
	gid_of(sa, ask, gid);
	if (!HAS(q, id) || !HAS(q, gid))
		a->status = IBA_SA_FEW_COMPONENTS;
	else if (sa_gid_port(sa, gid) == FAB_NONE)
		a->status = IBA_SA_BAD_GID;
	else if (!is_own(sa, q, ask) || !port_has_key(sa, ask))
		a->status = IBA_SA_INVALID;
	else if (!store(sa, record, q->now))
		a->status = IBA_SA_NO_RESOURCES;
	if (a->status)
		return;
	memcpy(sa_record(a), record, RECORD);
	hide_key(q, a->bytes);
}

static void delete (struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	for (size_t i = sa->services.n; i-- > 0;) {
		struct iba_sa_service found;
		uint32_t before = a->n;

		iba_sa_service_get(&found, sa->services.at[i].record, RECORD);
		add(q, a, &sa->services.at[i]);
		if (a->n == before)
			continue;
		if (is_own(sa, q, &found)) /* a request need not name the GID */
			drop(sa, i);
		else
			a->status = IBA_SA_INVALID;
		return; /* one by one */
	}
}

void sa_service_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct iba_sa_service ask;

	iba_sa_service_get(&ask, q->query, IBA_SA_DATA_SIZE);
	if (q->method == SA_SET) {
		set(sa, q, &ask, a);
	} else if (q->method == SA_DELETE) {
		delete (sa, q, a);
	} else {
		for (size_t i = 0; i < sa->services.n; i++) {
			struct iba_sa_service s;

			iba_sa_service_get(&s, sa->services.at[i].record, RECORD);
			if (sa_asker_has_key(sa, q, s.pkey))
				add(q, a, &sa->services.at[i]);
		}
	}
}

/* Who knows the key of a service may ask for its name, and the other way round. */
void sa_associations(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	if (!sa_asks(q, association, key) && !q->trusted) {
		a->status = IBA_SA_FEW_COMPONENTS;
		return;
	}
	for (size_t i = 0; i < sa->services.n; i++) {
		struct iba_sa_association r;
		struct iba_sa_service s;

		iba_sa_service_get(&s, sa->services.at[i].record, RECORD);
		memcpy(r.key, s.key, sizeof(r.key));
		memcpy(r.name, s.name, sizeof(r.name));
		iba_sa_association_put(&r, sa_record(a));
		sa_record_match(a, q, 0);
	}
}

/* ---- leases ---- */

void sa_services_due(struct sa *sa, time_ps now)
{
	if (now < sa->services_due)
		return;
	sa->services_due = TIME_NEVER;
	for (size_t i = sa->services.n; i-- > 0;)
		if (now >= sa->services.at[i].ends)
			drop(sa, i);
		else
			sa->services_due = MIN(sa->services_due, sa->services.at[i].ends);
}

time_ps sa_services_next(const struct sa *sa)
{
	return sa->services_due;
}

/* Its lease begins when it is restored: it may live longer than it asked for, never shorter. */
bool sa_service_seed(struct sa *sa, const struct sa_item *it, time_ps now)
{
	return it->key_len == ID_BYTES && it->len == RECORD &&
	       !memcmp(it->key, it->value, ID_BYTES) && store(sa, it->value, now);
}

void sa_services_keys_changed(struct sa *sa)
{
	for (size_t i = sa->services.n; i-- > 0;) {
		struct iba_sa_service s;

		iba_sa_service_get(&s, sa->services.at[i].record, RECORD);
		if (sa_guid_lost_key(sa, sa_gid_guid(s.gid), s.pkey))
			drop(sa, i);
	}
}

void sa_services_tell_all(struct sa *sa)
{
	for (size_t i = 0; i < sa->services.n; i++)
		sa_item_put(sa, SA_ITEM_SERVICE, sa->services.at[i].record, ID_BYTES,
			    sa->services.at[i].record, RECORD);
}

void sa_services_free(struct sa *sa)
{
	vec_free(&sa->services);
}
