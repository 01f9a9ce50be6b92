/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ibdiagnet2.net_dump: a block for each switch, a row for each of its ports.
 *
 *	"MF0;leaf1:MQM8700/U1", Mellanox, 0x1070fd03001adeb4, LID 24328
 *	  #  : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description
 *	  1  : 1   : ACT : LINK UP : 5   : 4x  : 50  : ...      : NO-RTR : 0xc42a10300dbfb92 : 40 : 25697 : "host1 mlx5_0"
 *
 * State: struct dump. Way in: import_net_dump(). Columns are found by the names in the block's second line. "#" and "N#" are labels of
 * the case (1/1/1): the port behind the label of another switch is in that one's block. Nodes without a block are hosts: their GUID is the
 * one that the neighbour states, and they have as many ports as the highest that is stated.
 */
#include "fabric/import.h"

#include <strings.h>

enum { LABEL, NUM, WIDTH, SPEED, FAR_GUID, FAR_LABEL, FAR_LID, FAR_NAME, COLUMNS };
static const char *const column_names[COLUMNS] = {
	"#", "IB#", "LWA", "LSA", "Neighbor Guid", "N#", "NLID", "Neighbor Description"};

struct block {
	struct nl_span name;
	uint64_t guid, lid, top; /* highest port */
	uint32_t line;
	size_t first, end; /* rows */
	node_id n;
};

struct row {
	struct nl_span label, far_label, far_name;
	uint64_t num, far_guid, far_lid;
	uint32_t line, block;
	uint8_t width, speed;
};

struct host {
	struct nl_span name;
	uint64_t guid, top;
	uint32_t line;
	node_id n;
};

struct dump {
	VEC(struct block) blocks;
	VEC(struct row) rows;
	VEC(struct host) hosts;
	struct map64 by_guid, host_by_guid;
	unsigned at[COLUMNS], ncolumns; /* where the columns are; 0: no line of names yet */
};

/* ---- cells ---- */

/* Up to a colon; the last one to the end of the line, since names have colons. */
static struct nl_span take_cell(struct nl *l, bool last)
{
	const char *start = l->at;
	const char *colon = last ? NULL : memchr(start, ':', (size_t)(l->end - start));

	l->at = colon ? colon + 1 : l->end;
	return import_trimmed((struct nl_span){start, (size_t)((colon ? colon : l->end) - start)});
}

static struct nl_span unquoted(struct nl_span w)
{
	if (w.n && *w.s == '"') {
		w.s++;
		w.n--;
	}
	if (w.n && w.s[w.n - 1] == '"')
		w.n--;
	return w;
}

/* "0x12" or "12"; anything else is 0. */
static uint64_t number(struct nl_span w)
{
	const char *at = w.s, *end = at + w.n;
	uint64_t v = 0;
	bool ok = w.n > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' ? nl_take_hex(&at, end, &v)
								   : nl_take_dec(&at, end, &v);

	return ok && at == end ? v : 0;
}

