/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of notes: each kind once as a sentence and as JSON, devices with and without names.
 * Covers: note_table.c, record.c
 */
#include "unit_test.h"

#include "sm/notes.h"

static const char *name_of(const void *ctx, uint64_t guid)
{
	(void)ctx;
	return guid == 0x10 ? "leaf0_3" : guid == 0x20 ? "spine1" : "";
}

static const struct sm_names names = {name_of, NULL};

static char *json_of(const struct sm_note *n)
{
	struct record_value v[SM_NOTE_VALUES];
	struct json j = {.line = true};

	sm_note_values(n, &names, v);
	json_open(&j, NULL, '{');
	record_json(&j, v);
	json_close(&j);
	return j.out.s;
}

#define DEVICE                                                                                     \
	{                                                                                          \
		.kind = SM_ABOUT_DEVICE, .a = {.guid = 0x10 }                                      \
	}
#define PORT                                                                                       \
	{                                                                                          \
		.kind = SM_ABOUT_PORT, .a = { 0x10, 7 }                                            \
	}
#define BEHIND                                                                                     \
	{                                                                                          \
		.kind = SM_ABOUT_BEHIND, .a = { 0x10, 7 }                                          \
	}
#define LINK                                                                                       \
	{                                                                                          \
		.kind = SM_ABOUT_LINK, .a = {0x10, 7}, .b = { 0x20, 12 }                           \
	}

#define NODE_JSON "\"node\":\"0x0000000000000010\",\"name\":\"leaf0_3\""
#define LINK_JSON                                                                                  \
	"{\"a\":{\"name\":\"leaf0_3\",\"guid\":\"0x0000000000000010\",\"port\":7},"                \
	"\"b\":{\"name\":\"spine1\",\"guid\":\"0x0000000000000020\",\"port\":12}}"

