/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of ibsim's protocol down to its datagrams, so that a test can also send what no honest
 * program would: over unix sockets, or, where the server is "udp:PORT", over UDP on the loopback. Calls
 * that wait have limits; those are generous, since all they tell apart is an answer and none.
 */
#ifndef WEFT_SOAK_PEER_H
#define WEFT_SOAK_PEER_H

#include "iba/iba.h"
#include "transport/ibsim.h"

#define SOAK_KEY 0x5eedull /* the only M_Key a storm sets: who knows it is let in everywhere */

enum { PEER_WAIT_MS = 20000, PEER_AGAIN_MS = 500, PEER_SALTS = 256 };

struct peer {
	char server[64];
	unsigned udp; /* the server's port; 0: unix */
	int ctl, fd;
	uint32_t id;	 /* part of our sockets' names: the pid and `salt`; or our UDP port */
	uint32_t client; /* the server's number for us */
};

/* At `node`, "" for the server's choice. Connections of one process differ in salt. 0 or -errno. */
int peer_open(struct peer *p, const char *server, const char *node, unsigned salt, bool is_sm);
void peer_close(struct peer *p, bool goodbye);

/* A question to the server itself; data both ways. -EACCES: refused. */
int peer_ctl(struct peer *p, uint32_t type, void *data, uint32_t len);
/* Any bytes to the control socket, without waiting for anything. */
void peer_ctl_raw(struct peer *p, const void *bytes, size_t len);
void peer_ctl_drain(struct peer *p);

/* Waits for room. -ENOTCONN: no server; -ETIMEDOUT: the server does not read. */
int peer_send(struct peer *p, const void *bytes, size_t len);
bool peer_recv(struct peer *p, struct ibsim_packet *pkt, int wait_ms);

/* A directed request with the storm's M_Key; further fields are the caller's. */
void peer_directed(struct ibsim_packet *pkt, enum iba_method method, uint16_t attr, uint32_t mod,
		   const uint8_t *path, unsigned hops);
/* Send it, again when no answer comes, and take the answer over the request. 0, -ETIMEDOUT. */
int peer_ask(struct peer *p, struct ibsim_packet *pkt, uint64_t tid, int wait_ms);
/* Get(NodeInfo) of the node we sit at. */
int peer_node_info(struct peer *p, uint64_t tid, struct iba_node_info *ni);

uint64_t soak_now_ms(void);
uint64_t soak_now_us(void);
/* A line on standard error, and the end: status 1. */
void soak_fail(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
uint64_t soak_number(const char *text);

#endif
