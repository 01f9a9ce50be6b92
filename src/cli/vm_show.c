/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines, hypervisors and results of requests, as text and JSON. State: none. Ways in: vm_show_*(). Computes
 * nothing but totals.
 */
#include "cli/ctl.h"
#include "cli/vm_requests_file.h"

/* Names come from devices: no escape sequences. One of a few static buffers. */
static const char *host(const json_t *h)
{
	static char buf[4][128];
	static unsigned at;
	char *s = buf[at++ % ARRAY_LEN(buf)];
	const char *name = ctl_text(h, "name");

	snprintf(s, sizeof(buf[0]), "%s", *name ? name : ctl_text(h, "guid"));
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return s;
}

/* "host3:2", or "-" */
static const char *place(const json_t *h)
{
	static char buf[4][160];
	static unsigned at;
	char *s = buf[at++ % ARRAY_LEN(buf)];

	if (!json_is_object(h))
		return "-";
	snprintf(s, sizeof(buf[0]), "%s:%llu", host(h), (unsigned long long)ctl_number(h, "vf"));
	return s;
}

/* ---- lists ---- */

void vm_show_list(const json_t *a)
{
	struct cli_table t;
	const json_t *v;
	size_t i;

	cli_table_init(&t, "llrll", "VM", "vGUID", "LID", "host:VF", "state");
	json_array_foreach(json_object_get(a, "vms"), i, v)
	{
		cli_table_add(&t, "%s", ctl_text(v, "vm"));
		cli_table_add(&t, "%s", ctl_text(v, "guid"));
		if (ctl_number(v, "lid"))
			cli_table_add(&t, "%llu", (unsigned long long)ctl_number(v, "lid"));
		else
			cli_table_add(&t, "-");
		cli_table_add(&t, "%s", place(json_object_get(v, "host")));
		cli_table_add(&t, "%s",
			      json_is_true(json_object_get(v, "running")) ? "running" : "stopped");
	}
	cli_table_print(&t, stdout);
}

void vm_show_hosts(const json_t *a)
{
	static const char *const counts[] = {"lid", "vfs", "used", "free"};
	struct cli_table t;
	const json_t *h;
	size_t i;

	cli_table_init(&t, "lllrrrr", "host", "GUID", "SR-IOV", "LID", "VFs", "used", "free");
	json_array_foreach(json_object_get(a, "hosts"), i, h)
	{
		cli_table_add(&t, "%s", host(h));
		cli_table_add(&t, "%s", ctl_text(h, "guid"));
		cli_table_add(&t, "%s", ctl_text(h, "sriov"));
		for (size_t k = 0; k < ARRAY_LEN(counts); k++)
			cli_table_add(&t, "%llu", (unsigned long long)ctl_number(h, counts[k]));
	}
	cli_table_print(&t, stdout);
}

static void balance_row(struct cli_table *t, const char *name, const json_t *b)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(ctl_number(b, "busiest")));
	cli_table_add(t, "%.1f", json_number_value(json_object_get(b, "mean")));
	cli_table_add(t, "%.1f", json_number_value(json_object_get(b, "deviation")));
}

void vm_show_defragment(const json_t *a)
{
	bool dry = json_is_true(json_object_get(a, "dry_run"));
	struct cli_table t;

	cli_table_init(&t, "lrrr", "routes over a link", "busiest", "mean", "deviation");
	balance_row(&t, dry ? "now" : "before", json_object_get(a, "before"));
	balance_row(&t, dry ? "then" : "now", json_object_get(a, "after"));
	balance_row(&t, "new routes", json_object_get(a, "fresh"));
	cli_table_print(&t, stdout);
	if (!ctl_number(a, "smps")) {
		printf("\nroutes to VMs are %s\n", json_is_true(json_object_get(a, "reached"))
							   ? "as even as new ones: nothing changes"
							   : "as even as they get");
		return;
	}
	printf("\n%s of ", cli_count(ctl_number(a, "moved")));
	printf("%s VMs %s other routes: ", cli_count(ctl_number(a, "lids")),
	       dry ? "would get" : "have");
	printf("%s SMPs, ", cli_count(ctl_number(a, "smps")));
	printf("new routes for all would take %s\n", cli_count(ctl_number(a, "smps_fresh")));
}

/* ---- results ---- */

