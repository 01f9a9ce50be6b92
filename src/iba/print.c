/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs as text: whole MADs as aligned lines, one-line summaries. Keeps no state; the ways in are
 * iba_mad_print(), iba_attr_print() and iba_mad_summary(). Trusts no byte of its input and does not
 * judge whether a MAD is valid: it shows what is there.
 */
#include "iba/print_priv.h"

/* ---- lines ---- */

/* The widest field name has 22 letters. */
void iba_line_start(struct strbuf *out, const char *name)
{
	strbuf_addf(out, "  %-22s  ", name);
}

static bool format_is_hex(enum iba_format f)
{
	return f == IBA_FMT_HEX || f == IBA_FMT_GUID || f == IBA_FMT_CLASS || f == IBA_FMT_METHOD ||
	       f == IBA_FMT_ATTR;
}

static void add_number(struct strbuf *out, const struct iba_field *f, uint64_t v)
{
	if (format_is_hex(f->format))
		strbuf_addf(out, "0x%0*llx", (f->width + 3) / 4, (unsigned long long)v);
	else
		strbuf_addf(out, "%llu", (unsigned long long)v);
}

static void add_word(struct strbuf *out, const char *word)
{
	if (word && *word != '?')
		strbuf_addf(out, " (%s)", word);
}

void iba_field_text(struct strbuf *out, const struct iba_field *f, uint64_t v)
{
	add_number(out, f, v);
	add_word(out, iba_format_word(f->format, v));
}

static void print_scalar(struct strbuf *out, const struct iba_field *f, uint64_t v)
{
	iba_line_start(out, f->name);
	iba_field_text(out, f, v);
	strbuf_add(out, "\n");
}

void iba_print_number(struct strbuf *out, const char *name, enum iba_format format, unsigned width,
		      uint64_t v)
{
	const struct iba_field f = {.name = name, .width = (uint16_t)width, .format = format};

	print_scalar(out, &f, v);
}

/* Elements 16 a row; rows after the first are indented below it. */
static void print_array(struct strbuf *out, const struct iba_field *f, const void *host)
{
	for (unsigned i = 0; i < f->count; i++) {
		if (i % 16 == 0)
			iba_line_start(out, i ? "" : f->name);
		add_number(out, f, iba_field_value(f, host, i));
		strbuf_add(out, i % 16 == 15 || i + 1u == f->count ? "\n" : " ");
	}
}

static void print_fields(struct strbuf *out, const struct iba_layout *l, const void *host)
{
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		if (f->count > 1)
			print_array(out, f, host);
		else
			print_scalar(out, f, iba_field_value(f, host, 0));
	}
}

void iba_print_bytes(struct strbuf *out, const uint8_t *mad, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 16 == 0)
			strbuf_addf(out, "  %04x:", first + i);
		strbuf_addf(out, " %02x%s", mad[first + i], i % 16 == 15 || i + 1 == n ? "\n" : "");
	}
}

static void add_path(struct strbuf *out, const uint8_t *path, unsigned hops)
{
	for (unsigned i = 1; i <= MIN(hops, (unsigned)IBA_MAX_HOPS); i++)
		strbuf_addf(out, "%s%u", i > 1 ? "," : "", path[i]);
}

/* ---- attributes that read better as tables; mod is the attribute modifier ---- */

static void print_node_desc(struct strbuf *out, const uint8_t *data, uint32_t mod UNUSED)
{
	unsigned n = IBA_SMP_DATA_SIZE;

	while (n && !data[n - 1])
		n--;
	iba_line_start(out, "text");
	strbuf_add(out, "\"");
	for (unsigned i = 0; i < n; i++) {
		if (data[i] == '"' || data[i] == '\\')
			strbuf_addf(out, "\\%c", data[i]);
		else if (data[i] < 0x20 || data[i] >= 0x7f)
			strbuf_addf(out, "\\x%02x", data[i]);
		else
			strbuf_addf(out, "%c", data[i]);
	}
	strbuf_add(out, "\"\n");
}

