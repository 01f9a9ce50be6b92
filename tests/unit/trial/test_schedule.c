/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules as text: what is read, what is written, and where a fault is reported.
 * Covers: schedule.c, schedule_events.c, schedule_read.c, schedule_words.c, schedule_write.c, swarm_draw.c
 */
#include "unit_test.h"

#include "trial/swarm_trial.h"

static int read_text(struct schedule *s, struct fab **f, const char *text, struct err *e)
{
	return schedule_read(s, f, "x.schedule", text, strlen(text), e);
}

TEST(every_word_is_read)
{
	static const char text[] =
		"# a comment\n"
		"fabric ring 4 hosts 2 seed 7\n"
		"without H-0001000000000010 # one host less\n"
		"seed 0x2a\ntraps off\ntraffic 20us\nuntil 80ms\n"
		"manager S-0002000000000001 priority 3 start 20ms mechanism basic routes pira m-key 0x5 qos on\n"
		"manager \"S-0002000000000002\" poll 2.5ms\n"
		"at 1ms crash 0\nat 2ms restart 0\nat 2ms restart 0 with-torn-state\n"
		"at 3ms pause 1\nat 4ms continue 1\nat 4ms handover 0\nat 4ms resync 1\nat 4ms order 1 disable\nat 5ms pull 1\nat 5ms plug 1\n"
		"at 6ms move 1 S-0002000000000003[1]\nat 6ms off S-0002000000000003\n"
		"at 6ms on S-0002000000000003\nat 6ms reboot S-0002000000000003\n"
		"at 6ms reboot S-0002000000000003 3us\nat 7ms unlink S-0002000000000003[2]\n"
		"at 7ms relink S-0002000000000003[2]\n"
		"at 8ms cut S-0002000000000003 S-0002000000000004\nat 8ms join\n"
		"at 9ms loss 5%\nat 9ms loss 0.5 S-0002000000000003[2]\n"
		"at 9ms latency 5us S-0002000000000003[2]\nat 9ms delay 1%\nat 9ms dup 1%\n"
		"at 9ms rogue S-0002000000000003\nat 1s lie S-0002000000000003 2.5%\n"
		"at 1s add switch 0x2000000000099 8 \"leaf 9\"\nat 1s add host 0x1000000009000 1\n"
		"at 1s link \"leaf 9[1]\" S-0002000000000003[1]\nat 1s seat 1 0x0001000000009000\n";
	struct strbuf again = {0};
	struct schedule s;
	struct fab *f;
	struct err e;

	if (read_text(&s, &f, text, &e))
		fail_msg("%s", e.text);
	assert_int_equal(f->nhosts, 8);
	assert_int_equal(f->nodes[f->nnodes - 2].nports, 8);
	assert_true(f->nodes[f->nnodes - 1].flags & FAB_LATER);
	assert_int_equal(s.until, 80 * PS_PER_MS);
	assert_int_equal(s.seed, 42);
	assert_false(s.traps);
	assert_int_equal(s.traffic, 20 * PS_PER_US);
	assert_int_equal(s.managers.n, 2);
	assert_int_equal(s.managers.at[0].sm.priority, 3);
	assert_int_equal(s.managers.at[0].sm.m_key, 5);
	assert_true(s.managers.at[0].sm.qos && s.managers.at[0].sm.contest);
	assert_string_equal(s.managers.at[0].sm.mechanism.name, "basic");
	assert_string_equal(s.managers.at[0].sm.mechanism.routes->name, "pira");
	schedule_write(&s, &again);
	assert_non_null(strstr(again.s, " mechanism basic routes pira priority 3"));
	strbuf_free(&again);
	assert_int_equal(s.managers.at[1].sm.standby_poll_ps, 2500 * PS_PER_US);
	assert_int_equal(s.events.n, 30);
	assert_string_equal(s.events.at[26].name, "leaf 9");
	assert_int_equal(s.events.at[28].far.port, 1);
	assert_int_equal(s.events.at[2].knows, SCHEDULE_TORN_STATE);
	assert_int_equal(s.events.at[13].time, PS_PER_MS);
	assert_int_equal(s.events.at[14].time, 3 * PS_PER_US);
	assert_int_equal(s.events.at[17].nodes.n, 2);
	assert_int_equal(s.events.at[20].share, 500000);
	assert_int_equal(s.events.at[25].at, PS_PER_S);
	fab_free(f);
	schedule_free(&s);
}

