/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A local port through which a program sends and receives MADs, whatever carries them: libibumad on
 * real hardware, or ibsim's protocol to ibsim itself or to `weft fabric`.
 *
 *	tp_open(&t, "ibsim", &where, &e);
 *	uv_poll on tp_fd(t), then tp_recv() until it gives nothing; tp_send() what is to go out
 *
 * One symbol a transport: const struct tp_ops tp_umad, tp_ibsim; tp_all[] lists them. Nothing blocks:
 * tp_send() takes what there is room for and says how many; what is left is offered again when
 * tp_fd() is writable, or a millisecond later. A MAD taken is not a MAD delivered: it may be lost on
 * its way, and whoever sent it has a time-out of its own. Only the low 32 bits of a request's
 * transaction id survive on the wire and back; ids of what others ask are theirs, and whole. When the other side is gone tp_recv() or tp_send() returns -ENOTCONN,
 * now and ever after: close, and open again when it is back.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include "iba/iba.h"

struct tp_mad {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid; /* dlid permissive: directed route */
	uint8_t sl;
	uint8_t qp; /* 0: subnet management, 1: general services */
	bool lost;  /* received: our own request, which found no way; not every transport tells */
};

/* Which port. Each transport says in its summary what it reads of this; "" and 0 mean its default. */
struct tp_where {
	char device[64];    /* umad: "mlx5_0"; ibsim: the node, "H-0001000000000010" or a GUID */
	unsigned port;	    /* umad: number of the device's port; 0: the first that is not down */
	uint64_t port_guid; /* instead of device and port; 0: not given */
	char server
		[108]; /* ibsim: socket name, default $IBSIM_SOCKNAME or "sim"; "host:port" for UDP */
};

struct tp_info {
	uint64_t node_guid, port_guid;
	uint8_t node_type, port;
	char name[160]; /* for people: "mlx5_0 port 1", "H-0001000000000010 on ibsim 'lab0'" */
};

struct tp;

struct tp_ops {
	const char *name, *summary;
	int (*open)(struct tp **t, const struct tp_where *w, struct err *e);
	void (*close)(struct tp *t);
	int (*fd)(const struct tp *t); /* readable: tp_recv() has something */
	int (*send)(struct tp *t, const struct tp_mad *m,
		    unsigned n); /* how many were taken, or -errno */
	int (*recv)(struct tp *t, struct tp_mad *m,
		    unsigned max);		 /* how many there are, or -errno */
	int (*set_is_sm)(struct tp *t, bool on); /* the IsSM bit of the port */
	void (*info)(const struct tp *t, struct tp_info *i);
};

/* What every transport's own struct begins with. */
struct tp {
	const struct tp_ops *ops;
};

extern const struct tp_ops tp_umad, tp_ibsim;
extern const struct tp_ops *const tp_all[]; /* ends with NULL */
const struct tp_ops *tp_find(const char *name);

/* 0, or -errno with a sentence in e: -ECONNREFUSED when nobody is there yet and trying again may help. */
int tp_open(struct tp **t, const char *name, const struct tp_where *w, struct err *e);
void tp_close(struct tp *t); /* NULL does no harm */
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
