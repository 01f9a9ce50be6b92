/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet administration in OpenSM's file formats: opensm-sa.dump, which OpenSM can start from (sa_db_file), opensm.mcfdbs, and
 * opensm-path-records.dump as its plug-in dump_pr writes it, which ibacm reads as full_opensm_v1. State: none. Ways in:
 * run_write_*(). All that they write is what a trusted requester would get.
 */
#include "policy/policy.h"
#include "run/opensm_files.h"

/* ---- opensm.mcfdbs ---- */

enum { POSITION_PORTS = 16 };

static void mft_line(struct strbuf *out, unsigned mlid, const uint16_t *masks, unsigned positions)
{
	strbuf_addf(out, "0x%04X :", mlid);
	for (unsigned p = 0; p < positions * POSITION_PORTS; p++)
		if (masks[p / POSITION_PORTS] >> p % POSITION_PORTS & 1)
			strbuf_addf(out, " 0x%03X ", p);
	strbuf_add(out, "\n");
}

/* Entries of 32 MLIDs; false: the switch has none there, or they are not known. */
static bool mft_block(struct strbuf *out, const struct sm *sm, const struct fab_node *n, unsigned b)
{
	unsigned positions = n->nports / POSITION_PORTS + 1;
	uint16_t at[IBA_MFT_BLOCK][POSITION_PORTS] = {{0}}, column[IBA_MFT_BLOCK];
	bool any = false;

	for (unsigned p = 0; p < positions && sm_mft_block(sm, n->guid, b, p, column); p++)
		for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
			at[i][p] = column[i];
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++) {
		bool used = false;

		for (unsigned p = 0; p < positions; p++)
			used |= at[i][p] != 0;
		if (used)
			mft_line(out, IBA_LID_MCAST_FIRST + b * IBA_MFT_BLOCK + i, at[i],
				 positions);
		any |= used;
	}
	return any;
}

/* Switches without entries are left out, as OpenSM does. */
void run_write_mcfdbs(struct file_out *o, const struct sm *sm, const struct fab *f)
{
	struct strbuf text = {0};

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct fab_node *n = &f->nodes[f->switches[s]];
		struct iba_switch_info si;
		bool any = false;

		text.len = 0;
		strbuf_addf(&text, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
			    (unsigned long long)n->guid);
		for (unsigned b = 0;
		     sm_switch_info(sm, n->guid, &si) && b * IBA_MFT_BLOCK < si.mcast_cap; b++)
			any |= mft_block(&text, sm, n, b);
		if (any)
			file_out_put(o, text.s, text.len);
	}
	strbuf_free(&text);
}

/* ---- opensm-sa.dump ---- */

struct sa_dump {
	const struct run_view *v;
	struct file_out *o;
	struct strbuf line;
};

static void gid_text(struct strbuf *out, const char *key, const uint8_t gid[16])
{
	strbuf_addf(out, " %s=0x%016llx:0x%016llx", key, (unsigned long long)iba_be64(gid),
		    (unsigned long long)iba_be64(gid + 8));
}

static void line_end(struct sa_dump *d)
{
	strbuf_add(&d->line, "\n\n");
	file_out_put(d->o, d->line.s, d->line.len);
	d->line.len = 0;
}

/* Each record of a table, in the order of the table. */
static void each(struct sa_dump *d, uint16_t attr_id,
		 void (*row)(struct sa_dump *d, const uint8_t *record, size_t size))
{
	struct sa_records r;

	if (!sa_look(d->v->sa, d->v->sm, attr_id, 0, NULL, &r, d->v->now))
		for (uint32_t i = 0; i < r.n; i++)
			row(d, r.bytes + i * r.size, r.size);
	free(r.bytes);
}

/* Blocks with more than the port's own GUID. */
static void guid_row(struct sa_dump *d, const uint8_t *record, size_t size)
{
	struct iba_sa_guid g;
	const struct fab *f = sm_fabric(d->v->sm);
	uint64_t all[8], base = 0;
	bool more = false;

	iba_sa_guid_get(&g, record, size);
	memcpy(all,
	       (uint64_t[]){g.guid0, g.guid1, g.guid2, g.guid3, g.guid4, g.guid5, g.guid6, g.guid7},
	       sizeof(all));
	for (unsigned i = g.block ? 0 : 1; i < 8; i++)
		more |= all[i] != 0;
	for (port_id p = 0; more && p < f->nports; p++)
		base = f->ports[p].lid == g.lid ? f->ports[p].guid : base;
	if (!more)
		return;
	strbuf_addf(&d->line, "GUIDInfo Record: base_guid=0x%016llx lid=0x%04x block_num=0x%x",
		    (unsigned long long)base, g.lid, g.block);
	for (unsigned i = 0; i < 8; i++)
		strbuf_addf(&d->line, " guid%u=0x%016llx", i, (unsigned long long)all[i]);
	line_end(d);
}

