/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opensm.conf as settings: each key of the table, changed, becomes a setting or is listed; values, words and faults.
 * tests/interop/from_opensm.sh does the same with the template that OpenSM itself writes.
 * Covers: from_opensm.c, opensm_keys.c
 */
#include "unit_test.h"

#include "settings/from_opensm.h"

static int convert(const char *text, struct opensm_result *r, struct err *e)
{
	return settings_from_opensm("o.conf", text, strlen(text), r, e);
}

/* A value that is not the default of this key. */
static const char *other(const struct opensm_key *k)
{
	switch (k->how) {
	case OPENSM_NUMBER:
		return strcmp(k->dflt, "1") ? "1" : "2";
	case OPENSM_HEX:
		return "0x17";
	case OPENSM_BOOL:
	case OPENSM_NOT:
	case OPENSM_WORDS:
		return !strcmp(k->dflt, "(null)") ? "updn"
		       : !strcmp(k->dflt, "TRUE") ? "FALSE"
						  : "TRUE";
	case OPENSM_SECONDS:
	case OPENSM_MS:
		return "3000";
	case OPENSM_TEXT:
	case OPENSM_FILE:
	case OPENSM_LIST:
	case OPENSM_LFTS:
	case OPENSM_LEFT:
		return "/other";
	case OPENSM_PERF:
		return strcmp(k->dflt, "FALSE") ? "20" : "TRUE";
	case OPENSM_CHOICE:
		return "in";
	case OPENSM_CLASS:
		return strstr(k->name, "limit")	  ? "7"
		       : strstr(k->name, "vlarb") ? "0:1,1:2"
						  : "0,1,2";
	}
	return "";
}

static bool differs(const struct opensm_result *r)
{
	struct strbuf a = {0}, b = {0};
	struct pol *none = pol_new();
	struct settings d;
	bool differ;

	settings_default(&d);
	settings_print_changed(&r->s, r->p, &a);
	settings_print_changed(&d, none, &b);
	differ = a.len != b.len || *r->partitions || *r->qos_policy;
	strbuf_free(&a);
	strbuf_free(&b);
	pol_free(none);
	return differ;
}

TEST(each_key_becomes_a_setting_or_is_listed)
{
	unsigned settings = 0, listed = 0;

	for (const struct opensm_key *k = opensm_keys; k->name; k++) {
		struct opensm_result r;
		char text[256];
		struct err e;

		snprintf(text, sizeof(text), "%s %s\n", k->name, other(k));
		if (strstr(k->name, "m_key_protection"))
			snprintf(text, sizeof(text), "m_key 0x1\n%s 1\n", k->name);
		if (k->how == OPENSM_LFTS)
			snprintf(text, sizeof(text), "%s /other\nrouting_engine file\n", k->name);
		if (strstr(k->name, "perfmgr_sweep"))
			snprintf(text, sizeof(text), "%s 20\nperfmgr TRUE\n", k->name);
		if (convert(text, &r, &e))
			fail_msg("%s: %s", k->name, e.text);
		if (k->how == OPENSM_LEFT) {
			assert_int_equal(r.left.n, 1);
			assert_false(differs(&r));
			listed++;
		} else {
			if (!differs(&r))
				fail_msg("%s has no effect", k->name);
			assert_int_equal(r.left.n,
					 !strcmp(k->name, "qos_policy_file")); /* without qos */
			settings++;
		}
		opensm_result_free(&r);
	}
	assert_int_equal(settings + listed, 160);
}

/* Unchanged, only what OpenSM sets in devices is taken over. */
TEST(the_template_itself)
{
	struct strbuf text = {0}, out = {0};
	struct opensm_result r;
	struct err e;

	for (const struct opensm_key *k = opensm_keys; k->name; k++)
		strbuf_addf(&text, "# about it\n%s %s\n\n", k->name, k->dflt);
	assert_int_equal(convert(text.s, &r, &e), 0);
	assert_int_equal(r.left.n, 0);
	settings_print_changed(&r.s, r.p, &out);
	assert_string_equal(
		out.s, "manager:\n  subnet_timeout: 18\nlinks:\n  head_of_queue_life: 18\n"
		       "  leaf_head_of_queue_life: 16\n  stall_count: 7\n  leaf_stall_count: 7\n"
		       "  packet_life: 18\n  phy_errors: 8\n  overrun_errors: 8\n");
	assert_string_equal(r.partitions, "/etc/opensm/partitions.conf");
	strbuf_free(&text);
	strbuf_free(&out);
	opensm_result_free(&r);
}

