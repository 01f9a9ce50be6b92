/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire. Host structs for every MAD header and subnet management attribute, and the way to and
 * from bytes. Nothing outside this room knows a bit position.
 *
 *	int  iba_port_info_get(struct iba_port_info *, const uint8_t *data, size_t len);
 *	void iba_port_info_put(const struct iba_port_info *, uint8_t *data);
 *
 * _get returns 0, or -EBADMSG when len is shorter than the attribute; it reads nothing beyond len.
 * _put overwrites the attribute's whole size; reserved bits become zero. Values wider than their
 * field are cut to it.
 */
#ifndef WEFT_IBA_H
#define WEFT_IBA_H

#include "base/base.h"
#include "iba/fields.h"

enum {
	IBA_MAD_SIZE = 256,
	IBA_SMP_DATA_OFF = 64, /* where an SMP's attribute lies in the MAD */
	IBA_SMP_DATA_SIZE = 64,
	IBA_SA_DATA_OFF = 56,	  /* of an SA's MAD: records, to its end */
	IBA_PERF_DATA_SIZE = 192, /* at the same place in a GMP of performance management */
	IBA_SMP_HDR_OFF = 24,
	IBA_MIRROR_HDR_OFF = 36,
	IBA_MIRROR_DATA_OFF = 64, /* to the end of the MAD */
	IBA_MIRROR_DATA_SIZE = 192,
	IBA_PATH_SIZE = 64, /* initial and return path; entry 0 is not used */
	IBA_MAX_HOPS = 63,
	IBA_LFT_BLOCK = 64,
	IBA_RFT_BLOCK = 16,
	IBA_MFT_BLOCK = 32,
	IBA_LID_MAX_UNICAST = 0xbfff,
	IBA_LID_MCAST_FIRST = 0xc000,
	IBA_LID_PERMISSIVE = 0xffff,
	IBA_PORT_NONE = 255,	  /* in a forwarding table: discard */
	IBA_SMP_WIRE_BYTES = 290, /* LRH 8, BTH 12, DETH 8, MAD 256, ICRC 4, VCRC 2 */
};

enum iba_class {
	IBA_CLASS_SUBN_LID = 0x01,
	IBA_CLASS_SUBN_ADM = 0x03,
	IBA_CLASS_PERF = 0x04,
	IBA_CLASS_VENDOR_MLNX = 0x0a, /* of devices' firmware */
	IBA_CLASS_CONGESTION = 0x21,
	IBA_CLASS_VENDOR_FIRST = 0x30, /* with an OUI, up to LAST */
	IBA_CLASS_MIRROR = 0x4a,       /* between managers, with IBA_OUI_MIRROR */
	IBA_CLASS_VENDOR_LAST = 0x4f,
	IBA_CLASS_SUBN_DR = 0x81,
};

/* Attributes of class 0x4a. */
enum iba_mirror_attr {
	IBA_MIRROR_ROOT = 0x0010, /* struct iba_mirror_root */
	IBA_MIRROR_PAGE = 0x0011, /* modifier: level << 24 | index */
};

enum { IBA_OUI_MIRROR = 0x025745 }; /* locally administered */

enum iba_method {
	IBA_GET = 0x01,
	IBA_SET = 0x02,
	IBA_SEND = 0x03,
	IBA_TRAP = 0x05,
	IBA_REPORT = 0x06,
	IBA_TRAP_REPRESS = 0x07,
	IBA_GET_RESP = 0x81,
	IBA_REPORT_RESP = 0x86,
};

/* IBA_ATTR_NODE_INFO and so on, of subnet management; IBA_PERF_PORT_COUNTERS and so on, of class
 * 0x04: the tables of fields.h. */
