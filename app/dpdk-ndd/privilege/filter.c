/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lists are what strace saw of each kind of thread in all end-to-end tests, after the start,
 * and the few calls beside that the C library takes instead of those, on other kernels or
 * processors.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/log.h"
#include "privilege/filter.h"
#include "privilege/needs.h"

/* Of every thread: to wait, to allocate, to handle SIGBUS, to die. */
static const char *const of_all[] = {"brk", "clock_gettime", "clock_nanosleep", "exit",
	"exit_group", "futex", "getcpu", "getpid", "gettid", "gettimeofday", "getuid", "geteuid",
	"madvise", "mremap", "munmap", "nanosleep", "read", "restart_syscall", "rseq",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_yield", "set_robust_list",
	"sigaltstack", "write", NULL};

/* Frames through sockets and TAP, wake-ups. An lcore opens nothing and closes nothing. */
static const char *const of_lcores[] = {"epoll_pwait", "epoll_pwait2", "epoll_wait", "poll",
	"ppoll", "readv", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto",
	"writev", NULL};

static const char *const of_closer[] = {"close", NULL};

/* Sessions and their memory, the kernel's tables of shared ports, the configuration. */
static const char *const of_control[] = {"accept", "accept4", "bind", "close", "connect",
	"epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "fcntl", "fstat",
	"fstatfs", "ftruncate", "get_mempolicy", "getrandom", "getsockname", "getsockopt", "ioctl",
	"lseek", "mbind", "membarrier", "memfd_create", "mlock", "mlock2", "munlock", "newfstatat",
	"open", "openat", "pidfd_open", "poll", "ppoll", "recvfrom", "recvmsg", "sendmsg", "sendto",
	"setsockopt", "shutdown", "stat", "statx", "timerfd_settime", "unlink", "unlinkat", NULL};

static const char *const of_memif[] = {"accept", "accept4", "close", "connect", "eventfd2", "fcntl",
	"fstat", "fstatfs", "ftruncate", "membarrier", "memfd_create", "newfstatat", "poll",
	"ppoll", "recvfrom", "recvmsg", "sendmsg", "shutdown", "statfs", NULL};

/* vhost-user's connections, telemetry, a program taken off its interface. */
static const char *const of_dpdk[] = {"accept", "accept4", "bind", "close", "connect",
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
	"fcntl", "flock", "fstat", "fstatfs", "ftruncate", "get_mempolicy", "getdents64",
	"getrandom", "getsockname", "getsockopt", "ioctl", "lseek", "membarrier", "memfd_create",
	"mkdir", "mkdirat", "newfstatat", "open", "openat", "poll", "ppoll", "readv", "recvfrom",
	"recvmsg", "sched_getaffinity", "sched_setaffinity", "sendmsg", "sendto", "setsockopt",
	"shutdown", "stat", "statfs", "statx", "timerfd_settime", "unlink", "unlinkat", "writev",
	NULL};

static const char *const *const list_of[NDD_THREAD_KINDS] = {
	[NDD_THREAD_LCORE] = of_lcores,
	[NDD_THREAD_CONTROL] = of_control,
	[NDD_THREAD_CLOSER] = of_closer,
	[NDD_THREAD_MEMIF] = of_memif,
	[NDD_THREAD_DPDK] = of_dpdk,
};

/* Threads that open sockets open them of these families alone. */
static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

static bool
allow_call(scmp_filter_ctx ctx, const char *name, unsigned count, const struct scmp_arg_cmp *cmp)
{
	int number = seccomp_syscall_resolve_name(name), rc;

	if (number == __NR_SCMP_ERROR) /* younger than the library */
		return true;
	rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, number, count, cmp);
	return rc == 0;
}

static bool
allow_list(scmp_filter_ctx ctx, const char *const *list)
{
	for (; *list != NULL; list++)
		if (!allow_call(ctx, *list, 0, NULL))
			return false;
	return true;
}

