/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams that no correct program sends, drawn from a seed: MADs of every class and method with fields
 * flipped, paths that lead nowhere, headers of long transfers, cut and oversized packets, bad control
 * messages. A storm may change LIDs, tables and port states, which an SM can put right again. It
 * may not do what only a person can undo: lock a device with a key permanently, disable a port, or take
 * from a link the rates its ends have in common.
 */
#ifndef WEFT_SOAK_STORM_H
#define WEFT_SOAK_STORM_H

#include "base/rng.h"
#include "peer.h"

enum storm_kind {
	STORM_DIRECTED, /* SMPs on directed routes, good and wild */
	STORM_LID,	/* SMPs by LID */
	STORM_GMP,	/* all other classes, some with RMPP headers */
	STORM_TRAP,	/* traps, reports and their answers, to the SM if there is one */
	STORM_SM,	/* what the SM takes: SMInfo, responses with guessed transaction ids */
	STORM_NOISE,	/* 256 random bytes */
	STORM_SIZE,	/* datagrams of a wrong size */
	STORM_CONTROL,	/* control messages: counted by the caller */
	STORM_NKINDS
};

extern const char *const storm_names[STORM_NKINDS];

struct storm {
	struct rng rng;
	uint16_t sm_lid; /* the target; 0: no particular one */
	unsigned ports;	 /* port numbers drawn go up to this */
	uint32_t victim; /* the id of an honest client, to pass oneself off as */
	uint64_t sent[STORM_NKINDS];
};

enum { STORM_MAX_BYTES = 4096 };

/* The next datagram into buf; its length. */
size_t storm_packet(struct storm *s, uint8_t buf[STORM_MAX_BYTES]);
/* A control message; `client` is a number that another client may have. */
size_t storm_control(struct storm *s, uint32_t client, uint8_t buf[STORM_MAX_BYTES]);

#endif