#define IBA_ATTR_CONSTANT(stem, FIELDS, wire, ID, id, name) IBA_ATTR_##ID = (id),
enum iba_attr { IBA_SUBN_ATTRS(IBA_ATTR_CONSTANT) };
#define IBA_PERF_CONSTANT(stem, FIELDS, wire, ID, id, name) IBA_PERF_##ID = (id),
enum iba_perf_attr { IBA_PERF_ATTRS(IBA_PERF_CONSTANT) };

/* ClassPortInfo of performance management (IBA 16.1.3.1). */
enum iba_perf_cap {
	IBA_PERF_ALL_PORTS = 1 << 8,
	IBA_PERF_EXT_WIDTH = 1 << 9,
	IBA_PERF_EXT_WIDTH_NOIETF = 1 << 10, /* without counters of unicast and multicast packets */
	IBA_PERF_XMIT_WAIT = 1 << 12,
};
enum iba_perf_cap2 { IBA_PERF2_EXT_ERRORS = 1 << 1 };

/* Common status, low byte of MADHeader.Status (13.4.7); bit 15 is D in class 0x81. */
enum iba_status {
	IBA_STATUS_OK = 0x0000,
	IBA_STATUS_BUSY = 0x0001,
	IBA_STATUS_BAD_VERSION = 0x0004,
	IBA_STATUS_BAD_METHOD = 0x0008,
	IBA_STATUS_BAD_METHOD_ATTR = 0x000c,
	IBA_STATUS_BAD_FIELD = 0x001c,
	IBA_STATUS_DR_RETURN = 0x8000,
};

enum iba_node_type { IBA_NODE_CA = 1, IBA_NODE_SWITCH = 2, IBA_NODE_ROUTER = 3 };

/* NodeInfo.DeviceID of an HCA in vSwitch mode, of its PF and VFs, and of an HCA whose VFs share its port: a
 * manager knows them without another SMP. */
enum iba_device {
	IBA_DEVICE_FUNCTION = 0x7646,
	IBA_DEVICE_SHARED = 0x7350,
	IBA_DEVICE_VSWITCH = 0x7653,
};

/* Slots in one VFInfo, and the greatest number of VFs: a vSwitch has 2 + VFs ports, at most 254. */
enum { IBA_VF_SLOTS = 6, IBA_MAX_VFS = 252 };

enum iba_port_state {
	IBA_PORT_NO_CHANGE = 0,
	IBA_PORT_DOWN = 1,
	IBA_PORT_INIT = 2,
	IBA_PORT_ARMED = 3,
	IBA_PORT_ACTIVE = 4,
	IBA_PORT_ACT_DEFER = 5,
};

enum iba_phys_state {
	IBA_PHYS_NO_CHANGE = 0,
	IBA_PHYS_SLEEP = 1,
	IBA_PHYS_POLLING = 2,
	IBA_PHYS_DISABLED = 3,
	IBA_PHYS_TRAINING = 4,
	IBA_PHYS_LINK_UP = 5,
	IBA_PHYS_RECOVERY = 6,
};

enum iba_sm_state {
	IBA_SM_NOT_ACTIVE = 0,
	IBA_SM_DISCOVERING = 1,
	IBA_SM_STANDBY = 2,
	IBA_SM_MASTER = 3,
};

/* What Set(SMInfo) orders: its attribute modifier. */
enum iba_sm_order {
	IBA_SM_HANDOVER = 1,
	IBA_SM_ACKNOWLEDGE = 2,
	IBA_SM_DISABLE = 3,
	IBA_SM_STAND_BY = 4,
	IBA_SM_DISCOVER = 5,
};

