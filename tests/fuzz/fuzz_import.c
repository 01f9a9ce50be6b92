/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the readers of other tools' files. Keeps no state. Way in: libFuzzer, or replay.c over files. The first byte selects
 * the format, so that the fuzzer need not find out how one is recognised; fuzz_netlist.c goes through that.
 *
 * Must hold for any bytes: no crash; a refusal has a message with file, line and what was expected; what is accepted is a sound snapshot
 * that the netlist's writer and reader keep.
 */
#include "fabric/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static void check(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		MUST(q->node < f->nnodes && q->num <= f->nodes[q->node].nports);
		MUST(q->peer == FAB_NONE || (q->peer < f->nports && f->ports[q->peer].peer == p));
		MUST(q->peer != p && (q->num || q->peer == FAB_NONE));
		MUST(q->lid <= IBA_LID_MAX_UNICAST && q->lmc <= 7 && q->speed < FAB_NSPEEDS);
	}
}

static void check_kept(const struct fab *f)
{
	struct fab_netlist again = {0};
	struct strbuf text = {0};
	fab_diff_list diff = {0};
	struct err e = {0};

	fab_netlist_write(f, &text);
	MUST(!fab_netlist_parse(&again, "again", text.s, text.len, &e));
	fab_diff(f, again.fab, &diff);
	MUST(diff.n == 0);
	fab_diff_free(&diff);
	strbuf_free(&text);
	fab_netlist_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fab_netlist n = {0};
	struct err e = {0};
	enum import_kind kind;
	int rc;

	if (size < 2)
		return 0;
	kind = data[0] == 'l'	? IMPORT_LST
	       : data[0] == 'c' ? IMPORT_CSV
	       : data[0] == 'n' ? IMPORT_NET_DUMP
				: IMPORT_TOPO;
	rc = import_parse(&n, kind, "in", (const char *)data + 1, size - 1, &e);
	if (rc) {
		MUST(rc == -EINVAL && !strncmp(e.text, "in:", 3) && strstr(e.text, "expected"));
		MUST(!n.fab && !n.warnings.n);
		return 0;
	}
	for (size_t i = 1; i < n.warnings.n; i++)
		MUST(n.warnings.at[i - 1].line <= n.warnings.at[i].line);
	check(n.fab);
	if (n.fab->nnodes)
		check_kept(n.fab);
	fab_netlist_free(&n);
	return 0;
}
