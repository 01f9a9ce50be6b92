/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the netlist text of ibnetdiscover and ibsim: one pass over the lines, a cursor (at, end) in
 * struct nl, statements collected in order. Ways in: fab_netlist_parse() and fab_netlist_load().
 * Node and port lines are read by netlist_nodes.c and netlist_ports.c; netlist_build.c makes the
 * snapshot. Does not write.
 */
#include "fabric/import.h"

#include <strings.h>

/* ---- assignments and the rest ---- */

enum assignment {
	SET_VENDOR,
	SET_DEVICE,
	SET_SYSTEM,
	SET_SWITCH,
	SET_CA,
	SET_ROUTER,
	SET_WIDTH,
	SET_SPEED,
	SET_SPEED_EXT,
	SET_NOTHING,
};

int nl_line_ends(struct nl *l)
{
	nl_skip_space(l);
	return l->at == l->end || *l->at == '#' ? 0
						: nl_fail(l, "a comment or the end of the line");
}

static int take_value(struct nl *l, bool hex, uint64_t max, uint64_t *v)
{
	const char *start;
	char expected[64];
	bool ok;

	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	start = l->at;
	hex = hex || (l->end - l->at > 2 && l->at[0] == '0' && (l->at[1] | 0x20) == 'x');
	ok = hex ? nl_take_hex(&l->at, l->end, v) : nl_take_dec(&l->at, l->end, v);
	if (!ok)
		return nl_fail(l, hex ? "a number of up to 16 hexadecimal digits" : "a number");
	if (*v <= max)
		return 0;
	snprintf(expected, sizeof(expected), hex ? "at most 0x%llx" : "at most %llu",
		 (unsigned long long)max);
	return nl_fail_found(l, expected, "%.*s", nl_shown(start, l->at), start);
}

static int assign_guid(struct nl *l, int type)
{
	struct nl_pending *p = &l->pending;
	int rc = take_value(l, true, UINT64_MAX, &p->guid);

	if (rc)
		return rc;
	p->line = l->line;
	p->type = p->guid ? (uint8_t)type : 0;
	if ((rc = nl_take_port_extras(l, &p->port0_guid, &p->has_port0_guid)))
		return rc;
	return nl_line_ends(l);
}

static int assign(struct nl *l, int what)
{
	static const uint64_t max[] = {
		[SET_VENDOR] = UINT32_MAX, [SET_DEVICE] = UINT16_MAX, [SET_SYSTEM] = UINT64_MAX,
		[SET_WIDTH] = 31,	   [SET_SPEED] = 15,	      [SET_SPEED_EXT] = 31,
		[SET_NOTHING] = UINT64_MAX};
	uint64_t v;
	int rc;

	if (what <= SET_ROUTER)
		l->node =
			FAB_NONE; /* ports after a lost node line must not go to the previous node */
	if (what >= SET_SWITCH && what <= SET_ROUTER)
		return assign_guid(l, what == SET_CA	   ? IBA_NODE_CA
				      : what == SET_SWITCH ? IBA_NODE_SWITCH
							   : IBA_NODE_ROUTER);
	if ((rc = take_value(l, what == SET_SYSTEM, max[what], &v)))
		return rc;
	if (what == SET_VENDOR)
		l->pending.vendor_id = (uint32_t)v;
	else if (what == SET_DEVICE)
		l->pending.device_id = (uint16_t)v;
	else if (what == SET_WIDTH)
		l->width = nl_mask_width(v);
	else if (what == SET_SPEED)
		l->speed = nl_mask_speed(v);
	else if (what == SET_SPEED_EXT)
		l->speed = nl_mask_speed_ext(v) ? nl_mask_speed_ext(v) : l->speed;
	else if (what == SET_SYSTEM) {
		l->pending.sys_guid = v;
		l->pending.has_sys_guid = true;
	}
	return nl_line_ends(l);
}

static int module_line(struct nl *l, int arg UNUSED)
{
	const char *close;
	unsigned len;

	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	if (!nl_quote_at(l->at, l->end, &len))
		return nl_fail(l, "a name in quotes");
	l->at += len;
	close = nl_quote_find(l->at, l->end, nl_quote_at(l->at - len, l->end, &len), false, &len);
	if (!close)
		return nl_fail_found(l, "a second one", "one quotation mark around the name");
	l->module = (struct nl_span){l->at, (size_t)(close - l->at)};
	l->at = close + len;
	return nl_line_ends(l);
}

