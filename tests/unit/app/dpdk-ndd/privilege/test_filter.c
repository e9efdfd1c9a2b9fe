/* SPDX-License-Identifier: BSD-3-Clause */
/* The filters as the kernel has them: processes that have installed one try what it refuses. */
#include "privilege/filter.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ndd_filter filter;
static struct config cfg = {.seccomp = CONFIG_SECCOMP_ENFORCE, .vdevs = 1};
static int epoll_fd, some_fd;

/* Each is 0 if it was possible, else errno. */
static int
do_open(void)
{
	return open("/dev/null", O_RDONLY) < 0 ? errno : 0;
}

static int
do_close(void)
{
	return close(some_fd) < 0 ? errno : 0;
}

static int
do_map(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int
do_map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int
do_make_code(void)
{
	void *mem = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(mem, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
}

static int
do_exec(void)
{
	return execl("/bin/false", "false", NULL) < 0 ? errno : 0;
}

static int
do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : 0;
}

static void *
nothing(void *arg)
{
	return arg;
}

static int
do_thread(void)
{
	pthread_t t;
	int err = pthread_create(&t, NULL, nothing, NULL);

	return err != 0 ? err : pthread_join(t, NULL);
}

static int
do_socket(int family)
{
	int fd = socket(family, SOCK_DGRAM, 0);

	return fd < 0 ? errno : 0;
}

static int
do_unix_socket(void)
{
	return do_socket(AF_UNIX);
}

static int
do_packet_socket(void)
{
	return do_socket(AF_PACKET);
}

static int
do_bpf(void)
{
	return syscall(SYS_bpf, -1, NULL, 0) < 0 && errno == EPERM ? EPERM : 0;
}

static int
do_wait(void)
{
	struct epoll_event ev;

	return epoll_wait(epoll_fd, &ev, 1, 0) < 0 ? errno : 0;
}

static int
do_signal_parent(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) < 0 ? errno : 0;
}

static int
do_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? errno : 0;
}

/* What a process with the filter that was made gets. */
static int
with_filter(int (*act)(void))
{
	pid_t pid = fork();
	int how = -1;

	if (pid == 0)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ndd_filter_install(&filter)
				? act()
				: 255);
	cr_assert_eq(waitpid(pid, &how, 0), pid);
	cr_assert(ne(i32, WIFEXITED(how), 0), "a refusal ends nothing");
	return WEXITSTATUS(how);
}

static void
make(enum ndd_thread_kind kind, const char *vdev)
{
	strcpy(cfg.vdev[0], vdev);
	cr_assert(ndd_filter_make(&filter, kind, &cfg));
}

static void
start(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	some_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TestSuite(filter, .init = start);

static void
expect_each(int (*const acts[])(void), size_t n, int result)
{
	for (size_t i = 0; i < n; i++)
		cr_expect(eq(i32, with_filter(acts[i]), result), "call %zu", i);
}

#define EXPECT_EACH(acts, result) expect_each(acts, sizeof(acts) / sizeof(acts[0]), result)

/* What the control thread and the threads of DPDK are refused. */
static int (*const no_processes[])(void) = {do_exec, do_fork, do_packet_socket, do_bpf, do_map_code,
	do_make_code, do_signal_parent, do_dumpable};

Test(filter, an_lcore_moves_frames_and_opens_and_closes_nothing)
{
	int (*const refused[])(void) = {do_open, do_close, do_exec, do_fork, do_unix_socket, do_bpf,
		do_map_code, do_make_code, do_signal_parent, do_dumpable};

	make(NDD_THREAD_LCORE, "net_memif0");
	cr_expect(eq(i32, with_filter(do_map), 0), "for the handler of SIGBUS");
	cr_expect(eq(i32, with_filter(do_wait), 0));
	EXPECT_EACH(refused, EPERM);
	cr_expect(ne(i32, with_filter(do_thread), 0));
}

Test(filter, the_control_thread_opens_files_and_sockets_but_no_processes)
{
	int (*const possible[])(void) = {do_open, do_close, do_map, do_wait, do_unix_socket};

	make(NDD_THREAD_CONTROL, "net_memif0");
	EXPECT_EACH(no_processes, EPERM);
	EXPECT_EACH(possible, 0);
}

Test(filter, the_closer_closes)
{
	make(NDD_THREAD_CLOSER, "net_memif0");
	cr_expect(eq(i32, with_filter(do_close), 0));
	cr_expect(eq(i32, with_filter(do_open), EPERM));
	cr_expect(eq(i32, with_filter(do_wait), EPERM));
	cr_expect(eq(i32, with_filter(do_unix_socket), EPERM));
}

Test(filter, threads_of_dpdk_make_threads_but_no_processes)
{
	int (*const possible[])(void) = {
		do_open, do_close, do_map, do_wait, do_unix_socket, do_thread};

	make(NDD_THREAD_DPDK, "net_memif0");
	EXPECT_EACH(no_processes, EPERM);
	EXPECT_EACH(possible, 0);
}

Test(filter, ports_have_what_they_need)
{
	make(NDD_THREAD_DPDK, "net_af_xdp0,iface=eth1");
	cr_expect(eq(i32, with_filter(do_bpf), 0));
	/* What a driver that could not be tried does on an lcore is not known. */
	make(NDD_THREAD_LCORE, "net_unheard_of0");
	cr_expect(eq(i32, with_filter(do_open), 0));
	cr_expect(eq(i32, with_filter(do_exec), EPERM));
}

Test(filter, one_that_logs_refuses_nothing)
{
	cfg.seccomp = CONFIG_SECCOMP_LOG;
	make(NDD_THREAD_LCORE, "net_memif0");
	cr_expect(eq(i32, with_filter(do_open), 0));
	cr_expect(eq(i32, with_filter(do_fork), 0));
}
