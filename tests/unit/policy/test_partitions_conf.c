/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's partitions.conf: P_Key tables as OpenSM 3.3.23 programs them from the same files (read with smpquery on
 * an emulated 4-port 2-tree; host 0 has the manager), groups as its SA lists them, and faults by line.
 * Covers: partitions_conf.c, policy_members.c, partition_groups.c, policy_text.c
 */
#include "unit_test.h"

#include "policy/policy.h"

static struct pol *read_text(const char *text)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if (pol_read_partitions(p, "p.conf", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return p;
}

static struct pol_port host(unsigned i)
{
	static char names[8][16];

	snprintf(names[i], sizeof(names[i]), "host %u", i);
	return (struct pol_port){
		.guid = 0x0001000000000011 + 4 * i,
		.node_guid = 0x0001000000000010 + 4 * i,
		.type = IBA_NODE_CA,
		.num = 1,
		.description = names[i],
		.is_sm = !i,
	};
}

static struct pol_port leaf0(void)
{
	return (struct pol_port){.guid = 0x0002000000000001,
				 .node_guid = 0x0002000000000001,
				 .type = IBA_NODE_SWITCH,
				 .description = "leaf0"};
}

static void table_text(const uint16_t *keys, size_t n, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%04x", i ? " " : "", keys[i]);
}

static void expect(const struct pol *p, struct pol_port port, const char *table)
{
	uint16_t keys[64], held[1] = {0xffff}, over[64];
	char text[512];
	size_t n = pol_pkeys(p, &port, keys, 64);

	table_text(keys, n, text, sizeof(text));
	assert_string_equal(text, table);
	/* A port at power-on holds the default key. */
	assert_int_equal(pol_pkeys_over(p, &port, held, 1, over, 64), (int)n);
	table_text(over, n, text, sizeof(text));
	assert_string_equal(text, table);
}

TEST(tables_in_the_order_of_opensm)
{
	struct pol *p = read_text("A=0x0102, defmember=full : ALL ;\n"
				  "B=0x0201 : ALL_CAS=full ;\n"
				  "C=0x00ff : ALL_SWITCHES ;\n"
				  "D=0x2 : SELF=full, ALL;\n"
				  "E : ALL=both;\n");

	expect(p, host(0), "ffff 8001 8201 0002 8102");
	expect(p, host(7), "7fff 8001 8201 0002 8102");
	expect(p, leaf0(), "7fff 8001 0002 8102 00ff");
	pol_free(p);
}

TEST(index_zero_and_later_definitions)
{
	struct pol *p = read_text(
		"A=0x0102, indx0 : ALL=full ;\n"
		"B=0x0201, defmember=both : 0x0001000000000011, 0x0001000000000015=limited, "
		"0x0001000000000019=full, 0x1d ;\n"
		"C=0x0201 : 0x000100000000001d, SELF=limited;\n");

	for (unsigned both = 0; both < 2; both++) {
		p->both = both;
		expect(p, host(0), "8102 0201 ffff");
		expect(p, host(1), "8102 0201 7fff");
		expect(p, host(2), "8102 8201 7fff");
		expect(p, host(3), "8102 0201 7fff");
		expect(p, host(4), "8102 7fff");
		expect(p, leaf0(), "8102 7fff");
	}
	pol_free(p);
}

TEST(both_keys_of_a_partition)
{
	struct pol *p = read_text("Default=0x7fff, indx0 : ALL=both ;\n"
				  "B=0x0201 : ALL_CAS=both ;\n"
				  "C=0x0301 : 0x0001000000000011=both, 0x0001000000000015=full;\n"
				  "C=0x0301 : 0x0001000000000015=limited, 0x0001000000000011;\n");

	expect(p, host(0), "ffff 8201 0301");
	expect(p, host(2), "ffff 8201");
	p->both = true;
	expect(p, host(0), "7fff 0201 8201 0301 ffff");
	expect(p, host(2), "7fff 0201 8201 ffff");
	pol_free(p);
}

TEST(two_partitions_want_index_zero)
{
	struct pol *p = read_text(
		"A=0x0102, indx0, defmember=full : 0x0001000000000011, 0x0001000000000015 ;\n"
		"B=0x0202, indx0, defmember=both : 0x0001000000000011, 0x0001000000000015 ;\n");

	expect(p, host(0), "8202 8102 ffff");
	expect(p, host(1), "8202 8102 7fff");
	expect(p, host(2), "7fff");
	p->both = true;
	expect(p, host(0), "0202 8102 8202 ffff");
	pol_free(p);
}

TEST(without_a_file_all_are_full_members)
{
	struct pol *p = pol_new();

	expect(p, host(0), "ffff");
	expect(p, host(3), "ffff");
	expect(p, leaf0(), "ffff");
	pol_free(p);
	p = read_text("# nothing but a remark\n");
	expect(p, host(0), "ffff");
	expect(p, host(3), "ffff");
	pol_free(p);
	p = read_text("a=0x10 : NONE;");
	expect(p, host(0), "ffff");
	expect(p, host(3), "7fff");
	pol_free(p);
}

/* The forms of the manual page. */
TEST(forms_of_definitions)
{
	struct pol *p = read_text(
		"Default=0x7fff : ALL, SELF=full ;\n"
		"NewPartition , ipoib : 0x123456=full, 0x3456789034=limi, 0x2134af2306 ;\n"
		"YetAnotherOne = 0x300 : SELF=full ; YetAnotherOne = 0x300 : ALL=limited ;\n"
		"ShareIO = 0x80 , defmember=full : 0x123451,\n"
		"    0x123452;   # the list goes on\n"
		"0x8077 : NONE ;\n"
		"=0x78 : ALL\n"
		";;\n"
		" : 0x1, 20;");
	struct pol_port x = {.guid = 20, .type = IBA_NODE_CA},
			y = {.guid = 0x123452, .type = IBA_NODE_CA};

	assert_int_equal(p->partitions.n, 7);
	assert_int_equal(p->partitions.at[1].pkey, 1);
	assert_true(p->partitions.at[1].ipoib);
	assert_int_equal(p->partitions.at[1].members.at[1].as, POL_LIMITED);
	assert_string_equal(p->partitions.at[4].name, "0077");
	assert_int_equal(p->partitions.at[4].members.n, 0);
	assert_int_equal(p->partitions.at[6].pkey, 2);
	expect(p, x, "7fff 0300 0002 0078");
	expect(p, y, "7fff 0300 0078 8080");
	pol_free(p);
}

/* A name alone is that of the partition with the lowest key, and a second definition has flags of its own. */
TEST(definitions_with_one_name)
{
	struct pol *p = read_text("e=0x20, ipoib, mtu=5, scope=5 : 0x1=limited;\n"
				  "e=0x13 : 0x1=limited;\n"
				  "e, sl=3 : 0x2=full;\n"
				  "=0x20, ipoib : 0x2=limited;\n");
	struct pol_port x = {.guid = 2, .type = IBA_NODE_CA};
	struct pol_group g[8];

	assert_int_equal(p->partitions.n, 3);
	expect(p, x, "7fff 8013 0020");
	assert_int_equal(pol_partition_find(p, 0x13)->flags.sl, 3);
	assert_false(pol_partition_find(p, 0x13)->ipoib);
	assert_int_equal(pol_groups(p, g, 8), 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(g[i].mtu, g[i].scope == 5 ? 5 : 4);
		assert_true(g[i].scope == 5 || g[i].scope == 2);
	}
	pol_free(p);
}

TEST(keys_that_are_held_stay_where_they_are)
{
	struct pol *p = read_text("A=0x10,defmember=full : ALL;\nB=0x11 : ALL;\nC=0x12 : ALL;\n");
	const uint16_t held[] = {0xffff, 0x8099, 0x0012, 0x0010, 0, 0x8011};
	struct pol_port port = host(1);
	uint16_t keys[8];
	char text[128];

	assert_int_equal(pol_pkeys_over(p, &port, held, 6, keys, 8), 6);
	table_text(keys, 6, text, sizeof(text));
	assert_string_equal(text, "7fff 0000 0012 8010 0000 0011");
	assert_int_equal(pol_pkeys_over(p, &port, held, 6, keys, 3), -ENOSPC);
	assert_int_equal(pol_pkeys_over(p, &port, held, 6, keys, 4), 4);
	pol_free(p);
}

/* A table that several share: keys of the first as if it were alone, then what others need. */
TEST(keys_of_several_ports)
{
	struct pol *p = read_text("A=0x10 : 0x0001000000000015=full, 0x0001000000000019;\n"
				  "B=0x11 : 0x0001000000000019=full, 0x000100000000001d=full;\n");
	const struct pol_port ports[] = {host(1), host(2), host(3)};
	const uint16_t held[] = {0x7fff, 0x8011, 0x8099};
	uint16_t keys[8];
	char text[128];

	assert_int_equal(pol_pkeys_all(p, ports, 3, keys, 8), 4);
	table_text(keys, 4, text, sizeof(text));
	assert_string_equal(text, "7fff 8010 0010 8011");
	assert_int_equal(pol_pkeys_over_all(p, ports, 3, held, 3, keys, 8), 5);
	table_text(keys, 5, text, sizeof(text));
	assert_string_equal(text, "7fff 8011 0000 8010 0010");
	assert_int_equal(pol_pkeys_over_all(p, ports, 3, held, 3, keys, 3), -ENOSPC);
	assert_int_equal(pol_pkeys_all(p, ports, 0, keys, 8), 0);
	pol_free(p);
}

TEST(who_may_talk)
{
	struct pol *p = read_text("A=0x10 : 0x0001000000000015=full, 0x0001000000000019;\n"
				  "B=0x11 : 0x0001000000000019, 0x000100000000001d;\n");
	struct pol_port sm = host(0), full = host(1), limited = host(2), other = host(3);
	uint16_t key = 0;

	assert_true(pol_share(p, &full, &limited, 0, &key));
	assert_int_equal(key, 0x8010);
	assert_true(pol_share(p, &limited, &full, 0x8010, &key));
	assert_int_equal(key, 0x0010);
	assert_false(pol_share(p, &limited, &other, 0,
			       &key)); /* both are limited members, of 0x11 and 0x7fff */
	assert_true(pol_share(p, &limited, &sm, 0, &key));
	assert_int_equal(key, 0x7fff);
	assert_false(pol_share(p, &full, &other, 0x10, &key));
	pol_free(p);
}

TEST(members_by_name)
{
	struct pol *p = read_text("A=0x10 : NONE;");
	struct pol_member m;
	struct err e;
	struct pol_port port = host(2);

	assert_false(pol_names_used(p));
	assert_int_equal(pol_member_parse(&m, "host ?/P1", "full", &e), 0);
	vec_push(&p->partitions.at[1].members, m);
	assert_true(pol_names_used(p));
	expect(p, port, "7fff 8010");
	port.num = 2;
	expect(p, port, "7fff");
	port.description = "";
	expect(p, port, "7fff");
	assert_int_equal(pol_member_parse(&m, "ho*2", "limited", &e), 0);
	vec_push(&p->partitions.at[1].members, m);
	expect(p, host(2), "7fff 0010");
	expect(p, host(3), "7fff 8010");
	expect(p, leaf0(), "7fff");
	pol_free(p);
}

/* ---- groups ---- */

static const struct pol_group *group(const struct pol_group *g, size_t n, const char *words)
{
	for (size_t i = 0; i < n; i++) {
		char text[48] = "";

		for (unsigned j = 0; j < 16; j++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%02x",
				 g[i].mgid[j]);
		if (!strcmp(text, words))
			return &g[i];
	}
	return NULL;
}

static void group_is(const struct pol_group *g, uint16_t pkey, unsigned mtu, unsigned rate,
		     unsigned sl)
{
	assert_non_null(g);
	assert_int_equal(g->pkey, pkey);
	assert_int_equal(g->mtu, mtu);
	assert_int_equal(g->rate, rate);
	assert_int_equal(g->sl, sl);
}

TEST(groups_of_partitions)
{
	struct pol *p = read_text(
		"Default=0x7fff,ipoib,defmember=full:\n"
		"   mgid=ff12:401b::0707,sl=1 # random IPv4 group\n"
		"   mgid=ff12:601b::16\n"
		"   mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2\n"
		"   ALL, ALL_SWITCHES=full;\n"
		"Store=0x80, ipoib, mtu=5, rate=7, scope=2, scope=5, sl=3, TClass=9, FlowLabel=0x12345 "
		": ALL_CAS=full;\n");
	struct pol_group g[16];
	size_t n = pol_groups(p, g, 16);

	assert_int_equal(n, 9);
	group_is(group(g, n, "ff12401bffff000000000000ffffffff"), 0xffff, 4, 3, 0);
	group_is(group(g, n, "ff12601bffff00000000000000000001"), 0xffff, 4, 3, 0);
	group_is(group(g, n, "ff12401b8080000000000000ffffffff"), 0x8080, 5, 7, 0);
	p->qos = true;
	n = pol_groups(p, g, 16);
	group_is(group(g, n, "ff12401bffff00000000000000000707"), 0xffff, 4, 3, 1);
	group_is(group(g, n, "ff12601bffff00000000000000000016"), 0xffff, 4, 3, 0);
	group_is(group(g, n, "ff120000000000000000000000000001"), 0xffff, 2, 3, 1);
	assert_int_equal(group(g, n, "ff120000000000000000000000000001")->qkey, 0xdeadbeef);
	group_is(group(g, n, "ff12401b8080000000000000ffffffff"), 0x8080, 5, 7, 3);
	group_is(group(g, n, "ff15401b8080000000000000ffffffff"), 0x8080, 5, 7, 3);
	assert_int_equal(group(g, n, "ff15401b8080000000000000ffffffff")->hop_limit, 255);
	assert_int_equal(group(g, n, "ff15401b8080000000000000ffffffff")->tclass, 9);
	assert_int_equal(group(g, n, "ff15401b8080000000000000ffffffff")->flow_label, 0x12345);
	assert_int_equal(group(g, n, "ff12401b8080000000000000ffffffff")->qkey, 0x0b1b);
	pol_free(p);
}

/* ---- faults ---- */

static void refused(const char *text, const char *why)
{
	struct pol *p = pol_new();
	struct err e = {""};

	assert_int_equal(pol_read_partitions(p, "p.conf", text, strlen(text), &e), -EINVAL);
	assert_string_equal(e.text, why);
	pol_free(p);
}

TEST(faults_by_line)
{
	refused("\nA=0x10 ALL\n",
		"p.conf:2: expected ':' after the name, P_Key and flags of a partition, found 'A=0x10 ALL'");
	refused("A=x : ALL;",
		"p.conf:1: expected a P_Key from 0x0001 to 0x7fff after the partition's name, found 'x'");
	refused("A=0x8000 : ALL;",
		"p.conf:1: expected a P_Key from 0x0001 to 0x7fff after the partition's name, found '0x8000'");
	refused("A=1, ipob : ALL;",
		"p.conf:1: expected a flag of a partition, found 'ipob', did you mean 'ipoib'?");
	refused("A=1, mtu=9 : ALL;",
		"p.conf:1: expected a code of an MTU from 1 to 5 for mtu, found '9'");
	refused("A=1, sl : ALL;",
		"p.conf:1: expected a service level from 0 to 15 for sl, found nothing");
	refused("A=1 : ALL=ful1;",
		"p.conf:1: expected full, limited or both after 'ALL', found 'ful1'");
	refused("A=1, defmember=no : ALL;",
		"p.conf:1: expected full, limited or both for defmember, found 'no'");
	refused("A=1 :\nALL,\ndefmember=limited;",
		"p.conf:3: expected a port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF as member of "
		"'A', found 'defmember'");
	refused("A=1 :\n mgid=fe80::1,sl=1\n ALL;",
		"p.conf:2: expected the GID of a multicast group, which begins with ff");
	refused("A=1 : mgid=ff12:401b:8002::1;",
		"p.conf:1: expected P_Key 0x8001 or 0 in the MGID of an IP group, found 0x8002");
	refused("A=1, rate=6 : mgid=ff12:401b::1, rate=3;",
		"p.conf:1: expected the partition's rate 6 for an IP group, found 3");
	refused("A=1 : mgid=ff12:zz::1;",
		"p.conf:1: expected a GID such as ff12:401b::16 after mgid=, found 'ff12:zz::1'");
	refused("A=1 : mgid=ff12::1,life=3;", "p.conf:1: expected a flag of a group, found 'life'");
	refused("A\x01=1 : ALL;", "p.conf:1: expected UTF-8 text, found byte 0x01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_in_the_order_of_opensm),
		cmocka_unit_test(index_zero_and_later_definitions),
		cmocka_unit_test(both_keys_of_a_partition),
		cmocka_unit_test(two_partitions_want_index_zero),
		cmocka_unit_test(without_a_file_all_are_full_members),
		cmocka_unit_test(forms_of_definitions),
		cmocka_unit_test(definitions_with_one_name),
		cmocka_unit_test(keys_that_are_held_stay_where_they_are),
		cmocka_unit_test(keys_of_several_ports),
		cmocka_unit_test(who_may_talk),
		cmocka_unit_test(members_by_name),
		cmocka_unit_test(groups_of_partitions),
		cmocka_unit_test(faults_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
