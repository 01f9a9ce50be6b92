/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A standby's copy of what hosts have registered with the master: groups with members, services, subscriptions, asked for
 * as any trusted requester would (GetTable with the SM_Key). So it works whatever program the master is. State: sa->copy.
 * Ways in: sa_copy_work(), sa_copy_take(). A copy replaces the one before when it is whole.
 *
 * What hosts registered since the last copy is not in it: a manager that takes over asks all hosts to register again, and
 * until they have, multicast, services and notices go on as they were.
 */
#include "sa/aliases.h"

enum { EVERY_S = 5, GUIDS_EVERY = 12, LATE_MS = 1000, TRIES = 3, MOST = 32 << 20 };

enum { GUIDS = 3 }; /* the table of */
static const uint16_t tables[] = {IBA_SA_MEMBER, IBA_SA_SERVICE, IBA_SA_INFORM_RECORD, IBA_SA_GUID};

static void copy_end(struct sa *sa, time_ps now)
{
	struct sa_copy *c = &sa->copy;

	iba_rmpp_in_free(&c->in);
	for (size_t i = 0; i < ARRAY_LEN(c->table); i++) {
		free(c->table[i].bytes);
		c->table[i] = (struct sa_records){0};
	}
	c->asking = false;
	c->step = 0;
	c->due = now + EVERY_S * PS_PER_S;
}

