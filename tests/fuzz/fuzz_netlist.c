/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the netlist reader. Keeps no state. Way in: libFuzzer, or
 * replay.c over files. Does not judge the warnings' wording.
 *
 * Must hold for any bytes: no crash; a refusal has a message with file and line; what is accepted
 * has a sound snapshot, and write -> parse -> write gives the same text again without a warning. Its wire
 * view, where it has one, is sound; nothing is left to expand in it; folded it has the nodes it came from.
 */
#include "fabric/fabric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static void check_ports(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		MUST(q->node < f->nnodes && q->num <= f->nodes[q->node].nports);
		MUST(fab_port_id(f, q->node, q->num) == p);
		MUST(q->peer == FAB_NONE || (q->peer < f->nports && f->ports[q->peer].peer == p));
		MUST(q->peer != p && (q->num || q->peer == FAB_NONE));
		MUST(q->lid <= IBA_LID_MAX_UNICAST && q->lmc <= 7 && q->speed < FAB_NSPEEDS);
	}
}

static void check_nodes(const struct fab *f)
{
	MUST(f->nnodes == f->nswitches + f->nhosts + f->nrouters);
	for (node_id n = 0; n < f->nnodes; n++) {
		node_id first = fab_node_by_guid(f, f->nodes[n].guid);
		char ident[32];

		MUST(f->nodes[n].nports >= 1 && f->nodes[n].nports <= 254);
		/* Of nodes with one GUID the first is found by it, and each by its identifier. */
		MUST(first <= n && f->nodes[first].guid == f->nodes[n].guid);
		fab_node_ident(f, n, ident);
		MUST(fab_node_by_text(f, ident) == n);
	}
}

/* Nodes that share the GUID of an earlier one: the reader keeps them, and warns of each. */
static size_t twins(const struct fab *f)
{
	size_t n = 0;

	for (node_id i = 0; i < f->nnodes; i++)
		n += fab_node_by_guid(f, f->nodes[i].guid) != i;
	return n;
}

static void check_fixed_point(const struct fab *f)
{
	struct fab_netlist again = {0};
	struct strbuf first = {0}, second = {0};
	fab_diff_list diff = {0};
	struct err e = {0};

	fab_netlist_write(f, &first);
	MUST(!fab_netlist_parse(&again, "again", first.s, first.len, &e));
	MUST(again.warnings.n == twins(f));
	fab_diff(f, again.fab, &diff);
	MUST(diff.n == 0);
	fab_netlist_write(again.fab, &second);
	MUST(first.len == second.len && !memcmp(first.s, second.s, first.len));
	fab_diff_free(&diff);
	strbuf_free(&first);
	strbuf_free(&second);
	fab_netlist_free(&again);
}

static void check_virtual(const struct fab *f)
{
	struct fab *wire, *again, *folded;
	bool plain = true;
	struct err e;

	for (node_id n = 0; n < f->nnodes; n++)
		plain &= !(f->nodes[n].flags & (FAB_VSWITCH | FAB_FUNCTION));
	if (f->nnodes > 64 || !(wire = fab_wire(f, &e)))
		return;
	check_nodes(wire);
	check_ports(wire);
	again = fab_wire(wire, &e);
	MUST(again && again->nnodes == wire->nnodes && again->nlinks == wire->nlinks);
	folded = fab_fold(wire);
	check_nodes(folded);
	check_ports(folded);
	MUST(!plain || (folded->nnodes == f->nnodes && folded->nlinks == f->nlinks));
	fab_free(wire);
	fab_free(again);
	fab_free(folded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fab_netlist n = {0};
	struct err e = {0};
	int rc = fab_netlist_parse(&n, "in", (const char *)data, size, &e);

	if (rc) {
		MUST(rc == -EINVAL && !strncmp(e.text, "in:", 3) && strstr(e.text, "expected"));
		MUST(!n.fab && !n.warnings.n);
		return 0;
	}
	for (size_t i = 1; i < n.warnings.n; i++)
		MUST(n.warnings.at[i - 1].line <= n.warnings.at[i].line);
	check_nodes(n.fab);
	check_ports(n.fab);
	check_fixed_point(n.fab);
	check_virtual(n.fab);
	fab_netlist_free(&n);
	return 0;
}
