/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's qos-policy.conf: which level a path gets, the simplified section, faults by line; policies copied and
 * printed.
 * Covers: qos_policy_conf.c, qos_policy_ulps.c, policy_paths.c, policy_yaml.c, policy.c
 */
#include "unit_test.h"

#include "policy/policy.h"

static const char whole[] = "port-groups\n"
			    "  port-group # by GUID\n"
			    "    name: Storage\n"
			    "    use: SRP Targets: all, of them\n"
			    "    port-guid: 0x10000000000001, 0x10000000000005-0x1000000000FFFA\n"
			    "    port-guid: 0x1000000000FFFF\n"
			    "  end-port-group\n"
			    "  port-group\n"
			    "    name: Virtual Servers\n"
			    "    port-name: vs1 HCA-1/P1, vs2 HCA-1/P1\n"
			    "  end-port-group\n"
			    "  port-group\n"
			    "    name: Partitions\n"
			    "    partition: Part1\n"
			    "    pkey: 0x1234\n"
			    "  end-port-group\n"
			    "  port-group\n"
			    "    name: Switches and SM\n"
			    "    node-type: switch, SELF\n"
			    "  end-port-group\n"
			    "end-port-groups\n"
			    "qos-setup\n"
			    "  vlarb-tables\n"
			    "    vlarb-scope\n"
			    "      group: Storage\n"
			    "      vlarb-high: 0:255,1:127\n"
			    "    end-vlarb-scope\n"
			    "  end-vlarb-tables\n"
			    "end-qos-setup\n"
			    "qos-levels\n"
			    "  qos-level\n"
			    "    name: DEFAULT\n"
			    "    use: default QoS Level\n"
			    "    sl: 0\n"
			    "  end-qos-level\n"
			    "  qos-level\n"
			    "    name: WholeSet\n"
			    "    sl: 1\n"
			    "    mtu-limit: 4\n"
			    "    rate-limit: 5\n"
			    "    pkey: 0x1234\n"
			    "    packet-life: 8\n"
			    "    path-bits: 0-3,7\n"
			    "  end-qos-level\n"
			    "  qos-level\n"
			    "    name: Two\n"
			    "    sl: 2\n"
			    "  end-qos-level\n"
			    "end-qos-levels\n"
			    "qos-match-rules\n"
			    "  qos-match-rule\n"
			    "    use: by QoS class\n"
			    "    qos-class: 7-9,11\n"
			    "    qos-level-name: WholeSet\n"
			    "  end-qos-match-rule\n"
			    "  qos-match-rule\n"
			    "    destination: Storage, Switches and SM\n"
			    "    service-id: 0x10000000000001, 0x10000000000008-0x10000000000FFF\n"
			    "    qos-level-name: WholeSet\n"
			    "  end-qos-match-rule\n"
			    "  qos-match-rule\n"
			    "    source: Virtual Servers, Partitions\n"
			    "    pkey: 0x0F00-0x0FFF\n"
			    "    qos-level-name: Two\n"
			    "  end-qos-match-rule\n"
			    "end-qos-match-rules\n";

static struct pol *read_text(const char *partitions, const char *qos)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if ((partitions && pol_read_partitions(p, "p.conf", partitions, strlen(partitions), &e)) ||
	    pol_read_qos(p, "q.conf", qos, strlen(qos), &e))
		fail_msg("%s", e.text);
	p->qos = true;
	return p;
}

static const char *level(const struct pol *p, struct pol_query q)
{
	static struct pol_path path;

	pol_path(p, &q, &path);
	return path.level ? path.level : "none";
}

TEST(rules_in_their_order)
{
	struct pol *p = read_text("Part1=0x20 : 0x55;", whole);
	struct pol_port any = {.guid = 1, .type = IBA_NODE_CA, .num = 1, .description = "x"};
	struct pol_port storage = {.guid = 0x10000000000006, .type = IBA_NODE_CA};
	struct pol_port server = {
		.guid = 2, .type = IBA_NODE_CA, .num = 1, .description = "vs2 HCA-1"};
	struct pol_port member = {.guid = 0x55, .type = IBA_NODE_CA};
	struct pol_port sw = {.guid = 3, .type = IBA_NODE_SWITCH};
	const uint64_t sid = 0x10000000000009;

	assert_string_equal(level(p, (struct pol_query){.src = &any, .dst = &any}), "DEFAULT");
	assert_string_equal(level(p, (struct pol_query){.src = &any,
							.dst = &any,
							.has_qos_class = true,
							.qos_class = 11}),
			    "WholeSet");
	assert_string_equal(level(p, (struct pol_query){.src = &any, .dst = &any, .qos_class = 11}),
			    "DEFAULT");
	assert_string_equal(level(p, (struct pol_query){.src = &any,
							.dst = &storage,
							.has_service_id = true,
							.service_id = sid}),
			    "WholeSet");
	assert_string_equal(level(p, (struct pol_query){.src = &any,
							.dst = &sw,
							.has_service_id = true,
							.service_id = sid}),
			    "WholeSet");
	assert_string_equal(level(p, (struct pol_query){.src = &any,
							.dst = &any,
							.has_service_id = true,
							.service_id = sid}),
			    "DEFAULT");
	assert_string_equal(level(p, (struct pol_query){.src = &server,
							.dst = &any,
							.has_pkey = true,
							.pkey = 0x8f10}),
			    "Two");
	assert_string_equal(level(p, (struct pol_query){.src = &member,
							.dst = &any,
							.has_pkey = true,
							.pkey = 0xf10}),
			    "Two");
	assert_string_equal(level(p, (struct pol_query){.src = &any,
							.dst = &server,
							.has_pkey = true,
							.pkey = 0xf10}),
			    "DEFAULT");
	server.num = 2;
	assert_string_equal(level(p, (struct pol_query){.src = &server,
							.dst = &any,
							.has_pkey = true,
							.pkey = 0xf10}),
			    "DEFAULT");
	assert_true(p->qos_setup);
	pol_free(p);
}

