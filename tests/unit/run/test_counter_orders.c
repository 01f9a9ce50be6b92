/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters on demand: what is sent, answers that are late, doubled, refused or missing, and a manager that is busy. The
 * clock and the device are the test's own.
 */
#include "unit_test.h"

#include "run/counter_orders.h"

static struct {
	uv_loop_t loop;
	struct run_counter_orders o;
	VEC(struct tp_mad) sent;
	uint64_t now;
	bool busy, gone;
	char answers[8][4096];
	uint64_t tickets[8];
	unsigned nanswers;
} t;

static bool on_send(void *ctx UNUSED, const struct tp_mad *m)
{
	if (t.gone)
		return false;
	vec_push(&t.sent, *m);
	return true;
}

static bool on_busy(void *ctx UNUSED)
{
	return t.busy;
}

static void on_reply(void *ctx UNUSED, uint64_t ticket, struct strbuf *text)
{
	assert_true(t.nanswers < ARRAY_LEN(t.answers));
	t.tickets[t.nanswers] = ticket;
	snprintf(t.answers[t.nanswers++], sizeof(t.answers[0]), "%s", text->s);
	strbuf_free(text);
}

static uint64_t on_now(void *ctx UNUSED)
{
	return t.now;
}

static int setup(void **state UNUSED)
{
	memset(&t, 0, sizeof(t));
	t.now = 1000;
	uv_loop_init(&t.loop);
	run_counter_orders_init(
		&t.o, &t.loop,
		&(struct run_counter_calls){on_send, on_busy, on_reply, on_now, NULL});
	return 0;
}

static int teardown(void **state UNUSED)
{
	run_counter_orders_free(&t.o);
	vec_free(&t.sent);
	uv_close((uv_handle_t *)&t.o.timer, NULL);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	return uv_loop_close(&t.loop);
}

static void turn(unsigned ms)
{
	t.now += ms;
	t.o.timer.timer_cb(&t.o.timer);
}

static void ask(uint64_t ticket, unsigned nports)
{
	struct run_counter_ask a = {
		.guid = 0xabc, .name = "leaf", .slid = 1, .dlid = 7, .nports = nports};

	for (unsigned i = 0; i < nports; i++)
		a.ports[i] = (uint8_t)(i + 1);
	run_counter_orders_add(&t.o, ticket, &a);
}

/* The device's answer to the i-th request: a narrow counter that is full, a wide one that is not. */
static void respond(size_t i, unsigned status)
{
	struct iba_port_counters_ext wide = {.xmit_data = 5000000000ull, .symbol_error = 0};
	struct iba_port_counters narrow = {.xmit_data = UINT32_MAX, .symbol_error = 9};
	struct tp_mad m = t.sent.at[i];
	bool is_wide = iba_smp_attr_id(m.mad) == IBA_PERF_PORT_COUNTERS_EXT;

	iba_smp_set_method(m.mad, IBA_GET_RESP);
	iba_smp_set_status(m.mad, (uint16_t)status);
	if (is_wide)
		iba_port_counters_ext_put(&wide, m.mad + IBA_SMP_DATA_OFF);
	else
		iba_port_counters_put(&narrow, m.mad + IBA_SMP_DATA_OFF);
	run_counter_orders_mad(&t.o, m.mad);
}

TEST(four_gets_at_a_time)
{
	ask(11, 3);
	turn(0);
	assert_int_equal(t.sent.n, 4);
	assert_int_equal(t.sent.at[0].qp, 1);
	assert_int_equal(t.sent.at[0].dlid, 7);
	for (size_t i = 0; i < 4; i++)
		respond(i, 0);
	turn(1);
	assert_int_equal(t.sent.n, 6);
	assert_int_equal(t.nanswers, 0);
	respond(4, 0);
	respond(5, 0);
	turn(1);
	assert_int_equal(t.nanswers, 1);
	assert_int_equal(t.tickets[0], 11);
	assert_non_null(strstr(t.answers[0],
			       "{\"ok\":true,\"guid\":\"0x0000000000000abc\",\"name\":\"leaf\""));
	assert_non_null(strstr(t.answers[0], "{\"port\":3,"));
	assert_non_null(strstr(t.answers[0], "[\"xmit_data\",\"5000000000\"]"));
	assert_non_null(strstr(t.answers[0], "[\"symbol_error\",\"9\"]"));
	assert_null(strstr(t.answers[0], "_select"));
}

TEST(a_device_without_wide_counters)
{
	ask(1, 1);
	turn(0);
	respond(0, 0);
	respond(1, IBA_STATUS_BAD_METHOD_ATTR);
	turn(1);
	assert_non_null(strstr(t.answers[0], "[\"xmit_data\",\"4294967295\"]"));
}

TEST(answers_of_others_and_late_ones_change_nothing)
{
	struct tp_mad m;

	ask(1, 1);
	turn(0);
	m = t.sent.at[0];
	run_counter_orders_mad(&t.o, m.mad); /* a request */
	iba_smp_set_method(m.mad, IBA_GET_RESP);
	iba_smp_set_tid(m.mad, 4711);
	run_counter_orders_mad(&t.o, m.mad);
	turn(1);
	assert_int_equal(t.nanswers, 0);
	respond(0, 0);
	respond(0, 0);
	respond(1, 0);
	turn(1);
	assert_int_equal(t.nanswers, 1);
	respond(1, 0);
	assert_int_equal(t.nanswers, 1);
}

TEST(a_node_that_does_not_respond)
{
	ask(1, 1);
	ask(2, 1);
	turn(0);
	turn(RUN_COUNTERS_TIMEOUT);
	turn(RUN_COUNTERS_TIMEOUT);
	assert_int_equal(t.sent.n, 6);
	assert_int_equal(t.nanswers, 0);
	turn(RUN_COUNTERS_TIMEOUT);
	assert_string_equal(
		t.answers[0],
		"{\"ok\":false,\"error\":\"the node does not respond to requests for its counters\"}");
	assert_int_equal(t.sent.n, 8); /* the next request begins */
}

TEST(a_busy_manager_is_left_alone)
{
	t.busy = true;
	ask(1, 2);
	turn(0);
	turn(1000);
	assert_int_equal(t.sent.n, 0);
	turn(RUN_COUNTERS_PATIENCE);
	assert_non_null(strstr(t.answers[0], "the manager works on a change"));
	assert_int_equal(t.sent.n, 0);
}

TEST(too_many_and_a_lost_connection)
{
	struct err e;

	for (unsigned i = 0; i < RUN_COUNTERS_WAITING; i++) {
		assert_int_equal(run_counter_orders_check(&t.o, &e), 0);
		ask(i, 255);
	}
	assert_int_equal(run_counter_orders_check(&t.o, &e), -EBUSY);
	run_counter_orders_lost(&t.o);
	assert_int_equal(t.nanswers, RUN_COUNTERS_WAITING);
	assert_int_equal(run_counter_orders_check(&t.o, &e), 0);
	t.gone = true;
	t.nanswers = 0;
	ask(1, 1);
	turn(0);
	assert_non_null(strstr(t.answers[0], "not connected"));
}

/* A node without a link has no counters to ask for. */
TEST(no_port)
{
	ask(1, 0);
	turn(0);
	assert_string_equal(
		t.answers[0],
		"{\"ok\":true,\"guid\":\"0x0000000000000abc\",\"name\":\"leaf\",\"ports\":[]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(four_gets_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_without_wide_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_of_others_and_late_ones_change_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_node_that_does_not_respond, setup, teardown),
		cmocka_unit_test_setup_teardown(a_busy_manager_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_and_a_lost_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(no_port, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
