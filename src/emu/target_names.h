/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes and ports as people write them, and back: an id of the netlist (S-0002000000000002), a
 * name, a GUID in hexadecimal; followed by [13], one port.
 */
#ifndef WEFT_EMU_NAMES_H
#define WEFT_EMU_NAMES_H

#include "emu/command_line.h"
#include "fabric/fabric.h"

struct target {
	node_id node;
	int port; /* -1: the whole node */
};

enum names_want { NAMES_ANY, NAMES_PORT, NAMES_NODE };

/* 0, or -EINVAL with the node or port that does not exist in e. */
int names_target(const struct fab *f, const struct line_word *w, enum names_want want,
		 struct target *t, struct err *e);

/* "S-0002000000000002"[13] with quotes, as commands take it; without port for a whole node. */
struct names_buf {
	char s[48];
};
const char *names_node(const struct fab *f, node_id n, struct names_buf *b);
const char *names_port(const struct fab *f, port_id p, struct names_buf *b);

#endif