static bool is_well_known(const struct pol *policy, const uint8_t mgid[16])
{
	for (size_t i = 0; i < policy->partitions.n; i++) {
		const struct pol_partition *t = &policy->partitions.at[i];

		for (size_t k = 0; k < t->groups.n; k++)
			if (!memcmp(t->groups.at[k].mgid, mgid, 16))
				return true;
	}
	return false;
}

static void group_line(struct sa_dump *d, const struct iba_sa_member *m, bool well_known)
{
	static const uint8_t none[16];

	strbuf_addf(&d->line, "MC Group 0x%04x %s:", m->mlid, well_known ? " (well known)" : "");
	gid_text(&d->line, "mgid", m->mgid);
	gid_text(&d->line, "port_gid", well_known ? none : m->port_gid);
	strbuf_addf(&d->line,
		    " qkey=0x%08x mlid=0x%04x mtu=0x%02x tclass=0x%02x pkey=0x%04x rate=0x%02x "
		    "pkt_life=0x%02x sl_flow_hop=0x%08x scope_state=0x%02x proxy_join=0x0",
		    m->qkey, m->mlid, IBA_SA_EXACTLY << 6 | m->mtu, m->traffic_class, m->pkey,
		    IBA_SA_EXACTLY << 6 | m->rate, IBA_SA_EXACTLY << 6 | m->life,
		    (unsigned)m->sl << 28 | m->flow_label << 8 | m->hop_limit, m->scope << 4 | 1);
	line_end(d);
}

/* A record for each member, those of a group one after another; a group without members has one without a port. */
static void groups(struct sa_dump *d)
{
	const struct pol *policy = sm_policy(d->v->sm);
	struct iba_sa_member m, last = {0};
	static const uint8_t none[16];
	struct sa_records r;

	if (sa_look(d->v->sa, d->v->sm, IBA_SA_MEMBER, 0, NULL, &r, d->v->now))
		r.n = 0;
	for (uint32_t i = 0; i < r.n; i++, last = m) {
		iba_sa_member_get(&m, r.bytes + i * r.size, r.size);
		if (!i || memcmp(m.mgid, last.mgid, 16))
			group_line(d, &m, is_well_known(policy, m.mgid));
		if (!memcmp(m.port_gid, none, 16))
			continue;
		strbuf_add(&d->line, "mcm_port:");
		gid_text(&d->line, "port_gid", m.port_gid);
		strbuf_addf(&d->line, " scope_state=0x%02x proxy_join=0x%x",
			    m.scope << 4 | m.join_state, m.proxy_join);
		line_end(d);
	}
	free(r.bytes);
}

static void subscription_row(struct sa_dump *d, const uint8_t *record, size_t size)
{
	struct iba_sa_inform_record s;

	iba_sa_inform_record_get(&s, record, size);
	strbuf_add(&d->line, "InformInfo Record:");
	gid_text(&d->line, "subscriber_gid", s.subscriber_gid);
	strbuf_addf(&d->line, " subscriber_enum=0x%x InformInfo:", s.number);
	gid_text(&d->line, "gid", s.gid);
	strbuf_addf(&d->line,
		    " lid_range_begin=0x%x lid_range_end=0x%x is_generic=0x%x subscribe=0x1 "
		    "trap_type=0x%x trap_num=0x%x qpn_resp_time_val=0x%x node_type=0x%06x",
		    s.lid_first, s.lid_last, s.is_generic, s.type, s.trap_number,
		    s.qpn << 8 | s.resp_time, s.producer_type);
	strbuf_addf(&d->line,
		    " rep_addr: lid=0x%04x path_bits=0x00 static_rate=0x00 remote_qp=0x%08x "
		    "remote_qkey=0x00000000 pkey_ix=0x0000 sl=0x00",
		    sm_lid_of(d->v->sm, iba_be64(s.subscriber_gid + 8), NULL), s.qpn);
	line_end(d);
}

static void hex_pairs(struct strbuf *out, const char *key, const uint8_t *at, unsigned half,
		      unsigned each_bytes)
{
	strbuf_addf(out, " %s=0x", key);
	for (unsigned i = 0; i < 2 * half * each_bytes; i++)
		strbuf_addf(out, "%s%02x", i == half * each_bytes ? ":0x" : "", at[i]);
}

/* Data of a service are bytes of the record, behind its name. */
static void service_row(struct sa_dump *d, const uint8_t *record, size_t size)
{
	enum { DATA8 = 112, DATA16 = 128, DATA32 = 144, DATA64 = 160 };
	struct iba_sa_service s;
	char name[65] = {0};

	iba_sa_service_get(&s, record, size);
	memcpy(name, s.name, 64);
	strbuf_addf(&d->line, "Service Record: id=0x%016llx", (unsigned long long)s.id);
	gid_text(&d->line, "gid", s.gid);
	strbuf_addf(&d->line, " pkey=0x%x lease=0x%x", s.pkey, s.lease);
	hex_pairs(&d->line, "key", s.key, 8, 1);
	strbuf_add(&d->line, " name='");
	for (const char *c = name; *c; c++)
		strbuf_addn(&d->line, *c < ' ' || *c == '\'' || *c == 0x7f ? " " : c, 1);
	strbuf_add(&d->line, "'");
	hex_pairs(&d->line, "data8", record + DATA8, 8, 1);
	hex_pairs(&d->line, "data16", record + DATA16, 4, 2);
	hex_pairs(&d->line, "data32", record + DATA32, 2, 4);
	hex_pairs(&d->line, "data64", record + DATA64, 1, 8);
	strbuf_addf(&d->line, " modified_time=0x0 lease_period=0x%x", s.lease);
	line_end(d);
}

