/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An HCA in vSwitch mode behind a switch, seen from a host: its functions, VFInfo with each value that it must
 * refuse, the addresses at its uplink, states that follow the uplink, forwarding inside. Keeps no state; each
 * test has its own fabric. Does not test a manager.
 * Covers: vswitch.c, sma_virtual.c
 */
#include "express_fixture.h"

#include "sim/traffic/sim_traffic.h"

enum { H0, SW, HCA, PF }; /* node ids; VF k is PF + k */
enum { NO_ANSWER = 0x10000, HOPS = 2, HCA_LID = 5, SM_LID = 1 };
#define HCA_GUID 0x2010ull

static struct fab *draw_hca(enum fab_sriov mode, unsigned vfs)
{
	struct fab *plain = draw_chain(1), *f;
	struct fab_builder *b = fab_builder_from(plain);
	struct fab *compact;
	struct err e;

	fab_builder_node(b, HCA)->sriov = (uint8_t)mode;
	fab_builder_node(b, HCA)->vfs = (uint8_t)vfs;
	compact = fab_build(b);
	f = fab_wire(compact, &e);
	assert_non_null(f);
	fab_free(compact);
	fab_free(plain);
	return f;
}

/* A Get or Set at the HCA, or at the function of a slot; returns the status. */
static unsigned ask_at(struct world *w, int slot, unsigned method, uint16_t attr, uint32_t mod,
		       uint64_t key, uint8_t data[IBA_SMP_DATA_SIZE])
{
	uint8_t path[] = {1, 2, (uint8_t)(FAB_SLOT0_PORT + slot)};
	struct sim_smp s = smp_dr(method, attr, mod, path, slot < 0 ? HOPS : HOPS + 1);
	const struct sim_smp *r;

	memcpy(iba_smp_data(s.mad), data, IBA_SMP_DATA_SIZE);
	iba_smp_set_m_key(s.mad, key);
	r = world_ask(w, &s);
	if (!r)
		return NO_ANSWER;
	memcpy(data, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return smp_status(r);
}

static unsigned vf_get(struct world *w, unsigned slot, struct iba_vf_info *v)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	unsigned status = ask_at(w, -1, IBA_GET, IBA_ATTR_VF_INFO, slot, 0, d);

	iba_vf_info_get(v, d, sizeof(d));
	return status;
}

static unsigned vf_put(struct world *w, unsigned slot, struct iba_vf_info v)
{
	uint8_t d[IBA_SMP_DATA_SIZE];

	iba_vf_info_put(&v, d);
	return ask_at(w, -1, IBA_SET, IBA_ATTR_VF_INFO, slot, 0, d);
}

static unsigned vf_one(struct world *w, unsigned slot, uint16_t lid, uint64_t guid)
{
	return vf_put(w, slot, (struct iba_vf_info){.count = 1, .lid = {lid}, .guid = {guid}});
}

static struct iba_port_info port_get(struct world *w, int slot, unsigned num)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct iba_port_info pi;

	assert_int_equal(ask_at(w, slot, IBA_GET, IBA_ATTR_PORT_INFO, num, 0, d), 0);
	iba_port_info_get(&pi, d, sizeof(d));
	return pi;
}

static unsigned port_put(struct world *w, int slot, unsigned num, struct iba_port_info pi,
			 uint64_t key)
{
	uint8_t d[IBA_SMP_DATA_SIZE];

	iba_port_info_put(&pi, d);
	return ask_at(w, slot, IBA_SET, IBA_ATTR_PORT_INFO, num, key, d);
}

static struct iba_node_info node_get(struct world *w, int slot)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct iba_node_info ni;

	assert_int_equal(ask_at(w, slot, IBA_GET, IBA_ATTR_NODE_INFO, 0, 0, d), 0);
	iba_node_info_get(&ni, d, sizeof(d));
	return ni;
}

static unsigned state_of(const struct world *w, node_id n, unsigned num)
{
	return sim_port_info(w->sim, fab_port_id(w->fab, n, num))->state;
}

static uint16_t lid_of(const struct world *w, node_id n, unsigned num)
{
	return sim_port_info(w->sim, fab_port_id(w->fab, n, num))->lid;
}

/* As a manager does: the HCA's LID by port 1, then Armed and Active. */
static void uplink_set(struct world *w, uint16_t lid, enum iba_port_state state)
{
	struct iba_port_info pi = port_get(w, -1, FAB_UPLINK);

	pi.lid = lid;
	pi.sm_lid = SM_LID;
	pi.neighbor_mtu = pi.mtu_cap;
	pi.oper_vls = pi.vl_cap;
	pi.gid_prefix = 0xfec0000000000001;
	pi.state = (uint8_t)state;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	assert_int_equal(port_put(w, -1, FAB_UPLINK, pi, 0), 0);
}

static void uplink_up(struct world *w, uint16_t lid)
{
	uplink_set(w, lid, IBA_PORT_ARMED);
	uplink_set(w, lid, IBA_PORT_ACTIVE);
}

static void open_hca(struct world *w, unsigned vfs)
{
	world_open(w, draw_hca(FAB_SRIOV_VSWITCH, vfs), NULL);
}

/* ---- what it looks like ---- */