enum iba_cap_mask {
	IBA_CAP_IS_SM = 1 << 1,
	IBA_CAP_NOTICE = 1 << 2,
	IBA_CAP_TRAP = 1 << 3,
	IBA_CAP_SL_MAP = 1 << 6,
	IBA_CAP_SM_DISABLED = 1 << 10,
	IBA_CAP_SYS_GUID = 1 << 11,
	IBA_CAP_EXT_SPEEDS = 1 << 14,
	IBA_CAP_CAP_MASK2 = 1 << 15,
	IBA_CAP_COMM_MGT = 1 << 16,
	IBA_CAP_VENDOR_CLASS = 1 << 20,
	IBA_CAP_DR_NOTICE = 1 << 21,
	IBA_CAP_CAP_NOTICE = 1 << 22,
	IBA_CAP_ROUND_TRIP = 1 << 24,
	IBA_CAP_CLIENT_REREG = 1 << 25,
	IBA_CAP_OTHER_NOTICE = 1 << 26,
	IBA_CAP_MCAST_TOP = 1 << 30,
};

enum iba_cap_mask2 {
	IBA_CAP2_SET_NODE_DESC = 1 << 0,
	IBA_CAP2_PORT_INFO_EXT = 1 << 1,
	IBA_CAP2_WIDTH_2X = 1 << 4,
	IBA_CAP2_HDR = 1 << 5,
	IBA_CAP2_NDR = 1 << 10,
};

enum iba_notice_type {
	IBA_NOTICE_FATAL = 0,
	IBA_NOTICE_URGENT = 1,
	IBA_NOTICE_SECURITY = 2,
	IBA_NOTICE_SM = 3,
	IBA_NOTICE_INFO = 4,
};

/* IBA_TRAP_LINK_STATE and so on. */
#define IBA_TRAP_CONSTANT(ID, number, stem, name) IBA_TRAP_##ID = (number),
enum iba_trap { IBA_TRAPS(IBA_TRAP_CONSTANT) };

/* Bits of local_changes in trap 144. */
enum iba_local_change { IBA_CHANGED_NODE_DESC = 1 };

/* Link widths as bits of LinkWidth*, speeds as bits of LinkSpeed* and LinkSpeedExt*. */
enum iba_width {
	IBA_WIDTH_1X = 1,
	IBA_WIDTH_4X = 2,
	IBA_WIDTH_8X = 4,
	IBA_WIDTH_12X = 8,
	IBA_WIDTH_2X = 16
};

/* ---- host structs and codec functions, all from fields.h ---- */

#define IBA_MEMBER_F(type, name, bit, width, fmt)		 type name;
#define IBA_MEMBER_A(type, name, count, bit, width, stride, fmt) type name[count];
#define IBA_DECLARE(stem, FIELDS, ...)                                                             \
	struct iba_##stem {                                                                        \
		FIELDS(IBA_MEMBER_F, IBA_MEMBER_A)                                                 \
	};                                                                                         \
	int iba_##stem##_get(struct iba_##stem *v, const uint8_t *data, size_t len);               \
	void iba_##stem##_put(const struct iba_##stem *v, uint8_t *data);
IBA_STRUCTS(IBA_DECLARE)

/* ---- the table itself, for printers, comparers and tests ---- */

enum iba_format {
	IBA_FMT_DEC,
	IBA_FMT_HEX,
	IBA_FMT_GUID,
	IBA_FMT_TEXT,
	IBA_FMT_CLASS,
	IBA_FMT_METHOD,
	IBA_FMT_ATTR,
	IBA_FMT_NODE_TYPE,
	IBA_FMT_PORT_STATE,
	IBA_FMT_PHYS_STATE,
	IBA_FMT_NOTICE_TYPE,
	IBA_FMT_SM_STATE,
	IBA_FMT_WIDTH,
	IBA_FMT_SPEED,
	IBA_FMT_SPEED_EXT,
	IBA_FMT_MTU,
	IBA_FMT_VLS,
	IBA_FMT_GID,
	IBA_FMT_RATE,
	IBA_FMT_SELECTOR,
};

struct iba_field {
	const char *name;
	uint16_t bit, width;	/* position of the first element on the wire */
	uint16_t count, stride; /* 1 and 0 for a plain field; stride in bits */
	uint16_t offset, size;	/* of the first element in the host struct */
	enum iba_format format;
};

