/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the sandbox together, and the two that need no table: privileges and files. State: none; the
 * kernel keeps it. Way in: sandbox_enter(). The filter of system calls is in sandbox_calls.c.
 */
#include "run/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const sandbox_part_names[SANDBOX_PARTS] = {
	[SANDBOX_PRIVILEGES] = "giving up capabilities",
	[SANDBOX_FILES] = "the limit on files (Landlock)",
	[SANDBOX_CALLS] = "the filter of system calls (seccomp)",
};

/* ---- privileges ---- */

/* A service manager may have taken them, and the call to give them up as well. */
static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capget, &head, have) || have[0].permitted || have[1].permitted;
}

int sandbox_privileges_drop(struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(e, -errno, "no_new_privs: %s", strerror(errno));
	/* Without no_new_privs an executed file could give back what this set has. Only root may. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) && has_capabilities())
		return err_set(e, -errno, "capset: %s", strerror(errno));
	return 0;
}

/* ---- files ---- */

/* Constants of later versions than the headers of a distribution may know. */
#define FS_TRUNCATE  (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define FS_READ	     (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                                                   \
	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR |                             \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | FS_TRUNCATE | FS_IOCTL_DEV)
#define FS_OF_FILE                                                                                 \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* What a version of the interface can limit. */
static uint64_t handled(int version)
{
	uint64_t all = (1ull << 13) - 1; /* version 1: up to MAKE_SYM */

	all |= version >= 2 ? 1ull << 13 : 0; /* REFER */
	all |= version >= 3 ? FS_TRUNCATE : 0;
	all |= version >= 5 ? FS_IOCTL_DEV : 0;
	return all;
}

/* A path that does not exist gives no right: the daemon could not use it before either. */
static int path_allow(int rules, const char *path, uint64_t access, struct err *e)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access};
	struct stat st;
	int rc = 0;

	if (!*path)
		return 0;
	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return 0;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		rule.allowed_access &= FS_OF_FILE;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		rc = err_set(e, -errno, "%s: %s", path, strerror(errno));
	close(rule.parent_fd);
	return rc;
}

int sandbox_files_limit(const struct sandbox_paths *p, struct err *e)
{
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = {.handled_access_fs = handled(version)};
	const char *preloaded = getenv("LD_PRELOAD");
	int rules, rc = 0;

	if (version < 1)
		return err_set(e, -ENOSYS, "the kernel does not have it");
	/* Such a library has files of its own: an emulated device, a test. */
	if (preloaded && *preloaded)
		return err_set(e, -EOPNOTSUPP, "a library is preloaded, whose files are unknown");
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
	if (rules < 0)
		return err_set(e, -errno, "no rules can be made: %s", strerror(errno));
	for (unsigned i = 0; !rc && p->write[i]; i++)
		rc = path_allow(rules, p->write[i], FS_WRITE & attr.handled_access_fs, e);
	for (unsigned i = 0; !rc && p->read[i]; i++)
		rc = path_allow(rules, p->read[i], FS_READ, e);
	if (!rc && syscall(SYS_landlock_restrict_self, rules, 0))
		rc = err_set(e, -errno, "the rules are refused: %s", strerror(errno));
	close(rules);
	return rc;
}

/* ---- all ---- */

static void *thread_exit(void *arg)
{
	pthread_exit(arg);
}

/*
 * The first pthread_exit() of a process loads a library (libgcc_s.so.1), and aborts the process if it cannot. OpenMP
 * ends its threads so. Inside, that library is out of reach.
 */
static void libraries_load(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_exit, NULL))
		pthread_join(thread, NULL);
}

void sandbox_enter(const struct sandbox_paths *p, struct sandbox_result *r)
{
	struct err e[SANDBOX_PARTS] = {{""}};
	int rc[SANDBOX_PARTS];

	libraries_load();
	/* The filter comes last: it does not permit the calls of the others. */
	rc[SANDBOX_PRIVILEGES] = sandbox_privileges_drop(&e[SANDBOX_PRIVILEGES]);
	rc[SANDBOX_FILES] = sandbox_files_limit(p, &e[SANDBOX_FILES]);
	rc[SANDBOX_CALLS] = sandbox_calls_limit(&e[SANDBOX_CALLS]);
	*r = (struct sandbox_result){0};
	for (int i = 0; i < SANDBOX_PARTS; i++)
		if (rc[i])
			snprintf(r->missing[i], sizeof(r->missing[i]), "%.95s", e[i].text);
}
