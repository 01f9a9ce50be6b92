/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet in OpenSM's file formats, for ibdmchk and for scripts. State: none. Way in: run_dump(). Reads
 * no files; opensm-lfts.dump is written by route/lfts.c.
 *
 * In opensm.fdbs a hop is a link, and "Optimal" compares with the fewest links there are. Files of subnet administration are
 * written by opensm_sa_files.c.
 */
#include <sys/stat.h>

#include "run/opensm_files.h"

/* ---- opensm-subnet.lst: every link, from both ends ---- */

/* Names with braces or line breaks would break the format. */
static void add_name(struct strbuf *out, const char *name)
{
	for (; *name; name++) {
		char c = *name == '{'				       ? '('
			 : *name == '}'				       ? ')'
			 : (unsigned char)*name < ' ' || *name == 0x7f ? ' '
								       : *name;

		strbuf_addn(out, &c, 1);
	}
}

/* One end of a link. OpenSM writes vendor ids with 6 digits at the first end and 8 at the second. */
static void add_end(struct strbuf *out, const struct fab *f, port_id p, uint16_t sm_lid,
		    int vendor_digits)
{
	const struct fab_port *x = &f->ports[p];
	const struct fab_node *n = &f->nodes[x->node];
	bool is_switch = fab_is_switch(f, x->node);
	const struct fab_port *addressed = is_switch ? &f->ports[n->first_port] : x;

	strbuf_addf(out, "{ %s%s Ports:%02X SystemGUID:%016llx NodeGUID:%016llx PortGUID:%016llx ",
		    is_switch			 ? "SW"
		    : n->type == IBA_NODE_ROUTER ? "Rt"
						 : "CA",
		    addressed->lid && addressed->lid == sm_lid ? "-SM" : "", n->nports,
		    (unsigned long long)n->sys_guid, (unsigned long long)n->guid,
		    (unsigned long long)addressed->guid);
	strbuf_addf(out, "VenID:%0*X DevID:%04X Rev:%08X {", vendor_digits, n->vendor_id,
		    n->device_id, 0);
	add_name(out, fab_node_name(f, x->node));
	strbuf_addf(out, "} LID:%04X PN:%02X } ", addressed->lid, x->num);
}

static const char *speed_text(unsigned speed)
{
	static const char *const words[FAB_NSPEEDS] = {"??",
						       [FAB_SDR] = "2.5",
						       [FAB_DDR] = "5",
						       [FAB_QDR] = "10",
						       [FAB_FDR10] = "FDR10",
						       [FAB_FDR] = "14",
						       [FAB_EDR] = "25",
						       [FAB_HDR] = "50",
						       [FAB_NDR] = "100",
						       [FAB_XDR] = "200"};

	return words[speed < FAB_NSPEEDS ? speed : 0];
}

static const char *state_text(const struct sm *sm, const struct fab *f, port_id p)
{
	struct iba_port_info pi;

	if (!sm_port_info(sm, f->nodes[f->ports[p].node].guid, f->ports[p].num, &pi))
		return "DWN";
	return pi.state == IBA_PORT_ACTIVE  ? "ACT"
	       : pi.state == IBA_PORT_ARMED ? "ARM"
	       : pi.state == IBA_PORT_INIT  ? "INI"
					    : "DWN";
}

static void write_subnet(struct file_out *o, const struct sm *sm, const struct fab *f,
			 uint16_t sm_lid)
{
	struct strbuf line = {0};

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		if (x->peer == FAB_NONE)
			continue;
		line.len = 0;
		add_end(&line, f, p, sm_lid, 6);
		add_end(&line, f, x->peer, sm_lid, 8);
		if (x->width)
			strbuf_addf(&line, "PHY=%ux", x->width);
		else
			strbuf_add(&line, "PHY=??");
		strbuf_addf(&line, " LOG=%s SPD=%s\n", state_text(sm, f, p), speed_text(x->speed));
		file_out_put(o, line.s, line.len);
	}
	strbuf_free(&line);
}

/* ---- opensm.fdbs ---- */

enum { UNSET = 255, NOWHERE = 254 }; /* more than 253 links count as unreachable, as in OpenSM */

struct routes {
	const struct fab *f;
	const struct rt_tables *t;
	port_id *owner; /* by LID */
	uint8_t *least; /* links from switch s to switch d: least[d * nswitches + s] */
	uint8_t *along; /* by LID, then switch: links along the tables */
	uint32_t *way;	/* switches: a queue or a path, for the walks below */
};

static uint8_t one_more(uint8_t links)
{
	return links >= NOWHERE - 1 ? NOWHERE : (uint8_t)(links + 1);
}

