/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the memory of an earlier manager: with the right beginning and hash, so that they are
 * read, and then believed by a manager whose fabric says the least that keeps it going. No crash, no
 * step without end. Way in: libFuzzer, or replay.c over files.
 */
#include "base/rng.h"
#include "sm/restore/saved_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 200, HEAD = 12 };

/* The devices: a host 1 with the SM, and behind it whatever the memory says; all switches agree with it. */
static void answer(const struct sm *sm, uint8_t *mad)
{
	uint8_t *d = iba_smp_data(mad);
	uint16_t attr = iba_smp_attr_id(mad);
	unsigned hops = iba_smp_hop_cnt(mad);

	mad[3] = IBA_GET_RESP;
	if (attr == IBA_ATTR_NODE_INFO) {
		struct iba_node_info ni = {.node_type = hops ? IBA_NODE_SWITCH : IBA_NODE_CA,
					   .num_ports = hops ? 4 : 1,
					   .node_guid = 1 + hops,
					   .port_guid = 1 + hops,
					   .local_port = 1};

		iba_node_info_put(&ni, d);
	} else if (attr == IBA_ATTR_PORT_INFO) {
		struct iba_port_info pi = {
			.lid = (uint16_t)(1 + hops), .sm_lid = 1, .state = IBA_PORT_ACTIVE};

		iba_port_info_put(&pi, d);
	} else if (attr == IBA_ATTR_SWITCH_INFO) {
		struct iba_switch_info si = {.linear_cap = 1000, .linear_top = 100};
		uint32_t at = sm->restored.saved ? map64_get(&sm->restored.saved->by_guid, 1 + hops)
						 : MAP_NONE;

		if (at != MAP_NONE && sm->restored.saved->nodes.at[at].si)
			iba_switch_info_get(&si, sm->restored.saved->nodes.at[at].si,
					    IBA_SMP_DATA_SIZE);
		si.port_state_change = 0;
		iba_switch_info_put(&si, d);
	}
}

static void live(struct sm *sm)
{
	struct sm_actions out = {0};
	struct sm_event ev = {.kind = SM_EV_START};
	uint8_t mad[IBA_MAD_SIZE];

	sm_step(sm, &ev, &out);
	for (unsigned i = 0; i < STEPS && out.sends.n; i++) {
		memcpy(mad, out.sends.at[0].mad, sizeof(mad));
		answer(sm, mad);
		ev = (struct sm_event){.kind = SM_EV_SMP, .now = (i + 1) * PS_PER_US, .mad = mad};
		sm_step(sm, &ev, &out);
	}
	sm_actions_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = mem_zalloc(size + 8);
	struct sm_config c;
	struct sm *sm;
	struct err e;

	sm_config_default(&c);
	c.port = 1;
	c.window = 1;
	c.read_back = true;
	sm = sm_new(&c);
	if (size)
		memcpy(bytes, data, size);
	if (size >= HEAD) { /* 2 and 4: with VMs; 3 and 4: with lanes */
		memcpy(bytes, "WEFTMEM", 7);
		bytes[7] = bytes[7] >= '1' && bytes[7] <= '4' ? bytes[7] : '1';
	}
	sm_saved_seal(bytes, size);
	if (!sm_state_load(sm, bytes, size + 8, &e))
		live(sm);
	sm_free(sm);
	free(bytes);
	return 0;
}
