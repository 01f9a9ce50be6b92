/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about virtual machines from the control socket to a manager of simulated hypervisors and back: lists, single
 * requests, batches, refusals, answers that wait until changes are saved, a manager that goes away.
 * Covers: control_vm.c, vm_orders.c, vm_log.c
 */
#include "vm_fixture.h"

#include <jansson.h>

#include "run/vm_orders.h"

static struct {
	struct vm_world vm;
	struct settings cfg;
	struct run_view v;
	struct run_orders o;
	struct run_log log;
	uv_loop_t loop;
	struct run_vm_orders orders;
	uint64_t ticket, answered, saved;
	unsigned events;  /* of the manager */
	unsigned goes_on; /* times that it may begin the next requests */
	bool gone;
	struct strbuf answer;
} w;

static bool submit(void *ctx UNUSED, const struct sm_vm_request *r, size_t n)
{
	w.events++;
	return !w.gone && lab_manager_vms(w.vm.lab, 0, r, n);
}

static const struct sm *sm_of(void *ctx UNUSED)
{
	return w.gone ? NULL : lab_sm(w.vm.lab);
}

static uint64_t changed(void *ctx UNUSED)
{
	return 10;
}

static uint64_t saved(void *ctx UNUSED)
{
	return w.saved;
}

static void all_saved(void *ctx UNUSED)
{
	w.goes_on++;
}

static void reply(void *ctx UNUSED, uint64_t ticket, struct strbuf *text)
{
	w.answered = ticket;
	w.answer.len = 0;
	strbuf_addn(&w.answer, text->s, text->len);
	strbuf_free(text);
}

static int vms(void *ctx UNUSED, const struct run_vm_ask *asks, size_t n, bool many, struct err *e)
{
	int rc = run_vm_orders_check(&w.orders, n, e);

	if (rc)
		return rc;
	run_vm_orders_add(&w.orders, ++w.ticket, asks, n, many);
	return -EINPROGRESS;
}

static void on_result(void *ctx UNUSED, const struct sm_vm_result *r)
{
	run_vm_orders_result(&w.orders, r);
}

static int setup(void **state UNUSED)
{
	struct err e;

	memset(&w, 0, sizeof(w));
	vm_open(&w.vm, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 2);
	lab_on_vm(w.vm.lab, on_result, NULL);
	settings_default(&w.cfg);
	w.saved = 10;
	w.v = (struct run_view){.cfg = &w.cfg, .sm = lab_sm(w.vm.lab), .vms = &w.orders.totals};
	w.o = (struct run_orders){.vms = vms};
	log_open(&w.log, "/dev/null", RUN_LOG_DEBUG, RUN_LOG_TEXT, &e);
	uv_loop_init(&w.loop);
	run_vm_orders_init(
		&w.orders, &w.loop, &w.log,
		&(struct run_vm_calls){submit, sm_of, changed, saved, all_saved, reply, NULL});
	return 0;
}

static int teardown(void **state UNUSED)
{
	run_vm_orders_free(&w.orders);
	uv_close((uv_handle_t *)&w.orders.timer, NULL);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w.loop), 0);
	strbuf_free(&w.answer);
	log_close(&w.log);
	vm_close(&w.vm);
	return 0;
}

/* Lets the manager carry out what was submitted. */
static void carry_out(void)
{
	for (int i = 0; i < 3; i++) {
		uv_run(&w.loop, UV_RUN_NOWAIT);
		if (!w.gone)
			assert_true(lab_run_ready(w.vm.lab, sim_now(lab_sim(w.vm.lab)) + PS_PER_S));
	}
}

/* The answer to a line, at once or later. */
static json_t *ask(const char *line)
{
	struct strbuf out = {0};
	json_error_t why;
	json_t *a;

	w.answer.len = 0;
	if (run_control_answer(&w.v, &w.o, line, &out)) {
		strbuf_addn(&w.answer, out.s, out.len);
	} else {
		assert_int_equal(out.len, 0);
		carry_out();
		assert_int_equal(w.answered, w.ticket);
	}
	strbuf_free(&out);
	a = json_loads(w.answer.s, JSON_REJECT_DUPLICATES, &why);
	if (!a)
		fail_msg("%s: %s", w.answer.s, why.text);
	return a;
}

static void ask_ok(const char *line)
{
	json_t *a = ask(line);

	if (!json_is_true(json_object_get(a, "ok")))
		fail_msg("%s -> %s", line, w.answer.s);
	json_decref(a);
}

static void ask_refused(const char *line, const char *part)
{
	json_t *a = ask(line);
	const char *why = json_string_value(json_object_get(a, "error"));

	if (json_is_true(json_object_get(a, "ok")) || !why || !strstr(why, part))
		fail_msg("%s -> %s, expected '%s'", line, w.answer.s, part);
	json_decref(a);
}

