/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which socket `weft ctl` asks, and waiting until a process listens there. State: none. Way in:
 * ctl_socket_find(). Asks nothing itself.
 */
#include <dirent.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/ctl.h"
#include "control/default_paths.h"

enum { FOUND_MOST = 16, RETRY_MS = 50, SAY_AFTER_MS = 1000 };

struct search {
	const char *kind;
	char path[FOUND_MOST][108];
	unsigned found;
	char denied[512]; /* a directory that this user may not read; "": none */
	struct strbuf tried;
};

/* 0, or errno of a connection. */
static int connect_try(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	rc = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

/* A process listens there; EACCES: probably, but this user may not ask it. */
static bool is_served(const char *path)
{
	int rc = connect_try(path);

	return !rc || rc == EAGAIN || rc == EACCES;
}

static bool is_allowed(const char *path)
{
	return connect_try(path) != EACCES;
}

static void candidate(struct search *s, const char *dir, const char *file)
{
	char path[sizeof(s->path[0])];

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path) ||
	    s->found == FOUND_MOST || !is_served(path))
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
	if (n < 0 && errno == EACCES)
		snprintf(s->denied, sizeof(s->denied), "%s", dir);
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
	*s->denied = 0;
	for (unsigned i = 0; paths_runtime_at(i, dir, sizeof(dir)); i++)
		directory_search(s, dir, name);
}

static bool is_manager(const struct ctl_target *t)
{
	return !strcmp(t->kind, "sm");
}

/* By name: that of --name, else $IBSIM_SOCKNAME when it leads to one, else any. */
static void search(struct search *s, const struct ctl_target *t)
{
	const char *server = getenv("IBSIM_SOCKNAME");

	s->found = 0;
	if (t->socket) {
		s->tried.len = 0;
		strbuf_add(&s->tried, t->socket);
		if (is_served(t->socket))
			snprintf(s->path[s->found++], sizeof(s->path[0]), "%s", t->socket);
		return;
	}
	if (!t->name && server && *server)
		places_search(s, server);
	if (!s->found)
		places_search(s, t->name);
	if (!s->found && is_manager(t)) { /* weft perf, where no manager runs */
		s->kind = "perf";
		places_search(s, t->name);
		s->kind = t->kind;
	}
}

/* ---- when none listens ---- */

/* "manager 'lab0': no process listens at sm-lab0.sock in DIR, DIR" */
static void missing_text(const struct ctl_target *t, const struct search *s, struct strbuf *out)
{
	strbuf_add(out, is_manager(t) ? "manager" : "emulator");
	if (t->name)
		strbuf_addf(out, " '%.60s'", t->name);
	strbuf_add(out, ": no process listens at ");
	if (!t->socket && t->name)
		strbuf_addf(out, "%s-%.60s.sock in ", t->kind, t->name);
	else if (!t->socket)
		strbuf_addf(out, "%s*.sock in ", t->kind);
	strbuf_add(out, s->tried.s);
}

/* "permission denied: /run/weft/sm.sock is a socket of user weft, mode 0600; ..." */
static int denied(const char *path)
{
	const struct passwd *who;
	char owner[64] = "another user";
	struct stat st;

	if (stat(path, &st))
		return cli_bad("permission denied: %s: ask as root, or as the user that runs the "
			       "manager",
			       path);
	who = getpwuid(st.st_uid);
	if (who)
		snprintf(owner, sizeof(owner), "user %.50s", who->pw_name);
	else
		snprintf(owner, sizeof(owner), "user %lu", (unsigned long)st.st_uid);
	return cli_bad(
		"permission denied: %s is a %s of %s, mode %04o: ask as that user or as root%s",
		path, S_ISDIR(st.st_mode) ? "directory" : "socket", owner,
		(unsigned)(st.st_mode & 07777),
		S_ISDIR(st.st_mode) ? "" : ", or change control.mode of the manager");
}

static int missing(const struct ctl_target *t, const struct search *s)
{
	struct strbuf text = {0};

	if (*s->denied)
		return denied(s->denied);
	missing_text(t, s, &text);
	cli_bad("%s; start '%s', or give the socket with --socket%s%s", text.s,
		is_manager(t) ? "weft sm" : "weft fabric", t->name ? "" : " or ",
		t->name	    ? ""
		: t->option ? t->option
			    : "--name");
	strbuf_free(&text);
	return CLI_BAD;
}

static void say_waiting(const struct ctl_target *t, const struct search *s)
{
	struct strbuf text = {0};

	missing_text(t, s, &text);
	cli_bad("%s yet; waiting up to %s", text.s, cli_duration(t->wait));
	strbuf_free(&text);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A manager that starts now will listen in a moment. */
static void search_wait(struct search *s, const struct ctl_target *t)
{
	uint64_t start = now_ms(), limit = t->wait / PS_PER_MS, waited;
	bool said = false;

	for (search(s, t); !s->found && !*s->denied && (waited = now_ms() - start) < limit;
	     search(s, t)) {
		if (!said && waited >= SAY_AFTER_MS) {
			say_waiting(t, s);
			said = true;
		}
		poll(NULL, 0, RETRY_MS);
	}
}

static int several(const struct search *s)
{
	struct strbuf all = {0};

	for (unsigned i = 0; i < s->found; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", s->path[i]);
	cli_bad("%u sockets to choose from; give one with --socket or --name: %s", s->found, all.s);
	strbuf_free(&all);
	return CLI_BAD;
}

/* 0, or CLI_BAD after a message: --socket cannot be a control socket. */
static int path_check(const char *path, size_t size)
{
	struct stat st;

	if (strlen(path) >= size)
		return cli_bad("--socket: expected a path of at most %zu bytes", size - 1);
	if (!stat(path, &st) && !S_ISSOCK(st.st_mode))
		return cli_bad("--socket: %s is not a socket", path);
	return 0;
}

int ctl_socket_find(const struct ctl_target *t, char *path, size_t size)
{
	struct search s = {.kind = t->kind};
	int rc = t->socket ? path_check(t->socket, size) : CLI_OK;

	if (rc)
		return rc;
	search_wait(&s, t);
	if (!s.found)
		rc = missing(t, &s);
	else if (s.found > 1)
		rc = several(&s);
	else if (!is_allowed(s.path[0]))
		rc = denied(s.path[0]);
	else
		snprintf(path, size, "%s", s.path[0]);
	strbuf_free(&s.tried);
	return rc;
}

int ctl_socket_wait_end(const char *path, time_ps limit)
{
	uint64_t end = now_ms() + limit / PS_PER_MS;

	while (is_served(path)) {
		if (now_ms() >= end) {
			cli_bad("the manager has not ended after %s", cli_duration(limit));
			return CLI_NO;
		}
		poll(NULL, 0, RETRY_MS);
	}
	return CLI_OK;
}
