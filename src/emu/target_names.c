/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of nodes and ports, to ids and back. Keeps no state. Way in: names_target(). Does not know
 * what is linked.
 */
#include "emu/target_names.h"

int names_target(const struct fab *f, const struct line_word *w, enum names_want want,
		 struct target *t, struct err *e)
{
	node_id n = fab_node_by_text(f, w->text);
	struct names_buf b;
	int first;

	if (n == FAB_NONE)
		return err_set(e, -EINVAL, "expected a node of the netlist, found '%.60s'",
			       w->text);
	first = fab_is_switch(f, n) ? 0 : 1;
	if (want == NAMES_PORT && w->port < 0)
		return err_set(e, -EINVAL, "expected a port in brackets after %s",
			       names_node(f, n, &b));
	if (want == NAMES_NODE && w->port >= 0)
		return err_set(e, -EINVAL, "expected a whole node, found port %d of %s", w->port,
			       names_node(f, n, &b));
	if (w->port >= 0 && (w->port < first || w->port > f->nodes[n].nports))
		return err_set(e, -EINVAL, "%s has ports %d to %u, found %d", names_node(f, n, &b),
			       first, f->nodes[n].nports, w->port);
	*t = (struct target){n, w->port};
	return 0;
}

const char *names_node(const struct fab *f, node_id n, struct names_buf *b)
{
	char ident[32];

	fab_node_ident(f, n, ident);
	snprintf(b->s, sizeof(b->s), "\"%s\"", ident);
	return b->s;
}

const char *names_port(const struct fab *f, port_id p, struct names_buf *b)
{
	char ident[32];

	fab_node_ident(f, f->ports[p].node, ident);
	snprintf(b->s, sizeof(b->s), "\"%s\"[%u]", ident, f->ports[p].num);
	return b->s;
}