TEST(values)
{
	struct opensm_result r;
	struct strbuf out = {0};
	struct err e;

	assert_int_equal(
		convert("sweep_interval 20\nm_key=0x0017\nignore_other_sm TRUE\nsweep_on_trap FALSE\n"
			"sminfo_polling_timeout 500\npart_enforce out\nrouting_engine updn\n"
			"force_link_width 2 # 4x\nqos_swe_vlarb_low 0:4,1:64\nqos_sl2vl 0,1,2,15\n"
			"transaction_timeout 0x64\nperfmgr_sweep_time_s 20\nperfmgr TRUE\n"
			"root_guid_file /etc/opensm/roots\nio_guid_file /etc/opensm/io\n"
			"cn_guid_file (null)\n",
			&r, &e),
		0);
	assert_int_equal(r.s.sm.sweep_period_ps, 20 * PS_PER_S);
	assert_int_equal(r.s.sm.m_key, 0x17);
	assert_false(r.s.sm.contest);
	assert_false(r.s.sm.mechanism.traps);
	assert_int_equal(r.s.sm.standby_poll_ps, 500 * PS_PER_MS);
	assert_int_equal(r.s.sm.part_enforce, SM_ENFORCE_OUT);
	assert_string_equal(r.s.sm.mechanism.routes->name, "updn");
	assert_int_equal(r.s.sm.link_width, 2);
	assert_int_equal(r.s.sm.timeout_ps, 100 * PS_PER_MS);
	assert_int_equal(r.p->vls[POL_SWITCH_PORT].nlow, 2);
	assert_int_equal(r.p->vls[POL_SWITCH_PORT].low[1].weight, 64);
	assert_int_equal(r.p->vls[POL_ANY_PORT].sl2vl[3], 15);
	assert_int_equal(r.p->vls[POL_ANY_PORT].sl2vl[4], 0);
	assert_int_equal(r.s.perf.period, 20 * PS_PER_S);
	assert_int_equal(r.left.n, 0);
	settings_print_changed(&r.s, r.p, &out);
	assert_non_null(strstr(out.s, "roots: [\"@/etc/opensm/roots\"]"));
	assert_non_null(strstr(out.s, "io_nodes: [\"@/etc/opensm/io\"]"));
	strbuf_free(&out);
	opensm_result_free(&r);
}

static void engine_is(const char *text, const char *engine, const char *lfts, const char *listed)
{
	struct opensm_result r;
	struct err e;

	assert_int_equal(convert(text, &r, &e), 0);
	assert_string_equal(r.s.sm.mechanism.routes->name, engine);
	assert_string_equal(r.s.routes_file, lfts);
	assert_int_equal(r.left.n, listed != NULL);
	if (listed)
		assert_string_equal(r.left.at[0], listed);
	opensm_result_free(&r);
}

TEST(what_depends_on_the_engine)
{
	engine_is("lfts_file /l\nrouting_engine file\n", "file", "/l", NULL);
	engine_is("\nrouting_engine file\n", "auto", "",
		  "o.conf:2: routing_engine file: without lfts_file: auto chooses an engine");
	engine_is("\nlfts_file /l\nrouting_engine updn", "updn", "",
		  "o.conf:2: lfts_file /l: it has no effect without routing_engine file");
	engine_is("io_guid_file /io\nrouting_engine nue", "nue", "",
		  "o.conf:1: io_guid_file /io: the engine does not balance groups of hosts "
		  "(routes.engine)");
	engine_is("io_guid_file /io\nrouting_engine ftree", "tree", "", NULL);
	engine_is("perfmgr_sweep_time_s 7", "auto", "",
		  "o.conf:1: perfmgr_sweep_time_s 7: it has no effect while perfmgr is FALSE");
	engine_is("\nm_key_protection_level 2", "auto", "",
		  "o.conf:2: m_key_protection_level 2: it has no effect without m_key");
	engine_is("m_key_protection_level 2\nm_key 0x7", "auto", "", NULL);
}

TEST(what_is_listed)
{
	struct opensm_result r;
	struct err e;

	assert_int_equal(
		convert("perfmgr_redir FALSE\nrouting_engine dfsssp\nsweep_intervall 3\n", &r, &e),
		0);
	assert_int_equal(r.left.n, 3);
	assert_string_equal(
		r.left.at[0],
		"o.conf:1: perfmgr_redir FALSE: see the section perf and docs/counters.md");
	assert_string_equal(
		r.left.at[1],
		"o.conf:2: routing_engine dfsssp: engine balanced takes its place (routes.engine)");
	assert_string_equal(r.left.at[2],
			    "o.conf:3: sweep_intervall 3: not a key of OpenSM 3.3.23, did you mean "
			    "'sweep_interval'?");
	opensm_result_free(&r);
}

static void refused(const char *text, const char *why)
{
	struct opensm_result r;
	struct err e = {""};

	assert_int_equal(convert(text, &r, &e), -EINVAL);
	assert_string_equal(e.text, why);
	opensm_result_free(&r);
}

TEST(faults_by_line)
{
	refused("\nsweep_interval ten\n",
		"o.conf:2: sweep_interval: expected a number; found 'ten'");
	refused("lmc 9\n",
		"o.conf:1: lmc: as manager.lmc, expected a number from 0 to 7; found '9'");
	refused("sweep_interval 0\nsweep_on_trap FALSE\n",
		"o.conf: manager: neither sweeps nor traps: no change would be detected");
	refused("qos maybe\n", "o.conf:1: qos: expected TRUE or FALSE; found 'maybe'");
	refused("qos\n", "o.conf:1: qos: expected a value after the key; found ''");
	refused("qos_ca_sl2vl 0,16\n",
		"o.conf:1: qos_ca_sl2vl: expected up to 16 VLs from 0 to 15, such as 0,1,2, for sl2vl, found '0,16'");
	refused("qos TRUE\x01\n", "o.conf:1: line: expected UTF-8 text; found 'other bytes'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_becomes_a_setting_or_is_listed),
		cmocka_unit_test(the_template_itself),
		cmocka_unit_test(values),
		cmocka_unit_test(what_depends_on_the_engine),
		cmocka_unit_test(what_is_listed),
		cmocka_unit_test(faults_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