TEST(what_a_level_says)
{
	struct pol *p = read_text("A=0x1234, sl=5 : ALL; B=0x20, sl=6 : ALL;", whole);
	struct pol_port any = {.guid = 1, .type = IBA_NODE_CA};
	struct pol_path path;

	pol_path(p,
		 &(struct pol_query){
			 .src = &any, .dst = &any, .has_qos_class = true, .qos_class = 7},
		 &path);
	assert_int_equal(path.has,
			 POL_HAS_SL | POL_HAS_MTU | POL_HAS_RATE | POL_HAS_LIFE | POL_HAS_PKEY);
	assert_int_equal(path.sl, 1);
	assert_int_equal(path.mtu, 4);
	assert_int_equal(path.rate, 5);
	assert_int_equal(path.life, 8);
	assert_int_equal(path.pkey, 0x1234);
	assert_int_equal(path.path_bits->n, 2);
	p->default_level = UINT32_MAX; /* then the partition's service level serves */
	pol_path(p, &(struct pol_query){.src = &any, .dst = &any, .has_pkey = true, .pkey = 0x8020},
		 &path);
	assert_int_equal(path.has, POL_HAS_SL);
	assert_int_equal(path.sl, 6);
	p->qos = false;
	pol_path(p, &(struct pol_query){.src = &any, .dst = &any, .has_pkey = true, .pkey = 0x8020},
		 &path);
	assert_int_equal(path.has, 0);
	pol_free(p);
}

static unsigned sl(const struct pol *p, struct pol_query q)
{
	struct pol_path path;

	pol_path(p, &q, &path);
	assert_true(path.has & POL_HAS_SL);
	return path.sl;
}

TEST(protocols)
{
	struct pol *p = read_text(NULL, "qos-ulps\n"
					" default : 15\n"
					" sdp, port-num 30000 : 1\n"
					" SDP, port-num 10000-20000 : 2\n"
					" sdp : 3\n"
					" rds : 4\n"
					" iser, port-num 900 : 5\n"
					" iser : 6\n"
					" ipoib, pkey 0x0001 : 7\n"
					" ipoib : 8\n"
					" any, service-id 0x6234 : 9\n"
					" any, pkey 0x0ABC : 10\n"
					" srp, target-port-guid 0x1234 : 11\n"
					" any, target-port-guid 0x0ABC-0xFFF : 12\n"
					" any, source-port-guid 0x5678 : 13\n"
					" any, source-target-port-guid 0x20000-0x20010 : 14\n"
					"end-qos-ulps\n");
	struct pol_port any = {.guid = 1}, a = {.guid = 0x1234}, b = {.guid = 0xabd},
			c = {.guid = 0x5678}, d = {.guid = 0x20001};
#define SERVICE(id)                                                                                \
	(struct pol_query){.src = &any, .dst = &any, .has_service_id = true, .service_id = id}
#define KEY(k)                                                                                     \
	(struct pol_query)                                                                         \
	{                                                                                          \
		&any, &any, .has_pkey = true, .pkey = k                                            \
	}

	assert_int_equal(sl(p, (struct pol_query){.src = &any, .dst = &any}), 15);
	assert_int_equal(sl(p, SERVICE(0x10000 + 30000)), 1);
	assert_int_equal(sl(p, SERVICE(0x10000 + 15000)), 2);
	assert_int_equal(sl(p, SERVICE(0x10000 + 1)), 3);
	assert_int_equal(sl(p, SERVICE(0x10648ca)), 4);
	assert_int_equal(sl(p, SERVICE(0x1060000 + 900)), 5);
	assert_int_equal(sl(p, SERVICE(0x1060cbc)), 6);
	assert_int_equal(sl(p, SERVICE(0x6234)), 9);
	assert_int_equal(sl(p, SERVICE(0x6235)), 15);
	assert_int_equal(sl(p, KEY(0x8001)), 7);
	assert_int_equal(sl(p, KEY(0xffff)), 8);
	assert_int_equal(sl(p, KEY(0xabc)), 10);
	assert_int_equal(sl(p, (struct pol_query){.src = &any, .dst = &a}), 11);
	assert_int_equal(sl(p, (struct pol_query){.src = &any, .dst = &b}), 12);
	assert_int_equal(sl(p, (struct pol_query){.src = &c, .dst = &any}), 13);
	assert_int_equal(sl(p, (struct pol_query){.src = &d, .dst = &d}), 14);
	assert_int_equal(sl(p, (struct pol_query){.src = &d, .dst = &any}), 15);
	pol_free(p);
}