static bool same(struct nl_span a, struct nl_span b)
{
	return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* ---- lines ---- */

/* "name", vendor, 0xGUID, LID 7: from the end, since a name may have anything in it */
static int block_line(struct import *im, struct dump *d)
{
	struct block b = {.line = im->l.line, .first = d->rows.n, .n = FAB_NONE};
	struct nl_span cell[3], rest = {im->l.at, (size_t)(im->l.end - im->l.at)};

	for (unsigned i = 0; i < 3; i++) {
		const char *comma = memrchr(rest.s, ',', rest.n);

		if (!comma)
			return nl_fail(&im->l, "a switch: \"NAME\", VENDOR, 0xGUID, LID N");
		cell[i] = import_trimmed(
			(struct nl_span){comma + 1, (size_t)(rest.s + rest.n - comma - 1)});
		rest.n = (size_t)(comma - rest.s);
	}
	b.guid = number(cell[1]);
	if (!b.guid || cell[0].n < 5 || strncasecmp(cell[0].s, "LID ", 4))
		return nl_fail(&im->l, "a switch: \"NAME\", VENDOR, 0xGUID, LID N");
	b.lid = number((struct nl_span){cell[0].s + 4, cell[0].n - 4});
	b.name = unquoted(import_trimmed(rest));
	if (map64_get(&d->by_guid, b.guid) != MAP_NONE)
		return nl_fail_found(&im->l, "one block for each switch",
				     "GUID 0x%016llx a second time", (unsigned long long)b.guid);
	map64_put(&d->by_guid, b.guid, (uint32_t)d->blocks.n);
	vec_push(&d->blocks, b);
	return 0;
}

static int names_line(struct import *im, struct dump *d)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		d->at[i] = UINT32_MAX;
	for (d->ncolumns = 0; im->l.at < im->l.end; d->ncolumns++) {
		struct nl_span w = take_cell(&im->l, false);

		for (unsigned i = 0; i < COLUMNS; i++)
			if (strlen(column_names[i]) == w.n &&
			    !strncasecmp(column_names[i], w.s, w.n))
				d->at[i] = d->ncolumns;
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		if (d->at[i] == UINT32_MAX)
			return nl_fail_found(&im->l, column_names[i], "no such column");
	return 0;
}

static unsigned width_of(struct nl_span w)
{
	const char *at = w.s;
	uint64_t v = 0;

	if (!nl_take_dec(&at, w.s + w.n, &v) || (v != 1 && v != 2 && v != 4 && v != 8 && v != 12))
		return 0;
	return (unsigned)v;
}

static int row_check(struct import *im, const struct dump *d, const struct row *r,
		     struct nl_span num)
{
	const struct block *b = &d->blocks.at[r->block];

	if (!r->num || r->num > 254) {
		im->l.at = num.s;
		im->l.end = num.s + num.n;
		return nl_fail(&im->l, "a port from 1 to 254 in column IB#");
	}
	for (size_t i = b->first; i < d->rows.n; i++)
		if (d->rows.at[i].num == r->num)
			return nl_fail_found(&im->l, "one row for each port",
					     "port %llu a second time", (unsigned long long)r->num);
	return 0;
}

static int row_line(struct import *im, struct dump *d)
{
	struct row r = {.line = im->l.line};
	struct nl_span cell[COLUMNS];
	int rc;

	if (!d->blocks.n || !d->ncolumns)
		return nl_fail(&im->l, "a switch and names of columns before its ports");
	r.block = (uint32_t)d->blocks.n - 1;
	for (unsigned i = 0; i < COLUMNS; i++)
		cell[i] = (struct nl_span){im->l.end, 0};
	for (unsigned column = 0; column < d->ncolumns && im->l.at < im->l.end; column++) {
		struct nl_span w = take_cell(&im->l, column + 1 == d->ncolumns);

		for (unsigned i = 0; i < COLUMNS; i++)
			if (d->at[i] == column)
				cell[i] = w;
	}
	r.label = cell[LABEL];
	r.num = number(cell[NUM]);
	r.width = (uint8_t)width_of(cell[WIDTH]);
	r.speed = (uint8_t)import_speed(cell[SPEED]);
	r.far_guid = number(cell[FAR_GUID]);
	r.far_label = cell[FAR_LABEL];
	r.far_lid = number(cell[FAR_LID]);
	r.far_name = unquoted(cell[FAR_NAME]);
	if ((rc = row_check(im, d, &r, cell[NUM])))
		return rc;
	d->blocks.at[r.block].top = MAX(d->blocks.at[r.block].top, r.num);
	vec_push(&d->rows, r);
	d->blocks.at[r.block].end = d->rows.n;
	return 0;
}

/* The line of names begins with "#", too, with a colon behind it. */
static bool is_names(const struct nl *l)
{
	const char *at = l->at + 1;

	while (at < l->end && (*at == ' ' || *at == '\t'))
		at++;
	return at < l->end && *at == ':';
}

static int lines_read(struct import *im, struct dump *d)
{
	int rc = 0;

	while (!rc && import_line(im)) {
		nl_skip_space(&im->l);
		if (im->l.at == im->l.end)
			continue;
		if (*im->l.at == '#')
			rc = is_names(&im->l) ? names_line(im, d) : 0;
		else
			rc = *im->l.at == '"' ? block_line(im, d) : row_line(im, d);
	}
	return rc;
}

/* ---- the fabric ---- */

static struct host *host_of(struct dump *d, uint64_t guid)
{
	uint32_t i = map64_get(&d->host_by_guid, guid);

	return i == MAP_NONE ? NULL : &d->hosts.at[i];
}

/* The nodes that only other ones know. Without a number of its port, a host is linked at its next one. */
static void hosts_find(struct dump *d)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		struct row *r = &d->rows.at[i];
		struct host *h;
		uint64_t num = number(r->far_label);

		if (!r->far_guid || map64_get(&d->by_guid, r->far_guid) != MAP_NONE)
			continue;
		if (!(h = host_of(d, r->far_guid))) {
			map64_put(&d->host_by_guid, r->far_guid, (uint32_t)d->hosts.n);
			vec_push(&d->hosts,
				 ((struct host){r->far_name, r->far_guid, 0, r->line, FAB_NONE}));
			h = &d->hosts.at[d->hosts.n - 1];
		}
		h->top = num ? MAX(h->top, num) : h->top + 1;
	}
}

