/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabrics from files of other tools, beside netlists: ibdiagnet's list of links (ibdiagnet.lst, opensm-subnet.lst), the tables of
 * ibdiagnet2 (ibdiagnet2.db_csv) and its list of switches (ibdiagnet2.net_dump), and ibutils' plans (.topo). fab_netlist_parse() recognises them by their first lines. Messages and
 * warnings are made as for netlists: struct nl has file, line and cursor.
 */
#ifndef WEFT_FABRIC_IMPORT_H
#define WEFT_FABRIC_IMPORT_H

#include "fabric/netlist_priv.h"

enum import_kind { IMPORT_NONE, IMPORT_LST, IMPORT_CSV, IMPORT_TOPO, IMPORT_NET_DUMP };

struct ibnl;

struct import {
	struct nl l;
	struct fab_builder *b;
	struct ibnl *systems;	 /* from .ibnl files; NULL: none was read */
	uint64_t slots;		 /* port slots so far */
	const char *text, *stop; /* what is not read yet */
};

enum import_kind import_recognise(const char *text, size_t len);
/* As fab_netlist_parse(). */
int import_parse(struct fab_netlist *out, enum import_kind kind, const char *name, const char *text,
		 size_t len, struct err *e);

/* With systems that .ibnl files describe. */
int import_parse_with(struct fab_netlist *out, enum import_kind kind, struct ibnl *systems,
		      const char *name, const char *text, size_t len, struct err *e);
/* The same for a file: of a plan (.topo), also the .ibnl files beside it and in the directories of $IBDM_IBNL_PATH. */
int import_load(struct fab_netlist *out, enum import_kind kind, const char *path, const char *text,
		size_t len, struct err *e);

/* ---- for the readers ---- */

int import_lst(struct import *im);
int import_csv(struct import *im);
int import_topo(struct import *im);
int import_net_dump(struct import *im);

/* Words up to a blank; "-4x-10G->", of which both may be missing: 0. */
struct nl_span import_word(struct nl *l);
bool import_span_same(struct nl_span a, struct nl_span b);
struct nl_span import_trimmed(struct nl_span w); /* without blanks around it */
int import_arrow(struct nl *l, uint8_t *width, uint8_t *speed);
int import_line_ends(struct nl *l);  /* a message, if something is left */
bool import_line(struct import *im); /* the next line into l.at and l.end; false: there is none */
struct import_node {
	uint64_t guid, sys_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t type;
	uint64_t nports;
	struct nl_span name;
};
/* Adds the node unless it is there. -EINVAL after a message. */
int import_node(struct import *im, const struct import_node *v, node_id *n);
struct import_end {
	node_id node;
	uint64_t port;
};
/* A link may be stated twice; of two that contradict, the first counts, with a warning. */
int import_link(struct import *im, struct import_end a, struct import_end b, unsigned width,
		unsigned speed);
/* Gb/s of a lane, as ibdiagnet writes it; FAB_SPEED_UNKNOWN */
unsigned import_speed(struct nl_span w);
/* A LID of a node at one of its ports; 0 is none. */
void import_lid(struct import *im, node_id n, uint64_t port, uint64_t lid, uint64_t lmc);

#endif
