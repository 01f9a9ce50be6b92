/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attribute line of an HCA with virtual functions: `sriov=vswitch vfs=16`, above its Ca line. State:
 * struct nl. Ways in: nl_sriov_line(), and nl_sriov_check() when the ports of all nodes are known. Plain
 * netlists of ibnetdiscover and ibsim do not have it.
 */
#include "fabric/netlist_priv.h"

const char *fab_sriov_name(unsigned sriov)
{
	static const char *const names[] = {"none", "vswitch", "shared"};

	return sriov < ARRAY_LEN(names) ? names[sriov] : "?";
}

static struct nl_span take_word(struct nl *l)
{
	struct nl_span w;

	nl_skip_space(l);
	for (w = (struct nl_span){l->at, 0}; l->at < l->end && nl_is_alpha(*l->at); l->at++)
		w.n++;
	return w;
}

static int take_mode(struct nl *l, uint8_t *sriov)
{
	struct nl_span w;

	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	w = take_word(l);
	for (*sriov = FAB_SRIOV_VSWITCH; *sriov <= FAB_SRIOV_SHARED; ++*sriov)
		if (nl_word_is(w, fab_sriov_name(*sriov)))
			return 0;
	l->at = w.s;
	return nl_fail(l, "vswitch or shared");
}

static int take_vfs(struct nl *l, uint8_t *vfs)
{
	struct nl_span w = take_word(l);
	char expected[32];
	const char *start;
	uint64_t v;

	if (!nl_word_is(w, "vfs")) {
		l->at = w.s;
		return nl_fail(l, "vfs= and a number");
	}
	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	start = l->at;
	if (!nl_take_dec(&l->at, l->end, &v))
		return nl_fail(l, "a number");
	if (!v || v > FAB_MAX_VFS) {
		snprintf(expected, sizeof(expected), "1 to %u", (unsigned)FAB_MAX_VFS);
		return nl_fail_found(l, expected, "%.*s VFs", nl_shown(start, l->at), start);
	}
	*vfs = (uint8_t)v;
	return 0;
}

int nl_sriov_line(struct nl *l, int arg UNUSED)
{
	struct nl_pending *p = &l->pending;
	int rc;

	l->node = FAB_NONE; /* as with the other lines above a node */
	p->sriov_line = l->line;
	if ((rc = take_mode(l, &p->sriov)) || (rc = take_vfs(l, &p->vfs)))
		return rc;
	return nl_line_ends(l);
}

int nl_sriov_check(struct nl *l)
{
	for (size_t i = 0; i < l->nodes.n; i++) {
		const struct nl_node *n = &l->nodes.at[i];

		if (!n->sriov || (n->type == IBA_NODE_CA && n->nports == 1))
			continue;
		l->line = n->sriov_line;
		if (n->type != IBA_NODE_CA)
			return nl_fail_found(l, "a Ca with one port", "sriov= above a %s",
					     n->type == IBA_NODE_SWITCH ? "Switch" : "Rt");
		return nl_fail_found(l, "a Ca with one port", "sriov= above a Ca with %u ports",
				     n->nports);
	}
	return 0;
}