static bool is_done(const struct vm_request *q)
{
	return json_is_true(json_object_get(q->result, "ok"));
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void vm_show_one(const struct vm_request *q)
{
	const json_t *r = q->result, *smps = json_object_get(r, "smps");
	const json_t *from = json_object_get(r, "from"), *to = json_object_get(r, "to");
	uint64_t lid = ctl_number(r, "lid_after"), before = ctl_number(r, "lid_before");
	uint64_t n = ctl_number(r, "switches_touched");

	printf("%-10s %s\n%-10s %s\n", "VM", q->vm, "vGUID", ctl_text(r, "guid"));
	if (!smps)
		return;
	if (before && lid && before != lid)
		printf("%-10s %llu, before %llu\n", "LID", (unsigned long long)lid,
		       (unsigned long long)before);
	else
		printf("%-10s %llu\n", "LID", (unsigned long long)(lid ? lid : before));
	if (json_is_object(from))
		printf("%-10s %s, VF %llu\n", "from", host(from),
		       (unsigned long long)ctl_number(from, "vf"));
	if (json_is_object(to))
		printf("%-10s %s, VF %llu\n", json_is_object(from) ? "to" : "on", host(to),
		       (unsigned long long)ctl_number(to, "vf"));
	printf("%-10s %llu to hypervisors, %llu to tables of %llu switch%s\n", "SMPs",
	       (unsigned long long)ctl_number(smps, "hypervisors"),
	       (unsigned long long)ctl_number(smps, "tables"), (unsigned long long)n,
	       n == 1 ? "" : "es");
	printf("%-10s %s\n", "time", ctl_duration(r, "time_s"));
}

struct totals {
	uint64_t done, refused, hypervisors, tables;
};

static struct totals totals_of(const struct vm_requests *r)
{
	struct totals t = {0};

	for (size_t i = 0; i < r->all.n; i++) {
		const json_t *smps = json_object_get(r->all.at[i].result, "smps");

		t.done += is_done(&r->all.at[i]);
		t.refused += !is_done(&r->all.at[i]);
		t.hypervisors += ctl_number(smps, "hypervisors");
		t.tables += ctl_number(smps, "tables");
	}
	return t;
}

static void row(struct cli_table *t, const struct vm_request *q)
{
	const json_t *r = q->result, *smps = json_object_get(r, "smps");
	uint64_t lid = ctl_number(r, "lid_after");

	cli_table_add(t, "%s", q->op->name);
	cli_table_add(t, "%s", q->vm);
	cli_table_add(t, "%llu", (unsigned long long)(lid ? lid : ctl_number(r, "lid_before")));
	cli_table_add(t, "%s", place(json_object_get(r, "from")));
	cli_table_add(t, "%s", place(json_object_get(r, "to")));
	cli_table_add(t, "%llu", (unsigned long long)ctl_number(smps, "hypervisors"));
	cli_table_add(t, "%llu", (unsigned long long)ctl_number(smps, "tables"));
	cli_table_add(t, "%llu", (unsigned long long)ctl_number(r, "switches_touched"));
	cli_table_add(t, "%s", ctl_duration(r, "time_s"));
}

void vm_show_many(const struct vm_requests *r)
{
	struct totals sum = totals_of(r);
	struct cli_table t;

	cli_table_init(&t, "llrllrrrr", "request", "VM", "LID", "from", "to", "to hypervisors",
		       "to tables", "switches", "time");
	for (size_t i = 0; i < r->all.n; i++)
		if (is_done(&r->all.at[i]))
			row(&t, &r->all.at[i]);
	cli_table_print(&t, stdout);
	printf("\n%s request%s carried out, %s refused; %s SMPs to hypervisors, %s to tables\n",
	       cli_count(sum.done), plural(sum.done), cli_count(sum.refused),
	       cli_count(sum.hypervisors), cli_count(sum.tables));
}

static char *dump(const json_t *v)
{
	return json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(15));
}

int vm_show_json(const struct vm_requests *r)
{
	struct totals sum = totals_of(r);
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "requests", r->all.n);
	json_u64(&j, "done", sum.done);
	json_u64(&j, "refused", sum.refused);
	json_open(&j, "smps", '{');
	json_u64(&j, "hypervisors", sum.hypervisors);
	json_u64(&j, "tables", sum.tables);
	json_u64(&j, "total", sum.hypervisors + sum.tables);
	json_close(&j);
	json_open(&j, "results", '[');
	for (size_t i = 0; i < r->all.n; i++) {
		char *s = dump(r->all.at[i].result);

		json_raw(&j, NULL, s ? s : "null");
		free(s);
	}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}