TEST(functions_behind_a_switch)
{
	struct iba_node_info ni;
	struct world w;

	open_hca(&w, 3);
	ni = node_get(&w, -1);
	assert_int_equal(ni.node_type, IBA_NODE_SWITCH);
	assert_int_equal(ni.num_ports, 5);
	assert_int_equal(ni.local_port, FAB_UPLINK);
	assert_int_equal(ni.device_id, IBA_DEVICE_VSWITCH);
	assert_int_equal(ni.node_guid, HCA_GUID);
	assert_int_equal(ni.port_guid, HCA_GUID + 1);
	for (int slot = 0; slot <= 3; slot++) {
		ni = node_get(&w, slot);
		assert_int_equal(ni.node_type, IBA_NODE_CA);
		assert_int_equal(ni.device_id, IBA_DEVICE_FUNCTION);
		assert_int_equal(ni.node_guid, fab_function_guid(HCA_GUID, (unsigned)slot));
		assert_int_equal(port_get(&w, slot, 0).state, IBA_PORT_INIT);
	}
	world_close(&w);
}

TEST(vf_info_only_at_a_vswitch)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_VF_INFO, 1, chain_path(), 1);
	struct world w;

	open_hca(&w, 1);
	assert_int_equal(ask_at(&w, 0, IBA_GET, IBA_ATTR_VF_INFO, 1, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(ask_at(&w, 1, IBA_SET, IBA_ATTR_VF_INFO, 1, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(smp_status(world_ask(&w, &s)), IBA_STATUS_BAD_METHOD_ATTR);
	iba_smp_set_method(s.mad, IBA_SET);
	assert_int_equal(smp_status(world_ask(&w, &s)), IBA_STATUS_BAD_METHOD_ATTR);
	world_close(&w);
}

TEST(vf_info_shows_six_slots)
{
	struct iba_vf_info v;
	struct world w;

	open_hca(&w, 8);
	assert_int_equal(vf_get(&w, 1, &v), 0);
	assert_int_equal(v.vfs, 8);
	assert_int_equal(v.count, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(v.lid[i], 0);
		assert_int_equal(v.guid[i], fab_function_guid(HCA_GUID, 1 + i));
	}
	assert_int_equal(vf_get(&w, 8, &v), 0);
	assert_int_equal(v.count, 1);
	assert_int_equal(v.guid[0], fab_function_guid(HCA_GUID, 8));
	assert_int_equal(v.guid[1], 0);
	assert_int_equal(vf_get(&w, 0, &v), IBA_STATUS_BAD_FIELD);
	assert_int_equal(vf_get(&w, 9, &v), IBA_STATUS_BAD_FIELD);
	assert_int_equal(vf_get(&w, UINT32_MAX, &v), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

/* ---- VFInfo: attach, detach, move ---- */

TEST(attached_function_follows_the_uplink)
{
	struct iba_vf_info v;
	struct world w;

	open_hca(&w, 3);
	assert_int_equal(vf_one(&w, 2, 20, 0xabc), 0);
	assert_int_equal(lid_of(&w, PF + 2, 1), 20);
	assert_int_equal(state_of(&w, PF + 2, 1), IBA_PORT_INIT); /* the uplink is not Active */
	uplink_up(&w, HCA_LID);
	assert_int_equal(state_of(&w, PF + 2, 1), IBA_PORT_ACTIVE);
	assert_int_equal(state_of(&w, HCA, 4), IBA_PORT_ACTIVE);
	assert_int_equal(state_of(&w, PF, 1), IBA_PORT_ACTIVE);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_INIT); /* VFInfo never set it */
	assert_int_equal(node_get(&w, 2).port_guid, 0xabc);
	assert_int_equal(node_get(&w, 2).node_guid, fab_function_guid(HCA_GUID, 2));
	assert_int_equal(port_get(&w, 2, 0).sm_lid, SM_LID);
	assert_int_equal(port_get(&w, 2, 0).gid_prefix, 0xfec0000000000001);
	assert_int_equal(port_get(&w, 2, 0).neighbor_mtu, port_get(&w, 2, 0).mtu_cap);
	assert_int_equal(vf_get(&w, 2, &v), 0);
	assert_int_equal(v.lid[0], 20);
	assert_int_equal(v.guid[0], 0xabc);

	sim_uncable(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK));
	assert_int_equal(state_of(&w, PF + 2, 1), IBA_PORT_INIT);
	assert_int_equal(state_of(&w, PF, 1), IBA_PORT_INIT);
	sim_cable(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK), fab_port_id(w.fab, SW, 2));
	assert_int_equal(lid_of(&w, PF + 2, 1), 20);
	uplink_up(&w, HCA_LID);
	assert_int_equal(state_of(&w, PF + 2, 1), IBA_PORT_ACTIVE);
	world_close(&w);
}

TEST(detached_function_is_down)
{
	struct iba_vf_info v;
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0xabc), 0);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_ACTIVE);
	assert_int_equal(vf_one(&w, 1, 0, 0), 0);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_DOWN);
	assert_int_equal(state_of(&w, HCA, 3), IBA_PORT_DOWN);
	assert_int_equal(lid_of(&w, PF + 1, 1), 0);
	assert_int_equal(vf_get(&w, 1, &v), 0);
	assert_int_equal(v.guid[0], fab_function_guid(HCA_GUID, 1));
	uplink_set(&w, HCA_LID, IBA_PORT_DOWN); /* Initialize */
	uplink_up(&w, HCA_LID);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_DOWN);
	assert_int_equal(vf_one(&w, 1, 21, 0), 0);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_ACTIVE);
	world_close(&w);
}

