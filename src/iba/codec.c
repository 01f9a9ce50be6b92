/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From fields.h to code: straight-line decode and encode for each attribute, and the same lists as
 * run-time tables for printing, comparing and tests. Keeps no state, allocates nothing; the ways in
 * are iba_*_get(), iba_*_put() and iba_layout_by_*(). Does not interpret what it carries: SMA and SM
 * do.
 */
#include "iba/bits.h"

#define GET_F(type, name, bit, width, fmt) v->name = (type)bits_get(data, bit, width);
#define GET_A(type, name, count, bit, width, stride, fmt)                                          \
	for (unsigned i = 0; i < (count); i++)                                                     \
		v->name[i] = (type)bits_get(data, (bit) + i * (stride), width);
#define PUT_F(type, name, bit, width, fmt) bits_put(data, bit, width, v->name);
#define PUT_A(type, name, count, bit, width, stride, fmt)                                          \
	for (unsigned i = 0; i < (count); i++)                                                     \
		bits_put(data, (bit) + i * (stride), width, v->name[i]);

#define DEFINE(stem, FIELDS, wire, ...)                                                            \
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

/* In a function, so that every list has a HOST of its own. */
#define LAYOUT(stem, FIELDS, wire, ...)                                                            \
	static const struct iba_layout *layout_##stem(void)                                        \
	{                                                                                          \
		typedef struct iba_##stem HOST;                                                    \
		static const struct iba_field rows[] = {FIELDS(ROW_F, ROW_A)};                     \
		static const struct iba_layout l = {#stem, wire, sizeof(HOST), ARRAY_LEN(rows),    \
						    rows};                                         \
                                                                                                   \
		return &l;                                                                         \
	}
IBA_STRUCTS(LAYOUT)

const struct iba_layout *iba_layout_by_name(const char *stem)
{
#define BY_NAME(s, ...)                                                                            \
	if (!strcmp(#s, stem))                                                                     \
		return layout_##s();
	IBA_STRUCTS(BY_NAME)
	return NULL;
}

#define BY_ID(stem, FIELDS, wire, ID, id, name)                                                    \
	case id:                                                                                   \
		return layout_##stem();

const struct iba_layout *iba_layout_by_attr(uint16_t attr_id)
{
	switch (attr_id) {
		IBA_SUBN_ATTRS(BY_ID)
	}
	return NULL;
}

const struct iba_layout *iba_layout_by_perf_attr(uint16_t attr_id)
{
	switch (attr_id) {
		IBA_PERF_ATTRS(BY_ID)
	}
	return NULL;
}

const struct iba_layout *iba_layout_of_trap(uint16_t trap_number)
{
#define BY_TRAP(ID, number, stem, name)                                                            \
	case number:                                                                               \
		return layout_##stem();
	switch (trap_number) {
		IBA_TRAPS(BY_TRAP)
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
