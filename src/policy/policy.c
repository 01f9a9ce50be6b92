/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A policy: made, copied, compared; its partitions by key and name. State: struct pol. Ways in: pol_new(),
 * pol_copy(), pol_partition(). Does not answer questions about ports: policy_members.c does.
 */
#include "policy/policy_priv.h"

const char *pol_membership_name(enum pol_membership m)
{
	return m == POL_FULL ? "full" : m == POL_BOTH ? "both" : "limited";
}

static void default_partition(struct pol *p, enum pol_membership all)
{
	struct pol_partition *t = pol_partition(p, "Default", POL_DEFAULT_KEY);

	vec_push(&t->members, (struct pol_member){.who = POL_ALL, .as = all});
	vec_push(&t->members, (struct pol_member){.who = POL_SELF, .as = POL_FULL});
}

struct pol *pol_new(void)
{
	struct pol *p = mem_zalloc(sizeof(*p));

	p->default_level = UINT32_MAX;
	default_partition(p, POL_FULL);
	p->partitions.at[0].ipoib = true;
	pol_ipoib_groups(&p->partitions.at[0]);
	return p;
}

static void partition_free(struct pol_partition *t)
{
	vec_free(&t->members);
	vec_free(&t->groups);
}

static void partitions_free(struct pol *p)
{
	for (size_t i = 0; i < p->partitions.n; i++)
		partition_free(&p->partitions.at[i]);
	vec_free(&p->partitions);
}

void pol_free(struct pol *p)
{
	if (!p)
		return;
	partitions_free(p);
	for (size_t i = 0; i < p->port_groups.n; i++) {
		vec_free(&p->port_groups.at[i].guids);
		vec_free(&p->port_groups.at[i].pkeys);
		vec_free(&p->port_groups.at[i].members);
		vec_free(&p->port_groups.at[i].partitions);
	}
	for (size_t i = 0; i < p->levels.n; i++)
		vec_free(&p->levels.at[i].path_bits);
	for (size_t i = 0; i < p->rules.n; i++) {
		vec_free(&p->rules.at[i].sources);
		vec_free(&p->rules.at[i].destinations);
		vec_free(&p->rules.at[i].qos_classes);
		vec_free(&p->rules.at[i].service_ids);
		vec_free(&p->rules.at[i].pkeys);
	}
	vec_free(&p->port_groups);
	vec_free(&p->levels);
	vec_free(&p->rules);
	free(p);
}

/* ---- copies ---- */

/* The array of a copied struct becomes one of its own. */
#define vec_own(v)                                                                                 \
	do {                                                                                       \
		const void *from_ = (v)->at;                                                       \
		(v)->cap = (v)->n;                                                                 \
		(v)->at = NULL;                                                                    \
		if ((v)->n) {                                                                      \
			(v)->at = mem_array((v)->n, sizeof(*(v)->at));                             \
			memcpy((v)->at, from_, (v)->n * sizeof(*(v)->at));                         \
		}                                                                                  \
	} while (0)

struct pol *pol_copy(const struct pol *p)
{
	struct pol *c = mem_alloc(sizeof(*c));

	*c = *p;
	vec_own(&c->partitions);
	vec_own(&c->port_groups);
	vec_own(&c->levels);
	vec_own(&c->rules);
	for (size_t i = 0; i < c->partitions.n; i++) {
		vec_own(&c->partitions.at[i].members);
		vec_own(&c->partitions.at[i].groups);
	}
	for (size_t i = 0; i < c->port_groups.n; i++) {
		vec_own(&c->port_groups.at[i].guids);
		vec_own(&c->port_groups.at[i].pkeys);
		vec_own(&c->port_groups.at[i].members);
		vec_own(&c->port_groups.at[i].partitions);
	}
	for (size_t i = 0; i < c->levels.n; i++)
		vec_own(&c->levels.at[i].path_bits);
	for (size_t i = 0; i < c->rules.n; i++) {
		vec_own(&c->rules.at[i].sources);
		vec_own(&c->rules.at[i].destinations);
		vec_own(&c->rules.at[i].qos_classes);
		vec_own(&c->rules.at[i].service_ids);
		vec_own(&c->rules.at[i].pkeys);
	}
	return c;
}

/* Two policies are the same when they print the same. */
bool pol_same(const struct pol *a, const struct pol *b)
{
	struct strbuf x = {0}, y = {0};
	bool same;

	pol_print_partitions(a, &x);
	pol_print_qos(a, &x);
	pol_print_partitions(b, &y);
	pol_print_qos(b, &y);
	same = a->both == b->both && a->qos == b->qos && a->configured == b->configured &&
	       x.len == y.len && (!x.len || !memcmp(x.s, y.s, x.len));
	strbuf_free(&x);
	strbuf_free(&y);
	return same;
}

/* ---- partitions ---- */

void pol_partitions_begin(struct pol *p)
{
	if (p->configured)
		return;
	partitions_free(p);
	p->configured = true;
	default_partition(p, POL_LIMITED);
}

const struct pol_partition *pol_partition_find(const struct pol *p, uint16_t pkey)
{
	for (size_t i = 0; i < p->partitions.n; i++)
		if (p->partitions.at[i].pkey == (pkey & ~POL_FULL_BIT))
			return &p->partitions.at[i];
	return NULL;
}

/* Of several with this name that with the lowest key, as in OpenSM. */
static struct pol_partition *by_name(struct pol *p, const char *name)
{
	struct pol_partition *first = NULL;

	for (size_t i = 0; *name && i < p->partitions.n; i++) {
		struct pol_partition *t = &p->partitions.at[i];

		if (!strcmp(t->name, name) && (!first || t->pkey < first->pkey))
			first = t;
	}
	return first;
}

static uint16_t free_key(const struct pol *p)
{
	for (uint16_t key = 1; key < POL_DEFAULT_KEY; key++)
		if (!pol_partition_find(p, key))
			return key;
	return 0;
}

struct pol_partition *pol_partition(struct pol *p, const char *name, uint16_t pkey)
{
	struct pol_partition *t, fresh = {.pkey = pkey & (uint16_t)~POL_FULL_BIT};
	char short_name[POL_NAME];

	pol_name_set(short_name, name);
	t = fresh.pkey ? (struct pol_partition *)pol_partition_find(p, pkey)
		       : by_name(p, short_name);
	if (t)
		return t;
	if (!fresh.pkey && !(fresh.pkey = free_key(p)))
		return NULL;
	memcpy(fresh.name, short_name, sizeof(short_name));
	if (!*short_name)
		snprintf(fresh.name, sizeof(fresh.name), "%04x", fresh.pkey);
	pol_group_flags_default(&fresh.flags);
	vec_push(&p->partitions, fresh);
	return &p->partitions.at[p->partitions.n - 1];
}
