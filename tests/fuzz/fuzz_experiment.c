/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as an experiment, and as an expression: reading must not crash or hang, what is refused is explained,
 * and what is read gives jobs whose texts are whole. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "experiment/compare.h"
#include "experiment/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

/* Every leaf is a list of three. */
static int find(void *ctx, const struct expr *leaf, expr_numbers *out, struct err *e)
{
	(void)ctx;
	(void)e;
	for (unsigned i = 0; i < 3; i++)
		vec_push(out, (double)i + leaf->column);
	return 0;
}

static void expression(const char *text)
{
	const struct expr_scope scope = {find, NULL};
	expr_numbers v = {0};
	struct err e = {""};
	struct expr *x = expr_parse(text, &e);

	CHECK(x || *e.text);
	if (x)
		expr_eval(x, &scope, &v, &e);
	vec_free(&v);
	expr_free(x);
}

static void jobs(const struct experiment *x)
{
	struct experiment_scope scope = experiment_everything();
	experiment_jobs all = {0};
	struct err e = {""};
	uint64_t points = x->seeds.n;

	for (size_t i = 0; i < x->params.n && points <= 1000; i++)
		points *= x->params.at[i].choices.n;
	if (points > 1000) /* many jobs take time and show nothing new */
		return;
	if (experiment_jobs_add(x, &scope, &all, &e))
		CHECK(strstr(e.text, "fuzz:"));
	else
		for (size_t i = 0; i < MIN(all.n, (size_t)20); i++) {
			job_commands c = {0};

			CHECK(all.at[i].key && strlen(all.at[i].hash) == 16);
			if (job_commands_make(&all.at[i], &c, &e))
				CHECK(*e.text);
			job_commands_free(&c);
		}
	experiment_jobs_free(&all);
}

static void comparison(const struct experiment *x)
{
	struct comparison c = {0};
	struct results none = {0};
	struct err e = {""};
	uint64_t points = 1;

	for (size_t i = 0; i < x->params.n && points <= 1000; i++)
		points *= x->params.at[i].choices.n;
	if (points <= 1000 && compare_experiment(x, &none, &c, &e))
		CHECK(*e.text);
	comparison_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct experiment *x;
	struct err e = {""};
	char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	expression(text);
	x = experiment_parse("fuzz", text, size, &e);
	CHECK(x || !strncmp(e.text, "fuzz:", 5));
	if (x) {
		jobs(x);
		comparison(x);
	}
	experiment_free(x);
	free(text);
	return 0;
}
