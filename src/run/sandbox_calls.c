/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of system calls: a table of those that the daemon, its libraries and its child processes make,
 * turned into a BPF program (seccomp(2)). State: none. Way in: sandbox_calls_limit(). A call that is not in
 * the table fails and does nothing; the process goes on.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
#include "run/sandbox.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* no table for this one */
#endif

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum { LAST_KNOWN = 460, X32_BIT = 0x40000000, UMAD_IOCTLS = 0x1b00 };

/* By the number of the call. Those that only some architectures have are in #ifdef. */
/* clang-format off */
static const int allowed[] = {
	/* memory; mmap and mprotect have conditions */
	SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mincore, SYS_membarrier,
	/* threads and processes; clone, prctl, prlimit64 and tgkill have conditions */
	SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_set_tid_address,
	SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam,
	SYS_sched_getscheduler, SYS_getcpu, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
	SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
	SYS_getgroups, SYS_getpgid, SYS_getrusage, SYS_restart_syscall,
	/* signals */
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
	SYS_rt_sigtimedwait, SYS_sigaltstack,
	/* time and random numbers */
	SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
	SYS_getrandom, SYS_setitimer, SYS_uname, SYS_sysinfo,
	/* descriptors; ioctl has conditions */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv,
	SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup,
	SYS_dup3, SYS_fcntl, SYS_flock, SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl,
	SYS_epoll_pwait, SYS_eventfd2, SYS_pipe2,
	/* files */
	SYS_openat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2,
	SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_fsync, SYS_fdatasync, SYS_ftruncate,
	SYS_truncate, SYS_fallocate, SYS_fadvise64, SYS_renameat, SYS_renameat2, SYS_unlinkat,
	SYS_mkdirat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_umask, SYS_statfs, SYS_fstatfs,
	SYS_utimensat,
	/* sockets; socket has conditions */
	SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_connect, SYS_getsockname,
	SYS_getpeername, SYS_getsockopt, SYS_setsockopt, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_shutdown, SYS_socketpair,
#if defined(__x86_64__) /* the older forms */
	SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_select, SYS_dup2,
	SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_pipe, SYS_rename, SYS_unlink, SYS_mkdir,
	SYS_rmdir, SYS_chmod, SYS_getdents, SYS_pause, SYS_time, SYS_getrlimit, SYS_getpgrp,
#endif
};
/* clang-format on */

struct program {
	VEC(struct sock_filter) code;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	vec_push(&p->code, ((struct sock_filter){code, yes, no, k}));
}

static void load(struct program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void end_with(struct program *p, uint32_t action)
{
	add(p, BPF_RET | BPF_K, action, 0, 0);
}

static void allow(struct program *p)
{
	end_with(p, SECCOMP_RET_ALLOW);
}

static void refuse(struct program *p, int why)
{
	end_with(p, SECCOMP_RET_ERRNO | (uint32_t)why);
}

/* Skip the next n instructions unless the loaded value is k. */
static void unless_equal(struct program *p, uint32_t k, unsigned n)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, (uint8_t)n);
}

/* The lower half of an argument; both halves of a descriptor, flag or word matter only there. */
static size_t argument(unsigned i)
{
	return offsetof(struct seccomp_data, args) + 8ul * i;
}

/* The call, with a condition on the bits `mask` of an argument: they must be `value`. */
static void allow_if(struct program *p, int call, unsigned arg, uint32_t mask, uint32_t value)
{
	unless_equal(p, (uint32_t)call, 5);
	load(p, argument(arg));
	add(p, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	unless_equal(p, value, 1);
	allow(p);
	load(p, offsetof(struct seccomp_data, nr)); /* for what follows */
}

/* A socket of this family, for datagrams: no stream leads from here to a service that trusts root. */
static void allow_socket(struct program *p, uint32_t family)
{
	unless_equal(p, SYS_socket, 7);
	load(p, argument(0));
	unless_equal(p, family, 4);
	load(p, argument(1));
	add(p, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0); /* without SOCK_CLOEXEC and others */
	unless_equal(p, SOCK_DGRAM, 1);
	allow(p);
	load(p, offsetof(struct seccomp_data, nr));
}

static void conditions(struct program *p)
{
	static const uint32_t ioctls[] = {FIONBIO, FIONREAD, FIOCLEX, TCGETS, TIOCGWINSZ};
	static const uint32_t namespaces = 0x7e020080; /* CLONE_NEW* */

	allow_if(p, SYS_mmap, 2, PROT_EXEC, 0);
	allow_if(p, SYS_mprotect, 2, PROT_EXEC, 0);
	allow_if(p, SYS_clone, 0, namespaces, 0);
	allow_if(p, SYS_prctl, 0, UINT32_MAX, PR_SET_NAME);
	allow_if(p, SYS_prlimit64, 2, UINT32_MAX, 0); /* read a limit, do not set it */
	allow_if(p, SYS_tgkill, 0, UINT32_MAX, (uint32_t)getpid()); /* abort() */
	allow_socket(p, AF_UNIX);
	allow_socket(p, AF_INET);
	allow_if(p, SYS_ioctl, 1, 0xff00, UMAD_IOCTLS);
	for (unsigned i = 0; i < ARRAY_LEN(ioctls); i++)
		allow_if(p, SYS_ioctl, 1, UINT32_MAX, ioctls[i]);
}

static void program_make(struct program *p)
{
	load(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	end_with(p, SECCOMP_RET_KILL_PROCESS); /* another table of numbers */
	load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
	add(p, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	refuse(p, EPERM);
#endif
	for (unsigned i = 0; i < ARRAY_LEN(allowed); i++) {
		unless_equal(p, (uint32_t)allowed[i], 1);
		allow(p);
	}
	conditions(p);
	/* A library tries what an older kernel does not have, and then another call. */
	unless_equal(p, SYS_clone3, 1); /* its flags are in memory, where no filter can see them */
	refuse(p, ENOSYS);
	add(p, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
	refuse(p, ENOSYS);
	refuse(p, EPERM);
}

/* A sanitizer looks for leaks with ptrace(), which is not for a daemon. */
static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return true;
#else
	return false;
#endif
#else
	return false;
#endif
}

static int program_load(const struct program *p)
{
	struct sock_fprog prog = {.len = (unsigned short)p->code.n, .filter = p->code.at};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog)
		       ? -errno
		       : 0;
}

int sandbox_rings_refuse(void)
{
	struct program p = {0};
	int rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	load(&p, offsetof(struct seccomp_data, nr)); /* the same number on all architectures */
	unless_equal(&p, SYS_io_uring_setup, 1);
	refuse(&p, ENOSYS);
	allow(&p);
	rc = program_load(&p);
	vec_free(&p.code);
	return rc;
}

int sandbox_calls_limit(struct err *e)
{
	struct program p = {0};
	int rc;

	if (!ARCH)
		return err_set(e, -ENOSYS, "there is no table of calls for this architecture");
	if (is_sanitized())
		return err_set(e, -EOPNOTSUPP, "built with a sanitizer, which needs more calls");
	program_make(&p);
	rc = program_load(&p);
	if (rc)
		err_set(e, rc, "the kernel refuses it: %s", strerror(-rc));
	vec_free(&p.code);
	return rc;
}
