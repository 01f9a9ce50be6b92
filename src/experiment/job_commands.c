/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a job to the commands that it runs. State: none. Way in: job_commands_make(). Starts no process.
 */
#include "experiment/experiment_priv.h"
#include "experiment/job.h"

#include <ctype.h>

typedef VEC(char *) words_vec;

/* One word from *at on; NULL at the end, or with *bad set. */
static char *word_take(const char **at, bool *bad)
{
	struct strbuf b = {0};
	char quote = 0;
	const char *s = *at;

	while (isspace((unsigned char)*s))
		s++;
	if (!*s)
		return NULL;
	strbuf_add(&b, "");
	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? 0 : *s;
		else
			strbuf_addn(&b, s, 1);
	}
	*at = s;
	*bad = quote != 0;
	return b.s;
}

char **job_words(const char *text, struct err *e)
{
	words_vec v = {0};
	bool bad = false;

	for (char *w; !bad && (w = word_take(&text, &bad));)
		vec_push(&v, w);
	vec_push(&v, NULL);
	if (!bad)
		return v.at;
	job_words_free(v.at);
	err_set(e, -EINVAL, "a quote is not closed");
	return NULL;
}

void job_words_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/* "weft" and the words of the expanded template; NULL with e. */
static char **weft_words(const struct experiment_job *j, const char *prefix, const char *template,
			 const char *suffix, struct err *e)
{
	char *text = experiment_text(j, template, e), **words = NULL;
	struct strbuf line = {0};

	if (text) {
		strbuf_addf(&line, "weft %s%s%s", prefix, text, suffix);
		words = job_words(line.s, e);
	}
	strbuf_free(&line);
	free(text);
	return words;
}

static char **three_words(const char *a, const char *b, char *c)
{
	char **w = mem_zarray(4, sizeof(*w));

	w[0] = mem_strdup(a);
	w[1] = mem_strdup(b);
	w[2] = c;
	return w;
}

/* `gen` makes the file "net" of the job's directory, `file` links to it. */
static char **fabric_words(const struct experiment_job *j, struct err *e)
{
	const struct experiment *x = j->experiment;
	char *label = experiment_text(j, x->fabric, e), *name;
	const struct experiment_fabric *f = label ? experiment_fabric_find(x, label) : NULL;

	if (label && !f)
		err_set(e, -EINVAL, "'%.60s' is not one of the experiment's fabrics", label);
	free(label);
	if (!f)
		return NULL;
	if (!strncmp(f->text, "gen ", 4))
		return weft_words(j, "topo gen ", f->text + 4, " -o net", e);
	name = experiment_text(j, f->text + 5, e);
	if (!name)
		return NULL;
	label = exp_beside(x, name);
	free(name);
	return three_words("ln", "-s", label);
}

static bool says_json(char **words)
{
	for (; *words; words++)
		if (!strcmp(*words, "--json"))
			return true;
	return false;
}

static char **run_words(const struct experiment_job *j, struct err *e)
{
	const struct experiment *x = j->experiment;
	char **words, *text;

	if (x->shell) {
		text = experiment_text(j, x->shell, e);
		return text ? three_words("/bin/sh", "-c", text) : NULL;
	}
	words = weft_words(j, "", x->run, "", e);
	if (words && !says_json(words)) {
		job_words_free(words);
		words = weft_words(j, "", x->run, " --json", e);
	}
	return words;
}

static int words_add(job_commands *out, char **words)
{
	if (!words)
		return -EINVAL;
	vec_push(out, words);
	return 0;
}

int job_commands_make(const struct experiment_job *j, job_commands *out, struct err *e)
{
	const struct experiment *x = j->experiment;
	int rc = 0;

	if (x->fabric)
		rc = words_add(out, fabric_words(j, e));
	for (size_t i = 0; i < x->before.n && !rc; i++)
		rc = words_add(out, weft_words(j, "", x->before.at[i], "", e));
	if (!rc)
		rc = words_add(out, run_words(j, e));
	if (rc) {
		job_commands_free(out);
		return rc;
	}
	if (x->fabric && !strcmp(out->at[0][0], "ln")) { /* ln -s FILE net */
		out->at[0] = mem_resize(out->at[0], 5, sizeof(char *));
		out->at[0][3] = mem_strdup("net");
		out->at[0][4] = NULL;
	}
	return 0;
}

void job_commands_free(job_commands *c)
{
	for (size_t i = 0; i < c->n; i++)
		job_words_free(c->at[i]);
	vec_free(c);
}
