/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Default directories. State: none; the environment decides. Ways in: paths_runtime(), paths_state(),
 * paths_runtime_at(). Opens no file.
 */
#include "control/default_paths.h"

#include <sys/stat.h>
#include <unistd.h>

/* systemd may give several directories, separated by colons: the first one. */
static bool from_service(const char *variable, char *dir, size_t size)
{
	const char *v = getenv(variable);

	if (!v || *v != '/')
		return false;
	snprintf(dir, size, "%.*s", (int)strcspn(v, ":"), v);
	return true;
}

static bool from_user(const char *variable, const char *below, char *dir, size_t size)
{
	const char *v = getenv(variable);

	if (!v || *v != '/')
		return false;
	snprintf(dir, size, "%s/%s", v, below);
	return true;
}

static void runtime_dir(char *dir, size_t size)
{
	if (from_service("RUNTIME_DIRECTORY", dir, size))
		return;
	if (!geteuid())
		snprintf(dir, size, "/run/weft");
	else if (!from_user("XDG_RUNTIME_DIR", "weft", dir, size))
		snprintf(dir, size, "/tmp/weft-%lu", (unsigned long)geteuid());
}

static void state_dir(char *dir, size_t size)
{
	if (from_service("STATE_DIRECTORY", dir, size))
		return;
	if (!geteuid())
		snprintf(dir, size, "/var/lib/weft");
	else if (!from_user("XDG_STATE_HOME", "weft", dir, size) &&
		 !from_user("HOME", ".local/state/weft", dir, size))
		snprintf(dir, size, "/tmp/weft-%lu", (unsigned long)geteuid());
}

/* Creates the directory and its parents. */
static int directory_make(const char *dir, struct err *e)
{
	char copy[512];
	struct stat st;

	if (snprintf(copy, sizeof(copy), "%s", dir) >= (int)sizeof(copy))
		return err_set(e, -ENAMETOOLONG, "%.100s...: the path is too long", dir);
	for (char *at = copy + 1;; at++) {
		char was = *at;

		if (was && was != '/')
			continue;
		*at = 0;
		if (mkdir(copy, 0700) && errno != EEXIST)
			return err_set(e, -errno, "%s: cannot create the directory: %s", copy,
				       strerror(errno));
		if (!was)
			break;
		*at = was;
	}
	if (lstat(dir, &st))
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	/* Any user may create a directory in /tmp: check who owns it. */
	if (!strncmp(dir, "/tmp/weft-", 10) && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
		return err_set(e, -EPERM, "%s: not a directory of this user", dir);
	return 0;
}

static int join(char *path, size_t size, const char *dir, const char *file, struct err *e)
{
	int rc = directory_make(dir, e);

	if (!rc && (size_t)snprintf(path, size, "%s/%s", dir, file) >= size)
		rc = err_set(e, -ENAMETOOLONG, "%s/%s: the path has more than %zu bytes", dir, file,
			     size - 1);
	return rc;
}

int paths_runtime(char *path, size_t size, const char *file, struct err *e)
{
	char dir[512];

	runtime_dir(dir, sizeof(dir));
	return join(path, size, dir, file, e);
}

int paths_state(char *path, size_t size, const char *file, struct err *e)
{
	char dir[512];

	state_dir(dir, sizeof(dir));
	return join(path, size, dir, file, e);
}

/* The k-th place; false when this user has no such directory. */
static bool place(unsigned k, char *dir, size_t size)
{
	if (k == 0)
		return from_service("RUNTIME_DIRECTORY", dir, size);
	if (k == 1)
		return from_user("XDG_RUNTIME_DIR", "weft", dir, size);
	if (k == 2)
		snprintf(dir, size, "/run/weft");
	else
		snprintf(dir, size, "/tmp/weft-%lu", (unsigned long)geteuid());
	return true;
}

bool paths_runtime_at(unsigned i, char *dir, size_t size)
{
	if (place(0, dir, size)) /* a service looks only in its own directory */
		return !i;
	for (unsigned k = 1; k < 4; k++)
		if (place(k, dir, size) && !i--)
			return true;
	return false;
}
