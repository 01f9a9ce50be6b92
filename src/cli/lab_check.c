/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks before anything runs: every command of every job is parsed, every fabric is made once. State: none. Way
 * in: lab_jobs(). Does not start jobs: job_queue.c does.
 */
#include "base/map.h"
#include "base/siphash.h"
#include "cli/cli_priv.h"
#include "cli/lab_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- commands ---- */

/* The words after "weft" as the command line would take them. */
static int command_parse(char **words, struct err *e)
{
	const struct cli_cmd *c;
	bool json = cli_json;
	unsigned n = 0, used;
	char **copy;
	int rc;

	while (words[n])
		n++;
	c = cli_cmd_find(cli_app_now(), words + 1, n - 1, &used);
	if (!c)
		return err_set(e, -EINVAL, "'%s %s' is not a command", words[1] ? words[1] : "",
			       words[1] && words[2] ? words[2] : "");
	if (!strncmp(c->name, "lab ", 4)) /* it would start itself, and its options are ours */
		return err_set(e, -EINVAL, "an experiment cannot run 'weft %s'", c->name);
	copy = mem_array(n + 1, sizeof(*copy)); /* parsing moves words */
	n -= 1 + used;
	memcpy(copy, words + 1 + used, n * sizeof(*copy));
	rc = cli_parse(c, copy, &n, e);
	cli_json = json;
	free(copy);
	return rc < 0 ? rc : 0;
}

/* ---- fabrics ---- */

/* Runs the command with this program; the fault is the first line of its standard error. */
static int command_try(char **words, struct err *e)
{
	char text[400] = "";
	int status, pipe_fd[2], null;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC))
		return err_set(e, -errno, "pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, 1);
		dup2(pipe_fd[1], 2);
		execv(lab_program(), words);
		_exit(127);
	}
	close(pipe_fd[1]);
	while (pid > 0 && len < sizeof(text) - 1 && /* a message may come in pieces */
	       (n = read(pipe_fd[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(pipe_fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return err_set(e, -ECHILD, "cannot start a process");
	text[strcspn(text, "\n")] = '\0';
	return status ? err_set(e, -EINVAL, "%s", text) : 0;
}

static int fabric_try(const struct experiment_fabric *f, char **words)
{
	struct err e;
	unsigned n = 0;

	while (words[n])
		n++;
	free(words[n - 1]); /* the -o net of a job: nothing is written here */
	words[n - 1] = mem_strdup("/dev/null");
	if (!strcmp(words[0], "ln"))
		return access(words[2], R_OK) ? cli_bad("%s:%u:%u: %s: %s", f->file, f->line,
							f->column, words[2], strerror(errno))
					      : CLI_OK;
	if (!command_parse(words, &e) && !command_try(words, &e))
		return CLI_OK;
	return cli_bad("%s:%u:%u: the fabric '%s': %s", f->file, f->line, f->column, f->label,
		       e.text);
}

/* ---- jobs ---- */

/* Whether the same words were seen before. */
static bool words_seen(struct map64 *seen, char **words)
{
	struct strbuf text = {0};
	bool known;
	uint64_t key;

	for (; *words; words++)
		strbuf_addf(&text, "%s\n", *words);
	key = siphash(0, 0, (const uint8_t *)text.s, text.len);
	known = map64_get(seen, key) != MAP_NONE;
	map64_put(seen, key, 0);
	strbuf_free(&text);
	return known;
}

static int job_check(const struct experiment_job *j, struct map64 *fabrics)
{
	const struct experiment *x = j->experiment;
	job_commands c = {0};
	char *fabric;
	struct err e;
	int rc = CLI_OK;

	if (job_commands_make(j, &c, &e))
		return cli_bad("%s:%u:%u: %s", x->file, x->run_line, x->run_column, e.text);
	if (x->fabric && !words_seen(fabrics, c.at[0])) {
		fabric = experiment_text(j, x->fabric, &e);
		rc = fabric_try(experiment_fabric_find(x, fabric), c.at[0]);
		free(fabric);
	}
	for (size_t i = x->fabric ? 1 : 0; i < c.n && !rc; i++)
		if (!strcmp(c.at[i][0], "weft") && command_parse(c.at[i], &e))
			rc = cli_bad("%s:%u:%u: %s, %s: %s", x->file, x->run_line, x->run_column,
				     x->name, j->key, e.text);
	job_commands_free(&c);
	return rc;
}

static int jobs_check(const struct experiment *x, const experiment_jobs *jobs, size_t from)
{
	struct map64 fabrics = {0};
	int rc = CLI_OK;

	cli_stage(x->name);
	for (size_t i = from; i < jobs->n && !rc; i++)
		rc = job_check(&jobs->at[i], &fabrics);
	map64_free(&fabrics);
	cli_progress_end();
	return rc;
}

/* `PARAMETER=CHOICE` of --only, for the experiments that have the parameter. */
static int only_put(const struct experiment *x, const char *text, struct experiment_scope *s)
{
	size_t n = strcspn(text, "=");
	int choice;

	for (size_t i = 0; i < x->params.n; i++) {
		const struct experiment_param *p = &x->params.at[i];

		if (strlen(p->name) != n || strncmp(p->name, text, n) != 0 || text[n] != '=')
			continue;
		choice = experiment_choice_find(p, text + n + 1);
		if (choice < 0)
			return cli_bad("--only %s: '%s' is not a choice of %s in %s", text,
				       text + n + 1, p->name, x->file);
		s->only.choice[i] = choice;
		return CLI_OK;
	}
	return cli_bad("--only %s: the experiment '%s' has no such parameter", text, x->name);
}

int lab_jobs(const experiment_list *l, const struct experiment_scope *scope,
	     const char *const *only, size_t nonly, experiment_jobs *jobs)
{
	struct err e;
	int rc = CLI_OK;

	for (size_t i = 0; i < l->n && !rc; i++) {
		struct experiment_scope s = *scope;
		size_t from = jobs->n;

		for (size_t k = 0; k < nonly && !rc; k++)
			rc = only_put(l->at[i], only[k], &s);
		if (!rc && experiment_jobs_add(l->at[i], &s, jobs, &e))
			rc = cli_bad("%s", e.text);
		if (!rc)
			rc = jobs_check(l->at[i], jobs, from);
	}
	return rc;
}
