/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the daemon is to run. State: none. Ways in: run_config_default(), run_config_load(). Does not
 * start anything.
 */
#include "run/run.h"

void run_config_default(struct run_config *c)
{
	*c = (struct run_config){
		.spin_us = 20,
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
	c->sm.read_back = true;
	c->sm.names = true;
	c->sm.contest = true;
	c->sm.standby_poll_ps = 10 * PS_PER_S;
	c->sm.standby_tries = 4;
}

int run_config_load(const char *path, struct run_config *c, struct err *e)
{
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, e);

	if (rc)
		return rc;
	rc = run_config_read(path, text, len, c, e);
	free(text);
	return rc;
}

int run_config_read(const char *name, const char *text UNUSED, size_t len UNUSED, struct run_config *c UNUSED,
		    struct err *e)
{
	return err_set(e, -EINVAL, "%s: no configuration is read yet", name);
}

void run_config_print(const struct run_config *c UNUSED, bool comments UNUSED, struct strbuf *out UNUSED)
{
}

void run_config_schema(struct strbuf *out)
{
	strbuf_add(out, "{}\n");
}

void run_config_fixed(const struct run_config *running UNUSED, const struct run_config *wanted UNUSED,
		      struct strbuf *out UNUSED)
{
}
