/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters to points, points to jobs, templates to commands. State: none. Way in: experiment_jobs_add(),
 * experiment_text(). Does not run jobs: job_queue.c does.
 */
#include "base/siphash.h"
#include "experiment/experiment_priv.h"

enum { DEPTH_MOST = 6 };

struct experiment_scope experiment_everything(void)
{
	struct experiment_scope s = {0};

	exp_where_any(&s.only);
	return s;
}

bool experiment_where_holds(const struct experiment *x, const struct experiment_where *w,
			    const struct experiment_point *p)
{
	for (size_t i = 0; i < x->params.n; i++)
		if (w->choice[i] >= 0 && w->choice[i] != p->choice[i])
			return false;
	return true;
}

/* ---- templates ---- */

static int template_expand(const struct experiment_job *j, const char *t, unsigned depth,
			   struct strbuf *out, struct err *e);

static int name_expand(const struct experiment_job *j, const char *name, unsigned depth,
		       struct strbuf *out, struct err *e)
{
	const struct experiment *x = j->experiment;
	const char *by = experiment_text_by(x, name, &j->point);
	int p = experiment_param_find(x, name);

	if (by)
		return template_expand(j, by, depth + 1, out, e);
	if (p >= 0)
		return template_expand(j, x->params.at[p].choices.at[j->point.choice[p]].text,
				       depth + 1, out, e);
	if (!strcmp(name, "seed"))
		strbuf_addf(out, "%llu", (unsigned long long)j->seed);
	else if (!strcmp(name, "net"))
		strbuf_add(out, "net");
	else if (!strcmp(name, "dir"))
		strbuf_add(out, j->hash ? x->dir : "{dir}"); /* the hash is the same everywhere */
	else
		return err_set(e, -EINVAL,
			       "{%s} is not a parameter of '%s', nor {seed}, {net} or {dir}", name,
			       x->name);
	return 0;
}

static int template_expand(const struct experiment_job *j, const char *t, unsigned depth,
			   struct strbuf *out, struct err *e)
{
	char name[64];
	int used, rc;

	if (depth > DEPTH_MOST)
		return err_set(e, -EINVAL, "parameters of '%s' name each other without end",
			       j->experiment->name);
	while (*t) {
		size_t plain = strcspn(t, "{");

		strbuf_addn(out, t, plain);
		t += plain;
		used = 0;
		if (*t && sscanf(t, "{%63[a-zA-Z0-9_]}%n", name, &used) == 1 && used) {
			rc = name_expand(j, name, depth, out, e);
			if (rc)
				return rc;
			t += used;
		} else if (*t) {
			strbuf_addn(out, t++, 1);
		}
	}
	return 0;
}

char *experiment_text(const struct experiment_job *j, const char *template, struct err *e)
{
	struct strbuf out = {0};

	strbuf_add(&out, "");
	if (!template_expand(j, template, 0, &out, e))
		return out.s;
	strbuf_free(&out);
	return NULL;
}

/* ---- jobs ---- */

char *experiment_key(const struct experiment *x, const struct experiment_point *p, uint64_t seed)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < x->params.n; i++)
		strbuf_addf(&b, "%s%s=%s", b.len ? " " : "", x->params.at[i].name,
			    x->params.at[i].choices.at[p->choice[i]].label);
	if (x->seeds.n > 1 || !b.len)
		strbuf_addf(&b, "%sseed=%llu", b.len ? " " : "", (unsigned long long)seed);
	return b.s;
}

static int definition_add(const struct experiment_job *j, const char *template, struct strbuf *b,
			  struct err *e)
{
	char *text = template ? experiment_text(j, template, e) : mem_strdup("");

	if (!text)
		return -EINVAL;
	strbuf_addf(b, "%s\n", text);
	free(text);
	return 0;
}

/* The fabric that the job names is one of the experiment's. */
static int fabric_check(const struct experiment_job *j, struct err *e)
{
	const struct experiment *x = j->experiment;
	bool known = false;
	struct err why;
	char *label;

	if (!x->fabric)
		return 0;
	label = experiment_text(j, x->fabric, &why);
	if (label) {
		known = experiment_fabric_find(x, label);
		err_set(&why, -EINVAL, "'%.60s' is not one of the experiment's fabrics", label);
	}
	free(label);
	return known ? 0
		     : err_set(e, -EINVAL, "%s:%u:%u: %s", x->file, x->fabric_line,
			       x->fabric_column, why.text);
}

