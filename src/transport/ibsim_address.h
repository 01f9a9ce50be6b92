/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of ibsim's protocol, as a client needs them. Functions return 0 (or a descriptor) or -errno.
 */
#ifndef WEFT_IBSIM_ADDRESS_H
#define WEFT_IBSIM_ADDRESS_H

#include <netinet/in.h>

#include "base/base.h"

struct ibsim_where {
	char name[96]; /* of unix sockets */
	bool udp;
	bool whole; /* unix addresses are as long as the whole struct, as old servers have them */
	struct sockaddr_in in;
};

/* "host:port" is UDP, anything else a socket name; "": what libumad2sim reads. */
int ibsim_where_from(struct ibsim_where *w, const char *server, struct err *e);
int ibsim_socket(const struct ibsim_where *w); /* non-blocking */
/* Our own end: NAME:WHAT<id> for a unix socket; the kernel chooses a port for UDP. */
int ibsim_bind(const struct ibsim_where *w, int fd, const char *what, int id);
/* To NAME:WHAT<id>, without a number when id is negative; or to the UDP port so much further on. */
int ibsim_connect(const struct ibsim_where *w, int fd, const char *what, int id, unsigned port_add);

#endif