static void print_guid_info(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	struct iba_guid_info gi;

	iba_guid_info_get(&gi, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  block %u\n", mod);
	for (unsigned i = 0; i < ARRAY_LEN(gi.guid); i++)
		strbuf_addf(out, "  guid %-4llu 0x%016llx\n",
			    (unsigned long long)mod * ARRAY_LEN(gi.guid) + i,
			    (unsigned long long)gi.guid[i]);
}

/* A line for each slot: response and Set say how many there are. */
static void print_vf_info(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	struct iba_vf_info v;

	iba_vf_info_get(&v, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  %u VFs, %u from slot %u on\n", v.vfs, v.count, mod);
	for (unsigned i = 0; i < MIN(v.count, (unsigned)IBA_VF_SLOTS); i++)
		strbuf_addf(out, "  slot %-6llu lid %-5u guid 0x%016llx%s\n",
			    (unsigned long long)mod + i, v.lid[i], (unsigned long long)v.guid[i],
			    v.lid[i] ? "" : " (detached)");
}

static void print_pkeys(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	struct iba_pkey_table t;

	iba_pkey_table_get(&t, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  block %u, port %u\n", mod & 0xffff, mod >> 16);
	for (unsigned i = 0; i < ARRAY_LEN(t.pkey); i++) {
		if (i % 8 == 0)
			strbuf_addf(out, "  pkey %-6u",
				    (mod & 0xffff) * (unsigned)ARRAY_LEN(t.pkey) + i);
		strbuf_addf(out, " 0x%04x%s", t.pkey[i], i % 8 == 7 ? "\n" : "");
	}
}

static void print_slvl(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	struct iba_slvl_table t;

	iba_slvl_table_get(&t, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  in port %u, out port %u\n  sl", mod >> 8 & 0xff, mod & 0xff);
	for (unsigned i = 0; i < ARRAY_LEN(t.vl); i++)
		strbuf_addf(out, " %2u", i);
	strbuf_add(out, "\n  vl");
	for (unsigned i = 0; i < ARRAY_LEN(t.vl); i++)
		strbuf_addf(out, " %2u", t.vl[i]);
	strbuf_add(out, "\n");
}

static void print_vlarb(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	static const char *const parts[] = {
		"?",
		"low priority, entries 0-31",
		"low priority, entries 32-63",
		"high priority, entries 0-31",
		"high priority, entries 32-63",
	};
	struct iba_vlarb_table t;

	iba_vlarb_table_get(&t, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  block %u (%s), port %u; each VL:weight\n", mod >> 16,
		    parts[(mod >> 16) < ARRAY_LEN(parts) ? mod >> 16 : 0], mod & 0xffff);
	for (unsigned i = 0; i < ARRAY_LEN(t.vl); i++) {
		bool last = i % 8 == 7;

		strbuf_addf(out, "%s %2u:%-*u%s", i % 8 ? "" : " ", t.vl[i], last ? 0 : 3,
			    t.weight[i], last ? "\n" : "");
	}
}

static void print_lft(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	unsigned long long lid = (unsigned long long)mod * IBA_LFT_BLOCK;

	strbuf_addf(out, "  block %u, LIDs %llu to %llu%s; port of each, %d: none\n", mod, lid,
		    lid + IBA_LFT_BLOCK - 1,
		    lid > IBA_LID_MAX_UNICAST ? " (beyond the unicast range)" : "", IBA_PORT_NONE);
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++) {
		if (i % 8 == 0)
			strbuf_addf(out, "  lid %-6llu->", lid + i);
		strbuf_addf(out, " %3u%s", data[i], i % 8 == 7 ? "\n" : "");
	}
}

static void print_rft(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	struct iba_rft t;
	unsigned shown = 0;

	iba_rft_get(&t, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  block %u, valid entries only\n", mod);
	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++) {
		if (!t.valid[i])
			continue;
		strbuf_addf(out, "  entry %-4llu lid %u lmc %u -> port %u\n",
			    (unsigned long long)mod * IBA_RFT_BLOCK + i, t.lid[i], t.lmc[i],
			    t.port[i]);
		shown++;
	}
	if (!shown)
		strbuf_add(out, "  no entry is valid\n");
}

/* The top four bits of the modifier choose 16 ports, the low nine the block of 32 LIDs. */
static void print_mft(struct strbuf *out, const uint8_t *data, uint32_t mod)
{
	unsigned position = mod >> 28, block = mod & 0x1ff, shown = 0;
	struct iba_mft t;

	iba_mft_get(&t, data, IBA_SMP_DATA_SIZE);
	strbuf_addf(out, "  block %u, ports %u to %u; LIDs with ports only\n", block, position * 16,
		    position * 16 + 15);
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++) {
		const char *comma = "";

		if (!t.mask[i])
			continue;
		strbuf_addf(out, "  mlid 0x%04x -> ",
			    IBA_LID_MCAST_FIRST + block * IBA_MFT_BLOCK + i);
		for (unsigned bit = 0; bit < 16; bit++) {
			if (t.mask[i] >> bit & 1) {
				strbuf_addf(out, "%s%u", comma, position * 16 + bit);
				comma = ",";
			}
		}
		strbuf_add(out, "\n");
		shown++;
	}
	if (!shown)
		strbuf_add(out, "  no LID has a port\n");
}

static const struct iba_layout *trap_layout(const struct iba_notice *n)
{
	return n->is_generic ? iba_layout_of_trap(n->trap_number) : NULL;
}

static void print_trap(struct strbuf *out, const uint8_t *mad, const struct iba_notice *n)
{
	const struct iba_layout *l = trap_layout(n);
	union {
#define MEMBER(stem, ...) struct iba_##stem stem;
		IBA_STRUCTS(MEMBER)
	} host;

	if (!l) {
		strbuf_addf(out, "Details of %strap %u\n", n->is_generic ? "" : "vendor ",
			    n->trap_number);
		iba_print_bytes(out, mad, IBA_SMP_DATA_OFF + 10, sizeof(n->details));
		return;
	}
	strbuf_addf(out, "Trap %u (%s)\n", n->trap_number, iba_trap_name(n->trap_number));
	iba_layout_get(l, &host, n->details, sizeof(n->details));
	print_fields(out, l, &host);
}

static void print_notice(struct strbuf *out, const uint8_t *mad)
{
	const struct iba_layout *l = iba_layout_by_attr(IBA_ATTR_NOTICE);
	struct iba_notice n;

	iba_notice_get(&n, mad + IBA_SMP_DATA_OFF, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < l->nfields; i++)
		if (l->fields[i].count == 1)
			print_scalar(out, &l->fields[i], iba_field_value(&l->fields[i], &n, 0));
	print_trap(out, mad, &n);
}

static const struct {
	uint16_t attr_id;
	void (*print)(struct strbuf *out, const uint8_t *data, uint32_t mod);
} table_printers[] = {
	{IBA_ATTR_NODE_DESC, print_node_desc},
	{IBA_ATTR_GUID_INFO, print_guid_info},
	{IBA_ATTR_VF_INFO, print_vf_info},
	{IBA_ATTR_PKEY_TABLE, print_pkeys},
	{IBA_ATTR_SLVL_TABLE, print_slvl},
	{IBA_ATTR_VLARB_TABLE, print_vlarb},
	{IBA_ATTR_LFT, print_lft},
	{IBA_ATTR_RFT, print_rft},
	{IBA_ATTR_MFT, print_mft},
};

void iba_attr_print(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE])
{
	uint16_t id = iba_smp_attr_id(mad);
	const struct iba_layout *l = iba_layout_by_attr(id);
	const uint8_t *data = iba_smp_data_const(mad);
	union {
		IBA_STRUCTS(MEMBER)
	} host;

	if (!l) {
		strbuf_addf(out, "Attribute 0x%04x\n", id);
		iba_print_bytes(out, mad, IBA_SMP_DATA_OFF, IBA_SMP_DATA_SIZE);
		return;
	}
	strbuf_addf(out, "%s\n", iba_attr_name(id));
	if (id == IBA_ATTR_NOTICE) {
		print_notice(out, mad);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(table_printers); i++) {
		if (table_printers[i].attr_id == id) {
			table_printers[i].print(out, data, iba_smp_attr_mod(mad));
			return;
		}
	}
	iba_layout_get(l, &host, data, IBA_SMP_DATA_SIZE);
	print_fields(out, l, &host);
}

/* ---- whole MADs ---- */

static bool mad_is_smp(const uint8_t *mad)
{
	return mad[1] == IBA_CLASS_SUBN_LID || mad[1] == IBA_CLASS_SUBN_DR;
}

/* Status without D, which is the direction in class 0x81. */
static uint16_t mad_status(const uint8_t *mad)
{
	return iba_smp_is_dr(mad) ? iba_smp_status(mad) & 0x7fff : iba_smp_status(mad);
}

static void print_status(struct strbuf *out, const uint8_t *mad)
{
	iba_line_start(out, "status");
	strbuf_addf(out, "0x%04x (%s)\n", mad_status(mad), iba_status_name(mad_status(mad)));
	if (!iba_smp_is_dr(mad))
		return;
	iba_line_start(out, "direction");
	strbuf_addf(out, "%u (%s)\n", iba_smp_is_return(mad),
		    iba_smp_is_return(mad) ? "returning" : "outbound");
}

static void print_hops(struct strbuf *out, const uint8_t *mad)
{
	iba_line_start(out, "hop_ptr");
	strbuf_addf(out, "%u\n", iba_smp_hop_ptr(mad));
	iba_line_start(out, "hop_cnt");
	strbuf_addf(out, "%u%s\n", iba_smp_hop_cnt(mad),
		    iba_smp_hop_cnt(mad) > IBA_MAX_HOPS ? " (more than the 63 allowed)" : "");
}

/* What the words for methods and attributes mean, and what two fields hold, depends on the class.
 */
static void print_header(struct strbuf *out, const uint8_t *mad)
{
	const struct iba_layout *l = iba_layout_by_name("mad_hdr");
	struct iba_mad_hdr h;

	iba_mad_hdr_get(&h, mad, IBA_MAD_SIZE);
	strbuf_add(out, "MAD header\n");
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];
		struct iba_field plain = *f;

		plain.format = IBA_FMT_HEX;
		if (f->offset == offsetof(struct iba_mad_hdr, status))
			print_status(out, mad);
		else if (f->offset == offsetof(struct iba_mad_hdr, class_specific) &&
			 iba_smp_is_dr(mad))
			print_hops(out, mad);
		else if (!mad_is_smp(mad) &&
			 (f->format == IBA_FMT_METHOD || f->format == IBA_FMT_ATTR))
			print_scalar(out, &plain, iba_field_value(f, &h, 0));
		else
			print_scalar(out, f, iba_field_value(f, &h, 0));
	}
}

