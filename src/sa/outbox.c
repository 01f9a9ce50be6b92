/* SPDX-License-Identifier: BSD-2-Clause */
/* Short messages that are not sent yet. State: a ring of SA_WAITING. Way in: sa_send(); sa_next() of server.c empties it. */
#include "sa/sa_priv.h"

bool sa_send(struct sa *sa, uint16_t lid, uint8_t sl, const uint8_t mad[IBA_MAD_SIZE])
{
	struct sa_mad *m;

	if (sa->nwaiting == SA_WAITING)
		return false;
	m = &sa->waiting[(sa->head + sa->nwaiting++) % SA_WAITING];
	memcpy(m->mad, mad, IBA_MAD_SIZE);
	m->lid = lid;
	m->sl = sl;
	return true;
}
