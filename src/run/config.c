/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's settings from files, and the default paths among them. State: none. Ways in:
 * run_config_*(). Does not know single settings: src/settings does.
 */
#include <unistd.h>

#include "run/config_priv.h"
#include "control/default_paths.h"

enum { FILE_MAX_BYTES = 256 << 10 };

/* ---- from files ---- */

/* With a limit on the size: reading a device would never end. */
static int text_load(const char *path, char **text, size_t *len, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	int rc = 0;

	if (!f)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	*text = mem_alloc(FILE_MAX_BYTES + 1);
	errno = EIO;
	*len = fread(*text, 1, FILE_MAX_BYTES + 1, f);
	if (ferror(f))
		rc = err_set(e, -EINVAL, "%s: cannot read: %s", path, strerror(errno));
	else if (*len > FILE_MAX_BYTES)
		rc = err_set(e, -EINVAL, "%s: larger than %d KiB: not a configuration", path,
			     FILE_MAX_BYTES >> 10);
	if (f != stdin)
		fclose(f);
	if (rc)
		free(*text);
	return rc;
}

static const char *file_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

int run_config_read(const char *name, const char *text, size_t len, struct settings *c,
		    struct err *e)
{
	cfg_faults faults = {0};
	struct strbuf first = {0};
	int rc = 0;

	cfg_read(text, len, c, &faults);
	if (faults.n) {
		cfg_fault_text(name, &faults.at[0], &first);
		rc = err_set(e, -EINVAL, faults.n > 1 ? "%.480s (and %zu more)" : "%.480s", first.s,
			     faults.n - 1);
	}
	strbuf_free(&first);
	cfg_faults_free(&faults);
	return rc;
}

int run_config_load(const char *path, struct settings *c, struct err *e)
{
	char *text;
	size_t len;
	int rc = text_load(path, &text, &len, e);

	if (rc)
		return rc;
	rc = run_config_read(file_name(path), text, len, c, e);
	free(text);
	return rc;
}

unsigned run_config_faults(const char *path, struct settings *c,
			   void (*tell)(void *ctx, const char *fault), void *ctx)
{
	cfg_faults faults = {0};
	unsigned n;
	struct err e;
	char *text;
	size_t len;

	if (text_load(path, &text, &len, &e)) {
		tell(ctx, e.text);
		return 1;
	}
	cfg_read(text, len, c, &faults);
	for (size_t i = 0; i < faults.n; i++) {
		struct strbuf line = {0};

		cfg_fault_text(file_name(path), &faults.at[i], &line);
		tell(ctx, line.s);
		strbuf_free(&line);
	}
	n = (unsigned)faults.n;
	cfg_faults_free(&faults);
	free(text);
	return n;
}

/* ---- default paths ---- */

/* What distinguishes this fabric from others on this machine; "": nothing. */
static void instance_name(const struct settings *c, char name[64])
{
	tp_instance(c->transport, &c->where, name, 64);
	for (char *p = name; *p; p++)
		if (*p == '/' || *p == ':')
			*p = '_';
}

int run_config_paths(struct settings *c, struct err *e)
{
	char name[64], file[96];
	int rc = 0;

	instance_name(c, name);
	if (!strcmp(c->control, "auto")) {
		snprintf(file, sizeof(file), "sm%s%s.sock", *name ? "-" : "", name);
		rc = paths_runtime(c->control, sizeof(c->control), file, e);
	}
	if (!rc && !strcmp(c->state, "auto")) {
		snprintf(file, sizeof(file), "weft%s%s.db", *name ? "-" : "", name);
		rc = paths_state(c->state, sizeof(c->state), file, e);
	}
	return rc;
}