#define HEAD "fabric ring 4\nmanager S-0002000000000001\n"

TEST(a_fault_is_reported_with_its_line)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"",
		 "x.schedule:1: expected a line 'fabric ...' or 'netlist FILE' before this one"},
		{"fabric ring 4\n", "x.schedule:2: expected a line 'manager NODE'"},
		{"fabrik ring 4\n", "x.schedule:1: expected fabric, netlist, without, seed, traps, "
				    "traffic, until, manager or at, found 'fabrik'"},
		{"fabric blob 4\n", "x.schedule:1: no fabric: no topology is called 'blob'"},
		{"fabric ring 99999\n",
		 "x.schedule:1: expected a smaller fabric, found size 99999"},
		{"fabric ring 4 wide\n",
		 "x.schedule:1: expected a size, ports, hosts, links, vfs or seed, "
		 "found 'wide'"},
		{"netlist -\n", "x.schedule:1: expected a file, found '-'"},
		{"netlist no-such.net\n", "x.schedule:1: no fabric: no-such.net"},
		{"manager S-1\n", "x.schedule:1: expected a line 'fabric ...'"},
		{"fabric ring 4\nmanager nobody\n", "x.schedule:2: 'nobody' is not in the fabric"},
		{HEAD "manager S-0002000000000001\n", "x.schedule:3: expected another node"},
		{"fabric ring 4\nmanager S-0002000000000001 priority 16\n",
		 "x.schedule:2: expected priority from 0 to 15, found '16'"},
		{"fabric ring 4\nmanager S-0002000000000001 speed 1\n",
		 "x.schedule:2: expected an option of a manager such as priority, found 'speed'"},
		{"fabric ring 4\nmanager S-0002000000000001 routes best\n",
		 "x.schedule:2: no engine is called 'best'"},
		{"fabric ring 4\nmanager S-0002000000000001 routes none\n",
		 "x.schedule:2: final routes cannot be 'none'"},
		{HEAD "at noon crash 0\n",
		 "x.schedule:3: expected a time such as 2.5ms, found 'noon'"},
		{HEAD "at 1ms crash 1\n",
		 "x.schedule:3: expected a manager from 0 to 0, found '1'"},
		{HEAD "at 1ms crash\n", "x.schedule:3: expected a manager after 'crash'"},
		{HEAD "at 1ms crash 0 twice\n",
		 "x.schedule:3: expected no more words, found 'twice'"},
		{HEAD "at 1ms explode\n", "x.schedule:3: expected a fault such as crash or unlink, "
					  "found 'explode'"},
		{HEAD "at 1ms unlink S-0002000000000001[9]\n",
		 "x.schedule:3: 'S-0002000000000001' has ports 1 to 3, found 9"},
		{HEAD "at 1ms unlink S-0002000000000001\n",
		 "x.schedule:3: expected a port such as"},
		{HEAD "at 2ms crash 0\nat 1ms restart 0\n",
		 "x.schedule:4: expected a time that is not before that of the line above"},
		{HEAD "at 1ms add tree 0x99 4\n",
		 "x.schedule:3: expected switch, host or router, found 'tree'"},
		{HEAD "at 1ms add switch 0x99 255\n",
		 "x.schedule:3: expected a number of ports from 1 to 254, found '255'"},
		{HEAD "at 1ms add switch 0x0002000000000002 4\n",
		 "x.schedule:3: GUID 0x0002000000000002 is in the fabric: expected a new one"},
		{HEAD "at 1ms add host 0x99 4\nat 1ms add host 0x9a 4\n",
		 "x.schedule:4: GUID 0x000000000000009a is in the fabric: expected a new one"},
		{HEAD "at 1ms add switch 0x99 4\nat 1ms add switch 0x99 4\n",
		 "x.schedule:4: GUID 0x0000000000000099 is in the fabric: expected a new one"},
		{HEAD "at 1ms link 0x99[1] S-0002000000000002[1]\nat 1ms add switch 0x99 4\n",
		 "x.schedule:3: '0x99' is not in the fabric"},
		{HEAD "at 1ms link S-0002000000000002[1]\n",
		 "x.schedule:3: expected a port such as S-0002000000000001[3] after"},
		{HEAD "at 2ms loss 200%\n", "x.schedule:3: expected a share such as 5% or 0.05"},
		{HEAD "at 2ms restart 0 with-luck\n",
		 "x.schedule:3: expected with-lids, with-state"},
		{HEAD "manager \"S-0002\n",
		 "x.schedule:3: expected a closing quote after 'S-0002'"},
		{HEAD "without S-0002000000000002\n",
		 "x.schedule:3: expected 'without' before managers and events"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct schedule s;
		struct fab *f;
		struct err e;

		assert_int_equal(read_text(&s, &f, bad[i].text, &e), -EINVAL);
		if (strncmp(e.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("expected '%s', found '%s'", bad[i].why, e.text);
	}
}

/* What a seed draws is written, read and written again: the same text, and the same run. */
TEST(what_is_written_can_be_read)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct strbuf a = {0}, b = {0};
		struct schedule s, t;
		struct fab *f;
		struct err e;

		swarm_draw(seed, &(struct swarm_managers){.most = 4}, &s);
		schedule_write(&s, &a);
		if (schedule_read(&t, &f, "again", a.s, a.len, &e))
			fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
		schedule_write(&t, &b);
		assert_string_equal(a.s, b.s);
		if (seed % 30 == 0) {
			struct schedule_result x, y;

			schedule_run(&s, NULL, &x);
			schedule_run(&t, NULL, &y);
			assert_int_equal(x.hash, y.hash);
		}
		strbuf_free(&a);
		strbuf_free(&b);
		fab_free(f);
		schedule_free(&s);
		schedule_free(&t);
	}
}

