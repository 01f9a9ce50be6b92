/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node lines of a netlist and the ids that nodes have. State: struct nl; the ways in are
 * nl_node_line() and nl_take_id(). Does not read port lines.
 */
#include "fabric/netlist_priv.h"
#include "base/rng.h"

/* ---- ids ---- */

static uint64_t text_hash(const char *s, size_t n)
{
	uint64_t h = n;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, 8);
		h = hash64_add(h, w);
	}
	for (; n; s++, n--)
		h = hash64_add(h, (unsigned char)*s);
	return h;
}

/* The number of a text id; the module's prefix belongs to it unless it names a module itself. */
static uint32_t intern(struct nl *l, struct nl_span id)
{
	uint32_t at = (uint32_t)l->sym_text.len, sym;
	const char *text;
	uint64_t h;

	if (l->module.n && !memchr(id.s, '#', id.n)) {
		strbuf_addn(&l->sym_text, l->module.s, l->module.n);
		strbuf_add(&l->sym_text, "#");
	}
	strbuf_addn(&l->sym_text, id.s, id.n);
	strbuf_addn(&l->sym_text, "", 1);
	text = l->sym_text.s + at;
	for (h = text_hash(text, strlen(text));; h++) {
		sym = map64_get(&l->sym_map, h);
		if (sym == MAP_NONE)
			break;
		if (!strcmp(l->sym_text.s + l->syms.at[sym], text)) {
			l->sym_text.len = at;
			return sym;
		}
	}
	sym = (uint32_t)l->syms.n;
	map64_put(&l->sym_map, h, sym);
	vec_push(&l->syms, at);
	vec_push(&l->sym_node, FAB_NONE);
	return sym;
}

/* S-, H- or R- and 16 digits, as ibnetdiscover writes ids. GUID 0 names no node. */
static bool take_guid_id(struct nl *l, struct nl_id *id)
{
	const char *s = l->at + 2;
	unsigned len;
	uint64_t v;

	if (l->end - l->at < 18 || l->at[1] != '-' || !memchr("SHRshr", *l->at, 6))
		return false;
	if (!nl_take_hex(&s, l->end, &v) || s != l->at + 18 || !v)
		return false;
	if (s < l->end && !nl_space_at(s, l->end) && !memchr("[(#", *s, 3) &&
	    !nl_quote_at(s, l->end, &len))
		return false;
	*id = (struct nl_id){.guid = v, .sym = FAB_NONE, .letter = (char)(*l->at & ~0x20)};
	l->at = s;
	return true;
}

int nl_take_id(struct nl *l, struct nl_id *id)
{
	struct nl_span text;
	unsigned len;
	enum nl_quote open;
	const char *start, *close;

	nl_skip_space(l);
	start = l->at;
	open = nl_quote_at(l->at, l->end, &len);
	if (open)
		l->at += len;
	if (take_guid_id(l, id)) {
		if (nl_quote_at(l->at, l->end, &len))
			l->at += len;
		return 0;
	}
	text.s = l->at;
	if (open) {
		close = nl_quote_find(l->at, l->end, open, false, &len);
		if (!close)
			return nl_fail_found(l, "a second one", "one quotation mark around the id");
		l->at = close + len;
	} else {
		while (l->at < l->end && !nl_space_at(l->at, l->end) &&
		       !memchr("[]()#=", *l->at, 6) && !nl_quote_at(l->at, l->end, &len))
			l->at++;
		close = l->at;
	}
	text.n = (size_t)(close - text.s);
	if (!text.n)
		l->at = start; /* show the marks with nothing between them */
	if (!text.n)
		return nl_fail(l, "a node's id like \"S-0002000000000001\"");
	*id = (struct nl_id){.sym = intern(l, text)};
	return 0;
}

uint32_t nl_find(const struct nl *l, const struct nl_id *id)
{
	return id->guid ? map64_get(&l->by_guid, id->guid) : l->sym_node.at[id->sym];
}

/* ---- node lines ---- */

static const char *const type_words[] = {"", "Ca", "Switch", "Rt"};

/* Where "base port 0 ..." begins, searched from the end because a name may say anything. */
static const char *port0_phrase(const char *s, const char *end)
{
	static const char *const phrases[] = {"base port 0", "enhanced port 0"};

	for (const char *t = end; t-- > s;)
		for (size_t i = 0; (*t == 'b' || *t == 'e') && i < ARRAY_LEN(phrases); i++)
			if ((size_t)(end - t) >= strlen(phrases[i]) &&
			    !memcmp(t, phrases[i], strlen(phrases[i])))
				return t;
	return end;
}

static struct nl_span trimmed(const char *s, const char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct nl_span){s, (size_t)(end - s)};
}

/* `# "name" enhanced port 0 lid 5 lmc 0`: the name runs to the last mark of the line, so it may
 * hold any character; where marks are missing it runs to the phrase about port 0. */
static int node_comment(struct nl *l, struct nl_node *n)
{
	struct nl_facts f = {0};
	const char *tail = NULL;
	enum nl_quote open;
	unsigned len, close_len = 0;

	nl_skip_space(l);
	if (l->at == l->end)
		return 0;
	if (!nl_take(l, '#') && !nl_quote_at(l->at, l->end, &len))
		return nl_fail(l, "a comment or the end of the line");
	nl_skip_space(l);
	open = nl_quote_at(l->at, l->end, &len);
	if (open) {
		l->at += len;
		tail = nl_quote_find(l->at, l->end, open, true, &close_len);
	}
	if (tail) {
		n->name = (struct nl_span){l->at, (size_t)(tail - l->at)};
	} else {
		tail = n->type == IBA_NODE_SWITCH ? port0_phrase(l->at, l->end) : l->end;
		n->name = trimmed(l->at, tail);
	}
	n->has_name = open || n->name.n;
	if (n->type != IBA_NODE_SWITCH)
		return 0;
	nl_scan_facts(tail + close_len, l->end, &f);
	n->has_lid = nl_lid_of(l, &f, &n->lid);
	n->lmc = nl_lmc_of(l, &f);
	n->flags = f.enhanced ? FAB_ENHANCED_PORT0 : 0;
	return 0;
}