/* clang-format off */
static const struct {
	struct sm_note n;
	const char *text, *json;
} cases[] = {
	{{.kind = SM_NOTE_START}, "the manager starts to discover the subnet", "{}"},
	{{.kind = SM_NOTE_PHASE, .smps = 97, .phase = {SM_DISCOVER, SM_CONFIGURE}},
	 "discover -> configure, 97 SMPs so far", "{\"from\":\"discover\",\"to\":\"configure\",\"smps\":97}"},
	{{.kind = SM_NOTE_CHANGE, .about = DEVICE, .change = {SM_CAUSE_SWEEP}},
	 "change detected by sweep: leaf0_3", "{\"cause\":\"sweep\"," NODE_JSON "}"},
	{{.kind = SM_NOTE_CHANGE, .about = {.kind = SM_ABOUT_LID, .lid = 5}, .change = {SM_CAUSE_TRAP}},
	 "change detected by trap: LID 5", "{\"cause\":\"trap\",\"lid\":5}"},
	{{.kind = SM_NOTE_CHANGE, .change = {SM_CAUSE_SILENCE}},
	 "change detected by failed request", "{\"cause\":\"silence\"}"},
	{{.kind = SM_NOTE_UNREACHABLE, .about = BEHIND, .request = {IBA_ATTR_NODE_INFO, 0}},
	 "no response to NodeInfo from the device behind leaf0_3 port 7",
	 "{" NODE_JSON ",\"port\":7,\"behind\":true,\"attribute\":\"NodeInfo\"}"},
	{{.kind = SM_NOTE_UNREACHABLE, .about = {.kind = SM_ABOUT_OWN}, .request = {IBA_ATTR_NODE_INFO, 0}},
	 "no response to NodeInfo from the manager's own node", "{\"attribute\":\"NodeInfo\"}"},
	{{.kind = SM_NOTE_BAD_STATUS, .about = PORT, .request = {IBA_ATTR_PORT_INFO, 0x1c}},
	 "leaf0_3 port 7 responded to PortInfo with status 0x001c",
	 "{" NODE_JSON ",\"port\":7,\"attribute\":\"PortInfo\",\"status\":\"0x001c\"}"},
	{{.kind = SM_NOTE_RESTART, .times = 2},
	 "the subnet changed during discovery or a device did not respond; discovery starts again (restart 2)",
	 "{\"times\":2}"},
	{{.kind = SM_NOTE_REFUSED}, "the routes failed verification and are not used", "{}"},
	{{.kind = SM_NOTE_OTHER_ENGINE, .engine = {"tree", "tree: not a tree", 0, "fera"}},
	 "tree cannot route this subnet: tree: not a tree; fera does instead",
	 "{\"engine\":\"tree\",\"why\":\"tree: not a tree\",\"vls\":0,\"instead\":\"fera\"}"},
	{{.kind = SM_NOTE_OTHER_ENGINE, .about = PORT, .engine = {"balanced", "these routes need 3 lanes", 1, "fera"}},
	 "balanced cannot route this subnet: these routes need 3 lanes (leaf0_3 port 7 has the fewest VLs: 1); fera does instead",
	 "{\"engine\":\"balanced\",\"why\":\"these routes need 3 lanes\"," NODE_JSON ",\"port\":7,\"vls\":1,\"instead\":\"fera\"}"},
	{{.kind = SM_NOTE_ENGINE, .engine = {"tree", "every shift has full bandwidth, 1 lane", 0, ""}},
	 "engine tree computes the routes: every shift has full bandwidth, 1 lane",
	 "{\"engine\":\"tree\",\"why\":\"every shift has full bandwidth, 1 lane\"}"},
	{{.kind = SM_NOTE_WORSE, .engine = {"fera", "bisections 0.262, shifts 0.180", 0, ""}},
	 "routes of fera are clearly worse than those of auto: bisections 0.262, shifts 0.180",
	 "{\"engine\":\"fera\",\"why\":\"bisections 0.262, shifts 0.180\"}"},
	{{.kind = SM_NOTE_PARTITIONS, .times = 12}, "P_Key tables follow the configuration again: 12 blocks or ports set", "{\"sets\":12}"},
	{{.kind = SM_NOTE_QOS_UNUSED},
	 "SL-to-VL tables of qos.classes are not used: the routes use several lanes and have their own", "{}"},
	{{.kind = SM_NOTE_NO_ROOM_FOR_KEYS, .about = PORT, .room = {40, 32}},
	 "leaf0_3 port 7 is to have 40 P_Keys and has room for 32: some partitions do not reach it",
	 "{" NODE_JSON ",\"port\":7,\"need\":40,\"has\":32}"},
	{{.kind = SM_NOTE_WORSE_ROOTS, .engine = {"updn", "bisections 0.262, shifts 0.180", 0, ""}},
	 "routes of updn over the roots that are named are clearly worse than over roots that are found: bisections 0.262, shifts 0.180",
	 "{\"engine\":\"updn\",\"why\":\"bisections 0.262, shifts 0.180\"}"},
	{{.kind = SM_NOTE_UNKNOWN_NAMES, .unknown = {"routes.roots", "spine 9", 2}},
	 "routes.roots: entries that match no device of the subnet: 2, the first 'spine 9'",
	 "{\"list\":\"routes.roots\",\"entries\":2,\"first\":\"spine 9\"}"},
	{{.kind = SM_NOTE_LANES, .about = PORT, .lanes = {3, 4}},
	 "routes use 3 lanes, of 4 that every link between switches has; leaf0_3 port 7 has the fewest",
	 "{\"used\":3,\"most\":4," NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_TOO_FAR, .about = PORT},
	 "leaf0_3 port 7 is 63 hops away; devices behind it are discovered later, LID-routed",
	 "{" NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_OUT_OF_REACH, .about = PORT},
	 "devices behind leaf0_3 port 7 cannot be managed: they are more than 63 hops away and do not respond to SMPs that are "
	 "LID-routed up to there", "{" NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_DUPLICATE, .duplicate = {0x77, {0x30, 1}, {0x10, 7}, {0x31, 1}, {0x20, 12}}},
	 "two devices have GUID 0x0000000000000077: 0x0000000000000030 port 1 behind leaf0_3 port 7 keeps it, "
	 "0x0000000000000031 port 1 behind spine1 port 12 is left out of the subnet until it changes",
	 "{\"guid\":\"0x0000000000000077\",\"kept\":{\"name\":\"\",\"guid\":\"0x0000000000000030\",\"port\":1},"
	 "\"kept_at\":{\"name\":\"leaf0_3\",\"guid\":\"0x0000000000000010\",\"port\":7},"
	 "\"left\":{\"name\":\"\",\"guid\":\"0x0000000000000031\",\"port\":1},"
	 "\"left_at\":{\"name\":\"spine1\",\"guid\":\"0x0000000000000020\",\"port\":12}}"},
	{{.kind = SM_NOTE_DUPLICATE, .duplicate = {0x77, {0x10, 0}, {0, 0}, {0x20, 0}, {0x20, 12}}},
	 "two devices have GUID 0x0000000000000077: leaf0_3 keeps it, spine1 behind spine1 port 12 is left out of the subnet "
	 "until it changes",
	 "{\"guid\":\"0x0000000000000077\",\"kept\":{\"name\":\"leaf0_3\",\"guid\":\"0x0000000000000010\"},"
	 "\"left\":{\"name\":\"spine1\",\"guid\":\"0x0000000000000020\"},"
	 "\"left_at\":{\"name\":\"spine1\",\"guid\":\"0x0000000000000020\",\"port\":12}}"},
	{{.kind = SM_NOTE_NO_DUPLICATE, .about = BEHIND},
	 "the device behind leaf0_3 port 7 is asked again: no other device has its GUID any more",
	 "{" NODE_JSON ",\"port\":7,\"behind\":true}"},
	{{.kind = SM_NOTE_VFS_WITHOUT_LID, .about = PORT, .without = {7000, 400}},
	 "no LID is left for 7000 virtual functions of 400 hosts, the first of them leaf0_3 port 7: all 49151 are in use",
	 "{" NODE_JSON ",\"port\":7,\"vfs\":7000,\"hosts\":400}"},
	{{.kind = SM_NOTE_NO_LID, .about = PORT}, "no LID is left for leaf0_3 port 7", "{" NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_MISMATCH, .about = DEVICE, .request = {IBA_ATTR_LFT, 0}},
	 "leaf0_3 holds another LinearForwardingTable than was set", "{" NODE_JSON ",\"attribute\":\"LinearForwardingTable\"}"},
	{{.kind = SM_NOTE_TRAP, .about = DEVICE, .trap = {128, 5}},
	 "trap 128 (LinkStateChange) from LID 5 (leaf0_3)",
	 "{\"trap\":128,\"trap_name\":\"LinkStateChange\",\"lid\":5," NODE_JSON "}"},
	{{.kind = SM_NOTE_LEFT_OUT, .about = DEVICE, .request = {IBA_ATTR_PORT_INFO, 0}},
	 "leaf0_3 is left out of the subnet: it keeps refusing PortInfo", "{" NODE_JSON ",\"attribute\":\"PortInfo\"}"},
	{{.kind = SM_NOTE_PLAN, .plan = {RT_PLAN_TURNS, 3}},
	 "table update plan: disable turns; 3 turns disabled", "{\"plan\":\"disable turns\",\"turns\":3}"},
	{{.kind = SM_NOTE_NODE_GONE, .about = DEVICE, .node = {IBA_NODE_SWITCH}},
	 "switch leaf0_3 is gone", "{" NODE_JSON ",\"type\":\"switch\"}"},
	{{.kind = SM_NOTE_NODE_CAME, .about = {.kind = SM_ABOUT_DEVICE, .a = {.guid = 0x30}}, .node = {IBA_NODE_CA}},
	 "host 0x0000000000000030 came up",
	 "{\"node\":\"0x0000000000000030\",\"name\":\"\",\"type\":\"host\"}"},
	{{.kind = SM_NOTE_LINK_DOWN, .about = LINK}, "leaf0_3 port 7 <-> spine1 port 12 went down", LINK_JSON},
	{{.kind = SM_NOTE_LINK_UP, .about = LINK}, "leaf0_3 port 7 <-> spine1 port 12 came up", LINK_JSON},
	{{.kind = SM_NOTE_MORE_CHANGES, .changes = {600, 1, 2, 3, 586, 94}},
	 "and 586 more; in total 600 links went down, 1 came up, 2 nodes are gone, 3 came up",
	 "{\"more\":586,\"links_down\":600,\"links_up\":1,\"nodes_gone\":2,\"nodes_came\":3,\"unlisted\":94}"},
	{{.kind = SM_NOTE_NO_ROOM, .about = DEVICE, .room = {40, 3}},
	 "leaf0_3 is left out of the subnet: its random forwarding table needs 40 entries and has 3",
	 "{" NODE_JSON ",\"need\":40,\"has\":3}"},
	{{.kind = SM_NOTE_GUESS, .about = DEVICE},
	 "leaf0_3 is presumed dead; the repair is sent before discovery ends", "{" NODE_JSON "}"},
	{{.kind = SM_NOTE_HELD, .about = LINK},
	 "leaf0_3 port 7 <-> spine1 port 12 changes too often and is held: it counts as down", LINK_JSON},
	{{.kind = SM_NOTE_RELEASED, .about = LINK}, "leaf0_3 port 7 <-> spine1 port 12 is no longer held", LINK_JSON},
	{{.kind = SM_NOTE_LID, .address = {0x11, 6, 1}},
	 "LID 6 is assigned to port GUID 0x0000000000000011",
	 "{\"port_guid\":\"0x0000000000000011\",\"lid\":6,\"lmc\":1}"},
	{{.kind = SM_NOTE_NAME, .about = DEVICE}, "0x0000000000000010 has the name leaf0_3", "{" NODE_JSON "}"},
	{{.kind = SM_NOTE_STATE, .state = {IBA_SM_DISCOVERING, IBA_SM_MASTER}},
	 "SM state changed from Discovering to Master", "{\"from\":\"Discovering\",\"to\":\"Master\"}"},
	{{.kind = SM_NOTE_OTHER_SM, .about = PORT, .other = {IBA_SM_STANDBY, 3}},
	 "another SM at leaf0_3 port 7: Standby, priority 3",
	 "{" NODE_JSON ",\"port\":7,\"state\":\"Standby\",\"priority\":3}"},
	{{.kind = SM_NOTE_HANDING_OVER, .about = PORT, .election = {.from = 0x31, .to = 0x11}},
	 "hands the subnet over from SM 0x0000000000000031 to SM 0x0000000000000011 at leaf0_3 port 7",
	 "{\"from\":\"0x0000000000000031\",\"to\":\"0x0000000000000011\"," NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_TAKING_OVER, .election = {.from = 0x11, .to = 0x31}},
	 "SM 0x0000000000000031 takes the subnet over from SM 0x0000000000000011",
	 "{\"from\":\"0x0000000000000011\",\"to\":\"0x0000000000000031\"}"},
	{{.kind = SM_NOTE_ORDER, .about = PORT, .election = {.from = 0x11, .order = IBA_SM_DISABLE}},
	 "refused order 3 of SM 0x0000000000000011 at leaf0_3 port 7: wrong SM_Key, wrong state, or not confirmed by its "
	 "sender",
	 "{\"order\":3,\"from\":\"0x0000000000000011\"," NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_STALLED, .election = {.ms = 1700}},
	 "the manager did not run for 1700 ms; it asks who is master before it sets anything", "{\"ms\":1700}"},
	{{.kind = SM_NOTE_MIRROR, .mirror = {0x12, 4608, 384}},
	 "the mirror of what the master knows is complete: generation 0x0000000000000012, 4608 bytes, 384 fetched",
	 "{\"generation\":\"0x0000000000000012\",\"bytes\":4608,\"fetched\":384}"},
	{{.kind = SM_NOTE_MIRROR_USED, .mirror = {0x12, 4608, 0}},
	 "the manager takes over with its mirror of what the master knew, generation 0x0000000000000012",
	 "{\"generation\":\"0x0000000000000012\",\"bytes\":4608}"},
	{{.kind = SM_NOTE_MIRROR_LOST},
	 "the mirror of what the master knew does not describe the subnet; the manager reads everything", "{}"},
	{{.kind = SM_NOTE_OTHER_KEY, .about = PORT, .election = {.from = 0x11}},
	 "SM 0x0000000000000011 at leaf0_3 port 7 does not show the SM_Key of this one and is passed over",
	 "{\"from\":\"0x0000000000000011\"," NODE_JSON ",\"port\":7}"},
	{{.kind = SM_NOTE_VM, .about = DEVICE, .vm = {.name = "web", .guid = 0x21, .slot = 3, .lid = 9}},
	 "VM web, vGUID 0x0000000000000021: on leaf0_3, VF 3, LID 9",
	 "{\"vm\":\"web\",\"guid\":\"0x0000000000000021\"," NODE_JSON ",\"slot\":3,\"lid\":9}"},
	{{.kind = SM_NOTE_VM_GONE, .vm = {.name = "web"}}, "VM web is destroyed", "{\"vm\":\"web\"}"},
};
/* clang-format on */

