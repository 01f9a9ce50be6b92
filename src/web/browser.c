/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's browser, by xdg-open. State: the file that leads to the page. Way in: browser_open().
 */
#include "web/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool browser_page_write(struct browser_page *p, const char *url)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char text[512];
	int fd, len;
	bool ok;

	len = snprintf(text, sizeof(text),
		       "<!doctype html><meta charset=utf-8><title>Weft</title>"
		       "<meta http-equiv=refresh content=\"0;url=%s\"><a href=\"%s\">Weft</a>\n",
		       url, url);
	snprintf(p->path, sizeof(p->path), "%s/weft-ui-XXXXXX.html",
		 dir && *dir && strlen(dir) < 200 ? dir : "/tmp");
	fd = mkostemps(p->path, 5, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		p->path[0] = 0;
	ok = fd >= 0 && write(fd, text, (size_t)len) == len;
	if (fd >= 0)
		close(fd);
	return ok;
}

static _Noreturn void browser_run(const char *path)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execlp("xdg-open", "xdg-open", path, (char *)NULL);
	_exit(127);
}

bool browser_open(struct browser_page *p, const char *url)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	pid_t pid;

	if (!(x && *x) && !(wayland && *wayland))
		return false;
	if (!browser_page_write(p, url))
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid)
		browser_run(p->path);
	return pid > 0;
}

void browser_close(struct browser_page *p)
{
	if (p->path[0])
		unlink(p->path);
	p->path[0] = 0;
}
