/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GMPs between managers. State: the number sent. Ways in: sm_mirror_send(), sm_mirror_read(). Does not know
 * what a page is about.
 *
 * Each MAD has a tag: SipHash with the SM_Key over all but the transaction id, which transports change. The nonce
 * of a request comes back in its response, under the response's tag. So the key itself is never on the
 * wire, and a manager without it gets no answer and is not believed.
 */
#include "base/siphash.h"
#include "sm/manager.h"

enum { TAG_AT = 4 }; /* of the header */

static uint64_t tag_of(const struct sm *sm, const uint8_t *mad)
{
	static const uint64_t purpose = 0x776566746d697272ull; /* not a key for anything else */
	uint8_t b[8 + IBA_MAD_SIZE - IBA_MIRROR_HDR_OFF];

	b[0] = iba_smp_method(mad);
	b[1] = iba_smp_mgmt_class(mad);
	iba_be16_put(b + 2, iba_smp_attr_id(mad));
	iba_be16_put(b + 4, (uint16_t)(iba_smp_attr_mod(mad) >> 16));
	iba_be16_put(b + 6, (uint16_t)iba_smp_attr_mod(mad));
	memcpy(b + 8, mad + IBA_MIRROR_HDR_OFF, sizeof(b) - 8);
	memset(b + 8 + TAG_AT, 0, 8);
	return siphash(sm->cfg.sm_key, purpose, b, sizeof(b));
}

void sm_mirror_send(struct sm *sm, const struct sm_mirror_mad *m, const uint8_t *data)
{
	struct sm_send s = {.slid = m->slid, .dlid = m->dlid, .sl = m->sl};
	struct iba_mirror_hdr h = {.oui = IBA_OUI_MIRROR, .nonce = m->nonce, .root = m->root};

	iba_smp_init(s.mad, IBA_CLASS_MIRROR, m->method, (uint16_t)m->attr, m->modifier);
	iba_smp_set_tid(s.mad, m->tid);
	if (data)
		memcpy(s.mad + IBA_MIRROR_DATA_OFF, data, SM_PAGE);
	iba_mirror_hdr_put(&h, s.mad + IBA_MIRROR_HDR_OFF);
	h.tag = tag_of(sm, s.mad);
	iba_mirror_hdr_put(&h, s.mad + IBA_MIRROR_HDR_OFF);
	sm->mirror.gmps++;
	sm_send_gmp(sm, &s);
}

bool sm_mirror_read(const struct sm *sm, const uint8_t *mad, struct sm_mirror_mad *m)
{
	struct iba_mirror_hdr h;

	iba_mirror_hdr_get(&h, mad + IBA_MIRROR_HDR_OFF, IBA_MAD_SIZE - IBA_MIRROR_HDR_OFF);
	if (iba_smp_base_version(mad) != 1 || iba_smp_class_version(mad) != 1 ||
	    iba_smp_mgmt_class(mad) != IBA_CLASS_MIRROR || iba_smp_status(mad) ||
	    h.oui != IBA_OUI_MIRROR || h.tag != tag_of(sm, mad))
		return false;
	*m = (struct sm_mirror_mad){.method = iba_smp_method(mad),
				    .attr = iba_smp_attr_id(mad),
				    .modifier = iba_smp_attr_mod(mad),
				    .tid = iba_smp_tid(mad),
				    .nonce = h.nonce,
				    .root = h.root};
	return true;
}