/* Over many seeds every kind of fault occurs, and every seed leaves some out. */
TEST(a_swarm_uses_every_kind_of_fault)
{
	unsigned used[SCHEDULE_NKINDS] = {0}, managers[SWARM_MANAGERS + 1] = {0};

	for (uint64_t seed = 1; seed <= 500; seed++) {
		unsigned here[SCHEDULE_NKINDS] = {0}, kinds = 0;
		struct schedule s;

		swarm_draw(seed, &(struct swarm_managers){.most = SWARM_MANAGERS}, &s);
		managers[s.managers.n]++;
		for (size_t i = 0; i < s.events.n; i++)
			used[s.events.at[i].kind] += !here[s.events.at[i].kind]++;
		for (unsigned k = 0; k < SCHEDULE_NKINDS; k++)
			kinds += here[k] > 0;
		assert_true(kinds < SCHEDULE_NKINDS);
		schedule_free(&s);
	}
	for (unsigned k = 0; k < SCHEDULE_ADD; k++) /* what follows is for persons */
		if (!used[k])
			fail_msg("no seed draws %s", schedule_words[k].word);
	for (unsigned n = 1; n <= SWARM_MANAGERS; n++)
		assert_true(managers[n] > 50);
}

/* The first of many swarm fabrics has hosts and switches; a small one may lack a kind or have fewer nodes. */
TEST(a_swarm_has_the_managers_it_is_given)
{
	const struct swarm_seat seats[] = {
		{.where = SWARM_HOST, .has_priority = true, .priority = 12},
		{.where = SWARM_SWITCH, .has_start = true, .start = 7 * PS_PER_MS},
		{.where = SWARM_SWITCH, .mechanism = sm_mechanism_find("basic")}};
	unsigned whole = 0, as_told[3] = {0};

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct schedule s;
		struct fab *f;
		struct err e;

		swarm_draw(seed, &(struct swarm_managers){.seats = seats, .nseats = 3}, &s);
		f = schedule_fabric(&s, &e);
		assert_non_null(f);
		assert_true(s.managers.n >= 1 && s.managers.n <= 3);
		assert_int_equal(s.managers.at[0].sm.priority, 12);
		whole += s.managers.n == 3;
		for (size_t i = 0; i < s.managers.n; i++) {
			node_id n = fab_node_by_guid(f, s.managers.at[i].guid);

			as_told[i] += fab_is_switch(f, n) == (seats[i].where == SWARM_SWITCH);
		}
		if (s.managers.n > 1)
			assert_int_equal(s.managers.at[1].start, 7 * PS_PER_MS);
		if (s.managers.n > 2)
			assert_string_equal(s.managers.at[2].sm.mechanism.name, "basic");
		fab_free(f);
		schedule_free(&s);
	}
	assert_true(whole > 80 && as_told[0] > 80 && as_told[1] > 80 && as_told[2] > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_is_read),
		cmocka_unit_test(a_fault_is_reported_with_its_line),
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(a_swarm_uses_every_kind_of_fault),
		cmocka_unit_test(a_swarm_has_the_managers_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
