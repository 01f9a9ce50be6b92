/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lies about packets on their way to a client, drawn from a seed. A packet passes as it is, or something
 * is done to it, or something else comes as well.
 */
#ifndef WEFT_SOAK_LIAR_H
#define WEFT_SOAK_LIAR_H

#include "base/rng.h"
#include "base/vec.h"
#include "peer.h"

enum lie {
	LIE_DROP,
	LIE_TWICE,
	LIE_LATE,  /* up to half a second, so that others overtake it */
	LIE_BITS,  /* some bits anywhere in the MAD */
	LIE_NOISE, /* a part of the attribute */
	LIE_FIELD, /* one field, another plausible value */
	LIE_OTHER, /* the attribute as another node or another time gave it */
	LIE_TID,   /* the answer to another question */
	LIE_STATUS,
	LIE_METHOD,
	LIE_REPLAY,  /* and an old one once more */
	LIE_TRAP,    /* and a trap that no device sent */
	LIE_ORDER,   /* and an order of an SM that is not there */
	LIE_SIZE,    /* cut, or too long */
	LIE_TIMEOUT, /* the server says it found no way */
	LIE_NKINDS
};

enum { LIES_OLD = 256 };

struct late {
	uint64_t due_ms;
	uint32_t to;
	struct ibsim_packet p;
};

struct lies {
	struct rng rng;
	uint64_t left;	 /* packets to lie about; then the truth */
	uint32_t one_in; /* of so many packets, one */
	uint64_t told[LIE_NKINDS], passed, lost;
	struct ibsim_packet old[LIES_OLD];
	uint32_t nold;
	VEC(struct late) late;
	void (*deliver)(void *ctx, uint32_t to, const void *bytes, size_t len);
	void *ctx;
};

void lies_pass(struct lies *l, uint32_t to, const struct ibsim_packet *p, uint64_t now_ms);
/* One that passed lately, changed. */
void lies_about_old(struct lies *l, struct ibsim_packet *p);
void lies_due(struct lies *l, uint64_t now_ms); /* what is late comes now */
void lies_report(const struct lies *l);
void lies_free(struct lies *l);

#endif