static int nodes_add(struct import *im, struct dump *d)
{
	int rc = 0;

	for (size_t i = 0; i < d->blocks.n && !rc; i++) {
		struct block *b = &d->blocks.at[i];
		struct import_node v = {.guid = b->guid,
					.type = IBA_NODE_SWITCH,
					.nports = MAX(b->top, UINT64_C(1)),
					.name = b->name};

		im->l.line = b->line;
		if (!(rc = import_node(im, &v, &b->n)))
			import_lid(im, b->n, 0, b->lid, 0);
	}
	for (size_t i = 0; i < d->hosts.n && !rc; i++) {
		struct host *h = &d->hosts.at[i];
		struct import_node v = {
			.guid = h->guid, .type = IBA_NODE_CA, .nports = h->top, .name = h->name};

		im->l.line = h->line;
		rc = import_node(im, &v, &h->n);
		h->top = 0;
	}
	return rc;
}

/* The port of another switch that has this label; 0: none. */
static uint64_t labelled(const struct dump *d, const struct block *b, struct nl_span label)
{
	for (size_t i = b->first; i < b->end; i++)
		if (same(d->rows.at[i].label, label))
			return d->rows.at[i].num;
	return 0;
}

static int link_add(struct import *im, struct dump *d, const struct row *r)
{
	uint32_t at = map64_get(&d->by_guid, r->far_guid);
	struct host *h = host_of(d, r->far_guid);
	struct import_end a = {d->blocks.at[r->block].n, r->num}, b;

	im->l.line = r->line;
	if (at != MAP_NONE) {
		b = (struct import_end){d->blocks.at[at].n,
					labelled(d, &d->blocks.at[at], r->far_label)};
	} else {
		b = (struct import_end){h->n, number(r->far_label)};
		h->top = b.port ? MAX(h->top, b.port) : h->top + 1;
		b.port = b.port ? b.port : h->top;
		import_lid(im, b.node, b.port, r->far_lid, 0);
	}
	if (!b.port) {
		nl_warn(&im->l, r->line,
			"the other switch has no port with label '%.*s'; port %llu is left without a link",
			nl_shown(r->far_label.s, r->far_label.s + r->far_label.n), r->far_label.s,
			(unsigned long long)r->num);
		return 0;
	}
	return import_link(im, a, b, r->width, r->speed);
}

int import_net_dump(struct import *im)
{
	struct dump d = {0};
	int rc = lines_read(im, &d);

	if (!rc) {
		hosts_find(&d);
		rc = nodes_add(im, &d);
	}
	for (size_t i = 0; i < d.rows.n && !rc; i++)
		if (d.rows.at[i].far_guid)
			rc = link_add(im, &d, &d.rows.at[i]);
	vec_free(&d.blocks);
	vec_free(&d.rows);
	vec_free(&d.hosts);
	map64_free(&d.by_guid);
	map64_free(&d.host_by_guid);
	return rc;
}
