/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as OpenSM's partitions.conf: reading must not crash; what is refused is explained; of what is read, a copy
 * is the same, and every port's table holds each of its keys once. Keeps nothing. libFuzzer is the way in, or replay.c
 * over files.
 */
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static void table_check(const struct pol *p, const struct pol_port *port)
{
	static const uint16_t held[4] = {0xffff, 0x8001, 0, 2};
	uint16_t keys[64], over[64];
	size_t n = pol_pkeys(p, port, keys, 64);
	int used = pol_pkeys_over(p, port, held, 4, over, 64);

	CHECK(used == -ENOSPC ? n > 64 : n <= (size_t)used);
	for (size_t i = 0; i < MIN(n, (size_t)64); i++) {
		unsigned there = 0;

		for (int j = 0; j < used; j++)
			there += over[j] == keys[i];
		CHECK(keys[i] & 0x7fff && (used < 0 || there == 1));
		CHECK(pol_share(p, port, port, keys[i], NULL) || !(keys[i] & POL_FULL_BIT));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pol_port ca = {
		.guid = 17, .type = IBA_NODE_CA, .num = 1, .description = "host 1"};
	const struct pol_port sw = {
		.guid = 18, .type = IBA_NODE_SWITCH, .description = "s", .is_sm = true};
	struct pol *p = pol_new(), *c;
	struct pol_group groups[16];
	struct err e = {""};

	if (pol_read_partitions(p, "fuzz", (const char *)data, size, &e)) {
		CHECK(*e.text);
		pol_free(p);
		return 0;
	}
	p->both = size & 1;
	c = pol_copy(p);
	CHECK(pol_same(p, c));
	pol_free(p);
	table_check(c, &ca);
	table_check(c, &sw);
	pol_groups(c, groups, 16);
	pol_free(c);
	return 0;
}