TEST(one_set_moves_a_lid_between_slots)
{
	struct iba_vf_info v = {.count = 2, .lid = {0, 20}, .guid = {0, 0xabc}};
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0xabc), 0);
	assert_int_equal(vf_put(&w, 1, v), 0);
	assert_int_equal(lid_of(&w, PF + 1, 1), 0);
	assert_int_equal(lid_of(&w, PF + 2, 1), 20);
	v = (struct iba_vf_info){.count = 2, .lid = {20, 21}, .guid = {0xabc, 0xdef}};
	assert_int_equal(vf_put(&w, 1, v), 0);
	v = (struct iba_vf_info){.count = 2, .lid = {21, 20}, .guid = {0xdef, 0xabc}};
	assert_int_equal(vf_put(&w, 1, v), 0); /* a swap */
	assert_int_equal(sim_port_guid(w.sim, fab_port_id(w.fab, PF + 1, 1)), 0xdef);
	world_close(&w);
}

TEST(bad_vf_info_changes_nothing)
{
	static const struct {
		uint32_t mod;
		struct iba_vf_info v;
	} bad[] = {
		{0, {.count = 1, .lid = {30}}},
		{5, {.count = 1, .lid = {30}}},
		{UINT32_MAX, {.count = 1, .lid = {30}}},
		{0x10001, {.count = 1, .lid = {30}}},
		{1, {.count = 0, .lid = {30}}},
		{1, {.count = 7, .lid = {30}}},
		{1, {.count = 255, .lid = {30}}},
		{1, {.count = 5, .lid = {30}}},
		{4, {.count = 2, .lid = {30}}},
		{1, {.count = 1, .lid = {0xc000}}},
		{1, {.count = 1, .lid = {0xffff}}},
		{2, {.count = 1, .lid = {20}}},		    /* VF 1 has it */
		{2, {.count = 1, .lid = {HCA_LID}}},	    /* the vSwitch and the PF have it */
		{2, {.count = 2, .lid = {31, 31}}},	    /* twice in one Set */
		{2, {.count = 2, .lid = {31, 20}}},	    /* the second is bad */
		{2, {.count = 1, .lid = {31}, {0xabc}}},    /* the GUID of VF 1 */
		{2, {.count = 2, .lid = {31, 32}, {7, 7}}}, /* one GUID twice */
	};
	struct iba_vf_info before = {0}, after = {0}; /* with padding: they are compared as bytes */
	struct world w;

	open_hca(&w, 4);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0xabc), 0);
	assert_int_equal(vf_get(&w, 1, &before), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (vf_put(&w, bad[i].mod, bad[i].v) != IBA_STATUS_BAD_FIELD)
			fail_msg("row %zu was accepted", i);
		assert_int_equal(vf_get(&w, 1, &after), 0);
		assert_memory_equal(&before, &after, sizeof(before));
	}
	for (unsigned slot = 2; slot <= 4; slot++)
		assert_int_equal(state_of(&w, PF + slot, 1), IBA_PORT_INIT);
	assert_int_equal(vf_one(&w, 2, 0xbfff, 0), 0);
	world_close(&w);
}

TEST(one_function_and_252)
{
	struct iba_vf_info v;
	struct world w;

	open_hca(&w, 1);
	assert_int_equal(vf_one(&w, 1, 20, 0), 0);
	assert_int_equal(vf_get(&w, 1, &v), 0);
	assert_true(v.vfs == 1 && v.count == 1 && v.lid[0] == 20);
	world_close(&w);
	open_hca(&w, IBA_MAX_VFS);
	uplink_up(&w, HCA_LID);
	for (unsigned slot = 1; slot <= IBA_MAX_VFS; slot++)
		assert_int_equal(vf_one(&w, slot, (uint16_t)(1000 + slot), 0), 0);
	assert_int_equal(vf_get(&w, 252, &v), 0);
	assert_true(v.vfs == 252 && v.count == 1 && v.lid[0] == 1252);
	assert_int_equal(state_of(&w, PF + 252, 1), IBA_PORT_ACTIVE);
	assert_int_equal(sim_route(w.sim, HCA, 1252), 254);
	world_close(&w);
}

TEST(power_off_loses_everything)
{
	struct iba_vf_info v;
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0xabc), 0);
	sim_node_power(w.sim, HCA, false);
	assert_false(sim_node_on(w.sim, PF));
	assert_false(sim_node_on(w.sim, PF + 1));
	sim_node_power(w.sim, PF + 1, true); /* no function without its HCA */
	assert_false(sim_node_on(w.sim, PF + 1));
	sim_node_power(w.sim, HCA, true);
	assert_true(sim_node_on(w.sim, PF + 1));
	assert_int_equal(vf_get(&w, 1, &v), 0);
	assert_int_equal(v.lid[0], 0);
	assert_int_equal(v.guid[0], fab_function_guid(HCA_GUID, 1));
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_INIT);
	assert_int_equal(port_get(&w, -1, FAB_UPLINK).lid, 0);
	world_close(&w);
}

/* ---- PortInfo ---- */

