/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as text: a directory with one file for each experiment, one line of JSON for each job. State: none. Way
 * in: results_load(), results_text_print(). Does not sort or compare.
 */
#include "base/json.h"
#include "experiment/results.h"

#include <dirent.h>
#include <sys/stat.h>

static const char suffix[] = ".jsonl";

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
	if (!r.key || !r.hash || !r.command || !r.version || (!r.values && !r.message)) {
		struct results lost = {0};

		results_add(&lost, r);
		results_free(&lost);
		return err_set(
			e, -EINVAL,
			"%s:%u: expected \"key\", \"hash\", \"command\", \"version\", and \"values\" or \"message\"",
			file, number);
	}
	results_add(out, r);
	return 0;
}

static int file_load(const char *path, struct results *out, struct err *e)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct strbuf experiment = {0};
	unsigned number = 0;
	char *text = NULL;
	size_t len;
	int rc;

	strbuf_addn(&experiment, name, strlen(name) - strlen(suffix));
	rc = file_read(path, &text, &len, e);
	for (char *at = text; !rc && at && *at;) {
		size_t n = strcspn(at, "\n");

		number++;
		if (n)
			rc = line_load(path, number, at, n, experiment.s, out, e);
		at += n + (at[n] == '\n');
	}
	free(text);
	strbuf_free(&experiment);
	return rc;
}

static bool is_text(const char *path)
{
	size_t n = strlen(path);

	return n > strlen(suffix) && !strcmp(path + n - strlen(suffix), suffix);
}

static int dir_load(const char *dir, struct results *out, struct err *e)
{
	DIR *d = opendir(dir);
	int rc = d ? 0 : err_set(e, -errno, "%s: %s", dir, strerror(errno));
	struct strbuf path = {0};

	for (struct dirent *f; d && !rc && (f = readdir(d));) {
		path.len = 0;
		strbuf_addf(&path, "%s/%s", dir, f->d_name);
		if (is_text(f->d_name) && f->d_name[0] != '_')
			rc = file_load(path.s, out, e);
	}
	if (d)
		closedir(d);
	strbuf_free(&path);
	return rc;
}

int results_text_load(const char *path, struct results *out, struct err *e)
{
	return is_text(path) ? file_load(path, out, e) : dir_load(path, out, e);
}

int results_load(const char *path, struct results *out, struct err *e)
{
	struct stat st;

	if (is_text(path) || (!stat(path, &st) && S_ISDIR(st.st_mode)))
		return results_text_load(path, out, e);
	return results_db_load(path, out, e);
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
	json_str(&j, "hash", r->hash ? r->hash : "");
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