static void print_path(struct strbuf *out, const char *name, const uint8_t *path, unsigned hops)
{
	iba_line_start(out, name);
	strbuf_add(out, hops ? "" : "(no hops)");
	add_path(out, path, hops);
	strbuf_add(out, "\n");
}

static void print_smp_header(struct strbuf *out, const uint8_t *mad)
{
	const struct iba_layout *l = iba_layout_by_name("smp_hdr");
	struct iba_smp_hdr h;

	iba_smp_hdr_get(&h, mad + IBA_SMP_HDR_OFF, IBA_MAD_SIZE - IBA_SMP_HDR_OFF);
	strbuf_add(out, "SMP header\n");
	if (!iba_smp_is_dr(mad)) {
		print_scalar(out, &l->fields[0], h.m_key); /* the rest is reserved */
		return;
	}
	print_fields(out, l, &h);
	print_path(out, "initial_path", mad + 128, iba_smp_hop_cnt(mad));
	print_path(out, "return_path", mad + 192, iba_smp_hop_cnt(mad));
}

static void print_perf(struct strbuf *out, const uint8_t *mad)
{
	const struct iba_layout *l = iba_layout_by_perf_attr(iba_smp_attr_id(mad));
	union {
		IBA_STRUCTS(MEMBER)
	} host;

	strbuf_addf(out, "%s\n", iba_perf_attr_name(iba_smp_attr_id(mad)));
	iba_layout_get(l, &host, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE);
	print_fields(out, l, &host);
}

