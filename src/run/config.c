/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the daemon is to run: defaults, files, settings that do not go together. State: none. Ways in:
 * run_config_*(). Does not start anything.
 */
#include <unistd.h>

#include "base/words.h"
#include "run/config_priv.h"
#include "control/default_paths.h"

enum { FILE_MAX_BYTES = 256 << 10 };

void run_config_default(struct run_config *c)
{
	*c = (struct run_config){
		.spin_us = 20,
		.state = "auto",
		.control = "auto",
		.control_mode = 0600,
		.metrics_s = 15,
		.log_level = RUN_LOG_NOTICE,
		.history = 256,
	};
	sm_config_default(&c->sm);
	c->sm.mechanism = *sm_mechanism_find("weft");
	c->sm.window = 32;
	c->sm.sweep_factor = 0;
	c->sm.sweep_period_ps = 10 * PS_PER_S;
	c->sm.plain = true;
	c->sm.timeout_ps = 50 * PS_PER_MS; /* a busy machine stalls for tens of milliseconds */
	c->sm.root_centre = true;	   /* a change far from the root moves little */
	c->sm.settle = true;
	c->sm.read_back = true;
	c->sm.names = true;
	c->sm.contest = true;
	c->sm.sm_key = 1; /* as OpenSM, which knows no manager with another one */
	c->sm.standby_poll_ps = 10 * PS_PER_S;
	c->sm.standby_tries = 4;
}

/* ---- finding ---- */

const struct cfg_key *cfg_key_find(const char *section, const char *name)
{
	for (const struct cfg_key *k = cfg_keys; k->name; k++)
		if (!strcmp(k->section, section) && !strcmp(k->name, name))
			return k;
	return NULL;
}

/* ---- settings that do not go together ---- */

static int together(const struct run_config *c, const char **section, const char **name,
		    struct err *e)
{
	struct err why;
	int rc = sm_mechanism_check(&c->sm.mechanism, &why);

	*section = "manager";
	*name = "distribution";
	if (rc == -EDEADLK && !c->unsafe)
		return err_set(e, -EINVAL, "manager: %s; unsafe: true takes it all the same",
			       why.text);
	*name = "routes";
	if (rc && rc != -EDEADLK)
		return err_set(e, -EINVAL, "manager: %s", why.text);
	*name = "sweep";
	if (!c->sm.sweep_period_ps && !c->sm.sweep_factor && !c->sm.mechanism.traps)
		return err_set(
			e, -EINVAL,
			"manager: neither sweeps nor traps: no change would ever be noticed");
	*section = "keys";
	*name = "protect";
	if (c->sm.m_key_protect && !c->sm.m_key)
		return err_set(e, -EINVAL, "keys: protect needs an m_key, found none");
	*section = "transport";
	*name = "port_guid";
	if (c->where.port_guid && (*c->where.device || c->where.port))
		return err_set(e, -EINVAL,
			       "transport: expected port_guid, or device and port; found both");
	return 0;
}

int cfg_check(const struct run_config *c, const struct cfg_key **culprit, struct err *e)
{
	const char *section, *name;
	int rc = together(c, &section, &name, e);

	*culprit = cfg_key_find(section, name);
	return rc;
}

int run_config_check(const struct run_config *c, struct err *e)
{
	const struct cfg_key *k;

	return cfg_check(c, &k, e);
}

/* ---- from files and from the command line ---- */

/* Not more than a configuration can have: a device would never come to its end. */
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
		rc = err_set(e, -EINVAL, "%s: has more than %d KiB: no configuration", path,
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

int run_config_read(const char *name, const char *text, size_t len, struct run_config *c,
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

int run_config_load(const char *path, struct run_config *c, struct err *e)
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

unsigned run_config_faults(const char *path, struct run_config *c,
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

static int key_unknown(const char *name, struct err *e)
{
	struct word_near near = {.word = name};
	char best[96], full[96];

	for (const struct cfg_key *k = cfg_keys; k->name; k++) {
		snprintf(full, sizeof(full), "%s.%s", k->section, k->name);
		word_near_offer(&near, full, full);
		if (near.best == full)
			near.best = strcpy(best, full);
	}
	return err_set(e, -EINVAL, "unknown key '%.60s'%s%s%s", name,
		       near.best ? ", did you mean '" : "", near.best ? near.best : "",
		       near.best ? "'?" : "");
}

int run_config_set(struct run_config *c, const char *assignment, struct err *e)
{
	const char *equals = strchr(assignment, '='), *dot = strchr(assignment, '.');
	struct run_config wanted = *c;
	const struct cfg_key *k;
	char section[64], *value;
	char name[64];
	int rc;

	if (!equals || !dot || dot > equals)
		return err_set(e, -EINVAL, "expected SECTION.KEY=VALUE, found '%.60s'", assignment);
	snprintf(section, sizeof(section), "%.*s", (int)(dot - assignment), assignment);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - dot - 1), dot + 1);
	k = cfg_key_find(section, name);
	if (!k) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - assignment), assignment);
		return key_unknown(name, e);
	}
	value = mem_strdup(equals + 1);
	rc = cfg_value_set(k, &wanted, &value, *value || k->kind != CFG_HEXES, e);
	free(value);
	if (!rc)
		*c = wanted;
	return rc;
}

void run_config_fixed(const struct run_config *running, const struct run_config *wanted,
		      struct strbuf *out)
{
	for (const struct cfg_key *k = cfg_keys; k->name; k++)
		if (k->start && !cfg_value_same(k, running, wanted))
			strbuf_addf(out, "%s%s.%s", out->len ? ", " : "", k->section, k->name);
}

/* ---- default paths ---- */

/* What distinguishes this fabric from others on this machine; "": nothing. */
static void instance_name(const struct run_config *c, char name[64])
{
	tp_instance(c->transport, &c->where, name, 64);
	for (char *p = name; *p; p++)
		if (*p == '/' || *p == ':')
			*p = '_';
}

int run_config_paths(struct run_config *c, struct err *e)
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
