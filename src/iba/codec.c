/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From fields.h to code: straight-line decode and encode for each attribute, and the same lists as
 * run-time tables for printing, comparing and tests. Keeps no state, allocates nothing.
 * Does not interpret what it carries: that is for SMA and SM.
 */
#include "iba/iba.h"

/* Read `width` bits (1..64) that start `bit` bits into data. Constant arguments fold away. */
static inline uint64_t bits_get(const uint8_t *data, unsigned bit, unsigned width)
{
	unsigned first = bit / 8, last = (bit + width - 1) / 8;
	unsigned spare = 7 - (bit + width - 1) % 8;
	uint64_t v = 0;

	if (width == 64 && bit % 8 == 0)
		return iba_be64(data + first);
	for (unsigned i = first; i <= last; i++)
		v = v << 8 | data[i];
	return v >> spare & (width == 64 ? UINT64_MAX : (1ull << width) - 1);
}

/* Put `width` bits into data, which is zero there. */
static inline void bits_put(uint8_t *data, unsigned bit, unsigned width, uint64_t v)
{
	unsigned first = bit / 8, last = (bit + width - 1) / 8;
	unsigned spare = 7 - (bit + width - 1) % 8;

	if (width == 64 && bit % 8 == 0) {
		iba_be64_put(data + first, v);
		return;
	}
	v = (v & ((1ull << width) - 1)) << spare;
	for (unsigned i = last + 1; i-- > first;) {
		data[i] |= (uint8_t)v;
		v >>= 8;
	}
}

#define GET_F(type, name, bit, width, fmt) v->name = (type)bits_get(data, bit, width);
#define GET_A(type, name, count, bit, width, stride, fmt)                                          \
	for (unsigned i = 0; i < (count); i++)                                                     \
		v->name[i] = (type)bits_get(data, (bit) + i * (stride), width);
#define PUT_F(type, name, bit, width, fmt) bits_put(data, bit, width, v->name);
#define PUT_A(type, name, count, bit, width, stride, fmt)                                          \
	for (unsigned i = 0; i < (count); i++)                                                     \
		bits_put(data, (bit) + i * (stride), width, v->name[i]);

#define DEFINE(stem, FIELDS, wire)                                                                 \
	int iba_##stem##_get(struct iba_##stem *v, const uint8_t *data, size_t len)                \
	{                                                                                          \
		if (len < (wire))                                                                  \
			return -EBADMSG;                                                           \
		FIELDS(GET_F, GET_A)                                                               \
		return 0;                                                                          \
	}                                                                                          \
	void iba_##stem##_put(const struct iba_##stem *v, uint8_t *data)                           \
	{                                                                                          \
		memset(data, 0, wire);                                                             \
		FIELDS(PUT_F, PUT_A)                                                               \
	}
IBA_STRUCTS(DEFINE)

/* ---- the lists as tables ---- */

