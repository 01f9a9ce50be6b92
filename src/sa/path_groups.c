/* SPDX-License-Identifier: BSD-2-Clause */
/* PathRecord to a multicast group: its parameters. No state. There are no groups so far, so there is no such path. */
#include "sa/paths.h"

void sa_path_to_group(struct sa *sa UNUSED, const struct sa_request *q,
		      const struct iba_sa_path *ask UNUSED, struct sa_answer *a)
{
	if (q->method == SA_GET)
		a->status = IBA_SA_NO_RECORDS;
}
