/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as OpenSM's qos-policy.conf: reading must not crash; what is refused is explained; of what is read, a copy
 * is the same, and every query gets an answer. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pol_port a = {
		.guid = 17, .type = IBA_NODE_CA, .num = 1, .description = "host 1"};
	const struct pol_port b = {
		.guid = 18, .type = IBA_NODE_SWITCH, .description = "s", .is_sm = true};
	struct pol_query q = {
		.src = &a, .dst = &b, .service_id = size, .qos_class = 3, .pkey = 0xffff};
	struct pol *p = pol_new(), *c;
	struct pol_path path;
	struct err e = {""};

	if (pol_read_qos(p, "fuzz", (const char *)data, size, &e)) {
		CHECK(*e.text);
		pol_free(p);
		return 0;
	}
	p->qos = true;
	c = pol_copy(p);
	CHECK(pol_same(p, c));
	pol_free(p);
	for (unsigned has = 0; has < 8; has++) {
		q.has_service_id = has & 1;
		q.has_qos_class = has & 2;
		q.has_pkey = has & 4;
		pol_path(c, &q, &path);
		CHECK(path.level && path.sl < 16); /* there is always a default level */
	}
	pol_free(c);
	return 0;
}
