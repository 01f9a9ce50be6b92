/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attribute lines of an HCA with virtual functions, above its Ca line: `sriov=vswitch vfs=16`, and for each
 * function that has a LID `vf=1 lid=15`, with `guid=0x...` where that is not the function's own; and those of a switch whose tables have sizes
 * of their own: `linearcap=1024`, `randomcap=512` (a random forwarding table and no linear one), `mcastcap=256`. State:
 * struct nl. Ways in: nl_sriov_line(), nl_vf_line(), nl_cap_line(), and nl_sriov_check() and nl_caps_check() when the ports of all
 * nodes are known. Plain netlists of ibnetdiscover and ibsim do not have these lines.
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

/* "= 16"; the digits are at *digits. */
static int take_number(struct nl *l, const char **digits, uint64_t *v)
{
	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	*digits = l->at;
	return nl_take_dec(&l->at, l->end, v) ? 0 : nl_fail(l, "a number");
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
	if (take_number(l, &start, &v))
		return -EINVAL;
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

/* ---- LIDs of functions ---- */

static int take_guid(struct nl *l, uint64_t *guid)
{
	struct nl_span w = take_word(l);

	if (!w.n)
		return 0;
	if (!nl_word_is(w, "guid")) {
		l->at = w.s;
		return nl_fail(l, "guid= and a GUID");
	}
	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	if (!nl_take_hex(&l->at, l->end, guid))
		return nl_fail(l, "a GUID");
	return *guid ? 0 : nl_fail_found(l, "another one", "GUID 0");
}

static int take_lid(struct nl *l, uint16_t *lid)
{
	struct nl_span w = take_word(l);
	char expected[32];
	const char *start;
	uint64_t v;

	if (!nl_word_is(w, "lid")) {
		l->at = w.s;
		return nl_fail(l, "lid= and a LID");
	}
	if (take_number(l, &start, &v))
		return -EINVAL;
	if (!v || v > IBA_LID_MAX_UNICAST) {
		snprintf(expected, sizeof(expected), "1 to %u", (unsigned)IBA_LID_MAX_UNICAST);
		return nl_fail_found(l, expected, "LID %.*s", nl_shown(start, l->at), start);
	}
	*lid = (uint16_t)v;
	return 0;
}

int nl_vf_line(struct nl *l, int arg UNUSED)
{
	struct nl_vf v = {.line = l->line, .node = FAB_NONE};
	const char *start;
	uint64_t slot;

	l->node = FAB_NONE;
	if (take_number(l, &start, &slot))
		return -EINVAL;
	if (slot > FAB_MAX_VFS)
		return nl_fail_found(l, "one of those that sriov= states", "VF %.*s",
				     nl_shown(start, l->at), start);
	v.slot = (uint8_t)slot;
	if (take_lid(l, &v.lid) || take_guid(l, &v.guid))
		return -EINVAL;
	vec_push(&l->vfs, v);
	return nl_line_ends(l);
}

/* Of a node that is defined twice the first lines count. */
void nl_vfs_apply(struct nl *l, uint32_t node)
{
	struct nl_node *n = &l->nodes.at[node];
	size_t first = l->vfs.n;

	while (first && l->vfs.at[first - 1].node == FAB_NONE)
		l->vfs.at[--first].node = node;
	if (first < l->vfs.n && n->has_vfs)
		l->vfs.n = first;
	n->has_vfs |= first < l->vfs.n;
}

/* Lines about one HCA stand together. */
static int check_vf(struct nl *l, size_t i)
{
	const struct nl_vf *v = &l->vfs.at[i];
	const struct nl_node *n;

	if (v->node == FAB_NONE)
		return 0;
	n = &l->nodes.at[v->node];
	l->line = v->line;
	if (n->sriov != FAB_SRIOV_VSWITCH)
		return nl_fail_found(l, "sriov=vswitch above it", "vf=%u", v->slot);
	if (v->slot > n->vfs)
		return nl_fail_found(l, "one of those that sriov= states", "VF %u", v->slot);
	for (size_t k = i; k && l->vfs.at[k - 1].node == v->node; k--)
		if (l->vfs.at[k - 1].slot == v->slot)
			return nl_fail_found(l, "each VF once", "VF %u again", v->slot);
	return 0;
}

int nl_sriov_check(struct nl *l)
{
	for (size_t i = 0; i < l->vfs.n; i++)
		if (check_vf(l, i))
			return -EINVAL;
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

/* ---- sizes of tables ---- */

static const struct {
	const char *word;
	uint32_t max;
} caps[NL_NCAPS] = {
	[NL_LINEAR_CAP] = {"linearcap", IBA_LID_MAX_UNICAST + 1},
	[NL_RANDOM_CAP] = {"randomcap", UINT16_MAX},
	[NL_MCAST_CAP] = {"mcastcap", FAB_MCAST_MAX},
};

int nl_cap_line(struct nl *l, int which)
{
	char expected[32];
	const char *start;
	uint64_t v;

	l->node = FAB_NONE; /* as with the other lines above a node */
	if (take_number(l, &start, &v))
		return -EINVAL;
	if (!v || v > caps[which].max) {
		snprintf(expected, sizeof(expected), "1 to %u", caps[which].max);
		return nl_fail_found(l, expected, "%.*s entries", nl_shown(start, l->at), start);
	}
	l->pending.caps[which] = (uint16_t)v;
	l->pending.caps_line = l->line;
	return nl_line_ends(l);
}

int nl_caps_check(struct nl *l)
{
	for (size_t i = 0; i < l->nodes.n; i++) {
		const struct nl_node *n = &l->nodes.at[i];
		unsigned k = 0;

		if (!n->caps_line)
			continue;
		while (!n->caps[k])
			k++;
		l->line = n->caps_line;
		if (n->type != IBA_NODE_SWITCH)
			return nl_fail_found(l, "a Switch", "%s= above a %s", caps[k].word,
					     n->type == IBA_NODE_CA ? "Ca" : "Rt");
		if (n->caps[NL_LINEAR_CAP] && n->caps[NL_RANDOM_CAP])
			return nl_fail_found(l, "one of them", "linearcap= and randomcap=");
	}
	return 0;
}