static int include_line(struct nl *l, int arg UNUSED)
{
	return nl_fail_found(l, "the whole fabric in one file", "an include line");
}

static int command_line(struct nl *l, int arg UNUSED)
{
	struct strbuf b = {0};

	nl_skip_space(l);
	strbuf_add(&b, "");
	nl_printable(&b, l->at, (size_t)(l->end - l->at), 60);
	nl_warn(l, l->line, "the ibsim command '%s' is not carried out", b.s);
	strbuf_free(&b);
	return 0;
}

static const struct keyword {
	const char *word;
	int (*parse)(struct nl *l, int arg);
	int arg;
} keywords[] = {
	{"Switch", nl_node_line, IBA_NODE_SWITCH},
	{"Ca", nl_node_line, IBA_NODE_CA},
	{"Hca", nl_node_line, IBA_NODE_CA},
	{"Rt", nl_node_line, IBA_NODE_ROUTER},
	{"Router", nl_node_line, IBA_NODE_ROUTER},
	{"vendid", assign, SET_VENDOR},
	{"devid", assign, SET_DEVICE},
	{"sysimgguid", assign, SET_SYSTEM},
	{"switchguid", assign, SET_SWITCH},
	{"switchguids", assign, SET_SWITCH},
	{"caguid", assign, SET_CA},
	{"hcaguid", assign, SET_CA},
	{"hcaguids", assign, SET_CA},
	{"rtguid", assign, SET_ROUTER},
	{"sriov", nl_sriov_line, 0},
	{"vf", nl_vf_line, 0},
	{"linearcap", nl_cap_line, NL_LINEAR_CAP},
	{"randomcap", nl_cap_line, NL_RANDOM_CAP},
	{"mcastcap", nl_cap_line, NL_MCAST_CAP},
	{"numports", assign, SET_NOTHING},
	{"width", assign, SET_WIDTH},
	{"speed", assign, SET_SPEED},
	{"extspeed", assign, SET_SPEED_EXT},
	{"pdebug", assign, SET_NOTHING},
	{"module", module_line, 0},
	{"include", include_line, 0},
	{"do", command_line, 0},
};

/* Lines that the tools print around the topology, with or without a '#'. */
static bool is_banner(const struct nl *l)
{
	static const char *const banners[] = {
		"Chassis ",   "Non-Chassis Nodes", "Topology file", "Max of ", "Initiated from",
		"Total MADs", "Reported max hops", "Hostname:",	    "ibwarn:", "ibdebug:"};

	for (size_t i = 0; i < ARRAY_LEN(banners); i++)
		if ((size_t)(l->end - l->at) >= strlen(banners[i]) &&
		    !strncasecmp(l->at, banners[i], strlen(banners[i])))
			return true;
	return false;
}

/* `src/query_smp.c:199; umad (DR path ...) bad status 110; Connection timed out`: what the tool
 * printed on standard error, in a file that caught both. */
static bool is_complaint(const struct nl *l)
{
	const char *s = memmem(l->at, (size_t)(l->end - l->at), ".c:", 3);
	uint64_t v;

	if (!s || memchr(l->at, ' ', (size_t)(s - l->at)))
		return false;
	s += 3;
	return nl_take_dec(&s, l->end, &v) && s < l->end && *s == ';';
}

/* A node that did not respond may be missing from the file: warn. */
static int complaint_line(struct nl *l)
{
	struct strbuf b = {0};

	nl_printable(&b, l->at, (size_t)(l->end - l->at), 160);
	nl_warn(l, l->line,
		"the tool that wrote the file reported an error, nodes may be missing: %s", b.s);
	strbuf_free(&b);
	return 0;
}

/* A capture may begin with lines of a terminal's log: a header, a prompt, a login message. The
 * first node decides that they are skipped; a file without a node is refused. */
static int preamble_line(struct nl *l)
{
	if (!l->preamble_lines++) {
		l->preamble = (struct nl_span){l->at, (size_t)(l->end - l->at)};
		l->preamble_line = l->line;
	}
	return 0;
}

static int unknown_line(struct nl *l)
{
	if (!l->begun)
		return preamble_line(l);
	if (*l->at == '@')
		return nl_fail(l, "a port without an alias");
	return nl_fail(l, "a node, a port, an assignment or a comment");
}

