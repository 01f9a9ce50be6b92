/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs of subnet administration as text: the headers, the components that a mask names, and the records. Keeps no state. Ways
 * in: iba_sa_print(), iba_sa_summary(). Trusts no byte of its input, as print.c.
 */
#include "iba/bits.h"
#include "iba/print_priv.h"
#include "iba/rmpp.h"
#include "iba/sa_wire.h"

static const struct {
	uint8_t method;
	const char *name;
} methods[] = {
	{IBA_GET, "SubnAdmGet"},
	{IBA_SET, "SubnAdmSet"},
	{IBA_GET_RESP, "SubnAdmGetResp"},
	{IBA_REPORT, "SubnAdmReport"},
	{IBA_REPORT_RESP, "SubnAdmReportResp"},
	{IBA_SA_GET_TABLE, "SubnAdmGetTable"},
	{IBA_SA_GET_TABLE_RESP, "SubnAdmGetTableResp"},
	{IBA_SA_GET_TRACE_TABLE, "SubnAdmGetTraceTable"},
	{IBA_SA_GET_MULTI, "SubnAdmGetMulti"},
	{IBA_SA_GET_MULTI_RESP, "SubnAdmGetMultiResp"},
	{IBA_SA_DELETE, "SubnAdmDelete"},
	{IBA_SA_DELETE_RESP, "SubnAdmDeleteResp"},
};

static const char *const rmpp_types[] = {
	[IBA_RMPP_DATA] = "DATA",
	[IBA_RMPP_ACK] = "ACK",
	[IBA_RMPP_STOP] = "STOP",
	[IBA_RMPP_ABORT] = "ABORT",
};

void iba_sa_summary(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE])
{
	const struct iba_sa_layout *l = iba_sa_layout(iba_smp_attr_id(mad));
	const char *method = NULL;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (methods[i].method == iba_smp_method(mad))
			method = methods[i].name;
	if (method)
		strbuf_add(out, method);
	else
		strbuf_addf(out, "SubnAdmMethod 0x%02x", iba_smp_method(mad));
	if (l)
		strbuf_addf(out, "(%s)", l->name);
	else if (iba_smp_attr_id(mad) == IBA_SA_CLASS_PORT_INFO)
		strbuf_add(out, "(ClassPortInfo)");
	else if (iba_smp_attr_id(mad) == IBA_SA_NOTICE)
		strbuf_add(out, "(Notice)");
	else
		strbuf_addf(out, "(0x%04x)", iba_smp_attr_id(mad));
}

/* ---- headers ---- */

static void print_rmpp(struct strbuf *out, const uint8_t *mad)
{
	unsigned type = mad[25];
	bool window = type == IBA_RMPP_ACK;

	if (!iba_rmpp_active(mad))
		return;
	strbuf_add(out, "RMPP header\n");
	iba_print_number(out, "version", IBA_FMT_DEC, 8, mad[24]);
	iba_line_start(out, "type");
	strbuf_addf(out, "%u (%s)\n", type,
		    type < ARRAY_LEN(rmpp_types) && rmpp_types[type] ? rmpp_types[type] : "?");
	iba_line_start(out, "flags");
	strbuf_addf(out, "%u (active%s%s)\n", mad[26] & 7,
		    mad[26] & IBA_RMPP_FIRST ? ", first" : "",
		    mad[26] & IBA_RMPP_LAST ? ", last" : "");
	iba_print_number(out, "response_time", IBA_FMT_DEC, 5, mad[26] >> 3);
	iba_print_number(out, "rmpp_status", IBA_FMT_DEC, 8, mad[27]);
	iba_print_number(out, "segment", IBA_FMT_DEC, 32, iba_rmpp_segment(mad));
	iba_print_number(out, window ? "new_window_last" : "payload_length", IBA_FMT_DEC, 32,
			 bits_get(mad, 32 * 8, 32));
}

static void print_mask(struct strbuf *out, const struct iba_sa_layout *l, uint64_t mask)
{
	iba_line_start(out, "component_mask");
	strbuf_addf(out, "0x%016llx", (unsigned long long)mask);
	for (unsigned i = 0; l && i < l->ncomponents; i++)
		if (mask >> i & 1)
			strbuf_addf(out, " %s", l->components[i].name);
	strbuf_add(out, "\n");
}

/* ---- records ---- */

static void print_gid(struct strbuf *out, const char *name, const uint8_t *gid)
{
	iba_line_start(out, name);
	for (unsigned i = 0; i < 16; i += 2)
		strbuf_addf(out, "%s%x", i ? ":" : "", iba_be16(gid + i));
	strbuf_add(out, "\n");
}

static void print_text(struct strbuf *out, const char *name, const uint8_t *text, unsigned n)
{
	iba_line_start(out, name);
	for (unsigned i = 0; i < n && text[i]; i++)
		strbuf_addf(out, "%c", text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	strbuf_add(out, "\n");
}

static void print_hex(struct strbuf *out, const char *name, const uint8_t *data, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 16 == 0)
			iba_line_start(out, i ? "" : name);
		strbuf_addf(out, "%02x%s", data[i], i % 16 == 15 || i + 1 == n ? "\n" : " ");
	}
}

static void print_component(struct strbuf *out, const struct iba_sa_component *c,
			    const uint8_t *data)
{
	if (c->reserved)
		return;
	if (c->format == IBA_FMT_GID)
		print_gid(out, c->name, data + c->bit / 8);
	else if (c->format == IBA_FMT_TEXT)
		print_text(out, c->name, data + c->bit / 8, c->width / 8);
	else if (c->width > 64)
		print_hex(out, c->name, data + c->bit / 8, c->width / 8);
	else
		iba_print_number(out, c->name, c->format, c->width,
				 bits_get(data, c->bit, c->width));
}

/* Those that are whole in this MAD; of a transfer in segments the first segment has the first ones. */
static void print_records(struct strbuf *out, const struct iba_sa_layout *l, const uint8_t *mad,
			  unsigned step)
{
	unsigned room = IBA_SA_DATA_SIZE, at = 0;

	do {
		strbuf_addf(out, "%s\n", l->name);
		for (unsigned i = 0; i < l->ncomponents; i++)
			print_component(out, &l->components[i], mad + IBA_SA_DATA_OFF + at);
		at += step;
	} while (step && at + l->wire_size <= room);
}

void iba_sa_print(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE])
{
	const struct iba_sa_layout *l = iba_sa_layout(iba_smp_attr_id(mad));
	bool table = iba_smp_method(mad) == IBA_SA_GET_TABLE_RESP && iba_rmpp_active(mad);
	bool first = !iba_rmpp_active(mad) || iba_rmpp_segment(mad) <= 1;
	struct iba_sa_hdr h;

	iba_sa_hdr_get(&h, mad);
	print_rmpp(out, mad);
	strbuf_add(out, "SA header\n");
	iba_print_number(out, "sm_key", IBA_FMT_HEX, 64, h.sm_key);
	iba_print_number(out, "attribute_offset", IBA_FMT_DEC, 16, h.offset);
	print_mask(out, l, h.mask);
	if (iba_rmpp_active(mad) && iba_rmpp_type(mad) != IBA_RMPP_DATA)
		return;
	if (l && first) {
		print_records(out, l, mad, table ? h.offset * 8u : 0);
		return;
	}
	strbuf_add(out, "Data\n");
	iba_print_bytes(out, mad, IBA_SA_DATA_OFF, IBA_SA_DATA_SIZE);
}