TEST(each_kind_is_worded)
{
	bool seen[SM_NOTE_NKINDS] = {0};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct strbuf text = {0};
		char *json = json_of(&cases[i].n);

		sm_note_text(&cases[i].n, &names, &text);
		assert_string_equal(text.s, cases[i].text);
		assert_string_equal(json, cases[i].json);
		seen[cases[i].n.kind] = true;
		strbuf_free(&text);
		free(json);
	}
	for (unsigned k = 0; k < SM_NOTE_NKINDS; k++)
		assert_true(seen[k]);
}

TEST(stable_names_differ)
{
	for (unsigned k = 0; k < SM_NOTE_NKINDS; k++)
		for (unsigned i = 0; i < k; i++)
			assert_string_not_equal(sm_note_name(k), sm_note_name(i));
}

/* The keys that programs rely on. */
TEST(changes_as_json)
{
	const struct sm_note notes[] = {
		{.kind = SM_NOTE_NODE_GONE, .about = DEVICE, .node = {IBA_NODE_SWITCH}},
		{.kind = SM_NOTE_LINK_DOWN, .about = LINK},
		{.kind = SM_NOTE_TRAP, .trap = {128, 5}},
	};
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	sm_notes_changes_json(&j, notes, ARRAY_LEN(notes), &names);
	json_close(&j);
	assert_string_equal(
		j.out.s,
		"{\"links\":[{\"event\":\"down\","
		"\"a\":{\"name\":\"leaf0_3\",\"guid\":\"0x0000000000000010\",\"port\":7},"
		"\"b\":{\"name\":\"spine1\",\"guid\":\"0x0000000000000020\",\"port\":12},"
		"\"text\":\"leaf0_3 port 7 <-> spine1 port 12 went down\"}],"
		"\"nodes\":[{\"event\":\"gone\",\"name\":\"leaf0_3\",\"guid\":\"0x0000000000000010\","
		"\"type\":\"switch\",\"text\":\"switch leaf0_3 is gone\"}]}");
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_worded),
		cmocka_unit_test(stable_names_differ),
		cmocka_unit_test(changes_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
