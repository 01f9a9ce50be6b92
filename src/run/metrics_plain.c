/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics for readers that do not know OpenMetrics: Prometheus' older text format (version 0.0.4), which the textfile collector
 * of node_exporter and promtool read. State: none. Way in: run_metrics_plain(). Makes no metrics: metrics.c does.
 *
 * There, a counter's family has the name of its samples (with _total), and info and stateset do not exist: they are gauges.
 */
#include "run/run.h"

struct family {
	const char *name;
	size_t len;
	const char *suffix; /* of its samples: "_total", "_info" or "" */
};

static bool starts(const char **at, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - *at) < n || memcmp(*at, word, n))
		return false;
	*at += n;
	return true;
}

static bool is_word(const char *at, const char *end, const char *word)
{
	return (size_t)(end - at) == strlen(word) && !memcmp(at, word, strlen(word));
}

/* The length of a name that ends with a blank, or with the line. */
static size_t name_len(const char *at, const char *end)
{
	const char *blank = memchr(at, ' ', (size_t)(end - at));

	return (size_t)((blank ? blank : end) - at);
}

/* "NAME TYPE" */
static void type_line(const char *at, const char *end, struct family *f, struct strbuf *out)
{
	size_t n = name_len(at, end);
	const char *type = at + n + (at + n < end);

	*f = (struct family){at, n, ""};
	if (is_word(type, end, "counter"))
		f->suffix = "_total";
	else if (is_word(type, end, "info"))
		f->suffix = "_info";
	strbuf_addf(out, "# TYPE %.*s%s ", (int)n, at, f->suffix);
	if (is_word(type, end, "info") || is_word(type, end, "stateset"))
		strbuf_add(out, "gauge");
	else if (is_word(type, end, "unknown"))
		strbuf_add(out, "untyped");
	else
		strbuf_addn(out, type, (size_t)(end - type));
	strbuf_add(out, "\n");
}

/* "NAME TEXT" */
static void help_line(const char *at, const char *end, const struct family *f, struct strbuf *out)
{
	size_t n = name_len(at, end);
	bool known = f->name && f->len == n && !memcmp(f->name, at, n);

	strbuf_addf(out, "# HELP %.*s%s", (int)n, at, known ? f->suffix : "");
	strbuf_addn(out, at + n, (size_t)(end - at) - n);
	strbuf_add(out, "\n");
}

void run_metrics_plain(const char *text, size_t len, struct strbuf *out)
{
	const char *stop = text + len, *end;
	struct family f = {0};

	for (const char *at = text; at < stop; at = end + 1) {
		end = memchr(at, '\n', (size_t)(stop - at));
		end = end ? end : stop;
		if (starts(&at, end, "# TYPE ")) {
			type_line(at, end, &f, out);
		} else if (starts(&at, end, "# HELP ")) {
			help_line(at, end, &f, out);
		} else if (at < end && *at != '#') {
			strbuf_addn(out, at, (size_t)(end - at));
			strbuf_add(out, "\n");
		}
	}
}