TEST(uplink_carries_the_addresses)
{
	struct iba_port_info pi;
	struct world w;

	open_hca(&w, 2);
	pi = port_get(&w, -1, FAB_UPLINK);
	assert_int_equal(pi.lid, 0);
	uplink_set(&w, 0, IBA_PORT_NO_CHANGE); /* LID 0 leaves LIDs alone */
	assert_int_equal(lid_of(&w, HCA, 0), 0);
	uplink_set(&w, 8, IBA_PORT_NO_CHANGE);
	assert_int_equal(lid_of(&w, HCA, 0), 8);
	assert_int_equal(lid_of(&w, PF, 1), 8);
	uplink_set(&w, 0, IBA_PORT_NO_CHANGE);
	pi = port_get(&w, -1, FAB_UPLINK);
	assert_int_equal(pi.lid, 8);
	assert_int_equal(pi.sm_lid, SM_LID);
	assert_int_equal(pi.gid_prefix, 0xfec0000000000001);
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	pi.lmc = 2;
	assert_int_equal(port_put(&w, -1, FAB_UPLINK, pi, 0), 0);
	assert_int_equal(sim_route(w.sim, HCA, 11), FAB_SLOT0_PORT);
	assert_int_equal(vf_one(&w, 1, 10, 0), IBA_STATUS_BAD_FIELD); /* within 8 to 11 */
	assert_int_equal(vf_one(&w, 1, 12, 0), 0);
	pi.lid = 12;
	assert_int_equal(port_put(&w, -1, FAB_UPLINK, pi, 0), IBA_STATUS_BAD_FIELD);
	pi.lid = 9;
	assert_int_equal(port_put(&w, -1, FAB_UPLINK, pi, 0), IBA_STATUS_BAD_FIELD);
	pi.lid = 0xc000;
	assert_int_equal(port_put(&w, -1, FAB_UPLINK, pi, 0), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

/* A manager that knows switches only: LIDs for port 0 and for each function. */
TEST(ordinary_manager_gives_the_pf_its_own_lid)
{
	struct iba_port_info pi;
	struct world w;

	open_hca(&w, 1);
	uplink_up(&w, HCA_LID);
	pi = port_get(&w, 0, 0);
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	pi.lid = 9;
	assert_int_equal(port_put(&w, 0, 0, pi, 0), 0);
	assert_int_equal(lid_of(&w, HCA, 0), HCA_LID);
	assert_int_equal(lid_of(&w, PF, 1), 9);
	assert_int_equal(port_get(&w, -1, FAB_UPLINK).lid, 0); /* as any switch's */
	uplink_set(&w, HCA_LID, IBA_PORT_NO_CHANGE);	       /* what it read before */
	assert_int_equal(lid_of(&w, PF, 1), 9);
	assert_int_equal(sim_route(w.sim, HCA, 9), FAB_SLOT0_PORT);
	assert_int_equal(sim_route(w.sim, HCA, HCA_LID), 0);
	assert_int_equal(sim_route(w.sim, HCA, 77), FAB_UPLINK);
	uplink_set(&w, 6, IBA_PORT_NO_CHANGE); /* a manager that knows vSwitches comes */
	assert_int_equal(lid_of(&w, PF, 1), 6);
	assert_int_equal(sim_route(w.sim, HCA, 6), FAB_SLOT0_PORT);
	world_close(&w);
}

TEST(m_key_protects_functions_too)
{
	struct iba_vf_info set = {.count = 1, .lid = {20}, .guid = {0xabc}};
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct iba_port_info pi;
	struct world w;

	open_hca(&w, 2);
	pi = port_get(&w, -1, FAB_UPLINK);
	pi.lid = HCA_LID;
	pi.m_key = 0x77;
	pi.m_key_protect = 1;
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	assert_int_equal(port_put(&w, -1, FAB_UPLINK, pi, 0), 0);
	iba_vf_info_put(&set, d);
	assert_int_equal(ask_at(&w, -1, IBA_SET, IBA_ATTR_VF_INFO, 1, 0, d), NO_ANSWER);
	assert_int_equal(lid_of(&w, PF + 1, 1), 0);
	iba_vf_info_put(&set, d);
	assert_int_equal(ask_at(&w, -1, IBA_SET, IBA_ATTR_VF_INFO, 1, 0x77, d), 0);
	assert_int_equal(lid_of(&w, PF + 1, 1), 20);
	assert_int_equal(port_get(&w, 1, 0).m_key, 0); /* not shown to others */
	pi = port_get(&w, 1, 0);
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	pi.lid = 66;
	assert_int_equal(port_put(&w, 1, 0, pi, 0), NO_ANSWER);
	assert_int_equal(port_put(&w, 0, 0, pi, 0), NO_ANSWER);
	assert_int_equal(port_put(&w, 2, 0, pi, 0), NO_ANSWER); /* VFInfo never set it */
	assert_int_equal(lid_of(&w, PF + 1, 1), 20);
	assert_int_equal(port_get(&w, -1, FAB_UPLINK).m_key, 0);
	world_close(&w);
}

static unsigned keys_get(struct world *w, int slot, uint32_t mod, struct iba_pkey_table *t)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	unsigned status = ask_at(w, slot, IBA_GET, IBA_ATTR_PKEY_TABLE, mod, 0, d);

	iba_pkey_table_get(t, d, sizeof(d));
	return status;
}

static unsigned keys_put(struct world *w, int slot, uint32_t mod, uint16_t key)
{
	struct iba_pkey_table t = {.pkey = {0x7fff, key}};
	uint8_t d[IBA_SMP_DATA_SIZE];

	iba_pkey_table_put(&t, d);
	return ask_at(w, slot, IBA_SET, IBA_ATTR_PKEY_TABLE, mod, 0, d);
}

/* The vSwitch has the tables of its functions, each at its port, also of one that is Down; functions show the same. */
TEST(p_keys_of_functions)
{
	struct iba_pkey_table t;
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 2, 0, 0), 0); /* detached */
	assert_int_equal(keys_get(&w, -1, (FAB_SLOT0_PORT + 2) << 16, &t), 0);
	assert_int_equal(t.pkey[0], 0xffff);
	assert_int_equal(keys_put(&w, -1, (FAB_SLOT0_PORT + 2) << 16, 0x8020), 0);
	assert_int_equal(sim_pkey(w.sim, fab_port_id(w.fab, PF + 2, 1), 1), 0x8020);
	assert_int_equal(vf_one(&w, 2, 21, 0xabc), 0);
	assert_int_equal(keys_get(&w, 2, 0, &t), 0);
	assert_int_equal(t.pkey[1], 0x8020);
	assert_int_equal(keys_put(&w, 2, 0, 0x8021), 0);
	assert_int_equal(keys_get(&w, -1, (FAB_SLOT0_PORT + 2) << 16, &t), 0);
	assert_int_equal(t.pkey[1], 0x8021);
	/* The PF shares LID and table with port 0. */
	assert_int_equal(keys_put(&w, -1, FAB_SLOT0_PORT << 16, 0x8022), 0);
	assert_int_equal(keys_get(&w, -1, 0, &t), 0);
	assert_int_equal(t.pkey[1], 0x8022);
	assert_int_equal(sim_pkey(w.sim, fab_port_id(w.fab, PF, 1), 1), 0x8022);
	assert_int_equal(sim_pkey(w.sim, fab_port_id(w.fab, PF + 1, 1), 0), 0xffff);
	assert_int_equal(keys_put(&w, -1, (FAB_SLOT0_PORT + 3) << 16, 0x8020),
			 IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

/* The link inside is ordered down or disabled by SMP: a VF with a LID comes back, one without does not. */
TEST(orders_to_internal_ports)
{
	struct iba_port_info pi;
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.link_pairs = true;
	world_open(&w, draw_hca(FAB_SRIOV_VSWITCH, 2), &c);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0), 0);
	assert_int_equal(vf_one(&w, 2, 0, 0), 0);
	for (unsigned num = 3; num <= 4; num++) {
		pi = port_get(&w, -1, num);
		pi.state = IBA_PORT_NO_CHANGE;
		pi.phys_state = IBA_PHYS_POLLING;
		assert_int_equal(port_put(&w, -1, num, pi, 0), 0);
	}
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_ACTIVE);
	assert_int_equal(state_of(&w, PF + 2, 1), IBA_PORT_DOWN);
	pi = port_get(&w, -1, 3);
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_DISABLED;
	assert_int_equal(port_put(&w, -1, 3, pi, 0), 0);
	world_run(&w, sim_now(w.sim) + PS_PER_MS);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_DOWN);
	assert_int_equal(vf_one(&w, 1, 22, 0), 0);
	assert_int_equal(state_of(&w, PF + 1, 1), IBA_PORT_DOWN);
	world_close(&w);
}

