/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A local port through which a program sends and receives MADs. Each transport carries them in its own
 * way: libibumad to real hardware, ibsim's protocol to ibsim or to `weft fabric` (transport_list.h).
 *
 *	tp_open(&t, "ibsim", &where, &e);
 *	uv_poll on tp_fd(t), then tp_recv() until it returns 0; tp_send() for requests and responses
 *
 * Once open, nothing blocks. tp_send() returns how many MADs it accepted: offer the rest again when
 * tp_fd() is writable, or a millisecond later. An accepted MAD may still be lost: the sender keeps its
 * own timeout. Only the low 32 bits of a request's transaction id come back in its response; ids of
 * requests that other managers send are passed whole.
 *
 * When the connection breaks, tp_recv() or tp_send() returns -ENOTCONN, and does so from then on: close
 * it and open another one.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include "iba/iba.h"

struct tp_mad {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid; /* dlid permissive: directed route */
	uint8_t sl;
	uint8_t qp; /* 0: subnet management, 1: general services */
	bool lost; /* received: our own request, which was not delivered; not all transports report it */
};

/* Which port. transport_list.h says which of these each transport reads; "" and 0 mean its default. */
struct tp_where {
	char device[64];    /* umad: "mlx5_0"; ibsim: the node, "H-0001000000000010" or a GUID */
	unsigned port;	    /* umad: number of the device's port; 0: the first that is not down */
	uint64_t port_guid; /* instead of device and port; 0: not given */
	char server
		[108]; /* ibsim: socket name, default $IBSIM_SOCKNAME or "sim"; "host:port": UDP */
};

struct tp_info {
	uint64_t node_guid, port_guid;
	uint8_t node_type, port;
	char name[160]; /* for messages: "mlx5_0 port 1", "H-0001000000000010 on ibsim 'lab0'" */
};

struct tp;

/* What a transport implements. */
struct tp_ops {
	/* Whether `kind: auto` tries this transport: there is something to open and w does not exclude it. */
	bool (*is_present)(const struct tp_where *w);
	/* Text that distinguishes this fabric from others on this machine, for names of sockets and files;
	 * "" when w names none in particular. */
	void (*instance)(const struct tp_where *w, char *out, size_t size);
	int (*open)(struct tp **t, const struct tp_where *w, struct err *e); /* may block */
	void (*close)(struct tp *t);
	int (*fd)(const struct tp *t); /* readable when tp_recv() has something */
	/* How many of n were accepted, or -errno. */
	int (*send)(struct tp *t, const struct tp_mad *m, unsigned n);
	/* How many were received, at most max, or -errno. */
	int (*recv)(struct tp *t, struct tp_mad *m, unsigned max);
	int (*set_is_sm)(struct tp *t, bool on); /* the IsSM bit of the port; 0 or -errno */
	void (*info)(const struct tp *t, struct tp_info *i);
};

/* The first member of every transport's own struct. */
struct tp {
	const struct tp_ops *ops;
};

struct tp_transport {
	const char *name, *reaches;
	const struct tp_ops *ops;
};

#define TRANSPORT(name, reaches) extern const struct tp_ops tp_##name;
#include "transport/transport_list.h"
#undef TRANSPORT

extern const struct tp_transport tp_transports[]; /* ends with name NULL */

const struct tp_ops *tp_find(const char *name); /* NULL: there is none */

/* Opens a port by the transport of this name; "" is auto: the first transport that is present and has a
 * port. 0, or -errno with e filled: -ECONNREFUSED when no server listens yet, so that a retry may help. */
int tp_open(struct tp **t, const char *name, const struct tp_where *w, struct err *e);
void tp_instance(const char *name, const struct tp_where *w, char *out, size_t size);
void tp_close(struct tp *t); /* NULL is allowed */
static inline int tp_fd(const struct tp *t)
{
	return t->ops->fd(t);
}
static inline int tp_send(struct tp *t, const struct tp_mad *m, unsigned n)
{
	return t->ops->send(t, m, n);
}
static inline int tp_recv(struct tp *t, struct tp_mad *m, unsigned max)
{
	return t->ops->recv(t, m, max);
}
static inline int tp_set_is_sm(struct tp *t, bool on)
{
	return t->ops->set_is_sm(t, on);
}
static inline void tp_info(const struct tp *t, struct tp_info *i)
{
	t->ops->info(t, i);
}

#endif
