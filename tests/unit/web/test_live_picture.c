/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture of a live subnet: when it is drawn again, what is shown as gone, states of links, managers.
 */
#include "unit_test.h"

#include "fabric/fabric.h"
#include "web/frames.h"
#include "web/live_picture.h"

static unsigned fabrics, states;
static uint8_t last[4096];
static uint32_t version, nodes, links;

static void emit(void *ctx UNUSED, const uint8_t *frame, size_t len)
{
	if (frame[4] == FRAME_FABRIC) {
		fabrics++;
		version = frame_u32(frame + 8);
		nodes = frame_u32(frame + 12);
		links = frame_u32(frame + 16);
	}
	if (frame[4] != FRAME_STATE)
		return;
	states++;
	assert_in_range(len, 28, sizeof(last));
	memset(last, 0xff, sizeof(last));
	memcpy(last, frame, len);
}

/* Of the last STATE: "7777" by node, "3343" by link. */
static const char *node_states(void)
{
	static char text[64];

	for (uint32_t i = 0; i < nodes; i++)
		text[i] = (char)('0' + last[28 + i]);
	text[nodes] = 0;
	return text;
}

static const uint8_t *link_at(uint32_t i)
{
	return last + 28 + (nodes + 3) / 4 * 4 + 3u * i;
}

static const char *link_states(void)
{
	static char text[64];

	for (uint32_t i = 0; i < links; i++)
		text[i] = (char)('0' + *link_at(i));
	text[links] = 0;
	return text;
}

#define HOSTS                                                                                      \
	"Ca 1 \"H-00000000000000a0\"\n[1](00000000000000a1) \"S-0000000000000001\"[1] # lid 3\n\n" \
	"Ca 1 \"H-00000000000000b0\"\n[1](00000000000000b1) \"S-0000000000000002\"[1] # lid 4\n\n"
#define TWO_LINKS                                                                                         \
	"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"                              \
	"[1] \"H-00000000000000a0\"[1]\n[2] \"S-0000000000000002\"[2]\n[3] \"S-0000000000000002\"[3]\n\n" \
	"Switch 4 \"S-0000000000000002\" # \"s2\" base port 0 lid 2 lmc 0\n"                              \
	"[1] \"H-00000000000000b0\"[1]\n[2] \"S-0000000000000001\"[2]\n[3] \"S-0000000000000001\"[3]\n\n" HOSTS
#define ONE_LINK                                                                                   \
	"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"                       \
	"[1] \"H-00000000000000a0\"[1]\n[2] \"S-0000000000000002\"[2]\n\n"                         \
	"Switch 4 \"S-0000000000000002\" # \"s2\" base port 0 lid 2 lmc 0\n"                       \
	"[1] \"H-00000000000000b0\"[1]\n[2] \"S-0000000000000001\"[2]\n\n" HOSTS
#define HOST_GONE                                                                                  \
	"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"                       \
	"[1] \"H-00000000000000a0\"[1]\n\n"                                                        \
	"Ca 1 \"H-00000000000000a0\"\n[1](00000000000000a1) \"S-0000000000000001\"[1] # lid 3\n\n"
#define OTHER_PORT                                                                                 \
	"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"                       \
	"[1] \"H-00000000000000a0\"[1]\n[4] \"S-0000000000000002\"[2]\n\n"                         \
	"Switch 4 \"S-0000000000000002\" # \"s2\" base port 0 lid 2 lmc 0\n"                       \
	"[1] \"H-00000000000000b0\"[1]\n[2] \"S-0000000000000001\"[4]\n\n" HOSTS

static void topology(struct live_picture *p, const char *text)
{
	struct err e;

	if (live_picture_topology(p, text, strlen(text), &e))
		fail_msg("%s", e.text);
	live_picture_state(p, 5);
}