TEST(no_traps_from_inside)
{
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.traps = true;
	world_open(&w, draw_hca(FAB_SRIOV_VSWITCH, 1), &c);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0), 0);
	assert_int_equal(vf_one(&w, 1, 0, 0), 0);
	sim_uncable(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK));
	sim_cable(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK), fab_port_id(w.fab, SW, 2));
	world_run(&w, sim_now(w.sim) + PS_PER_MS);
	assert_int_equal(sim_stats(w.sim)->traps, 0); /* the switch has no LID yet */
	world_close(&w);
}

/* ---- forwarding ---- */

TEST(routes_by_the_lids_of_functions)
{
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 1, 20, 0), 0);
	assert_int_equal(vf_one(&w, 2, 21, 0), 0);
	assert_int_equal(sim_route(w.sim, HCA, HCA_LID), FAB_SLOT0_PORT);
	assert_int_equal(sim_route(w.sim, HCA, 20), 3);
	assert_int_equal(sim_route(w.sim, HCA, 21), 4);
	assert_int_equal(sim_route(w.sim, HCA, 1), FAB_UPLINK);
	assert_int_equal(vf_one(&w, 1, 0, 0), 0);
	assert_int_equal(sim_route(w.sim, HCA, 20), FAB_UPLINK); /* from there: discarded */
	world_close(&w);
}

static uint8_t entry(struct world *w, unsigned lid)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};

	assert_int_equal(ask_at(w, -1, IBA_GET, IBA_ATTR_LFT, lid / IBA_LFT_BLOCK, 0, d), 0);
	return d[lid % IBA_LFT_BLOCK];
}

/* Tools follow tables: they must lead where packets go. */
TEST(linear_table_shows_what_it_does)
{
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct world w;

	open_hca(&w, 2);
	memset(d, IBA_PORT_NONE, sizeof(d));
	d[7] = 0;
	d[1] = 1;
	d[20] = 3;
	assert_int_equal(ask_at(&w, -1, IBA_SET, IBA_ATTR_LFT, 0, 0, d), 0);
	assert_true(entry(&w, 1) == 1 && entry(&w, 7) == 0 && entry(&w, 9) == IBA_PORT_NONE);
	assert_int_equal(entry(&w, 20), 1); /* no function has it */
	assert_int_equal(sim_lft(w.sim, HCA, 20), 3);
	assert_int_equal(vf_one(&w, 2, 20, 0), 0);
	assert_int_equal(entry(&w, 20), 4);
	uplink_up(&w, HCA_LID);
	assert_true(entry(&w, HCA_LID) == 0 && entry(&w, 20) == 4 && entry(&w, 9) == 1);
	assert_true(entry(&w, 0) == IBA_PORT_NONE && entry(&w, 0xbfff) == 1);
	world_close(&w);
}

static void recv_one(void *ctx, const struct sim_smp *smp)
{
	*(struct sim_smp *)ctx = *smp;
}

/* Express mode, and programs at functions. */
static void express_hca(struct world *w)
{
	express_open(w, draw_hca(FAB_SRIOV_VSWITCH, 2));
	world_give_lid(w, 0, 1, 0);
	world_give_lid(w, 1, 10, 0);
	world_give_lft(w, 1, (uint8_t[]){1, 1, 10, 0, HCA_LID, 2, 20, 2, 21, 2, 0});
	express_activate(w, 0, 0);
	express_activate(w, 1, 1);
	express_activate(w, 1, 2);
	uplink_up(w, HCA_LID);
	assert_int_equal(vf_one(w, 1, 20, 0), 0);
	assert_int_equal(vf_one(w, 2, 21, 0), 0);
}

