/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the netlist's reader keeps between its two steps. netlist.c, netlist_nodes.c and
 * netlist_ports.c turn lines into statements about nodes and ports, in the order of the file;
 * netlist_build.c weighs the statements against each other and makes the snapshot. Spans point into
 * the caller's text, which must outlive both.
 */
#ifndef WEFT_NETLIST_PRIV_H
#define WEFT_NETLIST_PRIV_H

#include "fabric/fabric.h"

/* Port slots in one file, so that a short text cannot ask for all memory. */
#define NL_MAX_SLOTS (16u << 20)

struct nl_span {
	const char *s;
	size_t n;
};

/* How a node is named: by its GUID ("S-" and 16 digits), or by any text (ibsim allows that). */
struct nl_id {
	uint64_t guid; /* 0: called by text */
	uint32_t sym;  /* number of the text, FAB_NONE when named by GUID */
	char letter;   /* S, H or R as written */
};

/* Sizes of a switch's tables: linear, random, multicast. */
enum { NL_LINEAR_CAP, NL_RANDOM_CAP, NL_MCAST_CAP, NL_NCAPS };

struct nl_node {
	struct nl_id id;
	struct nl_span name;
	uint64_t guid;	    /* 0: to be made up */
	uint64_t guid_wish; /* in that case this one, or the next free one */
	uint64_t sys_guid, port0_guid;
	uint32_t line, vendor_id;
	uint16_t device_id, lid;
	uint8_t type, flags, lmc;
	uint8_t nports; /* as declared, then as many as are used */
	bool has_name, has_lid, has_sys_guid, has_port0_guid;
	uint8_t sriov, vfs;
	bool has_vfs; /* lines about VFs are known already */
	uint32_t sriov_line, caps_line;
	uint16_t caps[NL_NCAPS];
};

/* One port line: what it states about its own end and about the far end. */
struct nl_end {
	struct nl_id far_id;
	uint64_t guid, far_guid;
	uint32_t line, node;
	uint32_t far_node; /* FAB_NONE: not defined in this file */
	uint16_t lid, far_lid;
	uint32_t cable_cm;
	uint8_t num, far_num, lmc, width, speed;
	bool has_guid, has_far_guid, has_lid, has_far_lid;
	bool unlinked; /* our own note about a port without a cable */
};

/* The LID of a virtual function. */
struct nl_vf {
	uint64_t guid;
	uint32_t line, node; /* FAB_NONE: its node line has not come yet */
	uint16_t lid;
	uint8_t slot; /* 0: the PF */
};

/* Assignments that wait for the node line they belong to. */
struct nl_pending {
	uint64_t guid, port0_guid, sys_guid;
	uint32_t vendor_id, line; /* line of the GUID */
	uint16_t device_id;
	uint8_t type; /* which kind of node the GUID was for; 0: none given */
	bool has_port0_guid, has_sys_guid;
	uint8_t sriov, vfs;
	uint32_t sriov_line, caps_line;
	uint16_t caps[NL_NCAPS];
};

struct nl {
	const char *file;
	struct err *e;
	const char *at, *end; /* the rest of the current line */
	uint32_t line;
	uint32_t node; /* whose port lines these are, FAB_NONE before a node line */
	/* Lines before the first statement that are not netlist lines, as in the log of a
	 * terminal. */
	bool begun;
	struct nl_span preamble; /* the first of them */
	uint32_t preamble_line, preamble_lines;
	struct nl_pending pending;
	struct nl_span module; /* ibsim's prefix for text ids */
	uint8_t width, speed;  /* ibsim's defaults for the lines that follow */
	uint64_t next_guid[4]; /* by node type: for nodes called by text */
	uint64_t nslots;       /* port slots that the node lines ask for */
	VEC(struct nl_node) nodes;
	VEC(struct nl_end) ends;
	VEC(struct nl_vf) vfs;
	VEC(uint32_t) syms;	/* offsets into sym_text */
	VEC(uint32_t) sym_node; /* sym -> node, FAB_NONE */
	struct strbuf sym_text;
	struct map64 sym_map; /* hash of the text -> sym */
	struct map64 by_guid; /* -> node */
	struct fab_netlist out;
};

/* ---- netlist_lex.c ---- */

enum nl_quote { QUOTE_NONE, QUOTE_SINGLE, QUOTE_DOUBLE };

struct nl_facts {
	uint64_t lid, lmc;
	bool has_lid, has_lmc, enhanced;
	bool has_rate; /* a length is one only behind a rate: names may hold anything */
	uint32_t cable_cm;
	uint8_t width, speed;
	uint8_t mask_width, mask_speed; /* only where the plain rate is missing */
};

int nl_fail(struct nl *l, const char *expected);
int nl_fail_found(struct nl *l, const char *expected, const char *fmt, ...) PRINTF(3, 4);
bool nl_is_alpha(char c);
bool nl_is_digit(char c);
bool nl_lid_of(struct nl *l, const struct nl_facts *f, uint16_t *lid);
uint8_t nl_lmc_of(struct nl *l, const struct nl_facts *f);
uint8_t nl_mask_speed(uint64_t m);
uint8_t nl_mask_speed_ext(uint64_t m);
uint8_t nl_mask_width(uint64_t m);
enum nl_quote nl_quote_at(const char *s, const char *end, unsigned *len);
const char *nl_quote_find(const char *s, const char *end, enum nl_quote kind, bool last,
			  unsigned *len);
void nl_scan_facts(const char *s, const char *end, struct nl_facts *f);
void nl_scan_word(struct nl_span w, const char **at, const char *end, struct nl_facts *f);
int nl_shown(const char *start, const char *end);
void nl_skip_space(struct nl *l);
unsigned nl_space_at(const char *s, const char *end);
bool nl_take(struct nl *l, char c);
bool nl_take_dec(const char **at, const char *end, uint64_t *v);
bool nl_take_hex(const char **at, const char *end, uint64_t *v);
bool nl_word_is(struct nl_span w, const char *s);
/* What a device id or a name tells: aggregation nodes, parts of the wire view. */
uint8_t nl_node_flags(unsigned type, unsigned device_id, const char *name);

/* ---- netlist_nodes.c, netlist_ports.c ---- */

int nl_take_id(struct nl *l, struct nl_id *id);
int nl_node_line(struct nl *l, int type);
/* What may follow a port: (GUID), and [ext 3], the number on the chassis that `-g` shows. */
int nl_take_port_extras(struct nl *l, uint64_t *guid, bool *has_guid);
int nl_port_line(struct nl *l);
int nl_comment_line(struct nl *l);

/* ---- netlist_sriov.c ---- */

int nl_sriov_line(struct nl *l, int arg);
int nl_vf_line(struct nl *l, int arg);
void nl_vfs_apply(struct nl *l, uint32_t node); /* the lines so far belong to it */
int nl_sriov_check(struct nl *l);		/* after the ports are counted */
int nl_cap_line(struct nl *l, int which);
int nl_caps_check(struct nl *l);

/* ---- netlist.c, netlist_build.c ---- */

int nl_line_ends(struct nl *l); /* nothing but a comment follows */

uint32_t nl_find(const struct nl *l, const struct nl_id *id); /* FAB_NONE */
/* s as text for a message: control characters and bytes that are no UTF-8 become '?', and what
 * exceeds `limit` bytes "...". */
void nl_printable(struct strbuf *b, const char *s, size_t n, size_t limit);
void nl_warn(struct nl *l, uint32_t line, const char *fmt, ...) PRINTF(3, 4);
int nl_build(struct nl *l); /* sets out.fab, or fails with e filled */

#endif
