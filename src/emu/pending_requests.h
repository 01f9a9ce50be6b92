/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of clients that wait for their response: the client, and the MAD to send again. Bounded:
 * each client has at most `limit` entries. Entries are numbers, found by port, class and
 * transaction id, or as a client's oldest. Used by mad_dispatch.c; clients.c removes a client's
 * entries.
 */
#ifndef WEFT_EMU_PENDING_H
#define WEFT_EMU_PENDING_H

#include "base/vec.h"
#include "sim/device/sim_device.h"

#define PEND_NONE UINT32_MAX

struct pend_entry {
	struct sim_smp smp;
	time_ps since; /* time of the last transmission */
	port_id port;  /* the client's port, where the response arrives */
	uint32_t client;
	uint32_t chain;	       /* next with the same hash */
	uint32_t older, newer; /* of the same client; newer is also the free list */
	uint8_t tries;	       /* number of repetitions */
	bool partly;	       /* a segment of the response has arrived */
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
	unsigned nclients, limit; /* limit: entries of each client */
};

void pend_init(struct pend *p, unsigned nclients, unsigned limit);
void pend_free(struct pend *p);

/* A new entry, or this client's entry for the same transaction, sent at `now`. There must be room:
 * pend_full(). */
uint32_t pend_add(struct pend *p, uint32_t client, port_id port, const struct sim_smp *smp,
		  time_ps now);
static inline bool pend_full(const struct pend *p, uint32_t client)
{
	return p->client[client].n >= p->limit;
}

/*
 * The entry that a response belongs to, by the lower half of the transaction id: a kernel sets the
 * upper half. If several match, the one with the same whole id, then the oldest.
 */
uint32_t pend_find(const struct pend *p, port_id port, const uint8_t *mad);
void pend_again(struct pend *p, uint32_t i,
		time_ps now); /* sent at `now`: it becomes its client's newest */
void pend_del(struct pend *p, uint32_t i);
void pend_move(struct pend *p, uint32_t client,
	       port_id port); /* its requests wait at that port now */
void pend_del_client(struct pend *p, uint32_t client);

#endif
