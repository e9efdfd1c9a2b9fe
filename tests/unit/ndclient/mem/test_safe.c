/* SPDX-License-Identifier: BSD-3-Clause */
/* What keeps memory from being adopted by default: each thing is there for real, and it alone. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndclient/mem/advice.h"
#include "ndclient/mem/pins.h"
#include "ndclient/mem/safe.h"
#include "ndclient/session/thread.h"

#define BYTES 65536u

static char *memory;

static void
set_up(void)
{
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, memory, MAP_FAILED));
	memset(memory, 1, BYTES);
	cr_assert(not(nd_pins_possible(false)), "nothing that pins is there");
}

TestSuite(ndclient_safe, .init = set_up, .timeout = 60);

/* ---- descriptors ----------------------------------------------------------------------------- */

Test(ndclient_safe, what_programs_have_is_harmless)
{
	int pair[2], file = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	cr_assert(zero(i32, pipe(pair)));
	cr_assert(zero(i32, socketpair(AF_UNIX, SOCK_STREAM, 0, pair)));
	cr_assert(ge(i32, socket(AF_INET, SOCK_STREAM, 0), 0));
	cr_assert(ge(i32, eventfd(0, 0), 0));
	cr_assert(ge(i32, epoll_create1(0), 0));
	cr_assert(ge(i32, timerfd_create(CLOCK_MONOTONIC, 0), 0));
	cr_assert(ge(i32, open("/dev/urandom", O_RDONLY), 0));
	cr_assert(ge(i32, open("/", O_RDONLY | O_DIRECTORY), 0));
	cr_assert(ge(i32, memfd_create("", 0), 0));
	cr_assert(file >= 0 || errno == EOPNOTSUPP);
	cr_assert(ge(i32, open("/proc/self/stat", O_RDONLY), 0));
	cr_expect(not(nd_pins_possible(false)));
}

static int
ring_new(void)
{
	struct io_uring_params p = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 4, &p);

	if (ring < 0)
		cr_skip_test("no io_uring");
	return ring;
}

Test(ndclient_safe, io_uring)
{
	int ring = ring_new();

	cr_expect(nd_pins_possible(false));
	close(ring);
	cr_expect(not(nd_pins_possible(false)));
}

/* The ring lives as long as its mapping. */
Test(ndclient_safe, io_uring_without_descriptor)
{
	int ring = ring_new();
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ring, IORING_OFF_SQ_RING);

	cr_assert(ne(ptr, at, MAP_FAILED));
	close(ring);
	cr_expect(nd_pins_possible(false));
	munmap(at, 4096);
	cr_expect(not(nd_pins_possible(false)));
}

/* Another process has the ring; the pages are this one's. */
Test(ndclient_safe, fixed_buffers)
{
	int ring = ring_new(), status;
	struct iovec buffer = {memory, 4096};
	pid_t child;

	cr_assert(zero(
		i64, syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1)));
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	close(ring);
	cr_expect(nd_pins_possible(false));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

Test(ndclient_safe, asynchronous_io)
{
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 4, &context) != 0)
		cr_skip_test("no asynchronous I/O");
	cr_expect(nd_pins_possible(false));
	syscall(SYS_io_destroy, context);
	cr_expect(not(nd_pins_possible(false)));
}

Test(ndclient_safe, direct_io)
{
	char name[] = "/tmp/ndd-direct-XXXXXX";
	int made = mkstemp(name), fd;

	cr_assert(ge(i32, made, 0));
	close(made);
	fd = open(name, O_RDWR | O_DIRECT);
	unlink(name);
	if (fd < 0)
		cr_skip_test("no O_DIRECT here");
	cr_expect(nd_pins_possible(false));
	cr_assert(zero(i32, fcntl(fd, F_SETFL, 0)));
	cr_expect(not(nd_pins_possible(false)));
}

Test(ndclient_safe, devices)
{
	static const char *const names[] = {"/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/kmsg",
		"/dev/vhost-net", "/dev/snapshot"};
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(names) / sizeof(names[0]); i++)
		fd = open(names[i], O_RDONLY);
	if (fd < 0)
		cr_skip_test("no device that may be opened");
	cr_expect(nd_pins_possible(false));
	close(fd);
	cr_expect(not(nd_pins_possible(false)));
}