void run_write_sa(struct file_out *o, const struct run_view *v)
{
	struct sa_dump d = {.v = v, .o = o};

	if (!v->sa)
		return;
	each(&d, IBA_SA_GUID, guid_row);
	groups(&d);
	each(&d, IBA_SA_INFORM_RECORD, subscription_row);
	each(&d, IBA_SA_SERVICE, service_row);
	strbuf_free(&d.line);
}

/* ---- opensm-path-records.dump ---- */

static const char *type_text(const struct fab_node *n)
{
	return n->type == IBA_NODE_SWITCH   ? "Switch"
	       : n->type == IBA_NODE_ROUTER ? "Router"
					    : "Channel Adapter";
}

/* From the first LID of a port to all LIDs; those without a path only for hosts, as the plug-in does. */
static void paths_from(struct strbuf *out, const struct run_view *v, const struct fab *f, port_id p,
		       const bool *used, uint32_t top_lid)
{
	struct iba_sa_path ask = {.slid = f->ports[p].lid, .num_paths = 127}, x;
	const struct fab_node *n = &f->nodes[f->ports[p].node];
	int32_t *to = mem_array(top_lid + 1, sizeof(*to));
	uint8_t query[IBA_SA_DATA_SIZE] = {0};
	struct sa_records r;

	iba_sa_path_put(&ask, query);
	if (sa_look(v->sa, v->sm, IBA_SA_PATH, IBA_SA_BIT(path, slid) | IBA_SA_BIT(path, num_paths),
		    query, &r, v->now))
		r.n = 0;
	memset(to, 0xff, (top_lid + 1) * sizeof(*to));
	for (uint32_t i = 0; i < r.n; i++) {
		iba_sa_path_get(&x, r.bytes + i * r.size, r.size);
		if (x.dlid <= top_lid && to[x.dlid] < 0)
			to[x.dlid] = (int32_t)i;
	}
	for (uint32_t lid = 1; lid <= top_lid; lid++) {
		if (to[lid] < 0 && used[lid] && n->type != IBA_NODE_SWITCH)
			strbuf_addf(out, "0x%04X : UNREACHABLE\n", lid);
		if (to[lid] < 0)
			continue;
		iba_sa_path_get(&x, r.bytes + (size_t)to[lid] * r.size, r.size);
		strbuf_addf(out, "0x%04X : %-2d : %-3d : %-4d\n", lid, x.sl, x.mtu, x.rate);
	}
	free(r.bytes);
	free(to);
}

/* ibacm reads lines of up to 127 bytes: names are shorter. */
static void path_head(struct strbuf *out, const struct fab *f, port_id p)
{
	const char *name = fab_node_name(f, f->ports[p].node);

	strbuf_addf(out, "%s 0x%016llx, base LID %u, \"", type_text(&f->nodes[f->ports[p].node]),
		    (unsigned long long)f->ports[p].guid, f->ports[p].lid);
	for (size_t i = 0; name[i] && i < 64; i++)
		strbuf_addn(out,
			    (unsigned char)name[i] < ' ' || name[i] == '"' || name[i] == 0x7f
				    ? " "
				    : name + i,
			    1);
	strbuf_addf(out, "\", port %u\n# LID  : SL : MTU : RATE\n", f->ports[p].num);
}

void run_write_path_records(struct file_out *o, const struct run_view *v, const struct fab *f)
{
	struct strbuf text = {0};
	uint32_t top_lid = 0;
	const struct fab_vlid *vf;
	bool *used;

	if (!v->sa)
		return;
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid)
			top_lid = MAX(top_lid, f->ports[p].lid + (1u << f->ports[p].lmc) - 1);
	for (port_id p = 0; p < f->nports; p++)
		for (uint32_t i = 0, n = fab_vlids_of(f, p, &vf); i < n; i++)
			top_lid = MAX(top_lid, (uint32_t)vf[i].lid);
	used = mem_zarray(top_lid + 1, sizeof(*used));
	for (port_id p = 0; p < f->nports; p++)
		for (unsigned i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			used[f->ports[p].lid + i] = true;
	for (port_id p = 0; p < f->nports; p++) {
		if (!f->ports[p].lid)
			continue;
		text.len = 0;
		path_head(&text, f, p);
		paths_from(&text, v, f, p, used, top_lid);
		strbuf_add(&text, "\n");
		file_out_put(o, text.s, text.len);
	}
	free(used);
	strbuf_free(&text);
}
