/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet administration on the wire: the header of its MADs, its records, and component masks.
 *
 *	int  iba_sa_path_get(struct iba_sa_path *, const uint8_t *data, size_t len);
 *	void iba_sa_path_put(const struct iba_sa_path *, uint8_t *data);
 *	IBA_SA_BIT(path, dgid)  that component in a mask: 1 << 2
 *
 * _get and _put as in iba.h; _put writes what a record takes in a table, its end filled with zeros.
 */
#ifndef WEFT_IBA_SA_H
#define WEFT_IBA_SA_H

#include "iba/iba.h"
#include "iba/sa_fields.h"

enum iba_sa_method {
	IBA_SA_GET_TABLE = 0x12,
	IBA_SA_GET_TRACE_TABLE = 0x13,
	IBA_SA_GET_MULTI = 0x14,
	IBA_SA_DELETE = 0x15,
	IBA_SA_GET_TABLE_RESP = 0x92,
	IBA_SA_GET_MULTI_RESP = 0x94,
	IBA_SA_DELETE_RESP = 0x95,
};

/* Status of the class, in the upper byte of MADHeader.Status (IBA 15.2.3). */
enum iba_sa_status {
	IBA_SA_NO_RESOURCES = 0x0100,
	IBA_SA_INVALID = 0x0200,
	IBA_SA_NO_RECORDS = 0x0300,
	IBA_SA_TOO_MANY = 0x0400,
	IBA_SA_BAD_GID = 0x0500,
	IBA_SA_FEW_COMPONENTS = 0x0600,
	IBA_SA_DENIED = 0x0700,
	IBA_SA_PRIORITY = 0x0800,
};

/* Selectors of MTU, rate and packet life time in a query. */
enum iba_sa_selector {
	IBA_SA_GREATER = 0,
	IBA_SA_LESS = 1,
	IBA_SA_EXACTLY = 2,
	IBA_SA_LARGEST = 3, /* of packet life times the smallest */
};

enum {
	IBA_SA_DATA_SIZE = 200,
	IBA_SA_CLASS_VERSION = 2,
	IBA_SA_CLASS_PORT_INFO = 0x0001,
	IBA_SA_NOTICE = 0x0002,
};

/* Ids of the records. */
#define IBA_SA_ID(stem, FIELDS, ID, id, ...) IBA_SA_##ID = (id),
enum iba_sa_attr { IBA_SA_RECORDS(IBA_SA_ID) };

#define IBA_SA_MEMBER_F(type, name, width, fmt) type name;
#define IBA_SA_MEMBER_B(name, bytes, fmt)	uint8_t name[bytes];
#define IBA_SA_MEMBER_R(name, width)
#define IBA_SA_DECLARE(stem, FIELDS, ...)                                                          \
	struct iba_sa_##stem {                                                                     \
		FIELDS(IBA_SA_MEMBER_F, IBA_SA_MEMBER_B, IBA_SA_MEMBER_R)                          \
	};                                                                                         \
	int iba_sa_##stem##_get(struct iba_sa_##stem *v, const uint8_t *data, size_t len);         \
	void iba_sa_##stem##_put(const struct iba_sa_##stem *v, uint8_t *data);
IBA_SA_RECORDS(IBA_SA_DECLARE)

/* A component's number is its place among members of one byte each. */
#define IBA_SA_PLACE_F(type, name, width, fmt) char name;
#define IBA_SA_PLACE_B(name, bytes, fmt)       char name;
#define IBA_SA_PLACE_R(name, width)	       char name;
#define IBA_SA_PLACES(stem, FIELDS, ...)                                                           \
	struct iba_sa_##stem##_places {                                                            \
		FIELDS(IBA_SA_PLACE_F, IBA_SA_PLACE_B, IBA_SA_PLACE_R)                             \
	};
IBA_SA_RECORDS(IBA_SA_PLACES)
#define IBA_SA_BIT(stem, component) (1ull << offsetof(struct iba_sa_##stem##_places, component))

/* ---- the header: bytes 36 to 55 ---- */

struct iba_sa_hdr {
	uint64_t sm_key;
	uint16_t offset; /* of the next record, in units of 8 bytes; 0: there is one at most */
	uint64_t mask;
};
void iba_sa_hdr_get(struct iba_sa_hdr *h, const uint8_t mad[IBA_MAD_SIZE]);
void iba_sa_hdr_put(const struct iba_sa_hdr *h, uint8_t mad[IBA_MAD_SIZE]);

/* ---- records at run time ---- */

struct iba_sa_component {
	const char *name; /* "dgid"; "r1" and the like are reserved */
	uint16_t bit, width;
	bool reserved;
	enum iba_format format;
};

struct iba_sa_layout {
	const char *stem, *name; /* "path", "PathRecord" */
	uint16_t attr_id;
	uint16_t wire_size;  /* bytes that it has */
	uint16_t table_size; /* bytes from one to the next in a table */
	uint16_t ncomponents;
	const struct iba_sa_component *components;
};

const struct iba_sa_layout *iba_sa_layout(uint16_t attr_id); /* NULL: no record */
/* The number of a component by name, or -1. */
int iba_sa_component(const struct iba_sa_layout *l, const char *name);

/*
 * Whether a record has the values of a query in all components of the mask; reserved ones and those of bits beyond the
 * record do not count. `but` is a mask of components that are not compared: selectors and what they select.
 */
bool iba_sa_match(const struct iba_sa_layout *l, uint64_t mask, uint64_t but, const uint8_t *query,
		  const uint8_t *record);

/* Whether a value satisfies a selector. IBA_SA_LARGEST takes all: the best of them is the caller's to find. */
bool iba_sa_selected(enum iba_sa_selector s, unsigned wanted, unsigned value);

#endif
