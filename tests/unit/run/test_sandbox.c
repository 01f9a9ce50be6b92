/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sandbox, in child processes: what is refused inside, and that what the daemon does still works.
 * Covers: sandbox.c, sandbox_calls.c
 */
#include "unit_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/sandbox.h"

static char dir[64], other[64];

static int setup(void **state UNUSED)
{
	strcpy(dir, "/tmp/weft-sandbox-XXXXXX");
	strcpy(other, "/tmp/weft-other-XXXXXX");
	return mkdtemp(dir) && mkdtemp(other) ? 0 : -1;
}

static int teardown(void **state UNUSED)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s' '%s'", dir, other);
	return system(cmd);
}

/* A check that fails ends the child with its line. */
#define HOLDS(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "# line %d: " #x " does not hold: %s\n", __LINE__,         \
				strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define REFUSED(x, why) HOLDS((errno = 0, (x) == -1) && errno == (why))

static void in_child(void (*fn)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static unsigned long long status_field(const char *name, int base)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long v = ~0ull;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			v = strtoull(line + strlen(name) + 1, NULL, base);
	if (f)
		fclose(f);
	return v;
}

/* ---- privileges ---- */

static void no_privileges(void)
{
	struct err e;

	HOLDS(!sandbox_privileges_drop(&e));
	HOLDS(status_field("CapEff", 16) == 0 && status_field("CapPrm", 16) == 0);
	HOLDS(status_field("NoNewPrivs", 10) == 1);
	HOLDS(geteuid() || status_field("CapBnd", 16) == 0);
	HOLDS(!sandbox_privileges_drop(&e)); /* nothing more to give up */
}

TEST(capabilities_are_gone)
{
	in_child(no_privileges);
}

/* ---- files ---- */

static int file_make(const char *where)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/file", where);
	return open(path, O_RDWR | O_CREAT, 0600);
}

static void own_files(void)
{
	const struct sandbox_paths p = {.write = {dir, "", "/nonexistent/x"}, .read = {"/proc"}};
	char from[100], to[100];
	struct err e;
	int rc, fd;

	HOLDS(!sandbox_privileges_drop(&e));
	rc = sandbox_files_limit(&p, &e);
	if (rc) {
		fprintf(stderr, "# skipped: %s\n", e.text);
		_exit(rc == -ENOSYS || rc == -EOPNOTSUPP ? 0 : 1);
	}
	fd = file_make(dir);
	HOLDS(fd >= 0 && write(fd, "x", 1) == 1 && !ftruncate(fd, 0));
	snprintf(from, sizeof(from), "%s/file", dir);
	snprintf(to, sizeof(to), "%s/other", dir);
	HOLDS(!rename(from, to) && !unlink(to));
	REFUSED(file_make(other), EACCES);
	REFUSED(open("/etc/passwd", O_RDONLY), EACCES);
	REFUSED(open("/etc/passwd", O_WRONLY), EACCES);
	HOLDS(open("/proc/self/status", O_RDONLY) >= 0);
	REFUSED(open("/proc/self/comm", O_WRONLY), EACCES);
}

TEST(other_files_are_out_of_reach)
{
	in_child(own_files);
}

/* ---- system calls ---- */

static void *nothing(void *arg)
{
	return arg;
}

static void what_the_daemon_does(void)
{
	pthread_t thread;
	int fd[2], status;
	pid_t child;

	HOLDS(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL));
	child = fork();
	if (!child)
		_exit(7);
	HOLDS(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	HOLDS(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) >= 0);
	HOLDS(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
	HOLDS(pipe(fd) == 0 && write(fd[1], "x", 1) == 1);
	HOLDS(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	      MAP_FAILED);
}

static void what_an_intruder_would_do(void)
{
	static char *const argv[] = {"/bin/true", NULL};

	REFUSED(execv("/bin/true", argv), EPERM);
	REFUSED(ptrace(PTRACE_ATTACH, getppid(), 0, 0), EPERM);
	REFUSED(kill(getppid(), SIGTERM), EPERM);
	REFUSED(kill(getpid(), 0), EPERM);
	REFUSED(syscall(SYS_mount, "x", "/mnt", "tmpfs", 0, NULL), EPERM);
	REFUSED(syscall(SYS_unshare, 0x10000000), EPERM);
	REFUSED(syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0), EPERM); /* a namespace */
	REFUSED(syscall(SYS_clone3, NULL, 0), ENOSYS);
	REFUSED(syscall(SYS_bpf, 0, NULL, 0), EPERM);
	REFUSED(syscall(SYS_io_uring_setup, 1, NULL), EPERM);
	REFUSED(syscall(SYS_setresuid, 0, 0, 0), EPERM);
	REFUSED(syscall(100000), ENOSYS);
	/* services of root take orders by streams */
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
	REFUSED(socket(AF_INET, SOCK_STREAM, 0), EPERM);
	REFUSED(socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
	REFUSED(socket(AF_PACKET, SOCK_DGRAM, 0), EPERM);
	HOLDS(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		      MAP_FAILED &&
	      errno == EPERM);
}

static void filtered(void)
{
	struct err e;

	HOLDS(!sandbox_privileges_drop(&e));
	if (sandbox_calls_limit(&e)) {
		fprintf(stderr, "# skipped: %s\n", e.text);
		return;
	}
	HOLDS(status_field("Seccomp", 10) == 2);
	what_the_daemon_does();
	what_an_intruder_would_do();
}

TEST(other_system_calls_are_refused)
{
	in_child(filtered);
}

/* Before the rest: a library finds no io_uring, and everything else as before. */
static void without_rings(void)
{
	struct err e;

	if (sandbox_rings_refuse()) {
		fprintf(stderr, "# skipped: no filters here\n");
		return;
	}
	REFUSED(syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
	HOLDS(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	if (!sandbox_calls_limit(&e))
		what_the_daemon_does();
}

TEST(libraries_find_no_io_uring)
{
	in_child(without_rings);
}

/* As OpenMP ends its threads. */
static void *leave(void *arg)
{
	pthread_exit(arg);
}

static void all_parts(void)
{
	const struct sandbox_paths p = {.write = {dir}, .read = {"/proc"}};
	struct sandbox_result r;
	pthread_t thread;

	sandbox_enter(&p, &r);
	HOLDS(!*r.missing[SANDBOX_PRIVILEGES]);
	for (int i = 0; i < SANDBOX_PARTS; i++)
		if (*r.missing[i])
			fprintf(stderr, "# without %s: %s\n", sandbox_part_names[i], r.missing[i]);
	HOLDS(file_make(dir) >= 0);
	HOLDS(!pthread_create(&thread, NULL, leave, NULL) && !pthread_join(thread, NULL));
}

TEST(all_parts_together)
{
	in_child(all_parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_gone),
		cmocka_unit_test(other_files_are_out_of_reach),
		cmocka_unit_test(other_system_calls_are_refused),
		cmocka_unit_test(libraries_find_no_io_uring),
		cmocka_unit_test(all_parts_together),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
