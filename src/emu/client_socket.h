/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets in the emulator's loop: functions of client_socket.c that socket_loop.c uses.
 */
#ifndef WEFT_EMU_CLIENT_SOCKET_H
#define WEFT_EMU_CLIENT_SOCKET_H

#include "emu/emu_priv.h"

/* Buffers of one batch. */
struct emu_io {
	struct ibsim_packet in[EMU_BATCH];
	struct iovec in_iov[EMU_BATCH], out_iov[EMU_BATCH];
	struct mmsghdr in_msg[EMU_BATCH], out_msg[EMU_BATCH];
};

/* "@NAME:WHAT", or with a number of 0 and more "@NAME:WHATnumber", as libumad2sim has them. */
void addr_unix(struct emu_addr *a, const char *name, const char *what, long number);
void addr_loopback(struct emu_addr *a, unsigned port);
int socket_bound(const struct emu_addr *a); /* a descriptor, or -errno */
struct emu_sock *sock_new(struct emu *m, int fd, uint32_t client, bool udp, uv_poll_cb cb);
void sock_free(struct emu_sock *s);
void client_list_drop(uint32_t *list, uint32_t *n, uint32_t c);
/* Sends as much of a client's queue as its socket takes: returns the number of packets, or
 * -errno when the client is gone. */
int queue_send(struct emu *m, struct emu_client *cl);

#endif
