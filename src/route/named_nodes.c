/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes as users name them. State: struct rt_naming, read-only after rt_naming_init(). Ways in: those of named_nodes.h. Reads
 * no file.
 */
#include <fnmatch.h>

#include "route/named_nodes.h"
#include "route/quality.h"

void rt_naming_init(struct rt_naming *x, const struct fab *f,
		    const char *(*name)(const void *ctx, node_id n), const void *ctx)
{
	rt_hosts all = {0};

	*x = (struct rt_naming){.f = f, .name = name, .ctx = ctx};
	x->host = mem_zarray((size_t)f->nports + 1, sizeof(*x->host));
	rt_quality_hosts(f, &all);
	for (size_t i = 0; i < all.n; i++)
		x->host[all.at[i]] = true;
	vec_free(&all);
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && map64_get(&x->port, f->ports[p].guid) == MAP_NONE)
			map64_put(&x->port, f->ports[p].guid, p);
}

void rt_naming_free(struct rt_naming *x)
{
	map64_free(&x->port);
	free(x->host);
}

bool rt_guid_text(const char *text, uint64_t *guid)
{
	if (!strncmp(text, "0x", 2))
		text += 2;
	if (!*text || strlen(text) > 16 || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
		return false;
	*guid = strtoull(text, NULL, 16);
	return true;
}

static const char *name_of(const struct rt_naming *x, node_id n)
{
	return x->name ? x->name(x->ctx, n) : fab_node_name(x->f, n);
}

node_id rt_node_named(const struct rt_naming *x, const char *text)
{
	uint64_t guid;
	node_id n;
	port_id p;

	if (rt_guid_text(text, &guid)) {
		n = fab_node_by_guid(x->f, guid);
		p = map64_get(&x->port, guid);
		if (n != FAB_NONE || p != MAP_NONE || !strncmp(text, "0x", 2))
			return n != FAB_NONE ? n : p != MAP_NONE ? x->f->ports[p].node : FAB_NONE;
	}
	n = fab_node_by_text(x->f, text);
	for (node_id i = 0; n == FAB_NONE && x->name && i < x->f->nnodes; i++)
		if (!strcmp(name_of(x, i), text))
			n = i;
	return n;
}

bool rt_node_has_name(const struct rt_naming *x, node_id n, const char *text)
{
	return !strcmp(fab_node_name(x->f, n), text) || !strcmp(name_of(x, n), text);
}

/* ---- hosts ---- */

static size_t mark(const struct rt_naming *x, port_id p, bool *in)
{
	if (p == FAB_NONE || !x->host[p])
		return 0;
	in[p] = true;
	return 1;
}

/* The ports of a host, or those of hosts at a switch. */
static size_t mark_node(const struct rt_naming *x, node_id n, bool *in)
{
	const struct fab *f = x->f;
	size_t found = 0;

	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id p = fab_port_id(f, n, i);

		found += mark(x, fab_is_switch(f, n) ? f->ports[p].peer : p, in);
	}
	return found;
}

bool rt_pattern_matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0);
}

static size_t mark_pattern(const struct rt_naming *x, const char *pattern, bool *in)
{
	size_t found = 0;

	for (node_id n = 0; n < x->f->nnodes; n++)
		if (!fab_is_switch(x->f, n) && rt_pattern_matches(pattern, name_of(x, n)))
			found += mark_node(x, n, in);
	return found;
}

static size_t mark_name(const struct rt_naming *x, const char *name, bool *in)
{
	size_t found = 0;

	for (node_id n = 0; n < x->f->nnodes; n++)
		if (rt_node_has_name(x, n, name))
			found += mark_node(x, n, in);
	return found;
}

/* A GUID of a port names this port alone, one of a node all its ports. */
size_t rt_hosts_named(const struct rt_naming *x, const char *text, bool *in)
{
	uint64_t guid;
	node_id n;

	if (rt_guid_text(text, &guid) && fab_node_by_guid(x->f, guid) == FAB_NONE &&
	    map64_get(&x->port, guid) != MAP_NONE)
		return mark(x, map64_get(&x->port, guid), in);
	n = rt_node_named(x, text);
	if (n == FAB_NONE)
		return mark_pattern(x, text, in);
	return rt_node_has_name(x, n, text) ? mark_name(x, text, in) : mark_node(x, n, in);
}

/* ---- lists ---- */

/* A zero byte would hide what follows it. */
static int zeros_refuse(const char *name, const char *text, size_t len, struct err *e)
{
	const char *zero = memchr(text, 0, len);
	unsigned line = 1;

	if (!zero)
		return 0;
	for (; text < zero; text++)
		line += *text == '\n';
	return err_set(e, -EINVAL, "%s:%u: expected text, found a zero byte", name, line);
}

static int line_read(const char *name, unsigned line, char *at, struct strbuf *out, struct err *e)
{
	uint64_t guid;

	at[strcspn(at, "#\r")] = 0;
	at += strspn(at, " \t");
	at[strcspn(at, " \t")] = 0;
	if (!*at)
		return 0;
	if (rt_guid_text(at, &guid) && guid) {
		strbuf_addf(out, "0x%016llx\n", (unsigned long long)guid);
		return 0;
	}
	for (char *c = at; *c; c++)
		if (*c < ' ' || *c > '~') /* bytes of another kind of file */
			*c = '?';
	return err_set(e, -EINVAL,
		       "%s:%u: expected a GUID of up to 16 hexadecimal digits, found '%.40s'", name,
		       line, at);
}

int rt_guid_list(const char *name, const char *text, size_t len, struct strbuf *out, struct err *e)
{
	char *copy = mem_alloc(len + 1), *rest = copy;
	int rc = len ? zeros_refuse(name, text, len, e) : 0;
	unsigned line = 0;

	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	for (char *at; !rc && (at = strsep(&rest, "\n"));)
		rc = line_read(name, ++line, at, out, e);
	free(copy);
	return rc;
}