struct iba_layout {
	const char *name; /* "port_info" */
	uint16_t wire_size, host_size;
	uint16_t nfields;
	const struct iba_field *fields;
};

/* By struct stem ("port_info") or by attribute id of the subnet management class; NULL if none. */
const struct iba_layout *iba_layout_by_name(const char *stem);
const struct iba_layout *iba_layout_by_attr(uint16_t attr_id);
const struct iba_layout *iba_layout_by_perf_attr(uint16_t attr_id); /* of class 0x04 */
const struct iba_layout *iba_layout_of_trap(uint16_t trap_number);

/* The same work driven by the table at run time. host points at the struct of that layout. */
int iba_layout_get(const struct iba_layout *l, void *host, const uint8_t *data, size_t len);
void iba_layout_put(const struct iba_layout *l, const void *host, uint8_t *data);
uint64_t iba_field_value(const struct iba_field *f, const void *host, unsigned element);

/* The first field in which two structs differ, or NULL. */
const struct iba_field *iba_layout_diff(const struct iba_layout *l, const void *a, const void *b);

/* Words for numbers; a static string, or "?" for what the table does not know. */
const char *iba_class_name(unsigned v);
const char *iba_method_name(unsigned v);    /* "SubnGet", "SubnTrapRepress", ... */
const char *iba_attr_name(unsigned v);	    /* "PortInfo", "LinearForwardingTable", ... */
const char *iba_perf_attr_name(unsigned v); /* "PortCounters", ... */
const char *
iba_status_name(unsigned status); /* of the common status, without class-specific bits */
const char *iba_node_type_name(unsigned v);
const char *iba_port_state_name(unsigned v);
const char *iba_trap_name(unsigned trap_number);
const char *iba_format_word(enum iba_format f, uint64_t v); /* NULL when it is only a number */

/* A whole MAD as aligned text lines, or one line. Any 256 bytes are safe. */
void iba_mad_print(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE]);
void iba_mad_summary(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE]);
/* One value of a field as number and word: "4 (Active)". */
void iba_field_text(struct strbuf *out, const struct iba_field *f, uint64_t v);
/* Only the attribute that an SMP carries. */
void iba_attr_print(struct strbuf *out, const uint8_t smp[IBA_MAD_SIZE]);

/* A MAD from hexadecimal text: plain, or a dump by xxd, hexdump, od and the like, with comments after
 * '#'. -EINVAL with "name:line:column: expected ..." in e, and mad untouched. */
int iba_mad_from_text(uint8_t mad[IBA_MAD_SIZE], const char *name, const char *text, size_t len,
		      struct err *e);
/* The same for the data of one attribute, as smpdump prints it: up to 64 bytes, the rest is 0. */
int iba_attr_from_text(uint8_t data[IBA_SMP_DATA_SIZE], const char *name, const char *text,
		       size_t len, struct err *e);

/* ---- SMPs in place: what an SMI touches at every hop, without decoding the rest ---- */

static inline uint16_t iba_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void iba_be16_put(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline uint64_t iba_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v); /* little-endian hosts only, see meson.build */
}

