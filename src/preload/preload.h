/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libweft-umad.so, for LD_PRELOAD: programs written for libibumad find one device whose port is a
 * client of `weft fabric` (or of ibsim). Like libumad2sim, but complete: it does what the kernel
 * does, with long SA responses (RMPP, IBA 13.6), the caller's own timeouts and retries, responses
 * to the agent that sent the request, and requests only to agents that registered for them.
 *
 * The environment says which server to use: IBSIM_SOCKNAME, IBSIM_SERVER_NAME and _PORT, SIM_HOST,
 * as for libumad2sim. One mutex guards everything; functions here are called with it held unless
 * said otherwise. Files call those above them in this list: preload_state.c, server_socket.c
 * (sockets), long_responses.c, sysfs_tree.c (files in place of sysfs), umad_port.c (agents,
 * requests), libc_wrap.c (the functions of libc that are replaced).
 */
#ifndef WEFT_PRELOAD_H
#define WEFT_PRELOAD_H

#include <fcntl.h>
#include <rdma/ib_user_mad.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iba/rmpp.h"
#include "transport/ibsim.h"

enum {
	UMAD_HDR = sizeof(struct ib_user_mad_hdr),
	AGENTS_MAX = 64,
	FILES_MAX = 64,
	METHOD_RESPONSE = 0x80,
};

struct message { /* as read() returns it: umad header and MAD, which may be long */
	struct message *next;
	size_t len; /* with the header */
	uint8_t *data;
};

struct umad_file {
	bool used, is_sm_device;
	int fd; /* an eventfd that counts messages: what poll() and epoll look at */
	struct message *first, *last;
};

struct agent {
	bool used;
	unsigned file;
	struct ib_user_mad_reg_req reg;
};

struct umad_port {
	bool open;
	int ctl, data;
	uint32_t client;
	uint8_t num, node_type;
	uint64_t node_guid, port_guid, sys_guid;
	struct umad_file files[FILES_MAX];
	struct agent agents[AGENTS_MAX];
};

extern struct umad_port the_port;

/* preload_state.c */
void port_lock(void);
void port_unlock(void);
uint64_t preload_ms(void);

/* The library's own files do not go through the functions that libc_wrap.c replaces. */
static inline int plain_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static inline int plain_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

/* server_socket.c: connecting blocks until a server is there, as with libumad2sim; 0 or -errno */
int server_open(struct umad_port *p);
void server_close(struct umad_port *p);
int server_ask(struct umad_port *p, unsigned type, void *data, size_t len);
void server_send(struct umad_port *p, const struct ib_user_mad_hdr *to, unsigned qpn,
		 const uint8_t mad[IBA_MAD_SIZE]);
int server_recv(struct umad_port *p,
		struct ibsim_packet *in); /* 0, or -errno when there is no packet */

/* umad_port.c */
int port_open(void);	   /* takes the mutex itself; once */
void port_close_all(void); /* the same */
int port_file_open(bool is_sm_device);
void port_file_close(unsigned file);
int port_file_of(int fd); /* its number, or -1 for other files; takes no mutex */
int port_register(unsigned file, struct ib_user_mad_reg_req *r);
int port_unregister(unsigned file, uint32_t id);
ssize_t port_write(unsigned file, const uint8_t *buf, size_t count);
ssize_t port_read(unsigned file, uint8_t *buf, size_t count);
void port_deliver(unsigned agent, const struct ib_user_mad_hdr *from, const uint8_t *mad,
		  size_t len, int status);

/* long_responses.c */
void long_send(unsigned agent, const struct ib_user_mad_hdr *to, const uint8_t *mad, size_t len);
void long_control(const struct ibsim_packet *in); /* an acknowledgement, stop or abort */
/* Takes one segment. True when the response is complete, in r. */
bool long_take(struct iba_rmpp_in *r, unsigned agent, const struct ibsim_packet *in);
uint64_t long_late(uint64_t now_ms); /* repeats what is due; returns when to call it again */

/* sysfs_tree.c: below a directory of this process */
int tree_make(const struct umad_port *p);
void tree_refresh(struct umad_port *p); /* LID and states */
void tree_remove(void);
const char *tree_path(const char *path, char *buf,
		      size_t size); /* the file to open instead, or path itself */

#endif
