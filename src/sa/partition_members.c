/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ports, virtual functions and machines are in a partition, for who shows it. No state. Way in: sa_partition_members().
 * Does not decide who is: path_keys.c does.
 */
#include "sa/paths.h"

typedef VEC(struct sa_partition_member) members;

static void member_add(struct sa *sa, const struct sa_end *e, uint16_t pkey, members *to)
{
	unsigned m = sa_end_membership(sa, e, pkey);

	if (m)
		vec_push(to, (struct sa_partition_member){e->guid, e->port, e->slot, m});
}

size_t sa_partition_members(struct sa *sa, const struct sm *sm, uint16_t pkey, time_ps now,
			    struct sa_partition_member **list)
{
	members found = {0};
	const struct sa_end *e;
	struct sa_end machine;

	sa_manager(sa, sm, now);
	*list = NULL;
	if (!sa->view.fab)
		return 0;
	sa->view.sm = sm;
	for (size_t i = 0; i < sa->view.ends.n; i++)
		for (unsigned k = 0; (e = sa_asker(sa, sa->view.ends.at[i].lid, &k, &machine));)
			member_add(sa, e, pkey, &found);
	sa->view.sm = NULL;
	*list = found.at;
	return found.n;
}