/* The first statement: the lines before it are not part of the netlist. */
static void begin(struct nl *l)
{
	struct strbuf b = {0};

	if (!l->begun && l->preamble_lines) {
		nl_printable(&b, l->preamble.s, l->preamble.n, 60);
		nl_warn(l, l->preamble_line, "%u %s before the first node skipped: %s",
			l->preamble_lines, l->preamble_lines > 1 ? "lines" : "line", b.s);
		strbuf_free(&b);
	}
	l->begun = true;
}

/* Not a prompt like "[root@host ~]#". */
static bool is_port_line(const struct nl *l)
{
	const char *s = l->at + 1;

	while (s < l->end && *s == ' ')
		s++;
	return *l->at == '[' && (l->begun || (s < l->end && nl_is_digit(*s)));
}

static int parse_line(struct nl *l)
{
	struct nl_span w;

	nl_skip_space(l);
	if (l->at == l->end)
		return 0;
	if (*l->at == '#')
		return nl_comment_line(l);
	if (is_port_line(l))
		return nl_port_line(l);
	for (w = (struct nl_span){l->at, 0}; w.s + w.n < l->end && nl_is_alpha(w.s[w.n]); w.n++)
		;
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (nl_word_is(w, keywords[i].word)) {
			begin(l);
			l->at += w.n;
			return keywords[i].parse(l, keywords[i].arg);
		}
	if (is_banner(l))
		return 0;
	if (is_complaint(l))
		return complaint_line(l);
	return unknown_line(l);
}

/* Nothing in the file is a node. */
static int no_node(struct nl *l)
{
	if (!l->preamble_lines)
		return nl_fail_found(l, "a Switch, Ca or Rt line", "no node in the file");
	l->line = l->preamble_line;
	l->at = l->preamble.s;
	l->end = l->at + l->preamble.n;
	return nl_fail(l, "a node, a port, an assignment or a comment");
}

static int parse_text(struct nl *l, const char *text, size_t len)
{
	const char *zero = len ? memchr(text, 0, len) : NULL, *end = text + len, *next;

	if (len > UINT32_MAX)
		return nl_fail_found(l, "at most 4 GiB", "%zu bytes", len);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (; text < end; text = next) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		int rc;

		l->line++;
		l->at = text;
		l->end = eol ? eol : end;
		next = eol ? eol + 1 : end;
		if (zero && zero >= text && zero < l->end)
			return nl_fail_found(l, "plain text", "a zero byte");
		while (l->end > l->at && l->end[-1] == '\r')
			l->end--;
		if ((rc = parse_line(l)))
			return rc;
	}
	if (l->pending.type)
		nl_warn(l, l->pending.line, "GUID 0x%016llx is not followed by its node",
			(unsigned long long)l->pending.guid);
	if (l->pending.sriov)
		nl_warn(l, l->pending.sriov_line, "sriov= is not followed by its node");
	if (l->vfs.n && l->vfs.at[l->vfs.n - 1].node == FAB_NONE)
		nl_warn(l, l->vfs.at[l->vfs.n - 1].line, "vf= is not followed by its node");
	l->line = MAX(l->line, 1u); /* of a file without any */
	return l->nodes.n ? 0 : no_node(l);
}

static void nl_free(struct nl *l)
{
	vec_free(&l->nodes);
	vec_free(&l->ends);
	vec_free(&l->vfs);
	vec_free(&l->syms);
	vec_free(&l->sym_node);
	strbuf_free(&l->sym_text);
	map64_free(&l->sym_map);
	map64_free(&l->by_guid);
}

int fab_netlist_parse(struct fab_netlist *out, const char *name, const char *text, size_t len,
		      struct err *e)
{
	struct nl l = {
		.file = name,
		.e = e,
		.node = FAB_NONE,
		.next_guid = {0, 0x100000, 0x200000, 0x300000}}; /* the first two as in ibsim */
	enum import_kind kind = import_recognise(text, len);
	int rc;

	if (kind != IMPORT_NONE)
		return import_parse(out, kind, name, text, len, e);
	rc = parse_text(&l, text, len);
	if (!rc)
		rc = nl_build(&l);
	nl_free(&l);
	if (rc)
		fab_netlist_free(&l.out);
	else
		*out = l.out;
	return rc;
}

int fab_netlist_load(struct fab_netlist *out, const char *path, struct err *e)
{
	enum import_kind kind;
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, e);

	if (rc)
		return rc;
	kind = import_recognise(text, len);
	if (kind != IMPORT_NONE)
		rc = import_load(out, kind, path, text, len, e);
	else
		rc = fab_netlist_parse(out, strcmp(path, "-") ? path : "standard input", text, len,
				       e);
	free(text);
	return rc;
}