/* The assignments above a node line are about it. */
static void apply_pending(struct nl *l, struct nl_node *n)
{
	const struct nl_pending *p = &l->pending;
	bool fits = p->type == n->type && (!n->id.guid || n->id.guid == p->guid);

	n->guid = n->id.guid ? n->id.guid : fits ? p->guid : 0;
	if (p->type && !fits)
		nl_warn(l, p->line,
			"GUID 0x%016llx is not that of the %s of line %u; it is ignored",
			(unsigned long long)p->guid, type_words[n->type], l->line);
	n->sys_guid = p->sys_guid;
	n->has_sys_guid = p->has_sys_guid;
	n->port0_guid = p->port0_guid;
	n->has_port0_guid = fits && p->has_port0_guid && n->type == IBA_NODE_SWITCH;
	n->vendor_id = p->vendor_id;
	n->device_id = p->device_id;
	n->sriov = p->sriov;
	n->vfs = p->vfs;
	n->sriov_line = p->sriov_line;
	n->caps_line = p->caps_line;
	memcpy(n->caps, p->caps, sizeof(n->caps));
	/* Like ibsim: following nodes that are named by text count on from a GUID given once. */
	if (fits && !n->id.guid)
		l->next_guid[n->type] = p->guid + (n->type == IBA_NODE_SWITCH ? 1 : n->nports + 1u);
	l->pending = (struct nl_pending){0};
}

/* The same node once more: the first line counts, the second one adds what the first does not
 * state. */
static int node_again(struct nl *l, uint32_t at, const struct nl_node *n)
{
	struct nl_node *first = &l->nodes.at[at];
	char expected[96];

	if (first->type != n->type || first->nports != n->nports) {
		snprintf(expected, sizeof(expected), "%s with %u ports as in line %u",
			 type_words[first->type], first->nports, first->line);
		return nl_fail_found(l, expected, "the same node as %s with %u ports",
				     type_words[n->type], n->nports);
	}
	nl_warn(l, l->line, "the node of line %u is defined once more; both are taken as one",
		first->line);
	if (!first->has_name) {
		first->name = n->name;
		first->has_name = n->has_name;
	}
	if (!first->sriov) {
		first->sriov = n->sriov;
		first->vfs = n->vfs;
		first->sriov_line = n->sriov_line;
	}
	if (!first->caps_line) {
		first->caps_line = n->caps_line;
		memcpy(first->caps, n->caps, sizeof(first->caps));
	}
	if (!first->has_lid && n->has_lid) {
		first->lid = n->lid;
		first->lmc = n->lmc;
		first->has_lid = true;
	}
	return 0;
}

static int node_new(struct nl *l, struct nl_node *n)
{
	uint32_t at = (uint32_t)l->nodes.n;
	uint32_t other = n->guid ? map64_get(&l->by_guid, n->guid) : MAP_NONE;
	char expected[64];

	if (other != MAP_NONE && !n->id.guid) {
		nl_warn(l, l->line,
			"GUID 0x%016llx is that of the node of line %u, too; both are kept",
			(unsigned long long)n->guid, l->nodes.at[other].line);
	} else if (other != MAP_NONE) {
		snprintf(expected, sizeof(expected), "another than the node of line %u has",
			 l->nodes.at[other].line);
		return nl_fail_found(l, expected, "GUID 0x%016llx", (unsigned long long)n->guid);
	}
	if (!n->guid) {
		n->guid_wish = l->next_guid[n->type];
		l->next_guid[n->type] += n->type == IBA_NODE_SWITCH ? 1 : n->nports + 1u;
	}
	l->nslots += n->nports + 1u;
	if (l->nslots > NL_MAX_SLOTS)
		return nl_fail_found(l, "fewer", "more than %u ports in all", NL_MAX_SLOTS);
	if (n->guid && other == MAP_NONE)
		map64_put(&l->by_guid, n->guid, at);
	if (!n->id.guid)
		l->sym_node.at[n->id.sym] = at;
	vec_push(&l->nodes, *n);
	return 0;
}

int nl_node_line(struct nl *l, int type)
{
	struct nl_node n = {.line = l->line, .type = (uint8_t)type};
	const char *start;
	uint64_t nports;
	uint32_t first;
	int rc;

	nl_skip_space(l);
	start = l->at;
	if (!nl_take_dec(&l->at, l->end, &nports))
		return nl_fail(l, "the number of ports");
	if (nports > 254)
		return nl_fail_found(l, "at most 254", "%.*s ports", nl_shown(start, l->at), start);
	n.nports = (uint8_t)nports;
	if ((rc = nl_take_id(l, &n.id)) || (rc = node_comment(l, &n)))
		return rc;
	apply_pending(l, &n);
	first = nl_find(l, &n.id);
	if (first != FAB_NONE && l->nodes.at[first].id.guid == n.id.guid)
		rc = node_again(l, first, &n);
	else
		rc = node_new(l, &n);
	l->node = first != FAB_NONE ? first : (uint32_t)l->nodes.n - 1;
	if (!rc)
		nl_vfs_apply(l, l->node);
	return rc;
}
