/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibsim's protocol, for server and client. Datagrams on abstract unix sockets `NAME:ctl`, `NAME:out<i>`
 * (server), `NAME:ctl<pid>`, `NAME:in<pid>` (client); the address ends after the name and one NUL, or,
 * from ibsim's own server, has the length of the whole sockaddr_un. Or UDP: the server's control port P
 * (default 7070) and P + 1 + i for client i, whose own data port is the id it connects with. Control
 * messages are in host byte order; the fields of packets say which order they have.
 */
#ifndef WEFT_IBSIM_H
#define WEFT_IBSIM_H

#include "iba/iba.h"

enum { IBSIM_MAGIC = 0xdeadbeef, IBSIM_UDP_PORT = 7070, IBSIM_SERVES = 0x53455256 };

enum ibsim_ctl_type {
	IBSIM_ERROR,
	IBSIM_CONNECT,
	IBSIM_DISCONNECT,
	IBSIM_GET_PORT,
	IBSIM_GET_VENDOR,
	IBSIM_GET_GID,
	IBSIM_GET_GUID,
	IBSIM_GET_NODE_INFO,
	IBSIM_GET_PORT_INFO, /* data[0]: port number; 0: the client's own */
	IBSIM_SET_IS_SM,     /* data: int32 */
	IBSIM_GET_PKEYS,

	/* Only weft fabric; ibsim echoes and ignores it. Data: two uint32, milliseconds and retries: how
	 * the server repeats this client's requests before they time out; 0 ms: the client does it. */
	IBSIM_SET_TIMEOUT = 0x57454601,
	/* Only weft fabric. Data: two uint32, a management class and whether this client serves it. In the
	 * response a third one is IBSIM_SERVES: other servers echo what is there. */
	IBSIM_SET_SERVES = 0x57454602,
};

struct ibsim_ctl {
	uint32_t magic, client, type, len;
	uint8_t data[64];
};

struct ibsim_client_info { /* IBSIM_CONNECT, both ways */
	uint32_t id;	   /* pid, or UDP port; in the answer: the client's number */
	uint32_t qp, is_sm;
	char node[32];
};

struct ibsim_packet {
	uint32_t dlid, slid; /* 16 bits, big-endian, in the first two bytes; 0xffff: directed */
	uint32_t dqp, sqp;   /* big-endian */
	uint32_t status;     /* big-endian; 110: dropped */
	uint32_t pad;
	uint64_t length; /* big-endian */
	uint8_t mad[IBA_MAD_SIZE];
};

_Static_assert(sizeof(struct ibsim_ctl) == 80, "as on the wire");
_Static_assert(sizeof(struct ibsim_packet) == 288, "as on the wire");

#endif