Test(ndclient_safe, sockets_of_other_kinds)
{
	static const int domains[] = {AF_ALG, AF_VSOCK, AF_PACKET, 44 /* AF_XDP */};
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(domains) / sizeof(domains[0]); i++)
		fd = socket(domains[i],
			i == 0	 ? SOCK_SEQPACKET
			: i == 1 ? SOCK_STREAM
				 : SOCK_RAW,
			0);
	if (fd < 0)
		cr_skip_test("no other socket may be opened");
	cr_expect(nd_pins_possible(false));
	close(fd);
	cr_expect(not(nd_pins_possible(false)));
}

/* A read() of another thread could pin its buffer, if the file system is of a kind that does. */
Test(ndclient_safe, files_of_other_kinds)
{
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY);

	if (fd < 0)
		cr_skip_test("no such file of /sys");
	cr_expect(nd_pins_possible(true));
	cr_expect(not(nd_pins_possible(false)));
}

/* ---- threads --------------------------------------------------------------------------------- */

struct stop {
	pthread_barrier_t begun;
	int fd[2];
	bool apart;
};

static void *
wait_for_end(void *arg)
{
	struct stop *s = arg;
	char byte;

	if (s->apart)
		cr_assert(zero(i32, unshare(CLONE_FILES)));
	pthread_barrier_wait(&s->begun);
	return read(s->fd[0], &byte, 1) == 1 ? NULL : s;
}

static void
stop_begin(struct stop *s, pthread_t *thread, bool own)
{
	bool good;

	pthread_barrier_init(&s->begun, NULL, 2);
	cr_assert(zero(i32, pipe(s->fd)));
	good = own ? nd_thread_start(thread, wait_for_end, s)
		   : nd_thread_start_callbacks(thread, wait_for_end, s);
	cr_assert(good);
	pthread_barrier_wait(&s->begun);
}

static void
stop_end(struct stop *s, pthread_t thread)
{
	cr_assert(eq(i64, write(s->fd[1], "", 1), 1));
	pthread_join(thread, NULL);
}

/* The test runner has a thread of its own; a child does not. True: the body was right. */
static bool
alone(bool (*body)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(body() ? 0 : 1);
	return waitpid(child, &status, 0) == child && status == 0;
}

static bool
own_threads_dont_count(void)
{
	struct stop own = {.apart = false};
	pthread_t thread;
	struct nd_safe_found found;
	bool others, good;

	good = nd_threads_look() == ND_OTHERS_NONE;
	stop_begin(&own, &thread, true);
	good = good && nd_threads_look() == ND_OTHERS_NONE;
	good = good && nd_safe_look(memory, BYTES, false, &found) == ND_ADOPT_REASONS &&
	       !found.others;
	good = good && nd_safe_to_return(false, &others);
	stop_end(&own, thread);
	return good;
}

static bool
other_threads_count(void)
{
	struct stop other = {.apart = false};
	pthread_t thread;
	struct nd_safe_found found;
	bool others, good;

	stop_begin(&other, &thread, false);
	good = nd_safe_look(memory, BYTES, false, &found) == ND_ADOPT_THREADS && found.others &&
	       !nd_safe_to_return(false, &others);
	stop_end(&other, thread);
	return good;
}

/* Where their system calls can be held, too, and their descriptors are these. */
static bool
others_may_be_held(void)
{
	struct stop other = {.apart = false};
	pthread_t thread;
	struct nd_safe_found found;
	bool others, good;

	stop_begin(&other, &thread, false);
	good = nd_threads_look() == ND_OTHERS_UNKNOWN || /* no kcmp() */
	       (nd_safe_look(memory, BYTES, true, &found) == ND_ADOPT_REASONS && found.others &&
		       nd_safe_to_return(true, &others));
	stop_end(&other, thread);
	return good;
}

static bool
other_descriptors_count(void)
{
	struct stop apart = {.apart = true};
	pthread_t thread;
	struct nd_safe_found found;
	bool others, good;

	stop_begin(&apart, &thread, false);
	good = nd_threads_look() == ND_OTHERS_UNKNOWN &&
	       nd_safe_look(memory, BYTES, true, &found) == ND_ADOPT_THREADS &&
	       !nd_safe_to_return(true, &others);
	stop_end(&apart, thread);
	return good;
}

