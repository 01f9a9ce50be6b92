/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of ibsim's protocol, for its clients. Functions return 0 (or a descriptor) or -errno.
 */
#ifndef WEFT_IBSIM_ADDRESS_H
#define WEFT_IBSIM_ADDRESS_H

#include <netinet/in.h>

#include "base/base.h"

struct ibsim_where {
	char name[96]; /* of the unix sockets */
	bool udp;
	bool whole; /* unix addresses have the length of the whole struct, as in old servers */
	struct sockaddr_in in;
};

/* "host:port" is UDP, any other text a socket name; "": the environment variables of libumad2sim. */
int ibsim_where_from(struct ibsim_where *w, const char *server, struct err *e);
int ibsim_socket(const struct ibsim_where *w); /* non-blocking */
/* Binds our end: NAME:WHAT<id> for a unix socket; for UDP the kernel chooses a port. */
int ibsim_bind(const struct ibsim_where *w, int fd, const char *what, int id);
/* Connects to NAME:WHAT<id>, without a number when id is negative; or to the UDP port plus port_add. */
int ibsim_connect(const struct ibsim_where *w, int fd, const char *what, int id, unsigned port_add);

#endif