TEST(the_life_of_a_vm)
{
	json_t *a;

	ask_ok("{\"cmd\":\"vm_create\",\"vm\":\"web\"}");
	ask_ok("{\"cmd\":\"vm_start\",\"vm\":\"web\",\"host\":\"H-0001000000000014\"}");
	a = ask("{\"cmd\":\"vm_migrate\",\"vm\":\"web\",\"host\":\"H-0001000000000028:2\"}");
	assert_true(json_is_true(json_object_get(a, "ok")));
	assert_int_equal(json_integer_value(json_object_get(a, "lid_before")),
			 json_integer_value(json_object_get(a, "lid_after")));
	assert_string_equal(json_string_value(json_object_get(json_object_get(a, "from"), "guid")),
			    "0x0001000000000014");
	assert_string_equal(json_string_value(json_object_get(json_object_get(a, "to"), "guid")),
			    "0x0001000000000028");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(a, "to"), "vf")), 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(a, "smps"), "hypervisors")), 2);
	json_decref(a);
	a = ask("{\"cmd\":\"vm_list\"}");
	assert_int_equal(json_array_size(json_object_get(a, "vms")), 1);
	json_decref(a);
	a = ask("{\"cmd\":\"vm_hosts\"}");
	assert_int_equal(json_array_size(json_object_get(a, "hosts")), w.vm.fab->nhosts);
	json_decref(a);
	ask_ok("{\"cmd\":\"vm_stop\",\"vm\":\"web\"}");
	ask_ok("{\"cmd\":\"vm_destroy\",\"vm\":\"web\"}");
	assert_int_equal(w.orders.totals.done[SM_VM_MIGRATE], 1);
	assert_true(w.orders.totals.smps_tables > 0);
}

TEST(hosts_by_name_guid_and_lid)
{
	char line[128];
	struct sm_hypervisor h;

	assert_true(vm_hypervisor(&w.vm, 3, &h));
	ask_ok("{\"cmd\":\"vm_create\",\"vm\":\"a\"}");
	snprintf(line, sizeof(line), "{\"cmd\":\"vm_start\",\"vm\":\"a\",\"host\":\"0x%llx:1\"}",
		 (unsigned long long)h.guid);
	ask_ok(line);
	ask_ok("{\"cmd\":\"vm_create\",\"vm\":\"b\"}");
	snprintf(line, sizeof(line), "{\"cmd\":\"vm_start\",\"vm\":\"b\",\"host\":\"%u\"}", h.lid);
	ask_ok(line);
	assert_true(vm_hypervisor(&w.vm, 3, &h));
	assert_int_equal(h.used, 2);
}

TEST(refusals_name_vm_and_host)
{
	ask_refused("{\"cmd\":\"vm_start\",\"vm\":\"x\",\"host\":\"H-0001000000000014\"}", "x");
	ask_refused("{\"cmd\":\"vm_start\",\"vm\":\"x\",\"host\":\"nowhere\"}",
		    "VM x: 'nowhere' is not in the subnet");
	ask_refused("{\"cmd\":\"vm_start\",\"vm\":\"x\"}", "vm_start needs 'host'");
	ask_refused("{\"cmd\":\"vm_create\",\"vm\":\"\"}", "1 to 63 characters");
	ask_refused("{\"cmd\":\"vm_create\",\"vm\":\"x\",\"guid\":\"zero\"}", "expected a GUID");
	ask_ok("{\"cmd\":\"vm_create\",\"vm\":\"x\"}");
	ask_refused("{\"cmd\":\"vm_create\",\"vm\":\"x\"}", "x");
	ask_refused("{\"cmd\":\"vm_migrate\",\"vm\":\"x\",\"host\":\"H-0001000000000014\"}",
		    "not running");
	ask_refused("{\"cmd\":\"vm_batch\",\"requests\":7}", "expected a list");
	ask_refused("{\"cmd\":\"vm_batch\",\"requests\":[]}", "one request at least");
	ask_refused("{\"cmd\":\"vm_batch\",\"requests\":[{\"op\":\"fly\",\"vm\":\"x\"}]}",
		    "request 1: expected");
	ask_refused("{\"cmd\":\"vm_batch\",\"requests\":[{\"op\":\"start\",\"vm\":\"x\"}]}",
		    "request 1: start needs 'host'");
	w.o.vms = NULL;
	ask_refused("{\"cmd\":\"vm_stop\",\"vm\":\"x\"}", "not taken here");
}

