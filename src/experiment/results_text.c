/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as text: a directory with one file for each experiment, one line of JSON for each job. State: none. Way
 * in: results_text_load(), results_text_print(). Does not compare.
 */
#include "base/json.h"
#include "experiment/results.h"

#include <dirent.h>

static char *text_of(const json_t *row, const char *key)
{
	const char *s = json_string_value(json_object_get(row, key));

	return s ? mem_strdup(s) : NULL;
}

static int line_load(const char *file, unsigned number, const char *line, size_t len,
		     const char *experiment, struct results *out, struct err *e)
{
	const size_t as_written = JSON_COMPACT | JSON_REAL_PRECISION(10);
	json_error_t why;
	json_t *row = json_loadb(line, len, 0, &why), *values;
	struct result_row r;

	if (!row)
		return err_set(e, -EINVAL, "%s:%u: not JSON: %s", file, number, why.text);
	values = json_object_get(row, "values");
	r = (struct result_row){.experiment = mem_strdup(experiment),
				.key = text_of(row, "key"),
				.hash = text_of(row, "hash"),
				.command = text_of(row, "command"),
				.version = text_of(row, "version"),
				.values = json_is_object(values) ? json_dumps(values, as_written)
								 : NULL,
				.message = text_of(row, "message")};
	json_decref(row);
	if (!r.key || (!r.values && !r.message)) {
		struct results lost = {0};

		results_add(&lost, r);
		results_free(&lost);
		return err_set(e, -EINVAL, "%s:%u: expected \"key\", and \"values\" or \"message\"",
			       file, number);
	}
	results_add(out, r);
	return 0;
}

static int file_load(const char *dir, const char *name, struct results *out, struct err *e)
{
	struct strbuf path = {0}, experiment = {0};
	unsigned number = 0;
	char *text = NULL;
	size_t len;
	int rc;

	strbuf_addf(&path, "%s/%s", dir, name);
	strbuf_addn(&experiment, name, strlen(name) - strlen(".jsonl"));
	rc = file_read(path.s, &text, &len, e);
	for (char *at = text; !rc && at && *at;) {
		size_t n = strcspn(at, "\n");

		number++;
		if (n)
			rc = line_load(path.s, number, at, n, experiment.s, out, e);
		at += n + (at[n] == '\n');
	}
	free(text);
	strbuf_free(&path);
	strbuf_free(&experiment);
	return rc;
}

int results_text_load(const char *dir, struct results *out, struct err *e)
{
	DIR *d = opendir(dir);
	int rc = d ? 0 : err_set(e, -errno, "%s: %s", dir, strerror(errno));

	for (struct dirent *f; d && !rc && (f = readdir(d));) {
		size_t n = strlen(f->d_name);

		if (n > 6 && !strcmp(f->d_name + n - 6, ".jsonl"))
			rc = file_load(dir, f->d_name, out, e);
	}
	if (d)
		closedir(d);
	return rc ? rc : results_sort(out, e);
}

static void row_print(const struct result_row *r, struct strbuf *out)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "key", r->key);
	if (r->values)
		json_raw(&j, "values", r->values);
	if (r->message)
		json_str(&j, "message", r->message);
	json_str(&j, "command", r->command ? r->command : "");
	json_str(&j, "version", r->version ? r->version : "");
	json_close(&j);
	strbuf_addn(out, j.out.s, strcspn(j.out.s, "\n"));
	strbuf_add(out, "\n");
	json_free(&j);
}

bool results_text_print(const struct results *r, const char *experiment, struct strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->rows.n; i++)
		if (!strcmp(r->rows.at[i].experiment, experiment)) {
			row_print(&r->rows.at[i], out);
			any = true;
		}
	return any;
}
