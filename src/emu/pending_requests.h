/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of clients that wait for their response: who asked, and what to send again. Bounded: each
 * client has at most so many, and its oldest makes room. Entries are numbers, found by port, class
 * and transaction id, or as a client's oldest.
 */
#ifndef WEFT_EMU_PENDING_H
#define WEFT_EMU_PENDING_H

#include "base/vec.h"
#include "sim/device/sim_device.h"

#define PEND_NONE UINT32_MAX

struct pend_entry {
	struct sim_smp smp;
	time_ps since; /* it was last sent */
	port_id port;  /* where the client sits and the response will arrive */
	uint32_t client;
	uint32_t chain;	       /* next with the same hash */
	uint32_t older, newer; /* of the same client; newer is also the free list */
	uint8_t tries;	       /* how often it was sent again */
	bool partly;	       /* a part of the response has come */
	bool used;
};

struct pend_client {
	uint32_t oldest, newest, n;
};

struct pend {
	VEC(struct pend_entry) at;
	uint32_t free, n;
	uint32_t *hash, mask;
	struct pend_client *client;
	unsigned nclients, limit; /* limit: entries a client */
};

void pend_init(struct pend *p, unsigned nclients, unsigned limit);
void pend_free(struct pend *p);

/* A new entry, or the one that this client already has for this transaction: as sent now. There must
 * be room: pend_full(). */
uint32_t pend_add(struct pend *p, uint32_t client, port_id port, const struct sim_smp *smp,
		  time_ps now);
static inline bool pend_full(const struct pend *p, uint32_t client)
{
	return p->client[client].n >= p->limit;
}

/*
 * Whose response this is. The lower half of the transaction id decides: the upper one is not the
 * sender's alone. When several wait for the same, the one whose id is wholly equal, then the oldest.
 */
uint32_t pend_find(const struct pend *p, port_id port, const uint8_t *mad);
void pend_again(struct pend *p, uint32_t i,
		time_ps now); /* sent now: it becomes its client's newest */
void pend_del(struct pend *p, uint32_t i);
void pend_del_client(struct pend *p, uint32_t client);

#endif
