/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ibdiagnet2.db_csv: sections between START_NAME and END_NAME, each with a line of column names and rows. NODES, PORTS and LINKS
 * are read, in this order wherever they are; the others are skipped. State: struct import. Way in: import_csv(). Columns are found by
 * name; their order and further ones do not matter.
 */
#include "fabric/import.h"

#include <strings.h>

enum { COLUMNS = 12 };

/* ---- rows ---- */

struct table {
	const char *const *names; /* of the columns that are wanted */
	unsigned n, required;	  /* the first of them must be there */
	unsigned at[COLUMNS];	  /* where they are; UINT_MAX: nowhere */
	struct nl_span cell[COLUMNS];
};

/* A cell, without its quotes; the cursor behind its comma. */
static struct nl_span take_cell(struct nl *l)
{
	const char *start = l->at, *close = NULL;
	struct nl_span w;

	if (nl_take(l, '"')) {
		start = l->at;
		close = memchr(start, '"', (size_t)(l->end - start));
		l->at = close = close ? close : l->end;
	}
	while (l->at < l->end && *l->at != ',')
		l->at++;
	w = (struct nl_span){start, (size_t)((close ? close : l->at) - start)};
	if (l->at < l->end)
		l->at++;
	return w;
}

static int header_take(struct nl *l, struct table *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->at[i] = UINT32_MAX;
	for (unsigned column = 0; l->at < l->end; column++) {
		struct nl_span w = take_cell(l);

		for (unsigned i = 0; i < t->n; i++)
			if (strlen(t->names[i]) == w.n && !strncasecmp(t->names[i], w.s, w.n))
				t->at[i] = column;
	}
	for (unsigned i = 0; i < t->required; i++)
		if (t->at[i] == UINT32_MAX)
			return nl_fail_found(l, t->names[i], "no such column");
	return 0;
}

static void row_take(struct nl *l, struct table *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->cell[i] = (struct nl_span){l->end, 0};
	for (unsigned column = 0; l->at < l->end; column++) {
		struct nl_span w = take_cell(l);

		for (unsigned i = 0; i < t->n; i++)
			if (t->at[i] == column)
				t->cell[i] = w;
	}
}

/* A number, hexadecimal with 0x; "N/A" and nothing are 0. */
static uint64_t number(const struct table *t, unsigned i)
{
	const char *at = t->cell[i].s, *end = at + t->cell[i].n;
	uint64_t v = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		nl_take_hex(&at, end, &v);
	else
		nl_take_dec(&at, end, &v);
	return v;
}

static int required(struct import *im, const struct table *t, unsigned i, uint64_t *v)
{
	const char *at = t->cell[i].s;
	char expected[64];

	if (t->cell[i].n && nl_is_digit(*at)) {
		*v = number(t, i);
		return 0;
	}
	im->l.at = at;
	im->l.end = at + t->cell[i].n;
	snprintf(expected, sizeof(expected), "a number in column %s", t->names[i]);
	return nl_fail(&im->l, expected);
}

/* ---- sections ---- */

enum { NODE_GUID, NODE_TYPE, NODE_PORTS, NODE_DESC, NODE_SYSTEM, NODE_VENDOR, NODE_DEVICE, NODE_N };
static const char *const node_columns[] = {"NodeGUID",	      "NodeType", "NumPorts", "NodeDesc",
					   "SystemImageGUID", "VendorID", "DeviceID"};

static int node_row(struct import *im, struct table *t)
{
	struct import_node v = {.name = t->cell[NODE_DESC],
				.sys_guid = number(t, NODE_SYSTEM),
				.vendor_id = (uint32_t)number(t, NODE_VENDOR),
				.device_id = (uint16_t)number(t, NODE_DEVICE)};
	uint64_t type;
	node_id n;
	int rc;

	if ((rc = required(im, t, NODE_GUID, &v.guid)) ||
	    (rc = required(im, t, NODE_TYPE, &type)) ||
	    (rc = required(im, t, NODE_PORTS, &v.nports)))
		return rc;
	if (type < IBA_NODE_CA || type > IBA_NODE_ROUTER)
		return nl_fail_found(&im->l, "1 to 3", "a node of type %llu",
				     (unsigned long long)type);
	v.type = (uint8_t)type;
	return import_node(im, &v, &n);
}

enum { PORT_NODE, PORT_NUM, PORT_GUID, PORT_LID, PORT_LMC, PORT_WIDTH, PORT_SPEED, PORT_N };
static const char *const port_columns[] = {"NodeGuid", "PortNum",	"PortGuid",	"LID",
					   "LMC",      "LinkWidthActv", "LinkSpeedActv"};

