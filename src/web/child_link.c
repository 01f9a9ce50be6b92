/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child's side of a link to the web process. State: the descriptor that the timer looks at. Ways in: child_start(),
 * child_send(), child_receive(). Does not know what messages mean.
 */
#include "web/child_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { WATCH_MS = 200 };

static volatile sig_atomic_t watched = -1;

static void watch_alarm(int signal_number UNUSED)
{
	struct pollfd p = {.fd = watched};
	int saved = errno;

	if (p.fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL))
		_exit(0);
	errno = saved;
}

void child_watch(int fd)
{
	struct sigaction act = {.sa_handler = watch_alarm, .sa_flags = SA_RESTART};
	struct itimerval every = {.it_interval.tv_usec = WATCH_MS * 1000,
				  .it_value.tv_usec = WATCH_MS * 1000};

	watched = fd;
	if (fd < 0)
		every = (struct itimerval){0};
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* ---- the fork ---- */

pid_t child_fork(void)
{
#if defined(__GLIBC__) && !__GLIBC_PREREQ(2, 34)
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#else
	return _Fork();
#endif
}

/* Handlers of the web process must not run in the child, nor must the child keep its sockets: a page's connection
 * or another child's would stay open. */
static void child_cleanse(int *fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* of the terminal: the web process decides */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	dup2(*fd, STDERR_FILENO + 1);
	*fd = STDERR_FILENO + 1;
	if (syscall(SYS_close_range, *fd + 1, ~0u, 0))
		for (int i = *fd + 1; i < 1024; i++)
			close(i);
}

static _Noreturn void child_run(void (*body)(int fd, void *ctx), void *ctx, int fd, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	child_cleanse(&fd);
	fcntl(fd, F_SETFL, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	child_watch(fd);
	body(fd, ctx);
	_exit(0);
}

pid_t child_start(void (*body)(int fd, void *ctx), void *ctx, int *fd)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	fflush(NULL);
	pid = child_fork();
	rc = -errno;
	if (!pid)
		child_run(body, ctx, pair[1], parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return rc;
	}
	setpgid(pid, pid);
	*fd = pair[0];
	return pid;
}

/* ---- messages and frames ---- */

static ssize_t send_some(int fd, const void *data, size_t len, int pass, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if (pass >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass, sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL | flags);
}

bool child_try_send(int fd, const void *data, size_t len, int pass)
{
	return send_some(fd, data, len, pass, MSG_DONTWAIT) == (ssize_t)len;
}

void child_send(int fd, const void *data, size_t len, int pass)
{
	const char *at = data;

	while (len) {
		ssize_t k = send_some(fd, at, len, pass, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			_exit(0);
		at += k;
		len -= (size_t)k;
		pass = -1;
	}
}

void child_send_frame(int fd, unsigned kind, const void *data, size_t len, int pass)
{
	struct frame *f = frame_new(kind, data, len);

	child_send(fd, f->data, f->len, pass);
	frame_unref(f);
}

static void passed_take(struct msghdr *m, int *passed)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		if (*passed >= 0)
			close(*passed);
		memcpy(passed, CMSG_DATA(c), sizeof(int));
	}
}

ssize_t child_read(int fd, void *data, size_t len, int *passed)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec v = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t k;

	do {
		k = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (k < 0 && errno == EINTR);
	if (k > 0)
		passed_take(&m, passed);
	return k < 0 ? -errno : k;
}

static bool read_all(int fd, void *data, size_t len, int *passed)
{
	char *at = data;

	while (len) {
		ssize_t k = child_read(fd, at, len, passed);

		if (k <= 0)
			return false;
		at += k;
		len -= (size_t)k;
	}
	return true;
}

bool child_receive(int fd, unsigned *kind, struct strbuf *content, int *passed)
{
	uint8_t head[MSG_HEAD];
	uint32_t len;

	*passed = -1;
	content->len = 0;
	if (!read_all(fd, head, sizeof(head), passed))
		return false;
	len = frame_u32(head);
	*kind = frame_u32(head + 4);
	if (len < MSG_HEAD || len > MSG_MAX)
		return false;
	len -= MSG_HEAD;
	if (content->cap < len + 1u) {
		content->cap = len + 1u;
		content->s = mem_resize(content->s, content->cap, 1);
	}
	content->len = len;
	content->s[len] = 0;
	return read_all(fd, content->s, len, passed);
}
