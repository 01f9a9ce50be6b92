/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups, their members and their LIDs. State: sa->groups, by MGID, and how many groups use each LID. Ways in:
 * sa_group_*(), sa_member_*(). Does not decide who may join: members.c does.
 *
 * A group has a LID of its own as long as switches have room. Then groups of one partition with the same MTU and rate share
 * one: their members get packets of both, which their HCAs drop by MGID (IBA 10.5.2.1).
 */
#include "sa/registry.h"

static size_t place(const struct sa_groups *all, const uint8_t mgid[16], bool *found)
{
	size_t lo = 0, hi = all->list.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (memcmp(all->list.at[mid].r.mgid, mgid, 16) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*found = lo < all->list.n && !memcmp(all->list.at[lo].r.mgid, mgid, 16);
	return lo;
}

struct sa_group *sa_group_find(struct sa *sa, const uint8_t mgid[16])
{
	bool found;
	size_t i = place(&sa->groups, mgid, &found);

	return found ? &sa->groups.list.at[i] : NULL;
}

uint16_t sa_group_mlid(const struct sa *sa, const uint8_t mgid[16])
{
	bool found;
	size_t i = place(&sa->groups, mgid, &found);

	return found ? sa->groups.list.at[i].r.mlid : 0;
}

/* ---- multicast LIDs ---- */

static unsigned mlid_count(const struct sa *sa)
{
	unsigned most = SA_MLIDS;

	return sa->groups.mlids ? MIN(sa->groups.mlids, most) : most;
}

static bool alike(const struct iba_sa_member *a, const struct iba_sa_member *b)
{
	return !((a->pkey ^ b->pkey) & 0x7fff) && a->mtu == b->mtu && a->rate == b->rate &&
	       a->sl == b->sl;
}

/* Of groups like this one, the LID that the fewest share; 0: there is none. */
static uint16_t mlid_share(const struct sa *sa, const struct iba_sa_member *r)
{
	uint16_t best = 0, fewest = UINT16_MAX;

	for (size_t i = 0; i < sa->groups.list.n; i++) {
		const struct iba_sa_member *g = &sa->groups.list.at[i].r;
		uint16_t uses = sa->groups.uses[g->mlid - IBA_LID_MCAST_FIRST];

		if (alike(g, r) && uses < fewest) {
			best = g->mlid;
			fewest = uses;
		}
	}
	return best;
}

static uint16_t mlid_choose(const struct sa *sa, const struct iba_sa_member *r)
{
	unsigned n = mlid_count(sa);

	if (r->mlid >= IBA_LID_MCAST_FIRST && r->mlid - IBA_LID_MCAST_FIRST < (int)n &&
	    !sa->groups.uses[r->mlid - IBA_LID_MCAST_FIRST])
		return r->mlid; /* the one that it had, or that the configuration names */
	for (unsigned i = 0; i < n; i++)
		if (!sa->groups.uses[i])
			return (uint16_t)(IBA_LID_MCAST_FIRST + i);
	return mlid_share(sa, r);
}

/* The manager must be told of its members. */
static void tree_changed(struct sa *sa, uint16_t mlid)
{
	struct sa_groups *all = &sa->groups;

	all->number++;
	if (!all->changed[mlid - IBA_LID_MCAST_FIRST])
		vec_push(&all->others, mlid);
	all->changed[mlid - IBA_LID_MCAST_FIRST] = 1;
}

/* ---- groups ---- */

static void save_group(struct sa *sa, const struct sa_group *g)
{
	uint8_t value[64 + 1] = {0};

	iba_sa_member_put(&g->r, value);
	value[64] = g->permanent;
	sa_item_put(sa, SA_ITEM_GROUP, g->r.mgid, 16, value, sizeof(value));
}

uint16_t sa_group_add(struct sa *sa, const struct iba_sa_member *r, bool permanent,
		      struct sa_group **out)
{
	struct sa_groups *all = &sa->groups;
	struct sa_group g = {.r = *r, .permanent = permanent};
	bool found;
	size_t at = place(all, r->mgid, &found);

	g.r.mlid = mlid_choose(sa, r);
	if (found || all->list.n >= SA_GROUPS || !g.r.mlid)
		return IBA_SA_NO_RESOURCES;
	vec_push(&all->list, g);
	memmove(&all->list.at[at + 1], &all->list.at[at], (all->list.n - 1 - at) * sizeof(g));
	all->list.at[at] = g;
	all->uses[g.r.mlid - IBA_LID_MCAST_FIRST]++;
	*out = &all->list.at[at];
	save_group(sa, *out);
	return 0;
}

void sa_group_level(struct sa *sa, struct sa_group *g, uint8_t sl)
{
	g->r.sl = sl;
	tree_changed(sa, g->r.mlid);
	save_group(sa, g);
}

static void members_free(struct sa *sa, struct sa_group *g)
{
	uint8_t key[32];

	memcpy(key, g->r.mgid, 16);
	for (size_t i = 0; i < g->members.n; i++) {
		memcpy(key + 16, g->members.at[i].gid, 16);
		sa_item_drop(sa, SA_ITEM_MEMBER, key, sizeof(key));
	}
	sa->groups.members -= (uint32_t)g->members.n;
	vec_free(&g->members);
}

void sa_group_remove(struct sa *sa, struct sa_group *g)
{
	struct sa_groups *all = &sa->groups;
	size_t at = (size_t)(g - all->list.at);

	members_free(sa, g);
	sa_item_drop(sa, SA_ITEM_GROUP, g->r.mgid, 16);
	all->uses[g->r.mlid - IBA_LID_MCAST_FIRST]--;
	tree_changed(sa, g->r.mlid);
	memmove(g, g + 1, (all->list.n - at - 1) * sizeof(*g));
	all->list.n--;
}

/* ---- members ---- */

static size_t member_place(const struct sa_group *g, const uint8_t gid[16], bool *found)
{
	size_t lo = 0, hi = g->members.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (memcmp(g->members.at[mid].gid, gid, 16) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*found = lo < g->members.n && !memcmp(g->members.at[lo].gid, gid, 16);
	return lo;
}

struct sa_member *sa_member_find(struct sa_group *g, const uint8_t gid[16])
{
	bool found;
	size_t i = member_place(g, gid, &found);

	return found ? &g->members.at[i] : NULL;
}

static void save_member(struct sa *sa, const struct sa_group *g, const struct sa_member *m)
{
	uint8_t key[32], value[2] = {m->join, m->proxy};

	memcpy(key, g->r.mgid, 16);
	memcpy(key + 16, m->gid, 16);
	sa_item_put(sa, SA_ITEM_MEMBER, key, sizeof(key), value, sizeof(value));
}

uint16_t sa_member_join(struct sa *sa, struct sa_group *g, const uint8_t gid[16], unsigned join,
			bool proxy)
{
	struct sa_member m = {.join = (uint8_t)join, .proxy = proxy};
	bool found;
	size_t at = member_place(g, gid, &found);

	if (found) {
		if ((g->members.at[at].join | join) == g->members.at[at].join)
			return 0;
		g->members.at[at].join |= (uint8_t)join;
	} else {
		if (sa->groups.members >= SA_MEMBERS)
			return IBA_SA_NO_RESOURCES;
		memcpy(m.gid, gid, 16);
		vec_push(&g->members, m);
		memmove(&g->members.at[at + 1], &g->members.at[at],
			(g->members.n - 1 - at) * sizeof(m));
		g->members.at[at] = m;
		sa->groups.members++;
	}
	tree_changed(sa, g->r.mlid);
	save_member(sa, g, &g->members.at[at]);
	return 0;
}

static bool is_kept(const struct sa_group *g)
{
	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.at[i].join & SA_KEEPS)
			return true;
	return false;
}

bool sa_member_leave(struct sa *sa, struct sa_group *g, struct sa_member *m, unsigned join)
{
	uint8_t key[32], mgid[16];
	size_t at = (size_t)(m - g->members.at);

	m->join &= (uint8_t)~join;
	tree_changed(sa, g->r.mlid);
	if (m->join) {
		save_member(sa, g, m);
	} else {
		memcpy(key, g->r.mgid, 16);
		memcpy(key + 16, m->gid, 16);
		sa_item_drop(sa, SA_ITEM_MEMBER, key, sizeof(key));
		memmove(m, m + 1, (g->members.n - at - 1) * sizeof(*m));
		g->members.n--;
		sa->groups.members--;
	}
	if (g->permanent || is_kept(g))
		return false;
	memcpy(mgid, g->r.mgid, 16);
	sa_notice_gid(sa, 67, mgid); /* to those who may know of it, as long as it tells */
	sa_group_remove(sa, g);
	return true;
}

void sa_groups_port_gone(struct sa *sa, uint64_t guid)
{
	for (size_t i = sa->groups.list.n; i-- > 0;) {
		struct sa_group *g = &sa->groups.list.at[i];
		struct sa_member *m = NULL;

		for (size_t k = 0; k < g->members.n && !m; k++)
			if (sa_gid_guid(g->members.at[k].gid) == guid)
				m = &g->members.at[k];
		if (m)
			sa_member_leave(sa, g, m, m->join);
	}
}

void sa_groups_keys_changed(struct sa *sa)
{
	for (size_t i = sa->groups.list.n; i-- > 0;) {
		struct sa_group *g = &sa->groups.list.at[i];
		bool ended = false;

		for (size_t k = g->members.n; !ended && k-- > 0;) {
			struct sa_member *m = &g->members.at[k];

			if (sa_guid_lost_key(sa, sa_gid_guid(m->gid), g->r.pkey))
				ended = sa_member_leave(sa, g, m, m->join);
		}
	}
}

void sa_groups_free(struct sa *sa)
{
	for (size_t i = 0; i < sa->groups.list.n; i++)
		vec_free(&sa->groups.list.at[i].members);
	vec_free(&sa->groups.list);
	vec_free(&sa->groups.others);
}

void sa_groups_forget(struct sa *sa)
{
	struct sa_groups *all = &sa->groups;

	for (size_t i = 0; i < all->list.n; i++)
		tree_changed(sa, all->list.at[i].r.mlid);
	for (size_t i = 0; i < all->list.n; i++)
		vec_free(&all->list.at[i].members);
	all->list.n = 0;
	memset(all->uses, 0, sizeof(all->uses));
	all->members = 0;
	all->number++;
}

void sa_groups_tell_all(struct sa *sa)
{
	for (size_t i = 0; i < sa->groups.list.n; i++) {
		const struct sa_group *g = &sa->groups.list.at[i];

		save_group(sa, g);
		for (size_t k = 0; k < g->members.n; k++)
			save_member(sa, g, &g->members.at[k]);
	}
}

/* ---- restored ---- */

bool sa_group_seed(struct sa *sa, const struct sa_item *it)
{
	struct iba_sa_member r;
	struct sa_group *g;

	if (it->len != 65 || it->key_len != 16 || iba_sa_member_get(&r, it->value, 64) ||
	    memcmp(r.mgid, it->key, 16) || r.mgid[0] != 0xff)
		return false;
	return !sa_group_add(sa, &r, it->value[64] == 1, &g);
}

bool sa_member_seed(struct sa *sa, const struct sa_item *it)
{
	struct sa_group *g = it->key_len == 32 ? sa_group_find(sa, it->key) : NULL;
	unsigned join = it->len == 2 ? it->value[0] : 0;

	return g && join && join <= 15 &&
	       !sa_member_join(sa, g, it->key + 16, join, it->value[1] == 1);
}

/* ---- for the manager ---- */

uint32_t sa_trees_number(const struct sa *sa)
{
	return sa->groups.number;
}

/* The manager knows ports. */
static uint64_t member_port(const struct sa *sa, const struct sa_member *m)
{
	uint64_t guid = sa_gid_guid(m->gid), port = sa_alias_port(&sa->aliases, guid);

	return port ? port : guid;
}

static void tree_add(const struct sa *sa, const struct sa_group *g, struct sa_tree *t,
		     struct sa_tree_member *members, uint32_t *nmembers)
{
	t->sl = g->r.sl;
	for (size_t k = 0; k < g->members.n; k++) {
		unsigned join = g->members.at[k].join;

		members[(*nmembers)++] = (struct sa_tree_member){
			.guid = member_port(sa, &g->members.at[k]),
			.receives = join & (SA_FULL | SA_NON_MEMBER),
			.sends = true,
		};
	}
	t->n = *nmembers - t->first;
}

struct by_mlid {
	uint16_t mlid;
	uint32_t group;
};

static int mlid_order(const void *a, const void *b)
{
	const struct by_mlid *x = a, *y = b;

	if (x->mlid != y->mlid)
		return x->mlid < y->mlid ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* Groups that share a LID, one after another: those of all LIDs, or of those that changed. */
static size_t groups_by_mlid(const struct sa *sa, bool all, struct by_mlid *by)
{
	size_t n = 0;

	for (size_t i = 0; i < sa->groups.list.n; i++) {
		uint16_t mlid = sa->groups.list.at[i].r.mlid;

		if (all || sa->groups.changed[mlid - IBA_LID_MCAST_FIRST])
			by[n++] = (struct by_mlid){mlid, (uint32_t)i};
	}
	qsort(by, n, sizeof(*by), mlid_order);
	return n;
}

void sa_trees(struct sa *sa, bool all, struct sa_tree **trees, uint32_t *ntrees,
	      struct sa_tree_member **members, uint32_t *nmembers)
{
	struct sa_groups *s = &sa->groups;
	struct by_mlid *by = mem_array(s->list.n + 1, sizeof(*by));
	size_t n = groups_by_mlid(sa, all, by);

	*trees = mem_array(s->list.n + s->others.n + 1, sizeof(**trees));
	*members = mem_array(MAX(s->members, 1u), sizeof(**members));
	*ntrees = *nmembers = 0;
	for (size_t i = 0; i < n;) {
		struct sa_tree *t = &(*trees)[*ntrees];
		uint16_t mlid = by[i].mlid;

		*t = (struct sa_tree){.mlid = mlid, .first = *nmembers};
		for (; i < n && by[i].mlid == mlid; i++)
			tree_add(sa, &s->list.at[by[i].group], t, *members, nmembers);
		*ntrees += t->n || !all;
	}
	for (size_t i = 0; i < s->others.n; i++) { /* LIDs that no group has any more */
		uint16_t mlid = s->others.at[i];

		s->changed[mlid - IBA_LID_MCAST_FIRST] = 0;
		if (!all && !s->uses[mlid - IBA_LID_MCAST_FIRST])
			(*trees)[(*ntrees)++] = (struct sa_tree){.mlid = mlid, .first = *nmembers};
	}
	s->others.n = 0;
	free(by);
}