TEST(a_picture_stays_until_something_new_comes)
{
	struct live_picture *p = live_picture_new(emit, NULL);
	struct err e;

	live_picture_state(p, 5);
	assert_int_equal(states, 0);
	assert_null(live_picture_netlist(p));
	topology(p, TWO_LINKS);
	assert_int_equal(fabrics, 1);
	assert_true(nodes == 4 && links == 4);
	assert_int_equal(frame_u64(last + 8), 5);
	assert_int_equal(frame_u32(last + 24), version);
	assert_string_equal(node_states(), "7777");
	assert_string_equal(link_states(), "0000"); /* nothing is known of ports */
	/* What is shown already is not sent again. */
	assert_int_equal(states, 1);
	live_picture_state(p, 6);
	assert_int_equal(states, 1);
	topology(p, ONE_LINK);
	assert_int_equal(states, 2);
	assert_int_equal(fabrics, 1);
	assert_string_equal(node_states(), "7777");
	assert_non_null(strchr(link_states(), '4'));
	topology(p, HOST_GONE);
	assert_int_equal(fabrics, 1);
	assert_string_equal(live_picture_netlist(p), HOST_GONE);
	assert_int_not_equal(strspn(node_states(), "70"), 0);
	assert_ptr_equal(strchr(link_states(), '0'), strrchr(link_states(), '0')); /* one is left */
	topology(p, OTHER_PORT);
	assert_int_equal(fabrics, 2);
	assert_true(nodes == 4 && links == 3);
	assert_string_equal(node_states(), "7777");
	assert_int_not_equal(live_picture_topology(p, "nonsense", 8, &e), 0);
	live_picture_free(p);
}

TEST(states_of_links_and_managers)
{
	struct live_picture *p = live_picture_new(emit, NULL);
	json_t *managers = json_loads(
		"[{\"guid\":\"0xa1\",\"state\":\"Master\",\"priority\":9,\"answers\":true},"
		"{\"guid\":\"0xb1\",\"state\":\"Standby\",\"priority\":0,\"answers\":false},"
		"{\"guid\":\"0x77\",\"state\":\"Master\"}]",
		0, NULL);
	unsigned counts[8] = {0};
	const uint8_t *m;

	topology(p, TWO_LINKS);
	/* by GUID: switch 1 with its ports 1 to 3, switch 2, hosts a0 and b0 */
	live_picture_states(p, "44442340");
	live_picture_managers(p, managers);
	live_picture_state(p, 6);
	for (uint32_t i = 0; i < links; i++)
		counts[*link_at(i)]++;
	assert_true(counts[3] == 1 && counts[1] == 1 && counts[2] == 1 && counts[0] == 1);
	m = last + 28 + 4 + 12;
	assert_int_equal(frame_u32(last), m + 16 - last);
	assert_true(m[4] == 3 && m[6] == 0 && m[7] == 9);
	assert_true(m[12] == 2 && m[14] == 2 && m[15] == 0);
	json_decref(managers);
	live_picture_free(p);
}

/* Functions of an HCA are drawn as devices: those with a LID are in use, none is shown as cut. */
TEST(functions_of_an_hca)
{
	static const char net[] =
		"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"
		"[1] \"H-00000000000000a0\"[1]\n[2] \"H-0000000000000b00\"[1]\n\n"
		"Ca 1 \"H-00000000000000a0\"\n[1](00000000000000a1) \"S-0000000000000001\"[1] # lid 3\n\n"
		"caguid=0xb00\nsriov=vswitch vfs=2\nvf=2 lid=9\n"
		"Ca 1 \"H-0000000000000b00\"\n[1](0000000000000b01) \"S-0000000000000001\"[2] # lid 4\n\n";
	struct live_picture *p = live_picture_new(emit, NULL);

	topology(p, net);
	assert_int_equal(nodes, 6); /* the vSwitch, PF, two VFs */
	live_picture_states(p, "4444");
	live_picture_state(p, 7);
	assert_null(strchr(link_states(), '4'));
	assert_ptr_equal(strchr(link_states(), '0'), strrchr(link_states(), '0')); /* VF 1 */
	assert_non_null(strchr(link_states(), '0'));
	assert_null(strchr(node_states(), '0'));
	assert_int_equal(live_picture_lid(p, 9),
			 live_picture_node_of(p, fab_function_guid(0xb00, 2)));
	topology(p, net); /* nothing new */
	assert_int_equal(live_picture_node_of(p, 0x77), LIVE_NONE);
	live_picture_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_picture_stays_until_something_new_comes),
		cmocka_unit_test(states_of_links_and_managers),
		cmocka_unit_test(functions_of_an_hca),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