static bool
each_thing_counts(void)
{
	int stat = open("/proc/self/stat", O_RDONLY), ring;
	struct io_uring_params p = {0};
	struct nd_safe_found found;
	bool others, good;

	good = nd_safe_look(memory, BYTES, false, &found) == ND_ADOPT_REASONS;
	ring = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (ring >= 0)
		good = good && nd_safe_look(memory, BYTES, true, &found) == ND_ADOPT_PINS &&
		       !nd_safe_to_return(true, &others);
	close(ring);
	close(stat);
	good = good && madvise(memory + 4096, 4096, MADV_DONTFORK) == 0;
	return good && nd_safe_look(memory, BYTES, true, &found) == ND_ADOPT_ADVICE;
}

Test(ndclient_safe, threads)
{
	cr_expect(alone(own_threads_dont_count));
	cr_expect(alone(other_threads_count));
	cr_expect(alone(others_may_be_held));
	cr_expect(alone(other_descriptors_count));
}

Test(ndclient_safe, reasons)
{
	cr_expect(alone(each_thing_counts));
}

/* ---- the memory ------------------------------------------------------------------------------ */

static void
advice_counts(int (*give)(char *at))
{
	cr_assert(eq(int, nd_advice_of(memory, BYTES), ND_ADVICE_NONE));
	if (give(memory + 4096) != 0)
		cr_skip_test("not to be had here");
	cr_expect(eq(int, nd_advice_of(memory, BYTES), ND_ADVICE_SOME));
	cr_expect(eq(int, nd_advice_of(memory, 4096), ND_ADVICE_NONE), "beside it");
	cr_expect(eq(int, nd_advice_of(memory + 8192, BYTES - 8192), ND_ADVICE_NONE));
}

static int
lock(char *at)
{
	return (int)syscall(SYS_mlock, at, 4096); /* ASan leaves the call out */
}

static int
hide_from_children(char *at)
{
	return madvise(at, 4096, MADV_DONTFORK);
}

static int
hide_from_dumps(char *at)
{
	return madvise(at, 4096, MADV_DONTDUMP);
}

static int
wipe_in_children(char *at)
{
	return madvise(at, 4096, MADV_WIPEONFORK);
}

static int
merge(char *at)
{
	return madvise(at, 4096, MADV_MERGEABLE);
}

static int
bind_to_node(char *at)
{
	unsigned long node = 1;

	return (int)syscall(SYS_mbind, at, 4096, 2 /* MPOL_BIND */, &node, 8, 0);
}

static int
protect_by_key(char *at)
{
	int key = pkey_alloc(0, 0);

	return key < 0 ? -1 : pkey_mprotect(at, 4096, PROT_READ | PROT_WRITE, key);
}

Test(ndclient_safe, locked)
{
	advice_counts(lock);
}

Test(ndclient_safe, not_for_children)
{
	advice_counts(hide_from_children);
}

Test(ndclient_safe, not_for_dumps)
{
	advice_counts(hide_from_dumps);
}

Test(ndclient_safe, wiped)
{
	advice_counts(wipe_in_children);
}

Test(ndclient_safe, merged)
{
	advice_counts(merge);
}

Test(ndclient_safe, bound_to_a_node)
{
	advice_counts(bind_to_node);
}

Test(ndclient_safe, protected_by_a_key)
{
	advice_counts(protect_by_key);
}

/* Large memory, to be counted before a small range is told of: below it. */
Test(ndclient_safe, not_worth_the_search)
{
	const size_t much = 80u << 20, little = 4096;
	char *at = mmap(NULL, much + little, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	cr_assert(ne(ptr, at, MAP_FAILED));
	cr_assert(zero(i32, mprotect(at + much - little, little, PROT_READ)));
	cr_expect(eq(int, nd_advice_of(at + much, little), ND_ADVICE_TOO_DEAR));
	cr_expect(eq(int, nd_advice_of(at, much - little), ND_ADVICE_NONE));
}

/* One mapping, all of which would be counted for a small part of it; a large part is worth it. */
Test(ndclient_safe, not_worth_the_mapping)
{
	const size_t much = 200u << 20, little = 64u << 10;
	char *at = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(ne(ptr, at, MAP_FAILED));
	cr_expect(eq(int, nd_advice_of(at + much / 2, little), ND_ADVICE_TOO_DEAR));
	cr_expect(eq(int, nd_advice_of(at, much / 2), ND_ADVICE_NONE));
	cr_expect(eq(int, nd_advice_of(at + much / 2, much / 2), ND_ADVICE_NONE));
}