void iba_mad_print(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE])
{
	print_header(out, mad);
	if (mad_is_smp(mad)) {
		print_smp_header(out, mad);
		iba_attr_print(out, mad);
	} else if (mad[1] == IBA_CLASS_PERF && iba_layout_by_perf_attr(iba_smp_attr_id(mad))) {
		print_perf(out, mad);
	} else if (mad[1] == IBA_CLASS_SUBN_ADM) {
		iba_sa_print(out, mad);
	} else {
		strbuf_add(out, "Data\n");
		iba_print_bytes(out, mad, IBA_SMP_HDR_OFF, IBA_MAD_SIZE - IBA_SMP_HDR_OFF);
	}
}

static void summarise_name(struct strbuf *out, const uint8_t *mad)
{
	const char *method = iba_method_name(iba_smp_method(mad));
	const char *attr = iba_attr_name(iba_smp_attr_id(mad));

	if (mad[1] == IBA_CLASS_SUBN_ADM) {
		iba_sa_summary(out, mad);
		return;
	}
	if (!mad_is_smp(mad)) {
		strbuf_addf(out, "class 0x%02x method 0x%02x attribute 0x%04x",
			    iba_smp_mgmt_class(mad), iba_smp_method(mad), iba_smp_attr_id(mad));
		return;
	}
	if (*method == '?')
		strbuf_addf(out, "SubnMethod 0x%02x", iba_smp_method(mad));
	else
		strbuf_add(out, method);
	if (*attr == '?')
		strbuf_addf(out, "(0x%04x)", iba_smp_attr_id(mad));
	else
		strbuf_addf(out, "(%s)", attr);
}