static void ask(struct sa *sa, time_ps now)
{
	struct sa_copy *c = &sa->copy;
	struct iba_sa_hdr hdr = {.sm_key = sa->cfg.sm_key ? sa->cfg.sm_key
							  : 1}; /* without keys any is trusted */
	uint8_t mad[IBA_MAD_SIZE] = {0};

	iba_smp_set_base_version(mad, 1);
	iba_smp_set_mgmt_class(mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(mad, IBA_SA_GET_TABLE);
	iba_smp_set_attr_id(mad, tables[c->step]);
	iba_smp_set_tid(mad, ++c->tid & UINT32_MAX);
	iba_sa_hdr_put(&hdr, mad);
	iba_rmpp_in_free(&c->in);
	c->in.most = MOST;
	c->asking = true;
	c->due = now + LATE_MS * PS_PER_MS;
	sa_send(sa, c->master_lid, c->sl, mad);
}

/* ---- what came ---- */

static void group_and_member(struct sa *sa, const uint8_t *record, size_t size)
{
	static const uint8_t none[16];
	struct iba_sa_member m, g;
	struct sa_group *group;

	if (iba_sa_member_get(&m, record, size) || m.mgid[0] != 0xff)
		return;
	group = sa_group_find(sa, m.mgid);
	g = m;
	memset(g.port_gid, 0, 16);
	g.join_state = g.proxy_join = 0;
	if (!group && sa_group_add(sa, &g, !memcmp(m.port_gid, none, 16), &group))
		return;
	if (memcmp(m.port_gid, none, 16) && m.join_state)
		sa_member_join(sa, group, m.port_gid, m.join_state, m.proxy_join);
}

static void subscription(struct sa *sa, const uint8_t *record, size_t size)
{
	struct iba_sa_inform_record r;
	struct sa_item it = {.kind = SA_ITEM_SUBSCRIPTION, .key_len = 16 + 36, .len = 4 + 40};

	if (iba_sa_inform_record_get(&r, record, size))
		return;
	memcpy(it.key, r.subscriber_gid, 16);
	memcpy(it.key + 16, record + 24, 36);
	memcpy(it.value + 4, record + 24, 36);
	sa_seed(sa, &it, sa->now);
}

static void service(struct sa *sa, const uint8_t *record, size_t size)
{
	struct sa_item it = {.kind = SA_ITEM_SERVICE, .key_len = 26, .len = 176};

	if (size < it.len)
		return;
	memcpy(it.key, record, it.key_len);
	memcpy(it.value, record, it.len);
	sa_seed(sa, &it, sa->now);
}

/* Blocks of a port come one after another, with its own GUID in the first. */
static void guids(struct sa *sa, const uint8_t *record, size_t size)
{
	struct sa_item it = {.kind = SA_ITEM_ALIAS, .key_len = 9, .len = 8};
	struct sa_copy *c = &sa->copy;
	struct iba_sa_guid r;

	if (iba_sa_guid_get(&r, record, size))
		return;
	if (!r.block) {
		c->guid_lid = r.lid;
		c->guid_port = r.guid0;
	}
	iba_be64_put(it.key, c->guid_port);
	for (unsigned i = 0; i < 8 && r.lid == c->guid_lid; i++) {
		it.key[8] = (uint8_t)(r.block * 8 + i);
		memcpy(it.value, record + 8 + 8 * i, 8);
		sa_seed(sa, &it, sa->now); /* places without a GUID make no sense */
	}
}

static void take_over(struct sa *sa)
{
	static void (*const row[])(struct sa * sa, const uint8_t *record,
				   size_t size) = {group_and_member, service, subscription, guids};

	sa_registry_forget(sa);
	if (sa->copy.table[GUIDS].bytes)
		sa_aliases_forget(sa);
	sa->seeding = true;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (uint32_t k = 0; k < sa->copy.table[i].n; k++) {
			sa->seeding = true; /* sa_seed() ends it */
			row[i](sa, sa->copy.table[i].bytes + k * sa->copy.table[i].size,
			       sa->copy.table[i].size);
		}
	sa->seeding = false;
	sa->copy.whole = true;
	sa->copy.copies++;
}

static void table_came(struct sa *sa, time_ps now)
{
	struct sa_copy *c = &sa->copy;
	struct sa_records *t = &c->table[c->step];
	struct iba_sa_hdr hdr;

	iba_sa_hdr_get(&hdr, c->in.data);
	t->size = (size_t)hdr.offset * 8;
	t->n = t->size ? (uint32_t)((c->in.len - IBA_SA_DATA_OFF) / t->size) : 0;
	t->bytes = mem_alloc(MAX(c->in.len - IBA_SA_DATA_OFF, (size_t)1));
	memcpy(t->bytes, c->in.data + IBA_SA_DATA_OFF, c->in.len - IBA_SA_DATA_OFF);
	iba_rmpp_in_free(&c->in);
	c->tries = 0;
	c->asking = false;
	/* Few ports have aliases, and the table has all ports. */
	if (++c->step < (c->copies % GUIDS_EVERY ? GUIDS : ARRAY_LEN(tables))) {
		c->due = now;
		return;
	}
	take_over(sa);
	copy_end(sa, now);
}

/* A segment, or a refusal, of the table that is asked for. */
void sa_copy_take(struct sa *sa, const struct sa_mad *in, time_ps now)
{
	struct sa_copy *c = &sa->copy;
	uint8_t reply[IBA_MAD_SIZE];
	enum iba_rmpp_step step;

	if (!c->asking || in->lid != c->master_lid ||
	    (iba_smp_tid(in->mad) & UINT32_MAX) != (c->tid & UINT32_MAX) ||
	    iba_smp_attr_id(in->mad) != tables[c->step])
		return;
	if (iba_smp_status(in->mad) ||
	    !iba_rmpp_active(in->mad)) { /* it does not tell: try again much later */
		copy_end(sa, now);
		return;
	}
	step = iba_rmpp_in_take(&c->in, in->mad, reply);
	c->due = now + LATE_MS * PS_PER_MS;
	if (step == IBA_RMPP_REPLY || step == IBA_RMPP_DONE || step == IBA_RMPP_FAILED_TELL)
		sa_send(sa, in->lid, c->sl, reply);
	if (step == IBA_RMPP_DONE && c->in.len >= IBA_SA_DATA_OFF)
		table_came(sa, now);
	else if (step == IBA_RMPP_DONE || step == IBA_RMPP_FAILED || step == IBA_RMPP_FAILED_TELL)
		copy_end(sa, now);
}

/* ---- time ---- */

void sa_copy_work(struct sa *sa, const struct sm *sm, time_ps now)
{
	struct sa_copy *c = &sa->copy;

	if (!sm_standby_place(sm, &c->own_lid, &c->master_lid, &c->sl)) {
		if (c->on)
			copy_end(sa, now);
		c->on = false;
		return;
	}
	if (!c->on) {
		c->on = true;
		c->due = now;
	}
	if (now < c->due)
		return;
	if (c->asking && ++c->tries >= TRIES) {
		c->tries = 0;
		copy_end(sa, now);
		return;
	}
	ask(sa, now);
}

time_ps sa_copy_due(const struct sa *sa)
{
	return sa->copy.on ? sa->copy.due : TIME_NEVER;
}

void sa_copy_free(struct sa *sa)
{
	copy_end(sa, 0);
}
