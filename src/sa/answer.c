/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of an answer, one after another. State: struct sa_answer, of one request. Ways in: sa_record*(). */
#include "sa/sa_priv.h"

uint8_t *sa_record(struct sa_answer *a)
{
	uint8_t *at;

	if (a->len + a->size > a->cap) {
		a->cap = MAX(a->cap * 2, MAX(a->len + a->size, (size_t)IBA_MAD_SIZE));
		a->bytes = mem_resize(a->bytes, a->cap, 1);
	}
	at = a->bytes + a->len;
	memset(at, 0, a->size);
	a->len += a->size;
	a->n++;
	return at;
}

void sa_record_drop(struct sa_answer *a)
{
	a->len -= a->size;
	a->n--;
}

void sa_record_match(struct sa_answer *a, const struct sa_request *q, uint64_t but)
{
	if (!iba_sa_match(q->layout, q->hdr.mask, but, q->query, a->bytes + a->len - a->size))
		sa_record_drop(a);
}