/* Breadth-first from one switch over links between switches. */
static void least_from(struct routes *r, uint32_t d)
{
	const struct fab *f = r->f;
	uint8_t *least = r->least + (size_t)d * f->nswitches;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		least[s] = NOWHERE;
	least[d] = 0;
	r->way[n++] = d;
	for (uint32_t i = 0; i < n; i++) {
		node_id sw = f->switches[r->way[i]];

		for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, sw, p)].peer;
			uint32_t s =
				peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

			if (s == FAB_NONE || least[s] != NOWHERE)
				continue;
			least[s] = one_more(least[r->way[i]]);
			r->way[n++] = s;
		}
	}
}

/* The next switch on the route to a LID, or FAB_NONE with the links that are left: 0, 1 or NOWHERE. */
static uint32_t next_switch(const struct routes *r, uint32_t s, uint32_t lid, uint8_t *left)
{
	const struct fab *f = r->f;
	node_id sw = f->switches[s];
	uint8_t out = rt_row(r->t, s)[lid];
	port_id to = r->owner[lid], peer;

	*left = NOWHERE;
	if (!out && f->ports[to].node == sw)
		*left = 0;
	peer = out && out <= f->nodes[sw].nports ? f->ports[fab_port_id(f, sw, out)].peer
						 : FAB_NONE;
	if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
		return f->switch_index[f->ports[peer].node];
	if (peer != FAB_NONE && peer == to)
		*left = 1;
	return FAB_NONE;
}

/* Links from every switch to a LID along the tables; NOWHERE in loops. */
static void along_tables(struct routes *r, uint32_t lid)
{
	uint32_t n = r->f->nswitches;
	uint8_t *along = r->along + (size_t)lid * n;

	for (uint32_t s = 0; s < n; s++)
		along[s] = UNSET;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t at = s, steps = 0;
		uint8_t left = UNSET;

		while (at != FAB_NONE && along[at] == UNSET) {
			along[at] = NOWHERE; /* until the end is found; reached again: a loop */
			r->way[steps++] = at;
			at = next_switch(r, at, lid, &left);
		}
		left = at == FAB_NONE ? left : one_more(along[at]);
		for (; steps; left = one_more(left))
			along[r->way[--steps]] = left;
	}
}

/* A port of s on a shortest path to switch d, or the port that leads to the endport itself. */
static unsigned best_port(const struct routes *r, uint32_t s, uint32_t d, port_id to)
{
	const struct fab *f = r->f;
	const uint8_t *least = r->least + (size_t)d * f->nswitches;
	node_id sw = f->switches[s];

	for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
		port_id peer = f->ports[fab_port_id(f, sw, p)].peer;
		uint32_t far = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

		if ((peer != FAB_NONE && peer == to) ||
		    (far != FAB_NONE && one_more(least[far]) == least[s]))
			return p;
	}
	return 0;
}

static void add_entry(struct strbuf *out, const struct routes *r, uint32_t s, uint32_t lid)
{
	const struct fab *f = r->f;
	port_id to = r->owner[lid];
	uint8_t port = rt_row(r->t, s)[lid];
	uint8_t links = r->along[(size_t)lid * f->nswitches + s], least;
	bool is_switch;
	uint32_t d;

	strbuf_addf(out, "0x%04X : ", lid);
	if (to == FAB_NONE || port == IBA_PORT_NONE) {
		strbuf_add(out, "UNREACHABLE\n");
		return;
	}
	if (links == NOWHERE) {
		strbuf_addf(out, "%03u  : HOPS UNKNOWN\n", port);
		return;
	}
	is_switch = fab_is_switch(f, f->ports[to].node);
	d = f->switch_index[is_switch ? f->ports[to].node : f->ports[f->ports[to].peer].node];
	least = r->least[(size_t)d * f->nswitches + s];
	least = is_switch ? least : one_more(least);
	strbuf_addf(out, "%03u  : %02u   : ", port, links);
	if (links == least)
		strbuf_add(out, "yes\n");
	else
		strbuf_addf(out, "No %u hop path possible via port %u!\n", least,
			    best_port(r, s, d, to));
}

static void routes_make(struct routes *r, const struct fab *f, const struct rt_tables *t)
{
	*r = (struct routes){.f = f, .t = t};
	r->owner = mem_array(t->top_lid + 1, sizeof(*r->owner));
	memset(r->owner, 0xff, (t->top_lid + 1) * sizeof(*r->owner));
	for (port_id p = 0; p < f->nports; p++)
		for (unsigned i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			if (f->ports[p].lid + i <= t->top_lid)
				r->owner[f->ports[p].lid + i] = p;
	r->way = mem_array(f->nswitches, sizeof(*r->way));
	r->least = mem_array((size_t)f->nswitches * f->nswitches, sizeof(*r->least));
	r->along = mem_array((size_t)(t->top_lid + 1) * f->nswitches, sizeof(*r->along));
	for (uint32_t s = 0; s < f->nswitches; s++)
		least_from(r, s);
	for (uint32_t lid = 1; lid <= t->top_lid; lid++)
		if (r->owner[lid] != FAB_NONE)
			along_tables(r, lid);
}

static void write_fdbs(struct file_out *o, const struct fab *f, const struct rt_tables *t)
{
	struct strbuf text = {0};
	struct routes r;

	routes_make(&r, f, t);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		text.len = 0;
		strbuf_addf(&text,
			    "dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
			    (unsigned long long)f->nodes[f->switches[s]].guid);
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			add_entry(&text, &r, s, lid);
		file_out_put(o, text.s, text.len);
	}
	strbuf_free(&text);
	free(r.owner);
	free(r.way);
	free(r.least);
	free(r.along);
}