static void summarise_trap(struct strbuf *out, const uint8_t *mad)
{
	struct iba_notice n;

	if (!mad_is_smp(mad) || iba_smp_attr_id(mad) != IBA_ATTR_NOTICE)
		return;
	iba_notice_get(&n, mad + IBA_SMP_DATA_OFF, IBA_SMP_DATA_SIZE);
	if (trap_layout(&n))
		strbuf_addf(out, " trap %u %s", n.trap_number, iba_trap_name(n.trap_number));
	else
		strbuf_addf(out, " %strap %u", n.is_generic ? "" : "vendor ", n.trap_number);
}

void iba_mad_summary(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE])
{
	uint32_t mod = iba_smp_attr_mod(mad);

	summarise_name(out, mad);
	strbuf_addf(out, mod > 0xffff ? " mod 0x%x" : " mod %u", mod);
	strbuf_addf(out, " tid 0x%llx", (unsigned long long)iba_smp_tid(mad));
	summarise_trap(out, mad);
	if (mad_status(mad))
		strbuf_addf(out, " status 0x%04x", mad_status(mad));
	if (!iba_smp_is_dr(mad))
		return;
	strbuf_add(out, " DR (");
	add_path(out, mad + 128, iba_smp_hop_cnt(mad));
	strbuf_addf(out, ") hop %u/%u%s", iba_smp_hop_ptr(mad), iba_smp_hop_cnt(mad),
		    iba_smp_is_return(mad) ? " returning" : "");
}
