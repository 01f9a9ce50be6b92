/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations as items, GIDs, and ports that come and go. State: items that changed since the caller asked, and the ports
 * of the last snapshot. Ways in: sa_changed(), sa_seed(), sa_registry_ports_changed(). Does not know what
 * an item is about: the file of its kind does.
 */
#include "sa/registry.h"

/* ---- items ---- */

static void change(struct sa *sa, const struct sa_item *it)
{
	if (sa->seeding)
		return;
	vec_push(&sa->changes, *it);
}

void sa_item_put(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len,
		 const void *value, size_t len)
{
	struct sa_item it = {.kind = kind, .key_len = (uint16_t)key_len, .len = (uint16_t)len};

	assert(key_len <= SA_KEY && len <= SA_VALUE);
	memcpy(it.key, key, key_len);
	memcpy(it.value, value, len);
	change(sa, &it);
}

void sa_item_drop(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len)
{
	struct sa_item it = {.kind = kind, .gone = true, .key_len = (uint16_t)key_len};

	assert(key_len <= SA_KEY);
	memcpy(it.key, key, key_len);
	change(sa, &it);
}

bool sa_changed(struct sa *sa, struct sa_item *it)
{
	if (sa->changes_taken == sa->changes.n) {
		sa->changes.n = sa->changes_taken = 0;
		return false;
	}
	*it = sa->changes.at[sa->changes_taken++];
	return true;
}

bool sa_seed(struct sa *sa, const struct sa_item *it, time_ps now)
{
	bool ok = false;

	if (it->key_len > SA_KEY || it->len > SA_VALUE)
		return false;
	sa->seeding = true;
	sa->now = now;
	switch (it->kind) {
	case SA_ITEM_GROUP:
		ok = sa_group_seed(sa, it);
		break;
	case SA_ITEM_MEMBER:
		ok = sa_member_seed(sa, it);
		break;
	case SA_ITEM_SERVICE:
		ok = sa_service_seed(sa, it, now);
		break;
	case SA_ITEM_SUBSCRIPTION:
		ok = sa_subscription_seed(sa, it);
		break;
	case SA_NKINDS:
		break;
	}
	sa->seeding = false;
	return ok;
}

/* ---- GIDs ---- */

uint64_t sa_gid_guid(const uint8_t gid[16])
{
	return iba_be64(gid + 8);
}

bool sa_gid_is_local(const struct sa *sa, const uint8_t gid[16])
{
	uint64_t prefix = iba_be64(gid);

	return prefix == sa->cfg.prefix || prefix == SA_LINK_LOCAL;
}

void sa_gid_make(const struct sa *sa, uint64_t guid, uint8_t gid[16])
{
	iba_be64_put(gid, sa->cfg.prefix);
	iba_be64_put(gid + 8, guid);
}

static const struct fab_vlid *vlid_by(const struct fab *f, uint64_t guid, uint16_t lid)
{
	for (uint32_t i = 0; i < f->nvlids; i++)
		if ((guid && f->vlids[i].guid == guid) || (lid && f->vlids[i].lid == lid))
			return &f->vlids[i];
	return NULL;
}

bool sa_gid_of_lid(const struct sa *sa, uint16_t lid, uint8_t gid[16])
{
	const struct fab *f = sa->view.fab;
	port_id p = sa_port_by_lid(&sa->view, lid);
	const struct fab_vlid *v;

	memset(gid, 0, 16);
	if (p == FAB_NONE)
		return false;
	v = f->nvlids ? vlid_by(f, 0, lid) : NULL;
	sa_gid_make(sa, v ? v->guid : f->ports[p].guid, gid);
	return true;
}

port_id sa_gid_port(const struct sa *sa, const uint8_t gid[16])
{
	const struct fab *f = sa->view.fab;
	uint64_t guid = sa_gid_guid(gid);
	const struct fab_vlid *v;
	port_id p;

	if (!f || !guid || !sa_gid_is_local(sa, gid))
		return FAB_NONE;
	p = sa_port_by_guid(&sa->view, guid);
	if (p != FAB_NONE)
		return sa_lid_of(&sa->view, p) ? p : FAB_NONE;
	v = f->nvlids ? vlid_by(f, guid, 0) : NULL;
	return v ? v->port : FAB_NONE;
}

/* ---- ports that come and go ---- */

static int by_guid(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void ports_now(const struct sa *sa, struct sa_guids *out)
{
	const struct fab *f = sa->view.fab;

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && f->ports[p].lid)
			vec_push(out, f->ports[p].guid);
	for (uint32_t i = 0; i < f->nvlids; i++)
		vec_push(out, f->vlids[i].guid);
	if (out->n)
		qsort(out->at, out->n, sizeof(out->at[0]), by_guid);
}

static void port_gone(struct sa *sa, uint64_t guid)
{
	uint8_t gid[16];

	sa_subscriptions_port_gone(sa, guid);
	sa_groups_port_gone(sa, guid);
	sa_gid_make(sa, guid, gid);
	sa_notice_gid(sa, 65, gid);
}

static void port_came(struct sa *sa, uint64_t guid)
{
	uint8_t gid[16];

	sa_gid_make(sa, guid, gid);
	sa_notice_gid(sa, 64, gid);
}

void sa_registry_ports_changed(struct sa *sa)
{
	struct sa_guids now = {0};
	size_t i = 0, k = 0;
	bool first = !sa->ports.n;

	ports_now(sa, &now);
	while (!first && (i < sa->ports.n || k < now.n)) {
		if (k == now.n || (i < sa->ports.n && sa->ports.at[i] < now.at[k])) {
			port_gone(sa, sa->ports.at[i++]);
		} else if (i == sa->ports.n || now.at[k] < sa->ports.at[i]) {
			port_came(sa, now.at[k++]);
		} else {
			i++;
			k++;
		}
	}
	vec_free(&sa->ports);
	sa->ports = now;
}

void sa_registry_free(struct sa *sa)
{
	sa_groups_free(sa);
	sa_services_free(sa);
	sa_subscriptions_free(sa);
	vec_free(&sa->changes);
	vec_free(&sa->ports);
}