TEST(a_defragmentation_tells_the_balance)
{
	json_t *a;

	ask_ok("{\"cmd\":\"vm_batch\",\"requests\":["
	       "{\"op\":\"create\",\"vm\":\"a\"},{\"op\":\"create\",\"vm\":\"b\"},"
	       "{\"op\":\"start\",\"vm\":\"a\",\"host\":\"H-0001000000000014\"},"
	       "{\"op\":\"start\",\"vm\":\"b\",\"host\":\"H-0001000000000014\"}]}");
	a = ask("{\"cmd\":\"vm_defragment\",\"goal\":\"even\",\"dry_run\":1}");
	assert_true(json_is_true(json_object_get(a, "ok")));
	assert_true(json_is_true(json_object_get(a, "dry_run")));
	assert_int_equal(json_integer_value(json_object_get(a, "lids")), 2);
	assert_int_equal(json_integer_value(json_object_get(a, "smps_sent")), 0);
	json_decref(a);
	a = ask("{\"cmd\":\"vm_defragment\"}");
	assert_true(json_is_true(json_object_get(a, "reached")));
	assert_true(json_integer_value(json_object_get(a, "smps_sent")) > 0);
	assert_true(json_integer_value(json_object_get(json_object_get(a, "after"), "busiest")) <
		    json_integer_value(json_object_get(json_object_get(a, "before"), "busiest")));
	json_decref(a);
	assert_int_equal(w.orders.totals.done[SM_VM_DEFRAGMENT], 2);
	ask_refused("{\"cmd\":\"vm_defragment\",\"goal\":\"best\"}", "expected fresh or even");
}

TEST(a_batch_is_one_event_and_one_answer)
{
	json_t *a = ask("{\"cmd\":\"vm_batch\",\"requests\":["
			"{\"op\":\"create\",\"vm\":\"a\",\"guid\":\"0x0200000000000077\"},"
			"{\"op\":\"start\",\"vm\":\"a\",\"host\":\"H-0001000000000014\"},"
			"{\"op\":\"start\",\"vm\":\"b\",\"host\":\"H-0001000000000018\"},"
			"{\"op\":\"start\",\"vm\":\"b\",\"host\":\"nowhere\"}]}");
	json_t *list = json_object_get(a, "results");

	assert_int_equal(w.events, 1);
	assert_int_equal(json_array_size(list), 4);
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "ok")));
	assert_true(json_is_true(json_object_get(json_array_get(list, 1), "ok")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "guid")),
			    "0x0200000000000077");
	assert_true(json_is_false(json_object_get(json_array_get(list, 2), "ok")));
	assert_true(json_is_true(json_object_get(json_array_get(list, 3), "refused")));
	json_decref(a);
}

TEST(an_answer_waits_until_its_change_is_saved)
{
	struct strbuf out = {0};

	w.saved = 9;
	assert_false(run_control_answer(&w.v, &w.o, "{\"cmd\":\"vm_create\",\"vm\":\"a\"}", &out));
	carry_out();
	assert_int_equal(w.answered, 0);
	assert_int_equal(w.goes_on, 0);
	w.saved = 10;
	run_vm_orders_saved(&w.orders);
	assert_int_equal(w.answered, 1);
	assert_int_equal(w.goes_on, 1);
	run_vm_orders_saved(&w.orders);
	assert_int_equal(w.goes_on, 1);
	strbuf_free(&out);
}

TEST(requests_of_a_manager_that_went_away_are_answered)
{
	struct strbuf out = {0};

	ask_ok("{\"cmd\":\"vm_create\",\"vm\":\"a\"}");
	assert_false(run_control_answer(
		&w.v, &w.o, "{\"cmd\":\"vm_start\",\"vm\":\"a\",\"host\":\"H-0001000000000014\"}",
		&out));
	uv_run(&w.loop, UV_RUN_NOWAIT); /* submitted, not carried out */
	w.gone = true;
	run_vm_orders_lost(&w.orders);
	carry_out();
	assert_int_equal(w.answered, 2);
	assert_non_null(strstr(w.answer.s, "connection to the fabric is lost"));
	assert_false(run_control_answer(&w.v, &w.o, "{\"cmd\":\"vm_stop\",\"vm\":\"a\"}", &out));
	carry_out();
	assert_non_null(strstr(w.answer.s, "not connected"));
	assert_int_equal(w.orders.open, 0);
	strbuf_free(&out);
}

TEST(too_many_requests_are_refused)
{
	struct err e;

	assert_int_equal(run_vm_orders_check(&w.orders, RUN_VMS_MOST, &e), 0);
	assert_int_equal(run_vm_orders_check(&w.orders, RUN_VMS_MOST + 1, &e), -EBUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_life_of_a_vm, setup, teardown),
		cmocka_unit_test_setup_teardown(hosts_by_name_guid_and_lid, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_name_vm_and_host, setup, teardown),
		cmocka_unit_test_setup_teardown(a_defragmentation_tells_the_balance, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_batch_is_one_event_and_one_answer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_answer_waits_until_its_change_is_saved, setup,
						teardown),
		cmocka_unit_test_setup_teardown(requests_of_a_manager_that_went_away_are_answered,
						setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_requests_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
