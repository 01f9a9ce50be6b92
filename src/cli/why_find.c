/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which device or cable the argument of `weft why` means. State: none. Way in: why_find(). A name may itself end like a port
 * ("leaf[3]", "rack:4"): the whole text is tried first.
 */
#include "cli/ctl.h"
#include "cli/why.h"

enum { READINGS = 3, NAMED_MOST = 4 };

/* One way to read the text. */
struct reading {
	char node[128];
	unsigned port;
};

/* "leaf0[3]": the cable at port 3. False: not written so. */
static bool with_brackets(const char *text, struct reading *r)
{
	const char *open = strrchr(text, '[');
	size_t len = strlen(text);
	char *end;

	if (!open || open == text || text[len - 1] != ']' || open - text >= (long)sizeof(r->node))
		return false;
	snprintf(r->node, sizeof(r->node), "%.*s", (int)(open - text), text);
	r->port = (unsigned)strtoul(open + 1, &end, 10);
	if (*end != ']' || r->port > 254)
		r->port = 0;
	return true;
}

/* "leaf0:3" as in `weft ctl counters`. */
static bool with_colon(const char *text, struct reading *r)
{
	const char *colon = strrchr(text, ':');
	uint64_t n;

	if (!colon || parse_u64(colon + 1, &n) || !n || n > 254 ||
	    colon - text >= (long)sizeof(r->node))
		return false;
	snprintf(r->node, sizeof(r->node), "%.*s", (int)(colon - text), text);
	r->port = (unsigned)n;
	return true;
}

static unsigned read_all(const char *text, struct reading r[READINGS])
{
	unsigned n = 1;

	snprintf(r[0].node, sizeof(r[0].node), "%s", text);
	r[0].port = 0;
	n += with_brackets(text, &r[n]);
	n += with_colon(text, &r[n]);
	return n;
}

static bool is_ok(const json_t *answer)
{
	return answer && json_is_true(json_object_get(answer, "ok"));
}

/* An id or GUID of a device that the manager does not have; 0: the text is a name. */
static uint64_t guid_of_text(const char *text)
{
	bool id = (*text == 'S' || *text == 'H' || *text == 'R') && text[1] == '-';
	const char *digits = id ? text + 2 : text;
	char *end;
	uint64_t guid = strtoull(digits, &end, 16);

	return *digits && !*end && *digits != '-' && *digits != '+' ? guid : 0;
}

static void take(struct why_page *p, const struct reading *r, const json_t *node)
{
	uint64_t guid = 0;

	snprintf(p->node, sizeof(p->node), "%s", r->node);
	p->port = r->port;
	if (node)
		parse_u64(ctl_text(node, "guid"), &guid);
	p->guid = node ? guid : guid_of_text(r->node);
	json_object_set_new(p->w, "present", json_boolean(node));
}

/* The nodes that have this name, as a sentence; NULL: not several. */
static char *several(const struct fab *f, const char *name)
{
	struct strbuf b = {0};
	unsigned count = 0;
	char id[32], *text = NULL;

	for (node_id n = 0; f && *name && n < f->nnodes; n++) {
		if (strcmp(fab_node_name(f, n), name))
			continue;
		fab_node_ident(f, n, id);
		if (count++ < NAMED_MOST)
			strbuf_addf(&b, "%s%s", b.len ? ", " : "", id);
	}
	if (count > 1 &&
	    asprintf(&text, "%u nodes have the name '%.80s': name one of them by its id: %s%s",
		     count, name, b.s, count > NAMED_MOST ? ", ..." : "") < 0)
		text = NULL;
	strbuf_free(&b);
	return text;
}

static int refuse_several(const struct why_page *p, const struct reading *r, unsigned n)
{
	struct fab *f = running_topology(p->from);
	char *text = NULL;

	if (!f) /* no subnet, so nothing is known to be missing in it; the reason is said */
		return CLI_BAD;
	for (unsigned i = 0; !text && i < n; i++)
		text = several(f, r[i].node);
	if (text)
		cli_bad("%s", text);
	free(text);
	fab_free(f);
	return text ? CLI_BAD : CLI_OK;
}

/* A virtual machine or function: the page is that of its host. */
static bool find_machine(struct why_page *p, const char *text, json_t **node, json_t **machine)
{
	json_t *m = running_ask_about(p->from, "memberships", "node", text), *host;

	if (is_ok(m)) {
		host = running_ask_about(p->from, "node", "node", ctl_text(m, "node"));
		if (is_ok(host)) {
			json_decref(*node);
			*node = host;
			*machine = m;
			take(p, &(struct reading){0}, host);
			snprintf(p->node, sizeof(p->node), "%s", ctl_text(m, "node"));
			return true;
		}
		json_decref(host);
	} else if (m && strcmp(ctl_text(m, "error"), ctl_text(*node, "error"))) {
		json_decref(*node); /* a machine that does not run */
		*node = json_incref(m);
	}
	json_decref(m);
	return false;
}

/* No device of the subnet: the reading that the manager's history knows, else the one with a port in brackets. */
static int take_absent(struct why_page *p, const char *asked, const struct reading *r, unsigned n,
		       const json_t *changes)
{
	for (unsigned i = 0; i < n; i++) {
		take(p, &r[i], NULL);
		if (why_had(p, changes))
			return CLI_OK;
	}
	n = n > 1 && r[1].node[strlen(r[1].node)] == 0 && strchr(asked, '[') ? 1 : 0;
	take(p, &r[n], NULL);
	if (n && !p->port)
		return cli_bad(
			"expected NODE or NODE[PORT] with a port from 1 to 254, found '%.60s'",
			asked);
	return CLI_OK;
}

int why_find(struct why_page *p, const char *asked, const json_t *changes, json_t **node,
	     json_t **machine)
{
	struct reading r[READINGS];
	unsigned n = read_all(asked, r), i;

	*node = *machine = NULL;
	for (i = 0; i < n; i++) {
		json_decref(*node);
		*node = running_ask_about(p->from, "node", "node", r[i].node);
		if (!*node)
			return CLI_BAD;
		if (is_ok(*node))
			break;
	}
	if (i < n && strcmp(r[i].node, asked) && !r[i].port)
		return cli_bad(
			"expected NODE or NODE[PORT] with a port from 1 to 254, found '%.60s'",
			asked);
	if (i < n) {
		take(p, &r[i], *node);
		return CLI_OK;
	}
	if (find_machine(p, asked, node, machine))
		return CLI_OK;
	return refuse_several(p, r, n) ? CLI_BAD : take_absent(p, asked, r, n, changes);
}
