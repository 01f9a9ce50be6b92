/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of the performance manager as text: links, a node, a port, sick links. State: none. Ways in: ctl_show_*().
 * Computes nothing but sums for a summary: all that the text says is in the answer.
 */
#include "cli/ctl.h"

static const char *who(const json_t *x, const char *name, const char *guid)
{
	const char *text = ctl_text(x, name);

	return *text && strcmp(text, "-") ? text : ctl_text(x, guid);
}

static bool has(const json_t *x, const char *key)
{
	return json_is_true(json_object_get(x, key));
}

/* "sick isolated", or "". */
static void flags_text(const json_t *x, char *out, size_t size)
{
	const json_t *f;
	size_t i, at = 0;

	out[0] = 0;
	json_array_foreach(json_object_get(x, "flags"), i, f)
	{
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? " " : "",
				       json_string_value(f) ? json_string_value(f) : "?");
		if (at >= size)
			break;
	}
}

/* 1.23 GB/s */
static const char *rate_text(uint64_t bytes, char out[24])
{
	static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
	unsigned u = 0;
	uint64_t v = bytes * 100;

	while (v >= 100000 && u < ARRAY_LEN(units) - 1) {
		v /= 1000;
		bytes /= 1000;
		u++;
	}
	if (u)
		snprintf(out, 24, "%llu.%02llu %s", (unsigned long long)(v / 100),
			 (unsigned long long)(v % 100), units[u]);
	else
		snprintf(out, 24, "%llu B/s", (unsigned long long)bytes);
	return out;
}

static void state_line(const json_t *a)
{
	printf("%s ports of %s devices, ", cli_count(ctl_number(a, "ports")),
	       cli_count(ctl_number(a, "devices")));
	printf("%s rounds, ", cli_count(ctl_number(a, "rounds")));
	printf("the last one took %s, %s queries%s\n", ctl_duration(a, "round_s"),
	       cli_count(ctl_number(a, "round_queries")),
	       has(a, "serving") ? has(a, "paused") ? "; the manager works on a change" : ""
				 : "; this manager does not read counters now");
	if (ctl_number(a, "put_off"))
		printf("errors of %s ports were left to the next round, which would be late otherwise\n",
		       cli_count(ctl_number(a, "put_off")));
	printf("sick: %s; ", cli_count(ctl_number(a, "sick")));
	printf("isolated links: %s; ", cli_count(ctl_number(a, "isolated")));
	printf("full counters: %s; ", cli_count(ctl_number(a, "saturated")));
	printf("silent devices: %s; ", cli_count(ctl_number(a, "silent")));
	printf("timeouts: %s\n", cli_count(ctl_number(a, "timeouts")));
}

static void link_row(struct cli_table *t, const json_t *x)
{
	char out[24], in[24], flags[64];
	double load = json_number_value(json_object_get(x, "load")) * 100;

	flags_text(x, flags, sizeof(flags));
	cli_table_add(t, "%s", who(x, "node", "guid"));
	cli_table_add(t, "%llu", (unsigned long long)ctl_number(x, "port"));
	cli_table_add(t, "%s", who(x, "peer", "peer_guid"));
	cli_table_add(t, "%llu", (unsigned long long)ctl_number(x, "peer_port"));
	cli_table_add(t, "%s", rate_text(ctl_number(x, "xmit_bytes_per_second"), out));
	cli_table_add(t, "%s", rate_text(ctl_number(x, "rcv_bytes_per_second"), in));
	cli_table_add(t, "%.1f %%", load);
	cli_table_add(t, "%s", cli_count(ctl_number(x, "wait_per_second")));
	cli_table_add(t, "%s", cli_count(ctl_number(x, "errors")));
	cli_table_add(t, "%s", ctl_text(x, "ber"));
	cli_table_add(t, "%s", flags);
}

static void links_table(const json_t *list)
{
	struct cli_table t;
	const json_t *x;
	size_t i;

	if (!json_array_size(list))
		return;
	cli_table_init(&t, "lrlrrrrrrrl", "node", "port", "peer", "port", "sends", "receives",
		       "load", "waits/s", "errors", "BER", "");
	json_array_foreach(list, i, x) link_row(&t, x);
	cli_table_print(&t, stdout);
}

static void port_counters(const json_t *x)
{
	const json_t *device = json_object_get(x, "device"), *v;
	struct cli_table t;
	const char *name;

	cli_table_init(&t, "lrr", "counter", "since the first read", "in the device");
	json_object_foreach(json_object_get(x, "counted"), name, v)
	{
		if (!json_integer_value(v) && !ctl_number(device, name))
			continue;
		cli_table_add(&t, "%s", name);
		cli_table_add(&t, "%lld", (long long)json_integer_value(v));
		cli_table_add(&t, "%llu", (unsigned long long)ctl_number(device, name));
	}
	cli_table_print(&t, stdout);
}

/* The mean rates and the errors of the last hour, and of its last five minutes. */
static void history(const json_t *h, const char *label, size_t last)
{
	const json_t *s = json_object_get(h, "samples"), *v;
	uint64_t xmit = 0, rcv = 0, errors = 0, n = 0;
	char out[24], in[24];
	size_t i;

	json_array_foreach(s, i, v)
	{
		if (i + last < json_array_size(s) || !json_is_array(v))
			continue;
		xmit += (uint64_t)json_integer_value(json_array_get(v, 0));
		rcv += (uint64_t)json_integer_value(json_array_get(v, 1));
		errors += (uint64_t)json_integer_value(json_array_get(v, 3));
		n++;
	}
	if (n)
		printf("%s: sends %s, receives %s, %s errors\n", label, rate_text(xmit / n, out),
		       rate_text(rcv / n, in), cli_count(errors));
}

void ctl_show_perf(const json_t *a)
{
	const json_t *ports = json_object_get(a, "ports"), *x;
	size_t i;

	if (!json_is_array(ports)) {
		state_line(a);
		links_table(json_object_get(a, "links"));
		return;
	}
	printf("%s\n", who(a, "name", "guid"));
	links_table(ports);
	json_array_foreach(ports, i, x)
	{
		if (!json_object_get(x, "hour"))
			continue;
		port_counters(x);
		history(json_object_get(x, "hour"), "last 5 minutes", 15);
		history(json_object_get(x, "hour"), "last hour", 180);
		history(json_object_get(x, "day"), "last day", 1440);
	}
}

void ctl_show_sick(const json_t *a)
{
	const json_t *x;
	size_t i;

	state_line(a);
	links_table(json_object_get(a, "links"));
	json_array_foreach(json_object_get(a, "silent_nodes"), i, x)
		printf("%s does not answer queries of its counters\n", who(x, "node", "guid"));
}