static bool passes(struct world *w, node_id from, uint16_t slid, uint16_t dlid, node_id to)
{
	struct sim_smp got = {0}, s = gmp(0x32, IBA_SEND, 0x10, dlid);

	s.slid = slid;
	sim_attach_port(w->sim, to, 1, recv_one, &got);
	sim_send(w->sim, from, 1, &s);
	sim_settle(w->sim, sim_now(w->sim));
	sim_attach_port(w->sim, to, 1, to == H0 ? world_recv : NULL, w);
	return got.dlid == dlid;
}

TEST(packets_turn_inside_the_hca)
{
	uint64_t up;
	struct world w;

	express_hca(&w);
	assert_true(passes(&w, H0, 1, 20, PF + 1));
	assert_true(passes(&w, H0, 1, HCA_LID, PF)); /* all but SMPs */
	assert_true(passes(&w, PF + 1, 20, 1, H0));
	up = sim_counted(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK), SIM_CNT_XMIT_PKTS);
	assert_true(passes(&w, PF + 1, 20, 21, PF + 2));
	assert_true(passes(&w, PF, HCA_LID, 21, PF + 2));
	assert_true(passes(&w, PF + 2, 21, HCA_LID, PF));
	assert_int_equal(sim_counted(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK), SIM_CNT_XMIT_PKTS),
			 up);
	assert_int_equal(vf_one(&w, 2, 0, 0), 0);
	assert_false(passes(&w, H0, 1, 21, PF + 2));
	assert_int_equal(sim_flow(w.sim, PF + 1, 1, 1, 3, 256), 3);
	assert_int_equal(sim_flow(w.sim, H0, 1, 20, 3, 256), 3);
	assert_int_equal(sim_flow(w.sim, H0, 1, HCA_LID, 3, 256), 3);
	world_close(&w);
}

/* QP0: the vSwitch answers requests to the shared LID; a tool at the PF gets its responses. */
TEST(smps_at_the_shared_lid)
{
	struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, HCA_LID), got = {0};
	const struct sim_smp *r;
	struct iba_node_info ni;
	struct world w;

	express_hca(&w);
	r = world_ask(&w, &s);
	assert_non_null(r);
	iba_node_info_get(&ni, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.device_id, IBA_DEVICE_VSWITCH);
	sim_attach_port(w.sim, PF, 1, recv_one, &got);
	s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, HCA_LID, 1);
	sim_send(w.sim, PF, 1, &s);
	sim_settle(w.sim, sim_now(w.sim));
	assert_int_equal(iba_smp_method(got.mad), IBA_GET_RESP);
	iba_node_info_get(&ni, iba_smp_data_const(got.mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.node_guid, 0x2000);
	sim_attach_port(w.sim, PF, 1, NULL, NULL);
	world_close(&w);
}

/* A manager at the PF: IsSM is seen at the uplink, SMInfo and traps for the shared LID go to it. */
TEST(manager_at_the_pf)
{
	struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_SM_INFO, 0, 1, HCA_LID), got = {0};
	struct world w;

	express_hca(&w);
	sim_attach(w.sim, PF, 1, recv_one, &got);
	sim_settle(w.sim, sim_now(w.sim));
	memset(&got, 0, sizeof(got));
	assert_true(port_get(&w, -1, FAB_UPLINK).cap_mask & IBA_CAP_IS_SM);
	world_send(&w, &s);
	assert_int_equal(iba_smp_attr_id(got.mad), IBA_ATTR_SM_INFO);
	s = smp_lid(IBA_TRAP, IBA_ATTR_NOTICE, 0, 1, HCA_LID);
	world_send(&w, &s);
	assert_int_equal(iba_smp_method(got.mad), IBA_TRAP);
	sim_attach(w.sim, PF, 1, NULL, NULL);
	assert_false(port_get(&w, -1, FAB_UPLINK).cap_mask & IBA_CAP_IS_SM);
	world_close(&w);
}

struct answering { /* a manager that answers SMInfo */
	struct world *w;
	unsigned requests;
};

static void answer_sm_info(void *ctx, const struct sim_smp *smp)
{
	struct answering *a = ctx;
	struct sim_smp r = *smp;

	if (iba_smp_method(smp->mad) == IBA_GET_RESP)
		return;
	assert_int_equal(iba_smp_attr_id(smp->mad), IBA_ATTR_SM_INFO);
	a->requests++;
	iba_smp_set_method(r.mad, IBA_GET_RESP);
	iba_smp_set_status(r.mad, iba_smp_is_dr(r.mad) ? IBA_STATUS_DR_RETURN : 0);
	r.dlid = smp->slid;
	r.slid = smp->dlid;
	sim_send(a->w->sim, PF, 1, &r);
}