/* No memory becomes code; signals go to the process itself; names and a timer are the thread's. */
static bool
allow_limited(scmp_filter_ctx ctx)
{
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				  self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()),
				  slack = SCMP_A0(SCMP_CMP_EQ, PR_SET_TIMERSLACK),
				  name = SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME),
				  ask_name = SCMP_A0(SCMP_CMP_EQ, PR_GET_NAME);

	return allow_call(ctx, "mmap", 1, &no_code) && allow_call(ctx, "mprotect", 1, &no_code) &&
	       allow_call(ctx, "tgkill", 1, &self) && allow_call(ctx, "prctl", 1, &slack) &&
	       allow_call(ctx, "prctl", 1, &name) && allow_call(ctx, "prctl", 1, &ask_name);
}

static bool
allow_sockets(scmp_filter_ctx ctx)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct scmp_arg_cmp family = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i]);

		if (!allow_call(ctx, "socket", 1, &family))
			return false;
	}
	return true;
}

/* Wake-ups of clients. */
static bool
allow_pairs(scmp_filter_ctx ctx)
{
	const struct scmp_arg_cmp family = SCMP_A0(SCMP_CMP_EQ, AF_UNIX);

	return allow_call(ctx, "socketpair", 1, &family);
}

/* Threads, but no processes. */
static bool
allow_clone(scmp_filter_ctx ctx)
{
	const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);

	return allow_call(ctx, "clone", 1, &thread);
}

/* The flags of clone3() are out of sight; without it the C library takes clone(). */
static bool
refuse_clone3(scmp_filter_ctx ctx)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool
allow_kind(scmp_filter_ctx ctx, enum ndd_thread_kind kind, const struct config *cfg)
{
	if (!allow_list(ctx, of_all) || !allow_limited(ctx) || !allow_list(ctx, list_of[kind]))
		return false;
	/* It starts the sessions' workers, and for each a refused clone3() would write a line to
	 * the kernel's log. So it could make a process by that call, which would be as limited as
	 * itself and could run no other program. */
	if (kind == NDD_THREAD_CONTROL)
		return allow_sockets(ctx) && allow_pairs(ctx) && allow_clone(ctx) &&
		       allow_call(ctx, "clone3", 0, NULL);
	if (kind == NDD_THREAD_MEMIF)
		return allow_sockets(ctx);
	if (kind == NDD_THREAD_DPDK)
		return allow_sockets(ctx) && allow_clone(ctx) && refuse_clone3(ctx) &&
		       (!ndd_needs_bpf(cfg) || allow_call(ctx, "bpf", 0, NULL));
	return true;
}

/* The library writes it to a file. */
static bool
export_code(scmp_filter_ctx ctx, struct ndd_filter *f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0 && seccomp_export_bpf(ctx, fd) == 0)
		n = pread(fd, f->code, sizeof(f->code), 0);
	if (fd >= 0)
		close(fd);
	f->length = n < 0 ? 0 : (unsigned short)((size_t)n / sizeof(f->code[0]));
	return n > 0 && (size_t)n < sizeof(f->code);
}

bool
ndd_filter_make(struct ndd_filter *f, enum ndd_thread_kind kind, const struct config *cfg)
{
	bool log = cfg->seccomp == CONFIG_SECCOMP_LOG, made = false;
	scmp_filter_ctx ctx = seccomp_init(log ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(EPERM));

	/* What an lcore calls for a driver that could not be tried is not known. */
	if (kind == NDD_THREAD_LCORE && ndd_needs_unknown(cfg))
		kind = NDD_THREAD_DPDK;
	if (ctx != NULL) {
		(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree */
		made = allow_kind(ctx, kind, cfg) && export_code(ctx, f);
		seccomp_release(ctx);
	}
	if (!made)
		ndd_error(
			"the filter of system calls can't be made; control.seccomp may be \"off\"");
	return made;
}

/* Refusals are in the kernel's log. Kernels before 5.16 take a filter for a sign of foreign code,
 * and slow down loads behind stores; the daemon runs its own alone. */
bool
ndd_filter_install(const struct ndd_filter *f)
{
	const struct sock_fprog program = {f->length, (struct sock_filter *)(uintptr_t)f->code};
	const unsigned long flags = SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW;

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}
