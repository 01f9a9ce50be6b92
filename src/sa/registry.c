/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations of an earlier time, and ports that come and go. State: the ports of the last snapshot. Ways in: sa_seed(),
 * sa_registry_ports_changed(). Does not know what an item is about: the file of its kind does.
 */
#include "policy/policy.h"
#include "sa/aliases.h"

/* ---- items of an earlier time ---- */

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
	case SA_ITEM_ALIAS:
		ok = sa_alias_seed(sa, it);
		break;
	case SA_NKINDS:
		break;
	}
	sa->seeding = false;
	return ok;
}

/* ---- ports that come and go ---- */

static int by_guid(const void *a, const void *b)
{
	const struct sa_place *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/* Machines behind ports that they share have the LIDs of these. */
static void shared_now(const struct sa *sa, struct sa_places *out)
{
	const struct fab *f = sa->view.fab;

	for (node_id n = 0; n < f->nnodes; n++) {
		uint16_t lid = f->nodes[n].sriov == FAB_SRIOV_SHARED
				       ? f->ports[fab_port_id(f, n, 1)].lid
				       : 0;

		for (unsigned s = 1; lid && s <= f->nodes[n].vfs; s++) {
			uint64_t guid = sm_shared_guid(sa->view.sm, f->nodes[n].guid, s);

			if (guid)
				vec_push(out, (struct sa_place){guid, lid});
		}
	}
}

static void ports_now(struct sa *sa, struct sa_places *out)
{
	const struct fab *f = sa->view.fab;

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && f->ports[p].lid)
			vec_push(out, (struct sa_place){f->ports[p].guid, f->ports[p].lid});
	for (uint32_t i = 0; i < f->nvlids; i++)
		vec_push(out, (struct sa_place){f->vlids[i].guid, f->vlids[i].lid});
	shared_now(sa, out);
	sa_aliases_now(sa, out);
	if (out->n)
		qsort(out->at, out->n, sizeof(out->at[0]), by_guid);
}

static void notice(struct sa *sa, unsigned trap, uint64_t guid)
{
	uint8_t gid[16];

	sa_gid_make(sa, guid, gid);
	sa_notice_gid(sa, trap, gid);
}

static void port_gone(struct sa *sa, uint64_t guid)
{
	sa_subscriptions_port_gone(sa, guid);
	sa_groups_port_gone(sa, guid);
	sa_aliases_port_gone(sa, guid);
	notice(sa, 65, guid);
}

/* The first place that is not before the GUID. */
static size_t place_of(const struct sa_places *p, uint64_t guid)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->at[mid].guid < guid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void sa_registry_gid_came(struct sa *sa, uint64_t guid, uint16_t lid)
{
	size_t at = place_of(&sa->ports, guid);

	if (!sa->ports.n)
		return; /* all ports are new */
	vec_push(&sa->ports, (struct sa_place){0});
	memmove(&sa->ports.at[at + 1], &sa->ports.at[at],
		(sa->ports.n - 1 - at) * sizeof(sa->ports.at[0]));
	sa->ports.at[at] = (struct sa_place){guid, lid};
	notice(sa, 64, guid);
}

void sa_registry_gid_gone(struct sa *sa, uint64_t guid)
{
	size_t at = place_of(&sa->ports, guid);

	if (at == sa->ports.n || sa->ports.at[at].guid != guid)
		return;
	memmove(&sa->ports.at[at], &sa->ports.at[at + 1],
		(sa->ports.n - 1 - at) * sizeof(sa->ports.at[0]));
	sa->ports.n--;
	port_gone(sa, guid);
}

/* What it registered stays. Others have paths to the old LID: its GID went out of service there, and is in service here. */
static void port_moved(struct sa *sa, const struct sa_place *p)
{
	sa_reports_moved(sa, p->guid, p->lid);
	notice(sa, 65, p->guid);
	notice(sa, 64, p->guid);
}

void sa_registry_ports_changed(struct sa *sa)
{
	struct sa_places now = {0};
	size_t i = 0, k = 0;
	bool first = !sa->ports.n;

	ports_now(sa, &now);
	while (!first && (i < sa->ports.n || k < now.n)) {
		if (k == now.n || (i < sa->ports.n && sa->ports.at[i].guid < now.at[k].guid)) {
			port_gone(sa, sa->ports.at[i++].guid);
		} else if (i == sa->ports.n || now.at[k].guid < sa->ports.at[i].guid) {
			notice(sa, 64, now.at[k++].guid);
		} else {
			if (sa->ports.at[i].lid != now.at[k].lid)
				port_moved(sa, &now.at[k]);
			i++;
			k++;
		}
	}
	vec_free(&sa->ports);
	sa->ports = now;
}

void sa_registry_keys_changed(struct sa *sa)
{
	if (!sm_policy(sa->view.sm)->configured)
		return;
	sa_groups_keys_changed(sa);
	sa_services_keys_changed(sa);
}

void sa_registry_forget(struct sa *sa)
{
	sa_groups_forget(sa);
	sa->services.n = sa->subscriptions.n = 0;
	sa_reports_free(sa);
	sa->services_due = sa->reports_due = TIME_NEVER;
}

void sa_registry_tell_all(struct sa *sa)
{
	sa->changes.n = sa->changes_taken = 0;
	vec_push(&sa->changes, (struct sa_item){.kind = SA_NKINDS, .gone = true});
	sa_groups_tell_all(sa);
	sa_services_tell_all(sa);
	sa_subscriptions_tell_all(sa);
	sa_aliases_tell_all(sa);
}

void sa_registry_free(struct sa *sa)
{
	sa_groups_free(sa);
	sa_services_free(sa);
	sa_subscriptions_free(sa);
	sa_aliases_free(sa);
	vec_free(&sa->changes);
	vec_free(&sa->ports);
}