/* ibdiagnet2: LinkSpeed, from bit 8 on LinkSpeedExt, from bit 16 on those of the vendor. */
static unsigned speed_of(uint64_t v)
{
	if (v >> 16 & 1)
		return FAB_FDR10;
	return v >> 8 & 0xff ? nl_mask_speed_ext(v >> 8 & 0xff) : nl_mask_speed(v & 0xff);
}

static int port_row(struct import *im, struct table *t)
{
	uint64_t guid, num;
	struct fab_port *p;
	node_id n;
	int rc;

	if ((rc = required(im, t, PORT_NODE, &guid)) || (rc = required(im, t, PORT_NUM, &num)))
		return rc;
	n = fab_builder_find(im->b, guid);
	if (n == FAB_NONE || num > fab_builder_node(im->b, n)->nports)
		return nl_fail_found(&im->l, "a port of a node in section NODES",
				     "port %llu of 0x%016llx", (unsigned long long)num,
				     (unsigned long long)guid);
	if (fab_builder_node(im->b, n)->type != IBA_NODE_SWITCH || !num)
		import_lid(im, n, num, number(t, PORT_LID), number(t, PORT_LMC));
	p = fab_builder_port(im->b, n, (unsigned)num);
	if (fab_builder_node(im->b, n)->type != IBA_NODE_SWITCH && num)
		p->guid = number(t, PORT_GUID);
	p->width = nl_mask_width(number(t, PORT_WIDTH) & 31);
	p->speed = (uint8_t)speed_of(number(t, PORT_SPEED));
	return 0;
}

static const char *const link_columns[] = {"NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"};

static int link_row(struct import *im, struct table *t)
{
	struct import_end x[2];
	struct fab_port *p;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t guid;
		int rc = required(im, t, 2 * i, &guid);

		if (rc || (rc = required(im, t, 2 * i + 1, &x[i].port)))
			return rc;
		x[i].node = fab_builder_find(im->b, guid);
		if (x[i].node == FAB_NONE)
			return nl_fail_found(&im->l, "a node of section NODES", "GUID 0x%016llx",
					     (unsigned long long)guid);
	}
	if (!x[0].port || x[0].port > fab_builder_node(im->b, x[0].node)->nports)
		return import_link(im, x[0], x[1], 0, 0); /* refuses it */
	p = fab_builder_port(im->b, x[0].node, (unsigned)x[0].port);
	return import_link(im, x[0], x[1], p->width, p->speed);
}

/* ---- the file ---- */

static const struct section {
	const char *name;
	const char *const *columns;
	unsigned n, required;
	int (*row)(struct import *im, struct table *t);
} sections[] = {
	{"NODES", node_columns, NODE_N, 3, node_row},
	{"PORTS", port_columns, PORT_N, 2, port_row},
	{"LINKS", link_columns, 4, 4, link_row},
};

static bool line_is(const struct nl *l, const char *begin, const char *name)
{
	size_t n = strlen(begin), m = strlen(name);
	const char *end = l->end;

	while (end > l->at && end[-1] == ' ')
		end--;
	return (size_t)(end - l->at) == n + m && !memcmp(l->at, begin, n) &&
	       !memcmp(l->at + n, name, m);
}

/* The rows of a section; the cursor is behind its first line. */
static int section_read(struct import *im, const struct section *s)
{
	struct table t = {.names = s->columns, .n = s->n, .required = s->required};
	bool headed = false;
	int rc = 0;

	while (!rc && import_line(im) && !line_is(&im->l, "END_", s->name)) {
		if (im->l.at == im->l.end)
			continue;
		if (headed) {
			row_take(&im->l, &t);
			rc = s->row(im, &t);
		} else {
			rc = header_take(&im->l, &t);
		}
		headed = true;
	}
	return rc;
}

int import_csv(struct import *im)
{
	const char *text = im->text;
	bool links = false;
	int rc = 0;

	for (unsigned i = 0; i < ARRAY_LEN(sections) && !rc; i++) {
		im->text = text;
		im->l.line = 0;
		while (!rc && import_line(im))
			if (line_is(&im->l, "START_", sections[i].name)) {
				links |= i == 2;
				rc = section_read(im, &sections[i]);
			}
		if (!rc && !i && !im->slots)
			rc = nl_fail_found(&im->l, "START_NODES and nodes", "no node in the file");
	}
	if (!rc && !links)
		nl_warn(&im->l, im->l.line, "no section LINKS: the fabric has no links");
	return rc;
}