/* No manager has set a LID yet: another one sees IsSM, and SMInfo to the vSwitch is answered from the PF. */
TEST(manager_at_the_pf_before_lids)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct answering a = {0};
	struct world w;

	world_open(&w, draw_hca(FAB_SRIOV_VSWITCH, 2), NULL);
	a.w = &w;
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_SM_INFO, 0, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	sim_attach(w.sim, PF, 1, answer_sm_info, &a);
	assert_true(port_get(&w, -1, FAB_UPLINK).cap_mask & IBA_CAP_IS_SM);
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_SM_INFO, 0, 0, d), 0);
	assert_int_equal(ask_at(&w, -1, IBA_SET, IBA_ATTR_SM_INFO, 0, 0, d), 0);
	assert_int_equal(ask_at(&w, 0, IBA_GET, IBA_ATTR_SM_INFO, 0, 0, d),
			 0); /* at the PF itself */
	assert_int_equal(a.requests, 3);
	sim_attach(w.sim, PF, 1, NULL, NULL);
	assert_false(port_get(&w, -1, FAB_UPLINK).cap_mask & IBA_CAP_IS_SM);
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_SM_INFO, 0, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	world_close(&w);
}

/* A manager inside the HCA, as the laboratory has it: its own node is the vSwitch, by port 1. */
TEST(manager_in_the_vswitch)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, NULL, 0), got = {0};
	struct iba_node_info ni;
	struct world w;

	express_hca(&w);
	sim_attach(w.sim, HCA, 1, recv_one, &got);
	sim_send(w.sim, HCA, 1, &s);
	sim_settle(w.sim, sim_now(w.sim));
	iba_node_info_get(&ni, iba_smp_data_const(got.mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.node_guid, HCA_GUID);
	assert_int_equal(ni.local_port, 1);
	assert_true(port_get(&w, -1, FAB_UPLINK).cap_mask & IBA_CAP_IS_SM);
	s = smp_lid(IBA_GET, IBA_ATTR_SM_INFO, 0, 1, HCA_LID);
	world_send(&w, &s);
	assert_int_equal(iba_smp_attr_id(got.mad), IBA_ATTR_SM_INFO);
	s = gmp(IBA_CLASS_MIRROR, IBA_GET, IBA_MIRROR_ROOT, HCA_LID);
	world_send(&w, &s);
	assert_int_equal(iba_smp_mgmt_class(got.mad), IBA_CLASS_MIRROR);
	s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, (uint8_t[]){1}, 1);
	sim_send(w.sim, HCA, 1, &s);
	sim_settle(w.sim, sim_now(w.sim));
	iba_node_info_get(&ni, iba_smp_data_const(got.mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.node_guid, 0x100);
	assert_int_equal(ni.local_port, 2);
	world_close(&w);
}

/* ---- data packets ---- */

/* LIDs and tables as express_hca() has them, with the data plane. Hosts for traffic: h0, PF, VF 1, VF 2. */
static void plane_hca(struct world *w)
{
	struct sim_config c;

	sim_config_default(&c);
	c.plane.on = true;
	world_open(w, draw_hca(FAB_SRIOV_VSWITCH, 2), &c);
	world_give_lid(w, 0, 1, 0);
	world_give_lid(w, 1, 10, 0);
	world_give_lft(w, 1, (uint8_t[]){1, 1, 10, 0, HCA_LID, 2, 20, 2, 21, 2, 0});
	express_activate(w, 0, 0);
	express_activate(w, 1, 1);
	express_activate(w, 1, 2);
	uplink_up(w, HCA_LID);
	assert_int_equal(vf_one(w, 1, 20, 0xabc), 0);
	assert_int_equal(vf_one(w, 2, 21, 0xdef), 0);
}

/* One packet; returns whether it arrived at this node. */
static bool data_passes(struct world *w, uint32_t host, uint16_t dlid, node_id to)
{
	port_id at = fab_port_id(w->fab, to, 1);
	uint64_t before = sim_port_counters(w->sim, at)->rx_packets;

	sim_inject(w->sim, host, dlid, 200, 0);
	world_run(w, sim_now(w->sim) + PS_PER_MS);
	assert_int_equal(sim_plane_stats(w->sim)->in_flight, 0);
	return sim_port_counters(w->sim, at)->rx_packets > before;
}

TEST(data_turns_inside_the_hca)
{
	uint64_t up;
	struct world w;

	plane_hca(&w);
	assert_true(data_passes(&w, 0, 20, PF + 1));
	assert_true(data_passes(&w, 0, HCA_LID, PF));
	assert_true(data_passes(&w, 2, 1, H0));
	up = sim_port_counters(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK))->tx_packets;
	assert_true(data_passes(&w, 2, 21, PF + 2));
	assert_true(data_passes(&w, 1, 20, PF + 1));
	assert_true(data_passes(&w, 3, HCA_LID, PF));
	assert_int_equal(sim_port_counters(w.sim, fab_port_id(w.fab, HCA, FAB_UPLINK))->tx_packets,
			 up);
	assert_int_equal(vf_one(&w, 2, 0, 0), 0);
	assert_false(data_passes(&w, 0, 21, PF + 2));
	assert_true(sim_plane_stats(w.sim)->discarded[SIM_DISCARD_TURNED_BACK] == 1);
	world_close(&w);
}

/* The generator's host is the machine: it sends from where its GUID is. */
TEST(traffic_follows_the_machine)
{
	struct iba_vf_info swap = {.count = 2, .lid = {21, 20}, .guid = {0xdef, 0xabc}};
	uint64_t before;
	struct world w;

	plane_hca(&w);
	assert_int_equal(vf_put(&w, 1, swap), 0);
	before = sim_port_counters(w.sim, fab_port_id(w.fab, PF + 2, 1))->tx_packets;
	assert_true(data_passes(&w, 2, 1, H0)); /* 0xabc, at VF 2 now */
	assert_int_equal(sim_port_counters(w.sim, fab_port_id(w.fab, PF + 2, 1))->tx_packets,
			 before + 1);
	assert_true(data_passes(&w, 0, 20, PF + 2));
	world_close(&w);
}

/* ---- a capture without all functions ---- */

