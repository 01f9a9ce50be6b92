/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of subnet management on m-port n-trees of A. Vishnu et al. (OSU-CISRC-1/05-TR05), equations 1 to 10:
 * SMPs that OpenSM sends to bring a tree up, and the time of topology discovery (TD), path computation (PC) and
 * path distribution (PD), from those of one switch with eight hosts.
 *
 * The paper contradicts itself about S, the Set SMPs that a forwarding table takes: 1 + ceil(3 hosts / MTU) in
 * equation 7, without the 1 in equation 10, and IBA sends blocks of 64 LIDs. All three are computed.
 */
#ifndef WEFT_FATTREE_MODEL_H
#define WEFT_FATTREE_MODEL_H

#include "base/base.h"

struct fattree_reading {
	const char *name; /* "eq7", "eq10", "blocks" */
	uint64_t s;	  /* Sets for one table */
	uint64_t set_lft;
	double td_ms, pd_ms;
};

enum { FATTREE_READINGS = 3 };

struct fattree_model {
	unsigned m, n, mtu;
	uint64_t hosts, switches;
	uint64_t get, get_node_info, get_port_info, set_port_info;
	double pc_ms;
	struct fattree_reading readings[FATTREE_READINGS];
	/* As each equation is written: SMPs and td by equation 7, pd by equation 10. */
	uint64_t set_lft;
	double td_ms, pd_ms;
};

/* Times of one switch with eight hosts, ms: the model's column of Table 1. */
struct fattree_times {
	double td_ms, pc_ms, pd_ms;
};
extern const struct fattree_times fattree_table1; /* 10.6, 81.3, 0.36 */

/* m: even, 2 or more; n: 1 or more. 0, or -ERANGE with e: too large to count. */
int fattree_model(unsigned m, unsigned n, unsigned mtu, const struct fattree_times *t,
		  struct fattree_model *out, struct err *e);

/* set_lft, td_ms and pd_ms all by the reading of this name, one of readings[]. */
void fattree_model_read(struct fattree_model *f, const char *name);

#endif