#define ROW_F(type, name, bit, width, fmt)                                                         \
	{#name, bit, width, 1, 0, offsetof(HOST, name), sizeof(type), IBA_FMT_##fmt},
#define ROW_A(type, name, count, bit, width, stride, fmt)                                          \
	{#name, bit, width, count, stride, offsetof(HOST, name), sizeof(type), IBA_FMT_##fmt},

#define HOST struct iba_mad_hdr
static const struct iba_field rows_mad_hdr[] = {IBA_MAD_HDR_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_smp_hdr
static const struct iba_field rows_smp_hdr[] = {IBA_SMP_HDR_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_notice
static const struct iba_field rows_notice[] = {IBA_NOTICE_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_node_desc
static const struct iba_field rows_node_desc[] = {IBA_NODE_DESC_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_node_info
static const struct iba_field rows_node_info[] = {IBA_NODE_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_switch_info
static const struct iba_field rows_switch_info[] = {IBA_SWITCH_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_guid_info
static const struct iba_field rows_guid_info[] = {IBA_GUID_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_port_info
static const struct iba_field rows_port_info[] = {IBA_PORT_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_pkey_table
static const struct iba_field rows_pkey_table[] = {IBA_PKEY_TABLE_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_slvl_table
static const struct iba_field rows_slvl_table[] = {IBA_SLVL_TABLE_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_vlarb_table
static const struct iba_field rows_vlarb_table[] = {IBA_VLARB_TABLE_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_lft
static const struct iba_field rows_lft[] = {IBA_LFT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_rft
static const struct iba_field rows_rft[] = {IBA_RFT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_mft
static const struct iba_field rows_mft[] = {IBA_MFT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_sm_info
static const struct iba_field rows_sm_info[] = {IBA_SM_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_gid
static const struct iba_field rows_trap_gid[] = {IBA_TRAP_GID_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_switch
static const struct iba_field rows_trap_switch[] = {IBA_TRAP_SWITCH_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_port
static const struct iba_field rows_trap_port[] = {IBA_TRAP_PORT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_cap
static const struct iba_field rows_trap_cap[] = {IBA_TRAP_CAP_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_sysguid
static const struct iba_field rows_trap_sysguid[] = {IBA_TRAP_SYSGUID_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_mkey
static const struct iba_field rows_trap_mkey[] = {IBA_TRAP_MKEY_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_pkey
static const struct iba_field rows_trap_pkey[] = {IBA_TRAP_PKEY_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_trap_swpkey
static const struct iba_field rows_trap_swpkey[] = {IBA_TRAP_SWPKEY_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_mlnx_ext_port_info
static const struct iba_field rows_mlnx_ext_port_info[] = {
	IBA_MLNX_EXT_PORT_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_port_info_ext
static const struct iba_field rows_port_info_ext[] = {IBA_PORT_INFO_EXT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_class_port_info
static const struct iba_field rows_class_port_info[] = {IBA_CLASS_PORT_INFO_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_port_counters
static const struct iba_field rows_port_counters[] = {IBA_PORT_COUNTERS_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define HOST struct iba_port_counters_ext
static const struct iba_field rows_port_counters_ext[] = {
	IBA_PORT_COUNTERS_EXT_FIELDS(ROW_F, ROW_A)};
#undef HOST

#define LAYOUT(stem, FIELDS, wire)                                                                 \
	{#stem, wire, sizeof(struct iba_##stem), ARRAY_LEN(rows_##stem), rows_##stem},
static const struct iba_layout layouts[] = {IBA_STRUCTS(LAYOUT)};

const struct iba_layout *iba_layout_by_name(const char *stem)
{
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++)
		if (!strcmp(layouts[i].name, stem))
			return &layouts[i];
	return NULL;
}

static const struct {
	uint16_t attr_id;
	const char *stem;
} attr_stems[] = {
	{IBA_ATTR_NOTICE, "notice"},
	{IBA_ATTR_NODE_DESC, "node_desc"},
	{IBA_ATTR_NODE_INFO, "node_info"},
	{IBA_ATTR_SWITCH_INFO, "switch_info"},
	{IBA_ATTR_GUID_INFO, "guid_info"},
	{IBA_ATTR_PORT_INFO, "port_info"},
	{IBA_ATTR_PKEY_TABLE, "pkey_table"},
	{IBA_ATTR_SLVL_TABLE, "slvl_table"},
	{IBA_ATTR_VLARB_TABLE, "vlarb_table"},
	{IBA_ATTR_LFT, "lft"},
	{IBA_ATTR_RFT, "rft"},
	{IBA_ATTR_MFT, "mft"},
	{IBA_ATTR_SM_INFO, "sm_info"},
	{IBA_ATTR_PORT_INFO_EXT, "port_info_ext"},
	{IBA_ATTR_MLNX_EXT_PORT_INFO, "mlnx_ext_port_info"},
};

const struct iba_layout *iba_layout_by_attr(uint16_t attr_id)
{
	for (size_t i = 0; i < ARRAY_LEN(attr_stems); i++)
		if (attr_stems[i].attr_id == attr_id)
			return iba_layout_by_name(attr_stems[i].stem);
	return NULL;
}

const struct iba_layout *iba_layout_by_perf_attr(uint16_t attr_id)
{
	switch (attr_id) {
	case IBA_PERF_CLASS_PORT_INFO:
		return iba_layout_by_name("class_port_info");
	case IBA_PERF_PORT_COUNTERS:
		return iba_layout_by_name("port_counters");
	case IBA_PERF_PORT_COUNTERS_EXT:
		return iba_layout_by_name("port_counters_ext");
	}
	return NULL;
}

const struct iba_layout *iba_layout_of_trap(uint16_t trap_number)
{
	switch (trap_number) {
	case IBA_TRAP_GID_IN:
	case IBA_TRAP_GID_OUT:
	case IBA_TRAP_MCAST_CREATED:
	case IBA_TRAP_MCAST_DELETED:
		return iba_layout_by_name("trap_gid");
	case IBA_TRAP_LINK_STATE:
		return iba_layout_by_name("trap_switch");
	case IBA_TRAP_INTEGRITY:
	case IBA_TRAP_OVERRUN:
	case IBA_TRAP_WATCHDOG:
		return iba_layout_by_name("trap_port");
	case IBA_TRAP_CAP_CHANGE:
		return iba_layout_by_name("trap_cap");
	case IBA_TRAP_SYS_GUID:
		return iba_layout_by_name("trap_sysguid");
	case IBA_TRAP_BAD_MKEY:
		return iba_layout_by_name("trap_mkey");
	case IBA_TRAP_BAD_PKEY:
	case IBA_TRAP_BAD_QKEY:
		return iba_layout_by_name("trap_pkey");
	case IBA_TRAP_SW_BAD_PKEY:
		return iba_layout_by_name("trap_swpkey");
	}
	return NULL;
}

uint64_t iba_field_value(const struct iba_field *f, const void *host, unsigned element)
{
	const uint8_t *p = (const uint8_t *)host + f->offset + (size_t)element * f->size;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, 2);
		return v16;
	case 4:
		memcpy(&v32, p, 4);
		return v32;
	}
	memcpy(&v64, p, 8);
	return v64;
}

static void field_store(const struct iba_field *f, void *host, unsigned element, uint64_t v)
{
	uint8_t *p = (uint8_t *)host + f->offset + (size_t)element * f->size;

	memcpy(p, &v, f->size); /* little-endian hosts only, see meson.build */
}

int iba_layout_get(const struct iba_layout *l, void *host, const uint8_t *data, size_t len)
{
	if (len < l->wire_size)
		return -EBADMSG;
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		for (unsigned k = 0; k < f->count; k++)
			field_store(f, host, k, bits_get(data, f->bit + k * f->stride, f->width));
	}
	return 0;
}

void iba_layout_put(const struct iba_layout *l, const void *host, uint8_t *data)
{
	memset(data, 0, l->wire_size);
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		for (unsigned k = 0; k < f->count; k++)
			bits_put(data, f->bit + k * f->stride, f->width,
				 iba_field_value(f, host, k));
	}
}

const struct iba_field *iba_layout_diff(const struct iba_layout *l, const void *a, const void *b)
{
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		for (unsigned k = 0; k < f->count; k++)
			if (iba_field_value(f, a, k) != iba_field_value(f, b, k))
				return f;
	}
	return NULL;
}

void iba_smp_init(uint8_t mad[IBA_MAD_SIZE], enum iba_class cls, enum iba_method method,
		  uint16_t attr_id, uint32_t attr_mod)
{
	memset(mad, 0, IBA_MAD_SIZE);
	iba_smp_set_base_version(mad, 1);
	iba_smp_set_mgmt_class(mad, (uint8_t)cls);
	iba_smp_set_class_version(mad, 1);
	iba_smp_set_method(mad, (uint8_t)method);
	iba_smp_set_attr_id(mad, attr_id);
	iba_smp_set_attr_mod(mad, attr_mod);
}

time_ps iba_time_from_exp(unsigned exponent)
{
	return (time_ps)4096000 << MIN(exponent, 31u);
}

unsigned iba_time_to_exp(time_ps t)
{
	unsigned e = 0;

	while (e < 31 && iba_time_from_exp(e) < t)
		e++;
	return e;
}

unsigned iba_mtu_bytes(unsigned code)
{
	return code >= 1 && code <= 5 ? 128u << code : 0;
}

unsigned iba_vl_count(unsigned code)
{
	return code >= 1 && code <= 5 ? (code == 5 ? 15 : 1u << (code - 1)) : 0;
}
