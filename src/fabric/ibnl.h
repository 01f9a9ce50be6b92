/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ibutils know about types of systems (.ibnl): their boards and devices, the links between these, and the connectors on the
 * panel. ibnl_line() reads one line after another; ibnl_make() makes one system of a type: a list of devices and links, for
 * the reader of plans (import_topo.c). Spans point into the texts that were read, which must outlive the library.
 */
#ifndef WEFT_FABRIC_IBNL_H
#define WEFT_FABRIC_IBNL_H

#include "fabric/import.h"

struct ibnl_pin {			       /* "13 -4x-10G-> P1", "P1 -> spine1 P45" */
	struct nl_span port, to_inst, to_port; /* to_inst empty: a connector of the board */
	uint32_t inst;
	uint8_t width, speed; /* 0: not stated */
};

struct ibnl_inst { /* a device, or a board inside another */
	struct nl_span name, type;
	uint32_t line;
	uint8_t nports; /* 0: a board */
	bool adapter;
};

struct ibnl_board {
	struct nl_span names; /* "LEAF,LEAF:4x" */
	uint32_t set;	      /* boards of one system */
	uint32_t first_inst, ninsts, first_pin, npins;
	bool top;
};

struct ibnl {
	VEC(struct ibnl_board) boards;
	VEC(struct ibnl_inst) insts;
	VEC(struct ibnl_pin) pins;
	uint32_t set;
	bool open; /* lines belong to the last board */
};

/* An instance in a system that was made. */
struct ibnl_made {
	uint32_t inst; /* FAB_NONE: the system itself */
	uint32_t board,
		first; /* of a board: which, and its first instance; FAB_NONE: it is a device, or left out */
	uint32_t parent, node; /* node: of a device, in the order of the system's devices */
};
struct ibnl_system {
	VEC(struct ibnl_made) made; /* the first one is the system itself */
	uint32_t nnodes;
};

struct ibnl_end {
	uint32_t node;
	uint64_t port;
	uint8_t width, speed; /* 0: not stated */
};

/* ---- reading ---- */

bool ibnl_is_header(struct nl_span line);	  /* SYSTEM or TOPSYSTEM */
int ibnl_line(struct import *im, struct ibnl *b); /* -EINVAL after a message */
void ibnl_end(struct ibnl *b); /* of a file: boards of others have nothing to do with these */
void ibnl_free(struct ibnl *b);
/* FAB_NONE: no file describes this type. */
uint32_t ibnl_top_find(const struct ibnl *b, struct nl_span type);

/* ---- systems ---- */

/* `cfg` is what follows CFG: in a plan, as "leaf1=R,leaf2=12x"; R: this board is left out. */
int ibnl_make(struct import *im, const struct ibnl *b, uint32_t top, struct nl_span cfg,
	      struct ibnl_system *out);
void ibnl_system_free(struct ibnl_system *s);
/* "leaf1/U1" */
void ibnl_name(const struct ibnl *b, const struct ibnl_system *s, uint32_t made,
	       struct strbuf *out);
/* The port behind a connector of instance `made` (0: of the system); false: there is none. */
bool ibnl_resolve(const struct ibnl *b, const struct ibnl_system *s, uint32_t made,
		  struct nl_span port, struct ibnl_end *out);
/* The n-th link inside the system; false: this pin has none. There are as many as pins in all instances. */
bool ibnl_link(const struct ibnl *b, const struct ibnl_system *s, uint32_t board_made, uint32_t pin,
	       struct ibnl_end *from, struct ibnl_end *to);

#endif
