/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's settings from files, and the default paths among them. State: none. Ways in:
 * run_config_*(). Does not know single settings: src/settings does.
 */
#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/config_priv.h"
#include "control/default_paths.h"

enum { FILE_MAX_BYTES = 256 << 10 };

/* ---- from files ---- */

struct loaded {
	char *text;
	size_t len;
	char exposed[64]; /* why it may not hold keys; "": it may */
};

/* Of a regular file: by its mode and its owner. A pipe belongs to those who hold its ends. */
static void exposure(int fd, char *why, size_t size)
{
	struct stat st;

	*why = 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	if (st.st_mode & 077)
		snprintf(why, size, "its mode is %04o", (unsigned)(st.st_mode & 07777));
	else if (st.st_uid && st.st_uid != geteuid())
		snprintf(why, size, "its owner is user %u", (unsigned)st.st_uid);
}

/* With a limit on the size: reading a device would never end. */
static int text_load(const char *path, struct loaded *l, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	int rc = 0;

	if (!f)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	exposure(fileno(f), l->exposed, sizeof(l->exposed));
	l->text = mem_alloc(FILE_MAX_BYTES + 1);
	errno = EIO;
	l->len = fread(l->text, 1, FILE_MAX_BYTES + 1, f);
	if (ferror(f))
		rc = err_set(e, -EINVAL, "%s: cannot read: %s", path, strerror(errno));
	else if (l->len > FILE_MAX_BYTES)
		rc = err_set(e, -EINVAL, "%s: larger than %d KiB: not a configuration", path,
			     FILE_MAX_BYTES >> 10);
	if (f != stdin)
		fclose(f);
	if (rc)
		free(l->text);
	return rc;
}

static const char *file_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int first_fault(const char *name, cfg_faults *faults, struct err *e)
{
	struct strbuf first = {0};
	int rc = 0;

	if (faults->n) {
		cfg_fault_text(name, &faults->at[0], &first);
		rc = err_set(e, -EINVAL, faults->n > 1 ? "%.480s (and %zu more)" : "%.480s",
			     first.s, faults->n - 1);
	}
	strbuf_free(&first);
	cfg_faults_free(faults);
	return rc;
}

/* Lists are read, if only to find faults. */
static int lists_read(const char *name, const char *text, size_t len, struct pol *p, struct err *e)
{
	struct pol *scratch = p ? NULL : pol_new();
	int rc = cfg_policy_read(name, text, len, p ? p : scratch, e);

	pol_free(scratch);
	return rc;
}

int run_config_read(const char *name, const char *text, size_t len, struct settings *c,
		    struct pol *p, struct err *e)
{
	struct settings wanted = *c;
	bool lists = false;
	const struct cfg_source from = {.lists = &lists};
	cfg_faults faults = {0};
	int rc;

	cfg_read(text, len, &from, &wanted, &faults);
	rc = first_fault(name, &faults, e);
	if (!rc && lists)
		rc = lists_read(name, text, len, p, e);
	if (!rc)
		*c = wanted;
	return rc;
}

static int load(const char *path, struct cfg_source from, struct settings *c, struct pol *p,
		cfg_faults *faults, struct err *e)
{
	struct settings wanted = *c;
	bool lists = false, keys_only = from.keys_only;
	struct loaded l;
	int rc = text_load(path, &l, e);

	if (rc)
		return rc;
	from.lists = &lists;
	from.exposed = *l.exposed ? l.exposed : NULL;
	if (keys_only && from.exposed)
		rc = err_set(e, -EPERM,
			     "%s: a file of keys that others may read (%s): expected mode 0600 or "
			     "stricter, and an owner that is this user or root",
			     path, from.exposed);
	else
		cfg_read(l.text, l.len, &from, &wanted, faults);
	if (!rc && !faults->n && lists)
		rc = keys_only ? err_set(e, -EINVAL, "%s: expected keys only, found lists", path)
			       : lists_read(file_name(path), l.text, l.len, p, e);
	if (!rc && !faults->n)
		*c = wanted;
	free(l.text);
	return rc;
}

