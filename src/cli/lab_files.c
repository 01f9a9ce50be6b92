/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where experiments and results are. Keeps the options that name them. Way in: lab_experiments(), lab_results().
 * Does not run or print experiments: the commands do.
 */
#include "cli/lab_files.h"

#include <limits.h>
#include <unistd.h>

static const char *experiments_dir, *db_path;

const struct cli_opt lab_experiment_opts[] = {
	{.name = "experiments",
	 .type = CLI_STR,
	 .dst = &experiments_dir,
	 .arg = "DIR",
	 .help = "directory of the experiments' files (default: $WEFT_EXPERIMENTS, experiments/ here, or what was "
		 "installed with this program)"},
	{0},
};

const struct cli_opt lab_result_opts[] = {
	{.name = "db",
	 .type = CLI_STR,
	 .dst = &db_path,
	 .arg = "FILE",
	 .help = "results of 'weft lab run', or a directory of results as text (default: the text that is kept with the "
		 "experiments)"},
	{0},
};

const char *lab_program(void)
{
	static char path[PATH_MAX];
	ssize_t n;

	if (!*path) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[MAX(n, 0)] = '\0';
	}
	return path;
}

/* A directory relative to this program's, if it exists; NULL: it does not. */
static const char *beside_program(const char *relative)
{
	static char path[PATH_MAX + 64];
	char *slash;

	snprintf(path, sizeof(path), "%s", lab_program());
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	snprintf(slash + 1, sizeof(path) - (size_t)(slash + 1 - path), "%s", relative);
	return access(path, R_OK) ? NULL : path;
}

const char *lab_experiments_dir(void)
{
	const char *env = getenv("WEFT_EXPERIMENTS"), *dir;

	if (experiments_dir)
		return experiments_dir;
	if (env && *env)
		return env;
	if (!access("experiments", R_OK))
		return "experiments";
	dir = beside_program("../share/weft/experiments");
	dir = dir ? dir : beside_program("../../../experiments"); /* from the build directory */
	return dir ? dir : "experiments";
}

static int unknown(const experiment_list *all, const char *name)
{
	struct strbuf names = {0};

	for (size_t i = 0; i < all->n; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", all->at[i]->name);
	cli_bad("there is no experiment '%s' in %s: expected one of %s", name,
		lab_experiments_dir(), names.s ? names.s : "none");
	strbuf_free(&names);
	return CLI_BAD;
}

/* Moves the experiments that names list from all to out. */
static int named_take(experiment_list *all, char **names, unsigned n, experiment_list *out)
{
	for (unsigned i = 0; i < n; i++) {
		struct experiment *x = experiment_named(all, names[i]);

		if (!x && experiment_named(out, names[i]))
			continue; /* named twice */
		if (!x)
			return unknown(all, names[i]);
		vec_push(out, x);
		for (size_t k = 0; k < all->n; k++)
			if (all->at[k] == x)
				memmove(&all->at[k], &all->at[k + 1],
					(--all->n - k) * sizeof(*all->at));
	}
	return CLI_OK;
}

int lab_experiments(char **names, unsigned n, experiment_list *out)
{
	experiment_list all = {0};
	struct err e;
	int rc;

	if (experiments_read(lab_experiments_dir(), &all, &e)) {
		experiments_free(&all);
		return cli_bad("%s", e.text);
	}
	if (!n) {
		*out = all;
		return CLI_OK;
	}
	rc = named_take(&all, names, n, out);
	experiments_free(&all);
	return rc;
}

/* Text that is kept with the experiments: in docs/results/lab beside their directory, or else in results/ there. */
static char *kept_dir(void)
{
	const char *dir = lab_experiments_dir();
	size_t n = strlen(dir);
	struct strbuf b = {0};

	while (n && dir[n - 1] == '/')
		n--;
	while (n && dir[n - 1] != '/')
		n--;
	strbuf_addf(&b, "%.*sdocs/results/lab", (int)n, dir);
	if (!access(b.s, R_OK))
		return b.s;
	b.len = 0;
	strbuf_addf(&b, "%s/results", dir);
	return b.s;
}

char *lab_results_path(void)
{
	return db_path ? mem_strdup(db_path) : kept_dir();
}

int lab_results(struct results *out, char **from)
{
	struct err e;
	int rc;

	*from = lab_results_path();
	rc = results_load(*from, out, &e);
	rc = rc ? rc : results_sort(out, &e);
	return rc ? cli_bad("%s", e.text) : CLI_OK;
}
