/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sample of Kim et al. (Figs. 5 and 6): one processor host, four I/O hosts, two switches, three managers. One
 * becomes master, the others stand by; the message log tells it in the words of Fig. 6; when the master stops, a
 * standby takes over. State: the lines of the log.
 * Covers: message_log.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/message_log.h"
#include "lab/verdict.h"
#include "sim/kernel/sim_kernel.h"

enum { MANAGERS = 3 };

struct world {
	struct fab_netlist net;
	struct lab *lab;
	VEC(char *) log;
};

static void on_message(void *ctx, enum sim_seen what, node_id n, unsigned port,
		       const struct sim_smp *smp, unsigned detail)
{
	struct world *w = ctx;
	struct strbuf b = {0};

	if (lab_message_line(&b, w->lab, what, n, port, smp, detail))
		vec_push(&w->log, b.s);
	else
		strbuf_free(&b);
}

/* Managers on the processor and on two I/O hosts; the processor's has the highest priority. */
static void world_up(struct world *w)
{
	char path[512];
	struct err e = {{0}};
	struct lab_config c;
	struct sm_config second;

	memset(w, 0, sizeof(*w));
	snprintf(path, sizeof(path), GOLDEN "/sample-three-managers.net");
	assert_int_equal(fab_netlist_load(&w->net, path, &e), 0);
	lab_config_default(&c);
	c.sm_node = 0;
	c.sm.contest = true;
	c.sm.priority = 3;
	c.sm.standby_poll_ps = PS_PER_MS;
	c.sm.standby_tries = 3;
	w->lab = lab_new(w->net.fab, &c, &e);
	assert_non_null(w->lab);
	second = c.sm;
	second.priority = 1;
	lab_manager_add(w->lab, 1, &second);
	lab_manager_add(w->lab, 3, &second);
	sim_watch(lab_sim(w->lab), (struct sim_watch){on_message, w});
	sim_watch_smis(lab_sim(w->lab), (struct sim_watch){on_message, w});
	lab_power_on(w->lab, NULL);
	assert_true(lab_run_ready(w->lab, PS_PER_S));
	lab_run_until(w->lab, sim_now(lab_sim(w->lab)) + 50 * PS_PER_MS);
}

static void world_free(struct world *w)
{
	lab_free(w->lab);
	fab_netlist_free(&w->net);
	for (size_t i = 0; i < w->log.n; i++)
		free(w->log.at[i]);
	vec_free(&w->log);
}

static unsigned masters(const struct world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANAGERS; i++)
		n += lab_manager_sm(w->lab, i) &&
		     lab_manager_status(w->lab, i)->state == IBA_SM_MASTER;
	return n;
}

TEST(one_master_and_two_standby_managers)
{
	struct world w;
	struct lab_verdict v;

	world_up(&w);
	assert_int_equal(lab_manager_status(w.lab, 0)->state, IBA_SM_MASTER);
	assert_int_equal(lab_manager_status(w.lab, 1)->state, IBA_SM_STANDBY);
	assert_int_equal(lab_manager_status(w.lab, 2)->state, IBA_SM_STANDBY);
	lab_judge(w.lab, &v);
	assert_true(v.active && v.verified && v.lids_unique && v.complete);
	rt_report_free(&v.report);
	world_free(&w);
}

/* The lines of Fig. 6 after its first, of one request and its response, in this order; others may come between. */
TEST(log_tells_the_exchange_of_figure_6)
{
	static const char *const lines[] = {
		"SM 1 port 1 : received a message GetResp(PortInfo) from port 1 on node 1",
		"SM 1 port 1 : sent a message GetInfo(NodeInfo) to node 6",
		"SMI 1 : received a message DR outbound outgoing packet",
		"SMI 1 : sent a message through port 1",
		"SMI 6 : received a message DR inbound outgoing packet",
		"SMI 6 : sent a message - passing to the SMA on port 2",
		"SMA 6 : received a message GetInfo(NodeInfo)",
		"SMA 6 : sent a message GetResp(NodeInfo)",
		"SMI 6 : received a message DR outbound returning packet",
		"SMI 6 : sent a message through port 2",
		"SMI 1 : received a message DR inbound returning packet",
		"SM 1 port 1 : received a message GetResp(NodeInfo) from port 2 on node 6",
	};
	struct world w;
	size_t at = 0;

	world_up(&w);
	for (size_t i = 0; i < w.log.n && at < ARRAY_LEN(lines); i++)
		at += !strcmp(w.log.at[i], lines[at]);
	if (at < ARRAY_LEN(lines))
		fail_msg("the log has no line '%s' after the one before it", lines[at]);
	world_free(&w);
}

TEST(standby_managers_poll_the_master_and_set_nothing)
{
	struct world w;
	size_t settled;
	unsigned polls = 0;

	world_up(&w);
	settled = w.log.n;
	lab_run_until(w.lab, sim_now(lab_sim(w.lab)) + 20 * PS_PER_MS);
	for (size_t i = settled; i < w.log.n; i++) {
		polls += !strcmp(w.log.at[i],
				 "SM 2 port 1 : sent a message GetInfo(SMInfo) to node 1");
		assert_null(strstr(w.log.at[i], "SM 2 port 1 : sent a message SetInfo"));
		assert_null(strstr(w.log.at[i], "SM 4 port 1 : sent a message SetInfo"));
	}
	assert_true(polls >= 10);
	world_free(&w);
}

/* Of two standby managers with equal priority the one with the lower GUID takes over. */
TEST(a_standby_takes_over)
{
	struct world w;

	world_up(&w);
	lab_manager_stop(w.lab, 0);
	lab_run_until(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
	assert_int_equal(masters(&w), 1);
	assert_int_equal(lab_manager_status(w.lab, 1)->state, IBA_SM_MASTER);
	assert_int_equal(lab_manager_status(w.lab, 2)->state, IBA_SM_STANDBY);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_master_and_two_standby_managers),
		cmocka_unit_test(log_tells_the_exchange_of_figure_6),
		cmocka_unit_test(standby_managers_poll_the_master_and_set_nothing),
		cmocka_unit_test(a_standby_takes_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
