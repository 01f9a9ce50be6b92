/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs of ports. Keeps: GUIDs by port and place, and the port of each. Promises: no two ports have the same one, and
 * none is that of a device or a machine at the time when it is set.
 */
#ifndef WEFT_SA_ALIASES_H
#define WEFT_SA_ALIASES_H

#include "sa/registry.h"

uint64_t sa_alias_at(const struct sa *sa, uint64_t port_guid, unsigned place); /* 0: none */
bool sa_alias_put(struct sa *sa, uint64_t port_guid, unsigned place,
		  uint64_t guid);				       /* false: there is no room */
void sa_alias_drop(struct sa *sa, uint64_t port_guid, unsigned place); /* there is one */
/* alias_requests.c: Set or Delete: the port whose block has changed; FAB_NONE: a->status says why it has not. */
port_id sa_alias_request(struct sa *sa, const struct sa_request *q, const struct iba_sa_guid *ask,
			 struct sa_answer *a);
void sa_aliases_port_gone(struct sa *sa, uint64_t port_guid);
/* Those of ports that are there, with their LIDs; those that are others' GUIDs by now end. */
void sa_aliases_now(struct sa *sa, struct sa_places *out);
bool sa_alias_seed(struct sa *sa, const struct sa_item *it);
void sa_aliases_tell_all(struct sa *sa);
void sa_aliases_forget(struct sa *sa); /* all of them, without a word to the caller */
void sa_aliases_free(struct sa *sa);

#endif