/* ---- all files ---- */

static void put(void *ctx, const char *text, size_t len)
{
	file_out_put(ctx, text, len);
}

static struct file_out *begin(const char *directory, const char *file, struct err *e)
{
	struct strbuf path = {0};
	struct file_out *o;

	strbuf_addf(&path, "%s/%s", directory, file);
	o = file_out_open(path.s, e);
	strbuf_free(&path);
	return o;
}

/* A switch with a default port uses it for entries that are not set. */
static struct rt_tables *tables_filled(const struct rt_tables *t)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, t->top_lid);

	memcpy(c->lft, t->lft, (size_t)t->nswitches * t->stride);
	if (t->dflt) {
		c->dflt = mem_array(t->nswitches, 1);
		memcpy(c->dflt, t->dflt, t->nswitches);
		rt_tables_fill(c);
	}
	return c;
}

enum file { SUBNET, LFTS, FDBS, MCFDBS, SA, PATHS, PATH_SLS, SL2VL, NFILES };
static const char *const names[NFILES] = {[SUBNET] = "opensm-subnet.lst",
					  [LFTS] = "opensm-lfts.dump",
					  [FDBS] = "opensm.fdbs",
					  [MCFDBS] = "opensm.mcfdbs",
					  [SA] = "opensm-sa.dump",
					  [PATHS] = "opensm-path-records.dump",
					  [PATH_SLS] = "opensm-path-sls.dump",
					  [SL2VL] = "opensm-sl2vl.dump"};

static bool is_wanted(enum file i, const struct run_view *v, const struct rt_tables *t)
{
	if (i == PATHS)
		return v->cfg && v->cfg->dump_paths;
	return t->lanes || (i != PATH_SLS && i != SL2VL);
}

static void write_file(struct file_out *o, enum file i, const struct run_view *v,
		       const struct fab *f, const struct rt_tables *t)
{
	struct sm_status st;

	switch (i) {
	case SUBNET:
		sm_status(v->sm, &st);
		write_subnet(o, v->sm, f, st.lid);
		break;
	case LFTS:
		rt_lfts_each(f, t, put, o);
		break;
	case FDBS:
		write_fdbs(o, f, t);
		break;
	case MCFDBS:
		run_write_mcfdbs(o, v->sm, f);
		break;
	case SA:
		run_write_sa(o, v);
		break;
	case PATHS:
		run_write_path_records(o, v, f);
		break;
	case PATH_SLS:
		rt_path_sls_each(f, t, put, o);
		break;
	case SL2VL:
		rt_sl2vl_each(f, t, put, o);
		break;
	case NFILES:
		break;
	}
}

static int dump_all(const struct run_view *v, const struct fab *f, const struct rt_tables *t,
		    const char *directory, struct err *e)
{
	for (unsigned i = 0; i < NFILES; i++) {
		struct file_out *o;
		mode_t mask;
		int rc;

		if (!is_wanted(i, v, t))
			continue;
		mask = i == SA ? umask(077) : 0; /* it has keys of services */
		o = begin(directory, names[i], e);
		rc = o ? 0 : -errno;
		if (i == SA)
			umask(mask);
		if (rc)
			return rc;
		write_file(o, i, v, f, t);
		rc = file_out_close(o, e);
		if (rc)
			return rc;
	}
	return 0;
}

int run_dump(const struct run_view *v, const char *directory, struct err *e)
{
	const struct rt_tables *t = v->sm ? sm_tables(v->sm) : NULL;
	struct fab *f = view_fab(v->sm);
	struct rt_tables *filled;
	int rc;

	if (!f || !t || t->nswitches != f->nswitches) {
		fab_free(f);
		return err_set(e, -EAGAIN, "there are no forwarding tables to dump yet");
	}
	if (mkdir(directory, 0755) && errno != EEXIST) {
		fab_free(f);
		return err_set(e, -errno, "%s: cannot create the directory: %s", directory,
			       strerror(errno));
	}
	filled = tables_filled(t);
	filled->lanes = t->lanes; /* borrowed */
	rc = dump_all(v, f, filled, directory, e);
	filled->lanes = NULL;
	rt_tables_free(filled);
	fab_free(f);
	return rc;
}
