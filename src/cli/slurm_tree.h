/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric as the tree of switches that Slurm wants: leaves with nodes, then levels of merged switches.
 */
#ifndef WEFT_CLI_SLURM_TREE_H
#define WEFT_CLI_SLURM_TREE_H

#include "fabric/fabric.h"

struct slurm_switch {
	char name[80];
	bool leaf;
	struct strbuf below; /* nodes of a leaf, switches otherwise, separated by commas */
	unsigned count;	     /* of these */
	uint32_t top;	     /* position of the one above it; FAB_NONE: none */
};

struct slurm_tree {
	struct slurm_switch *at; /* leaves in the order of the fabric, then level by level */
	size_t n, cap;
	unsigned least; /* nodes of a leaf */
};

/* Of hosts with wanted[node], or of all with NULL. 0, or -EINVAL with e filled: there is no switch with such hosts, or a leaf has
 * the name of a level. */
int slurm_tree_find(const struct fab *f, const bool *wanted, struct slurm_tree *t, struct err *e);
void slurm_tree_free(struct slurm_tree *t);

#endif