TEST(vswitch_without_its_functions_is_a_switch)
{
	struct fab *f = draw_hca(FAB_SRIOV_VSWITCH, 2), *whole;
	struct fab_builder *b = fab_builder_new();
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct world w;
	struct err e;

	for (node_id n = 0; n < f->nnodes - 1; n++) { /* VF 2 was Down */
		fab_add_node(b, f->nodes[n].type, f->nodes[n].guid, f->nodes[n].nports, "");
		fab_builder_node(b, n)->flags = f->nodes[n].flags;
	}
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;

		if (q != FAB_NONE && q > p && f->ports[q].node < f->nnodes - 1)
			draw_link(b, f->ports[p].node, f->ports[p].num, f->ports[q].node,
				  f->ports[q].num);
	}
	fab_free(f);
	f = fab_build(b);
	whole = fab_devices(f, &e);
	assert_non_null(whole);
	assert_int_equal(whole->nnodes, f->nnodes + 1);
	fab_free(whole);
	world_open(&w, f, NULL);
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_VF_INFO, 1, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(node_get(&w, 1).node_type, IBA_NODE_CA);
	sim_node_power(w.sim, HCA, false);
	world_close(&w);
}

/* ---- a shared port ---- */

TEST(shared_port_has_guids_in_guid_info)
{
	struct iba_guid_info gi;
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct world w;

	world_open(&w, draw_hca(FAB_SRIOV_SHARED, 16), NULL);
	assert_int_equal(w.fab->nnodes, 3);
	assert_int_equal(node_get(&w, -1).device_id, IBA_DEVICE_SHARED);
	assert_int_equal(port_get(&w, -1, 0).guid_cap, 17);
	for (unsigned block = 0; block < 3; block++) {
		assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_GUID_INFO, block, 0, d), 0);
		iba_guid_info_get(&gi, d, sizeof(d));
		for (unsigned i = 0; i < 8; i++) {
			unsigned slot = block * 8 + i;

			assert_int_equal(gi.guid[i], !slot	 ? HCA_GUID + 1
						     : slot < 17 ? fab_function_guid(HCA_GUID, slot)
								 : 0);
		}
	}
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_GUID_INFO, 3, 0, d),
			 IBA_STATUS_BAD_FIELD);
	gi = (struct iba_guid_info){.guid = {0xabc, 0xdef}};
	iba_guid_info_put(&gi, d);
	assert_int_equal(ask_at(&w, -1, IBA_SET, IBA_ATTR_GUID_INFO, 2, 0, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_true(gi.guid[0] == 0xabc && gi.guid[1] == 0); /* entry 16 is the last */
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_GUID_INFO, 0, 0, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_int_equal(gi.guid[7], fab_function_guid(HCA_GUID, 7)); /* as before */
	assert_int_equal(ask_at(&w, -1, IBA_GET, IBA_ATTR_VF_INFO, 1, 0, d),
			 IBA_STATUS_BAD_METHOD_ATTR);
	world_close(&w);
}

/* ---- snapshots ---- */

TEST(snapshot_folds_to_what_was_set)
{
	const struct fab_vlid *v;
	struct fab *now, *compact;
	struct world w;

	open_hca(&w, 2);
	uplink_up(&w, HCA_LID);
	assert_int_equal(vf_one(&w, 2, 21, 0xabc), 0);
	now = sim_snapshot(w.sim);
	compact = fab_fold(now);
	assert_int_equal(compact->nnodes, 3);
	assert_int_equal(compact->ports[fab_port_id(compact, HCA, 1)].lid, HCA_LID);
	assert_int_equal(fab_vlids_of(compact, fab_port_id(compact, HCA, 1), &v), 1);
	assert_true(v->slot == 2 && v->lid == 21 && v->guid == 0xabc);
	fab_free(now);
	fab_free(compact);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_behind_a_switch),
		cmocka_unit_test(vf_info_only_at_a_vswitch),
		cmocka_unit_test(vf_info_shows_six_slots),
		cmocka_unit_test(attached_function_follows_the_uplink),
		cmocka_unit_test(detached_function_is_down),
		cmocka_unit_test(one_set_moves_a_lid_between_slots),
		cmocka_unit_test(bad_vf_info_changes_nothing),
		cmocka_unit_test(one_function_and_252),
		cmocka_unit_test(power_off_loses_everything),
		cmocka_unit_test(uplink_carries_the_addresses),
		cmocka_unit_test(ordinary_manager_gives_the_pf_its_own_lid),
		cmocka_unit_test(m_key_protects_functions_too),
		cmocka_unit_test(p_keys_of_functions),
		cmocka_unit_test(orders_to_internal_ports),
		cmocka_unit_test(no_traps_from_inside),
		cmocka_unit_test(routes_by_the_lids_of_functions),
		cmocka_unit_test(linear_table_shows_what_it_does),
		cmocka_unit_test(packets_turn_inside_the_hca),
		cmocka_unit_test(smps_at_the_shared_lid),
		cmocka_unit_test(manager_at_the_pf),
		cmocka_unit_test(manager_at_the_pf_before_lids),
		cmocka_unit_test(manager_in_the_vswitch),
		cmocka_unit_test(data_turns_inside_the_hca),
		cmocka_unit_test(traffic_follows_the_machine),
		cmocka_unit_test(vswitch_without_its_functions_is_a_switch),
		cmocka_unit_test(shared_port_has_guids_in_guid_info),
		cmocka_unit_test(snapshot_folds_to_what_was_set),
	};

	return cmocka_run_group_tests_name("vswitch", tests, NULL, NULL);
}