int run_config_load(const char *path, struct settings *c, struct pol *p, struct err *e)
{
	cfg_faults faults = {0};
	int rc = load(path, (struct cfg_source){0}, c, p, &faults, e);

	return rc ? rc : first_fault(file_name(path), &faults, e);
}

int run_config_keys(struct settings *c, struct err *e)
{
	cfg_faults faults = {0};
	const struct cfg_source from = {.keys_only = true};
	int rc = *c->keys_file ? load(c->keys_file, from, c, NULL, &faults, e) : 0;

	return rc ? rc : first_fault(c->keys_file, &faults, e);
}

unsigned run_config_faults(const char *path, struct settings *c, run_fault_tell *tell, void *ctx)
{
	const struct cfg_source from = {.places = true};
	cfg_faults faults = {0};
	unsigned n;
	struct err e;

	if (load(path, from, c, NULL, &faults, &e)) {
		tell(ctx, &(struct run_fault){.text = e.text});
		return 1;
	}
	for (size_t i = 0; i < faults.n; i++) {
		const struct cfg_fault *f = &faults.at[i];
		struct strbuf line = {0};

		cfg_fault_text(file_name(path), f, &line);
		tell(ctx, &(struct run_fault){line.s, f->line, f->column});
		strbuf_free(&line);
	}
	n = (unsigned)faults.n;
	cfg_faults_free(&faults);
	return n;
}

/* ---- values that the table cannot check ---- */

int run_config_values(const struct settings *c, struct err *e)
{
	const char *text = c->metrics_address;
	unsigned char bytes[16];

	if (!*text || inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1)
		return 0;
	return err_set(e, -EINVAL,
		       "metrics.address: expected an address such as 127.0.0.1 or ::1, found '%s'",
		       text);
}

/* ---- directories ---- */

int cfg_place_check(const struct setting *k, const struct settings *c, struct err *e)
{
	const char *text = (const char *)c + k->at, *slash;
	bool is_dir = k->arg && !strcmp(k->arg, "DIR");
	char dir[512];
	struct stat st;

	if (!is_dir && (!k->arg || (strcmp(k->arg, "FILE") && strcmp(k->arg, "PATH"))))
		return 0;
	if (k->kind != SETTING_TEXT || !*text || !strcmp(text, "auto"))
		return 0;
	if (!is_dir && !stat(text, &st) && S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "%s.%s: expected a file, found the directory '%s'",
			       k->section, k->key, text);
	slash = strrchr(text, '/');
	if (is_dir)
		snprintf(dir, sizeof(dir), "%s", text);
	else if (!slash)
		return 0;
	else
		snprintf(dir, sizeof(dir), "%.*s", slash == text ? 1 : (int)(slash - text), text);
	if (!stat(dir, &st) && S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, -ENOENT, "%s.%s: expected %s that exists, found '%s'", k->section, k->key,
		       is_dir ? "a directory" : "a file in a directory", text);
}

unsigned run_config_places(const struct settings *c, run_fault_tell *tell, void *ctx)
{
	unsigned n = 0;
	struct err e;

	for (const struct setting *k = settings_table; k->key; k++)
		if (cfg_place_check(k, c, &e)) {
			tell(ctx, &(struct run_fault){.text = e.text});
			n++;
		}
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

	if (c->sm.observe) /* what another manager decides is not its own to remember */
		*c->state = 0;
	instance_name(c, name);
	if (!strcmp(c->control, "auto")) {
		snprintf(file, sizeof(file), "%s%s%s.sock", c->counters ? "perf" : "sm",
			 *name ? "-" : "", name);
		rc = paths_runtime(c->control, sizeof(c->control), file, e);
	}
	if (!rc && !strcmp(c->state, "auto")) {
		snprintf(file, sizeof(file), "weft%s%s.db", *name ? "-" : "", name);
		rc = paths_state(c->state, sizeof(c->state), file, e);
	}
	return rc;
}
