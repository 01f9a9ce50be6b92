/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups that partitions create: those of IPoIB and those that a configuration lists. State: groups of
 * a partition. Ways in: pol_definition_begin(), pol_ipoib_groups(), pol_group_add(), pol_groups(). Does not know members of groups.
 */
#include "policy/policy_priv.h"

enum {
	DEFAULT_RATE = 3, /* 10 Gb/s */
	DEFAULT_MTU = 4,  /* 2048 bytes */
	LINK_LOCAL = 2,
	IPOIB_QKEY = 0x0b1b,
	IPV4 = 0x401b, /* signatures in MGIDs (RFC 4391, 4) */
	IPV6 = 0x601b,
};

void pol_group_flags_default(struct pol_group_flags *f)
{
	*f = (struct pol_group_flags){.rate = DEFAULT_RATE, .mtu = DEFAULT_MTU};
}

void pol_definition_begin(struct pol_partition *t)
{
	uint8_t sl = t->flags.sl;
	bool has_sl = t->flags.has_sl;

	pol_group_flags_default(&t->flags);
	t->flags.sl = sl;
	t->flags.has_sl = has_sl;
}

unsigned pol_ip_signature(const uint8_t mgid[16])
{
	unsigned s = (unsigned)mgid[2] << 8 | mgid[3];

	return s == IPV4 || s == IPV6 ? s : 0;
}

static bool group_known(const struct pol_partition *t, const uint8_t mgid[16])
{
	for (size_t i = 0; i < t->groups.n; i++)
		if (!memcmp(t->groups.at[i].mgid, mgid, 16))
			return true;
	return false;
}

static void add_scoped(struct pol_partition *t, const struct pol_group *like, uint8_t scope)
{
	struct pol_group g = *like;

	g.scope = scope;
	g.hop_limit = scope == LINK_LOCAL ? 0 : 255;
	g.mgid[1] = (uint8_t)((g.mgid[1] & 0xf0) | scope);
	if (!group_known(t, g.mgid))
		vec_push(&t->groups, g);
}

static void add(struct pol_partition *t, const uint8_t mgid[16], const struct pol_group_flags *f,
		bool broadcast)
{
	struct pol_group g = {
		.pkey = t->pkey | POL_FULL_BIT,
		.qkey = f->qkey || !pol_ip_signature(mgid) ? f->qkey : IPOIB_QKEY,
		.sl = f->sl,
		.rate = f->rate,
		.mtu = f->mtu,
		.tclass = f->tclass,
		.flow_label = f->flow_label,
		.broadcast = broadcast,
	};

	memcpy(g.mgid, mgid, 16);
	if (pol_ip_signature(mgid)) {
		g.mgid[4] = (uint8_t)(g.pkey >> 8);
		g.mgid[5] = (uint8_t)g.pkey;
	}
	if (!f->scopes)
		add_scoped(t, &g, LINK_LOCAL);
	for (uint8_t s = 1; s < 16; s++)
		if (f->scopes >> s & 1)
			add_scoped(t, &g, s);
}

void pol_ipoib_groups(struct pol_partition *t)
{
	static const uint8_t v4[16] = {0xff, 0x12, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff};
	static const uint8_t v6[16] = {0xff, 0x12, 0x60, 0x1b, [15] = 1};

	add(t, v4, &t->flags, true);
	add(t, v6, &t->flags, true);
}

/* An IP group belongs to the partition that its MGID names, and a host takes rate and MTU of the broadcast group for
 * all of them (RFC 4391, 10). */
static int ip_group_check(const struct pol_partition *t, const uint8_t mgid[16],
			  const struct pol_group_flags *f, struct err *e)
{
	unsigned key = (unsigned)mgid[4] << 8 | mgid[5];

	if (key && (key & ~(unsigned)POL_FULL_BIT) != t->pkey)
		return err_set(
			e, -EINVAL,
			"expected P_Key 0x%04x or 0 in the MGID of an IP group, found 0x%04x",
			t->pkey | POL_FULL_BIT, key);
	if (f->rate != t->flags.rate)
		return err_set(e, -EINVAL,
			       "expected the partition's rate %u for an IP group, found %u",
			       t->flags.rate, f->rate);
	if (f->mtu != t->flags.mtu)
		return err_set(e, -EINVAL,
			       "expected the partition's mtu %u for an IP group, found %u",
			       t->flags.mtu, f->mtu);
	return 0;
}

int pol_group_add(struct pol_partition *t, const uint8_t mgid[16], const struct pol_group_flags *f,
		  struct err *e)
{
	int rc = 0;

	if (mgid[0] != 0xff)
		return err_set(e, -EINVAL,
			       "expected the GID of a multicast group, which begins with ff");
	if (pol_ip_signature(mgid))
		rc = ip_group_check(t, mgid, f, e);
	if (!rc)
		add(t, mgid, f, false);
	return rc;
}

size_t pol_groups(const struct pol *p, struct pol_group *groups, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < p->partitions.n; i++)
		for (size_t j = 0; j < p->partitions.at[i].groups.n; j++, n++)
			if (n < max) {
				groups[n] = p->partitions.at[i].groups.at[j];
				groups[n].sl = p->qos ? groups[n].sl : 0;
			}
	return n;
}
