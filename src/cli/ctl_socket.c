/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which socket `weft ctl` speaks to. State: none. Way in: ctl_socket_find(). Does not speak itself.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/ctl.h"
#include "control/default_paths.h"

enum { FOUND_MOST = 16 };

struct search {
	const char *kind;
	char path[FOUND_MOST][108];
	unsigned found;
	struct strbuf tried;
};

/* Somebody listens, or would if we were allowed to ask. */
static bool is_alive(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	rc = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return !rc || rc == EAGAIN || rc == EACCES;
}

static void candidate(struct search *s, const char *dir, const char *file)
{
	char path[sizeof(s->path[0])];

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path) ||
	    s->found == FOUND_MOST || !is_alive(path))
		return;
	for (unsigned i = 0; i < s->found; i++)
		if (!strcmp(s->path[i], path))
			return;
	strcpy(s->path[s->found++], path);
}

/* KIND.sock and KIND-NAME.sock, in the order of their names. */
static bool is_ours(const struct search *s, const char *file)
{
	size_t n = strlen(s->kind), len = strlen(file);

	return !strncmp(file, s->kind, n) && (file[n] == '.' || file[n] == '-') && len > 5 &&
	       !strcmp(file + len - 5, ".sock");
}

static void directory_search(struct search *s, const char *dir, const char *name)
{
	struct dirent **all;
	char file[300];
	int n;

	strbuf_addf(&s->tried, "%s%s", s->tried.len ? ", " : "", dir);
	if (name) {
		snprintf(file, sizeof(file), "%s-%.200s.sock", s->kind, name);
		candidate(s, dir, file);
		return;
	}
	n = scandir(dir, &all, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (is_ours(s, all[i]->d_name))
			candidate(s, dir, all[i]->d_name);
		free(all[i]);
	}
	if (n >= 0)
		free(all);
}

static void places_search(struct search *s, const char *name)
{
	char dir[512];

	s->tried.len = 0;
	for (unsigned i = 0; paths_runtime_at(i, dir, sizeof(dir)); i++)
		directory_search(s, dir, name);
}

static int several(const struct search *s)
{
	struct strbuf all = {0};

	for (unsigned i = 0; i < s->found; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", s->path[i]);
	cli_bad("%u of them run here: choose with --socket or --name: %s", s->found, all.s);
	strbuf_free(&all);
	return CLI_BAD;
}

int ctl_socket_find(const char *kind, const char *socket_path, const char *name, char *path,
		    size_t size)
{
	const char *server = getenv("IBSIM_SOCKNAME"),
		   *what = !strcmp(kind, "sm") ? "manager" : "fabric";
	struct search s = {.kind = kind};
	int rc = CLI_OK;

	if (socket_path) {
		if ((size_t)snprintf(path, size, "%s", socket_path) < size)
			return CLI_OK;
		return cli_bad("--socket: expected a path of at most %zu bytes", size - 1);
	}
	if (!name && server && *server)
		places_search(&s, server);
	if (!s.found)
		places_search(&s, name);
	if (!s.found && name)
		rc = cli_bad("no %s '%.60s' listens: looked for %s-%.60s.sock in %s", what, name,
			     kind, name, s.tried.s);
	else if (!s.found)
		rc = cli_bad(
			"no %s listens: looked for %s*.sock in %s; --socket names another place",
			what, kind, s.tried.s);
	else if (s.found > 1)
		rc = several(&s);
	else
		snprintf(path, size, "%s", s.path[0]);
	strbuf_free(&s.tried);
	return rc;
}