/* The fabric's text as the experiment has it. A file's content is not part of it: resume trusts files. */
static int fabric_definition(const struct experiment_job *j, struct strbuf *b, struct err *e)
{
	const struct experiment *x = j->experiment;
	const struct experiment_fabric *f;
	char *label;
	int rc;

	if (!x->fabric)
		return 0;
	label = experiment_text(j, x->fabric, e);
	if (!label)
		return 0; /* fabric_check() says so */
	f = experiment_fabric_find(x, label);
	rc = f ? definition_add(j, f->text, b, e) : 0;
	free(label);
	return rc;
}

/* Over all that defines the job's results: commands, fabric, expressions, version. */
static int hash_make(struct experiment_job *j, struct err *e)
{
	const struct experiment *x = j->experiment;
	struct strbuf b = {0};
	char hex[20];
	int rc = 0;

	strbuf_addf(&b, "%s\n%s\n", WEFT_VERSION, x->name);
	for (size_t i = 0; i < x->before.n && !rc; i++)
		rc = definition_add(j, x->before.at[i], &b, e);
	rc = rc ? rc : definition_add(j, x->run ? x->run : x->shell, &b, e);
	rc = rc ? rc : fabric_definition(j, &b, e);
	for (size_t i = 0; i < x->results.n; i++)
		strbuf_addf(&b, "%s: %s\n", x->results.at[i].name, x->results.at[i].text);
	snprintf(hex, sizeof(hex), "%016llx",
		 (unsigned long long)siphash(0, 0, (const uint8_t *)b.s, b.len));
	j->hash = mem_strdup(hex);
	strbuf_free(&b);
	return rc;
}

static int job_add(const struct experiment *x, const struct experiment_point *p, uint64_t seed,
		   experiment_jobs *jobs, struct err *e)
{
	struct experiment_job j = {.experiment = x, .point = *p, .seed = seed};
	struct err why;
	int rc;

	j.key = experiment_key(x, p, seed);
	rc = hash_make(&j, &why);
	if (rc)
		err_set(e, rc, "%s:%u:%u: %s", x->file, x->run_line, x->run_column, why.text);
	rc = rc ? rc : fabric_check(&j, e);
	vec_push(jobs, j);
	return rc;
}

static bool point_wanted(const struct experiment *x, const struct experiment_scope *scope,
			 const struct experiment_point *p)
{
	for (size_t i = 0; i < x->params.n && scope->quick; i++)
		if (!x->params.at[i].choices.at[p->choice[i]].quick)
			return false;
	for (size_t i = 0; i < x->except.n; i++)
		if (experiment_where_holds(x, &x->except.at[i], p))
			return false;
	if (x->has_full && !scope->any && experiment_where_holds(x, &x->sampled, p) == scope->full)
		return false;
	return experiment_where_holds(x, &scope->only, p);
}

/* The last parameter changes fastest. False after the last point. */
static bool point_next(const struct experiment *x, struct experiment_point *p)
{
	for (size_t i = x->params.n; i-- > 0;) {
		if (++p->choice[i] < x->params.at[i].choices.n)
			return true;
		p->choice[i] = 0;
	}
	return false;
}

static int size_check(const struct experiment *x, struct err *e)
{
	uint64_t n = x->seeds.n;

	for (size_t i = 0; i < x->params.n; i++) {
		n *= x->params.at[i].choices.n;
		if (n > EXPERIMENT_JOBS_MOST)
			return err_set(e, -E2BIG,
				       "%s:%u:%u: the parameters of '%s' make more than %d jobs",
				       x->file, x->run_line, x->run_column, x->name,
				       EXPERIMENT_JOBS_MOST);
	}
	return 0;
}

int experiment_jobs_add(const struct experiment *x, const struct experiment_scope *scope,
			experiment_jobs *jobs, struct err *e)
{
	struct experiment_point p = {0};
	size_t seeds = scope->quick ? x->quick_seeds : x->seeds.n;
	int rc = size_check(x, e);

	if (rc || (scope->quick && !x->quick))
		return rc;
	do {
		if (point_wanted(x, scope, &p))
			for (size_t s = 0; s < seeds && !rc; s++)
				rc = job_add(x, &p, x->seeds.at[s], jobs, e);
	} while (!rc && point_next(x, &p));
	return rc;
}

void experiment_jobs_free(experiment_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->at[i].key);
		free(jobs->at[i].hash);
	}
	vec_free(jobs);
}