/* ---- faults ---- */

static void refused(const char *text, const char *why)
{
	struct pol *p = pol_new();
	struct err e = {""};

	assert_int_equal(pol_read_qos(p, "q.conf", text, strlen(text), &e), -EINVAL);
	assert_string_equal(e.text, why);
	pol_free(p);
}

TEST(faults_by_line)
{
	refused("",
		"q.conf:0: expected a qos-level with the name DEFAULT, or default in qos-ulps, found neither");
	refused("qos-ulps\n default : 16\nend-qos-ulps\n",
		"q.conf:2: expected a service level from 0 to 15 after ':', found '16'");
	refused("qos-ulps\n nfs : 1\nend-qos-ulps\n",
		"q.conf:2: expected default, sdp, rds, iser, srp, ipoib or any, with a selector after ',' and then "
		"': SL', found 'nfs'");
	refused("port-group\n",
		"q.conf:1: expected port-groups, qos-setup, qos-levels, qos-match-rules or qos-ulps, found "
		"'port-group'");
	refused("qos-levels\n qos-level\n sl: 1\n",
		"q.conf:3: expected end-qos-level for the block of line 2, found "
		"the end of the file");
	refused("qos-levels\n qos-level\n sl: 1\n end-qos-level\n",
		"q.conf:4: expected 'name' in the qos-level, found 'end-qos-level'");
	refused("qos-levels\n qos-level\n sl: 1\n sl: 2\n",
		"q.conf:4: expected each key once in a qos-level, found 'sl'");
	refused("qos-levels\n qos-level\n mtu-limit: 6\n",
		"q.conf:3: expected a code of an MTU from 1 to 5, found '6'");
	refused("qos-match-rules\n qos-match-rule\n pkey: 5-3\n",
		"q.conf:3: expected numbers and ranges such as 1-3, 7, found '3'");
	refused("qos-match-rules\n qos-match-rule\n end-qos-match-rule\n",
		"q.conf:3: expected 'qos-level-name' in the rule, found 'end-qos-match-rule'");
	refused("qos-match-rules\n qos-match-rule\n source: A\n qos-level-name: B\n end-qos-match-rule\n"
		"end-qos-match-rules\n",
		"q.conf:3: expected the name of a port-group, found 'A'");
	refused("port-groups\n port-group\n node-type: CA, SPINE\n",
		"q.conf:3: expected CA, SWITCH, ROUTER, ALL or SELF, found 'SPINE'");
}

/* ---- as a whole ---- */

TEST(copies_and_prints)
{
	struct pol *p = read_text(
		"A=0x1234, sl=5, ipoib : ALL=full, 0x17; Default=0x7fff : mgid=ff12::9\n ALL=full;",
		whole);
	struct pol *c = pol_copy(p);
	struct strbuf out = {0};

	assert_true(pol_same(p, c));
	c->levels.at[1].sl = 7;
	assert_false(pol_same(p, c));
	pol_free(c);
	c = pol_copy(p);
	c->partitions.at[1].members.at[0].as = POL_LIMITED;
	assert_false(pol_same(p, c));
	pol_free(c);
	pol_print_partitions(p, &out);
	assert_non_null(strstr(
		out.s,
		"    - name: \"A\"\n      pkey: 0x1234\n      ipoib: true\n      sl: 5\n"
		"      members:\n        - ALL: full\n        - 0x0000000000000017: limited\n"));
	pol_print_qos(p, &out);
	assert_non_null(strstr(
		out.s,
		"    - level: \"Two\"\n      sources: [\"Virtual Servers\", \"Partitions\"]\n"
		"      pkeys: [0xf00-0xfff]\n"));
	strbuf_free(&out);
	pol_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_in_their_order),
		cmocka_unit_test(what_a_level_says),
		cmocka_unit_test(protocols),
		cmocka_unit_test(faults_by_line),
		cmocka_unit_test(copies_and_prints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
