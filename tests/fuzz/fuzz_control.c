/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as lines of the control socket: each has an answer, one line of JSON with "ok" in it, and
 * nothing else happens. Keeps one small fabric that was brought up in simulation. libFuzzer is the way
 * in, or replay.c over files.
 */
#include <jansson.h>

#include "lab/lab.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static void order(void *ctx UNUSED)
{
}

static void order_level(void *ctx UNUSED, enum run_log_level l)
{
	CHECK(l <= RUN_LOG_DEBUG);
}

static int order_handover(void *ctx UNUSED, uint64_t guid UNUSED, struct err *e)
{
	return err_set(e, -EINVAL, "no");
}

static int order_dump(void *ctx UNUSED, struct err *e)
{
	return err_set(e, -EINVAL, "no");
}

static int order_reload(void *ctx UNUSED, struct strbuf *fixed UNUSED, struct strbuf *faults,
			struct err *e)
{
	strbuf_add(faults, "a\nb\n");
	return err_set(e, -EINVAL, "no");
}

/* Requests are checked as far as their text goes; none is taken. */
static int order_vms(void *ctx UNUSED, const struct run_vm_ask *asks, size_t n, bool many UNUSED,
		     struct err *e)
{
	for (size_t i = 0; i < n; i++)
		CHECK(asks[i].req.op <= SM_VM_DESTROY && memchr(asks[i].req.name, 0, SM_VM_NAME));
	return err_set(e, -EBUSY, "no");
}

static int order_counters(void *ctx UNUSED, const struct run_counter_ask *ask, struct err *e)
{
	CHECK(ask->nports <= ARRAY_LEN(ask->ports) && memchr(ask->name, 0, sizeof(ask->name)));
	for (unsigned i = 0; i < ask->nports; i++)
		CHECK(ask->ports[i]);
	return err_set(e, -EBUSY, "no");
}

static const struct run_view *view(void)
{
	static struct settings cfg;
	static struct run_change change;
	static struct run_view v;
	static struct fab *f; /* these two stay, for the manager */
	static struct lab *l;
	struct fab_gen g = {.kind = "ring", .dims = {3}, .ndims = 1};
	struct lab_config c;
	struct sm_status st;
	struct err e;

	if (v.cfg)
		return &v;
	lab_config_default(&c);
	f = fab_generate(&g, &e);
	l = lab_new(f, &c, &e);
	CHECK(l);
	lab_power_on(l, NULL);
	CHECK(lab_run_ready(l, 10 * PS_PER_S));
	sm_status(lab_sm(l), &st);
	settings_default(&cfg);
	change = (struct run_change){.number = 1, .round = st.last};
	v = (struct run_view){.cfg = &cfg, .sm = lab_sm(l), .changes = &change, .nchanges = 1};
	return &v;
}

static void ask(const char *line)
{
	const struct run_orders o = {NULL,	  order,	 order,	       order_handover,
				     order_level, order_dump,	 order_reload, order,
				     order_vms,	  order_counters};
	struct strbuf out = {0};
	json_error_t why;
	json_t *a;

	run_control_answer(view(), &o, line, &out);
	CHECK(!memchr(out.s, '\n', out.len));
	a = json_loads(out.s, JSON_REJECT_DUPLICATES, &why);
	CHECK(json_is_boolean(json_object_get(a, "ok")));
	CHECK(json_is_true(json_object_get(a, "ok")) ||
	      json_string_value(json_object_get(a, "error")));
	json_decref(a);
	strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1), *next = text, *line;

	memcpy(text, data, size);
	text[size] = 0;
	while ((line = strsep(&next, "\n")))
		ask(line);
	free(text);
	return 0;
}