static inline void iba_be64_put(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

#define IBA_SMP_U8(name, off)                                                                      \
	static inline uint8_t iba_smp_##name(const uint8_t *m)                                     \
	{                                                                                          \
		return m[off];                                                                     \
	}                                                                                          \
	static inline void iba_smp_set_##name(uint8_t *m, uint8_t v)                               \
	{                                                                                          \
		m[off] = v;                                                                        \
	}
#define IBA_SMP_U16(name, off)                                                                     \
	static inline uint16_t iba_smp_##name(const uint8_t *m)                                    \
	{                                                                                          \
		return iba_be16(m + (off));                                                        \
	}                                                                                          \
	static inline void iba_smp_set_##name(uint8_t *m, uint16_t v)                              \
	{                                                                                          \
		iba_be16_put(m + (off), v);                                                        \
	}
#define IBA_SMP_U64(name, off)                                                                     \
	static inline uint64_t iba_smp_##name(const uint8_t *m)                                    \
	{                                                                                          \
		return iba_be64(m + (off));                                                        \
	}                                                                                          \
	static inline void iba_smp_set_##name(uint8_t *m, uint64_t v)                              \
	{                                                                                          \
		iba_be64_put(m + (off), v);                                                        \
	}

IBA_SMP_U8(base_version, 0)
IBA_SMP_U8(mgmt_class, 1)
IBA_SMP_U8(class_version, 2)
IBA_SMP_U8(method, 3)
IBA_SMP_U16(status, 4) /* with D as bit 15 in class 0x81 */
IBA_SMP_U8(hop_ptr, 6)
IBA_SMP_U8(hop_cnt, 7)
IBA_SMP_U64(tid, 8)
IBA_SMP_U16(attr_id, 16)
IBA_SMP_U64(m_key, 24)
IBA_SMP_U16(dr_slid, 32)
IBA_SMP_U16(dr_dlid, 34)

/* A GMP of a vendor's class with an OUI (IBA 16.5). */
static inline bool iba_is_vendor(const uint8_t *m)
{
	return m[1] >= IBA_CLASS_VENDOR_FIRST && m[1] <= IBA_CLASS_VENDOR_LAST;
}

/* A GMP of those that simulated managers and hosts send: of a vendor, or of subnet administration. */
static inline bool iba_is_gmp(const uint8_t *m)
{
	return iba_is_vendor(m) || m[1] == IBA_CLASS_SUBN_ADM;
}

static inline uint32_t iba_smp_attr_mod(const uint8_t *m)
{
	return (uint32_t)iba_be16(m + 20) << 16 | iba_be16(m + 22);
}

static inline void iba_smp_set_attr_mod(uint8_t *m, uint32_t v)
{
	iba_be16_put(m + 20, (uint16_t)(v >> 16));
	iba_be16_put(m + 22, (uint16_t)v);
}

static inline bool iba_smp_is_dr(const uint8_t *m)
{
	return m[1] == IBA_CLASS_SUBN_DR;
}

static inline bool iba_smp_is_return(const uint8_t *m) /* the D bit */
{
	return m[4] >> 7;
}

static inline uint8_t *iba_smp_data(uint8_t *m)
{
	return m + IBA_SMP_DATA_OFF;
}

static inline const uint8_t *iba_smp_data_const(const uint8_t *m)
{
	return m + IBA_SMP_DATA_OFF;
}

static inline uint8_t *iba_smp_initial_path(uint8_t *m)
{
	return m + 128;
}

static inline uint8_t *iba_smp_return_path(uint8_t *m)
{
	return m + 192;
}

/* Start an SMP: everything zero but the header given here. Versions are 1. */
void iba_smp_init(uint8_t mad[IBA_MAD_SIZE], enum iba_class cls, enum iba_method method,
		  uint16_t attr_id, uint32_t attr_mod);

/* 4.096 us * 2^exponent in ps, and the smallest exponent whose time is not less than t (max 31). */
time_ps iba_time_from_exp(unsigned exponent);
unsigned iba_time_to_exp(time_ps t);

enum { IBA_VL_SUBN = 15 }; /* the VL of SMPs; data mapped to it is discarded */

/* MTU codes 1..5 are 256..4096 bytes; VL codes 1..5 are 1, 2, 4, 8, 15 data VLs. */
static inline unsigned iba_mtu_bytes(unsigned code)
{
	return code >= 1 && code <= 5 ? 128u << code : 0;
}

static inline unsigned iba_vl_count(unsigned code)
{
	return code >= 1 && code <= 5 ? (code == 5 ? 15 : 1u << (code - 1)) : 0;
}

#endif
