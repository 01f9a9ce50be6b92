/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's way into the sandbox. State: none. Way in: run_daemon_sandbox(). Does not know how the
 * sandbox works: sandbox.c does.
 */
#include "run/daemon_sandbox.h"

#include <libgen.h>
#include <unistd.h>

#include "run/inputs.h"
#include "run/sandbox.h"

/* The directory of a file; "" stays. */
static const char *dir_of(const char *path, char *buf, size_t size)
{
	if (!*path)
		return "";
	snprintf(buf, size, "%s", path);
	return dirname(buf);
}

/* Dumps are written into a directory that the daemon may have to create. */
static const char *dumps_dir(const char *path, char *buf, size_t size)
{
	return *path && access(path, F_OK) ? dir_of(path, buf, size) : path;
}

static void enter(const struct run_daemon *d, struct sandbox_result *r)
{
	const struct settings *c = &d->cfg;
	char state[256], control[256], metrics[256], dumps[256], log[256], pid[256], config[512],
		keys[256], inputs[RUN_INPUT_DIRS][256], partitions[256], qos[256];
	struct sandbox_paths p = {
		.write = {dir_of(c->state, state, sizeof(state)),
			  dir_of(c->control, control, sizeof(control)),
			  dir_of(c->metrics_file, metrics, sizeof(metrics)),
			  dumps_dir(c->dumps, dumps, sizeof(dumps)),
			  dir_of(c->log_file, log, sizeof(log)),
			  dir_of(c->pid_file, pid, sizeof(pid)), "/dev/infiniband"},
		/* Editors replace a file: the rule is for its directory. */
		.read = {dir_of(d->hooks.config ? d->hooks.config : "", config, sizeof(config)),
			 dir_of(c->keys_file, keys, sizeof(keys)),
			 dir_of(c->partitions_file, partitions, sizeof(partitions)),
			 dir_of(c->qos_policy_file, qos, sizeof(qos)), "/sys", "/proc",
			 /* names of UDP servers */
			 "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf",
			 "/etc/gai.conf", "/etc/services", "/dev/null", "/dev/urandom"},
	};

	run_inputs_dirs(c, inputs);
	for (unsigned i = 0, n = 0; i < RUN_INPUT_DIRS && *inputs[i]; i++) {
		while (p.read[n])
			n++;
		p.read[n] = inputs[i];
	}
	sandbox_enter(&p, r);
}

void run_daemon_sandbox_prepare(const struct run_daemon *d)
{
	if (d->cfg.sandbox != SANDBOX_OFF)
		sandbox_rings_refuse(); /* a kernel without filters has none later, either */
}

int run_daemon_sandbox(struct run_daemon *d, struct err *e)
{
	struct sandbox_result r;
	bool all = true;

	if (d->cfg.sandbox == SANDBOX_OFF)
		return 0;
	enter(d, &r);
	for (int i = 0; i < SANDBOX_PARTS; i++) {
		if (!*r.missing[i])
			continue;
		all = false;
		if (d->cfg.sandbox == SANDBOX_REQUIRED)
			return err_set(e, -EPERM,
				       "security.sandbox is required, but %s is not in force: %s",
				       sandbox_part_names[i], r.missing[i]);
		log_rec(&d->log, LOG_SANDBOX_PART, LOG_T("part", sandbox_part_names[i]),
			LOG_T("why", r.missing[i]));
	}
	if (all)
		log_rec(&d->log, LOG_SANDBOX);
	return 0;
}
