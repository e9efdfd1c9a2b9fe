/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_arm_processes [CYCLES]
 *
 * Arm, sleep, wake, between two processes that share a mapping and a pipe, as a client and its
 * daemon do: the engine's queue and turn (roce_shard_publish(), roce_shard_fired_cq()) in the one,
 * libndclient's in the other. A wake-up that is lost leaves the client asleep; the deadline is
 * there to tell it, and is far beyond what any machine takes.
 *
 * Neither side spins for the other, so one CPU would do: the client sleeps in poll(), and says so
 * by a byte in a pipe back; the daemon at times sleeps until it says so, at times goes on at once,
 * at times gives its CPU away.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/session/adapter.h"
#include "rigs/stress.h"
#include "roce/queue/cq.h"

#define CYCLES	    100000u
#define DEADLINE_MS 60000
#define DEPTH	    64u
#define BURST_MAX   3u

struct both { /* the mapping */
	uint32_t stop;
	_Alignas(64) uint8_t block[sizeof(struct ndsh_cq_page) + DEPTH * sizeof(struct ndsh_cqe)];
};

static uint32_t
random_pause(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	for (volatile uint32_t i = 0; i < (*seed & 127); i++)
		;
	return *seed >> 8;
}

/* Each on a CPU of its own, if there are two: then what they do happens at the same time, while on
 * one CPU the process that is woken runs first. Best effort. */
static void
settle_on(int which)
{
	cpu_set_t allowed, one;
	int seen = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || seen++ != which)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
	}
}

/* ---- the daemon's process ------------------------------------------------------------- */

static struct roce_shard *
make_shard(void)
{
	const struct roce_shard_cfg cfg = {.max_qps = 1,
		.max_cqs = 1,
		.max_pds = 1,
		.max_mrs = 1,
		.max_wqes = 16,
		.secret = {1, 2},
		.rto_floor_ns = 10000000,
		.window = 16};
	size_t bytes = (roce_shard_bytes(&cfg) + 63) & ~(size_t)63;
	void *mem = aligned_alloc(64, bytes);

	memset(mem, 0, bytes);
	return roce_shard_init(mem, &cfg);
}

static void
turn(struct roce_shard *s, struct roce_cq *cq, uint32_t burst, uint64_t *made, int wake)
{
	for (; burst > 0; burst--)
		roce_cq_push(s, cq,
			&(struct ndsh_cqe){
				.context = ++*made, .qp = UINT32_MAX, .op = NDSH_OP_RECV});
	roce_shard_publish(s);
	while (roce_shard_fired_cq(s, 0) != NULL)
		STRESS_CHECK(
			write(wake, "", 1) == 1, "the pipe is full of bytes that were not read\n");
}

static bool
hear(int asleep)
{
	uint8_t bytes[64];

	STRESS_CHECK(read(asleep, bytes, sizeof(bytes)) > 0, "the client died\n");
	return true;
}

static int
daemon_process(struct both *b, int wake, int asleep)
{
	struct roce_shard *s = make_shard();
	struct roce_cq *cq = roce_cq_create(s, NULL, b->block, DEPTH, NULL);
	struct ndsh_cq_page *page = (void *)b->block;
	uint32_t seed = 3, r;
	bool full;
	uint64_t made = 0;
	bool heard = false; /* the client may be asleep, and owes us no other byte */

	while (__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE) == 0) {
		r = random_pause(&seed);
		full = made + BURST_MAX - __atomic_load_n(&page->consumer, __ATOMIC_ACQUIRE) >
		       DEPTH;
		if (!heard && (full || r % 8 == 0))
			heard = hear(asleep);
		else if (full || r % 8 == 1)
			sched_yield();
		if (full)
			continue;
		turn(s, cq, 1 + (r >> 3) % BURST_MAX, &made, wake);
		heard = false;
	}
	return 0;
}

/* ---- the client's process ------------------------------------------------------------- */

static struct nd_cq *
make_queue(struct both *b, int pipe_fd)
{
	struct nd_adapter *a = nd_adapter_new();
	struct nd_cq *cq = calloc(1, sizeof(*cq));

	pthread_mutex_init(&a->lock, NULL);
	cq->adapter = a;
	cq->notify_fd = pipe_fd;
	cq->event_fd = cq->poll_fd = -1;
	ndsh_cq_reader_view(&cq->reader, b->block, DEPTH);
	return cq;
}

static uint64_t
take_all(struct nd_cq *cq, uint64_t taken)
{
	struct nd_result r[8];
	int32_t got;

	while ((got = nd_cq_get_results(cq, r, 8)) > 0)
		for (int32_t i = 0; i < got; i++)
			STRESS_CHECK(r[i].request_context == (void *)(uintptr_t)++taken,
				"entry %lu\n", (unsigned long)taken);
	STRESS_CHECK(got == 0, "%s\n", nd_status_name(got));
	return taken;
}

/* checks R-CQ-12[1,2], R-CQ-15 */
static void
client_process(struct nd_cq *cq, int asleep, uint32_t cycles)
{
	struct pollfd p = {.fd = nd_cq_fd(cq), .events = POLLIN};
	uint64_t taken = 0;
	uint32_t seed = 7, slept = 0;

	for (uint32_t i = 0; i < cycles; i++) {
		taken = take_all(cq, taken);
		(void)random_pause(&seed);
		STRESS_CHECK(nd_cq_arm(cq, ND_CQ_NOTIFY_ANY) == ND_SUCCESS, "cycle %u\n", i);
		slept += poll(&p, 1, 0) == 0;
		(void)!write(asleep, "", 1); /* full: there is enough to be read */
		STRESS_CHECK(poll(&p, 1, DEADLINE_MS) == 1,
			"a wake-up is lost in cycle %u, %lu taken, "
			"%lu made\n",
			i, (unsigned long)taken, (unsigned long)cq->reader.page->produced);
		nd_cq_ack(cq);
	}
	printf("%u cycles, %u times really asleep, %lu entries\n", cycles, slept,
		(unsigned long)taken);
	STRESS_CHECK(slept > cycles / 10, "the interesting case must be common\n");
}

int
main(int argc, char **argv)
{
	uint32_t asked = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	uint32_t cycles = asked != 0 ? asked : CYCLES; /* the runner has words of its own */
	struct nd_cq *cq;
	struct both *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int wake[2], asleep[2], status;
	struct timespec from, to;
	pid_t child;

	STRESS_CHECK(
		b != MAP_FAILED && pipe2(wake, O_CLOEXEC) == 0 && pipe2(asleep, O_CLOEXEC) == 0,
		"out of resources\n");
	fcntl(wake[0], F_SETFL, O_NONBLOCK);
	fcntl(asleep[1], F_SETFL, O_NONBLOCK);
	child = fork();
	if (child == 0) {
		close(asleep[1]);
		settle_on(1);
		_exit(daemon_process(b, wake[1], asleep[0]));
	}
	close(wake[1]);
	close(asleep[0]);
	settle_on(0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	cq = make_queue(b, wake[0]);
	client_process(cq, asleep[1], cycles);
	clock_gettime(CLOCK_MONOTONIC, &to);
	__atomic_store_n(&b->stop, 1, __ATOMIC_RELEASE);
	(void)!write(asleep[1], "", 1);
	STRESS_CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			     WEXITSTATUS(status) == 0,
		"the daemon's process ended with %x\n", (unsigned)status);
	nd_cq_close_fds(cq);
	pthread_mutex_destroy(&cq->adapter->lock);
	nd_adapter_free(cq->adapter);
	free(cq);
	printf("%.1f s\n", (double)(to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9);
	return 0;
}
