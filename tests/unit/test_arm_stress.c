/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real arming and doorbell code between two threads that sleep at every opportunity. What a
 * model of x86-TSO proves, this tries with the compiler's code and, in a ThreadSanitizer build
 * (-Db_sanitize=thread), for races. A program of its own: Criterion's isolation and that sanitizer
 * exclude each other. The deadline only bounds a failure: a lost wake-up would sleep for ever.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm/ndsh_ring.h"

#define CYCLES	   300000u
#define DEADLINE_S 60
#define DEPTH	   64u

#define CHECK(ok, ...)                                                                             \
	do {                                                                                       \
		if (!(ok)) {                                                                       \
			fprintf(stderr, "line %d: %s: ", __LINE__, #ok);                           \
			fprintf(stderr, __VA_ARGS__);                                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* xorshift: pauses of a few dozen instructions shift the two threads against each other */
static uint32_t
pause_a_bit(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	for (volatile uint32_t i = 0; i < (*seed & 63); i++)
		;
	return *seed;
}

static bool
wait_for(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DEADLINE_S;
	while (sem_timedwait(sem, &until) != 0)
		if (errno == ETIMEDOUT)
			return false;
	return true;
}

/* ---- completions and arming ---------------------------------------------------------- */

struct arming {
	_Alignas(64) uint8_t block[sizeof(struct ndsh_cq_page) + DEPTH * sizeof(struct ndsh_cqe)];
	struct ndsh_cq cq;
	struct ndsh_cq_reader reader;
	sem_t wake;
	uint32_t fired, slept;
};

static uint32_t
taken_of(const struct arming *a)
{
	return (uint32_t)__atomic_load_n(&a->cq.page->consumer, __ATOMIC_ACQUIRE);
}

/* Bursts of a few entries. At times it waits until the client has taken all and gone to sleep, or
 * is about to: only if that one was told, of course. */
static void *
produce(void *arg)
{
	struct arming *a = arg;
	bool solicited = false;
	uint32_t seed = 1;

	for (uint32_t made = 0; made < CYCLES;) {
		uint32_t burst = 1 + (pause_a_bit(&seed) >> 8) % 3;

		while (made - taken_of(a) > (solicited && seed & 512 ? 0 : DEPTH / 2))
			sched_yield();
		for (; burst > 0 && made < CYCLES; burst--, made++) {
			struct ndsh_cqe e = {.context = made, .op = NDSH_OP_RECV};

			solicited = seed & 256 || made % 8 == 7; /* 7: the last one, too */
			if (solicited)
				e.flags = NDSH_CQEF_SOLICITED;
			CHECK(ndsh_cq_push(&a->cq, &e), "entry %u\n", made);
		}
		ndsh_cq_publish(&a->cq);
		ndsh_full_barrier();
		if (ndsh_cq_fire(&a->cq)) {
			a->fired++;
			sem_post(&a->wake);
		}
	}
	return NULL;
}

static void
consume(struct arming *a, enum ndsh_arm type)
{
	struct ndsh_cqe e[8];
	uint32_t taken = 0, slept = 0, got, seed = 7;

	while (taken < CYCLES) {
		while ((got = ndsh_cq_poll(&a->reader, e, 8)) != 0)
			for (uint32_t i = 0; i < got; i++, taken++)
				CHECK(e[i].context == taken, "entry %u\n", taken);
		(void)pause_a_bit(&seed);
		if (taken == CYCLES || ndsh_cq_arm(&a->reader, type, NULL) == NDSH_ARM_FIRED)
			continue;
		CHECK(wait_for(&a->wake), "asleep with %u of %u entries taken\n", taken, CYCLES);
		slept++;
	}
	a->slept = slept;
}

/* checks R-CQ-12, R-CQ-15 */
static void
arm_and_sleep(enum ndsh_arm type)
{
	struct arming *a = aligned_alloc(64, sizeof(*a));
	pthread_t producer;

	memset(a, 0, sizeof(*a));
	ndsh_cq_view(&a->cq, a->block, DEPTH);
	ndsh_cq_reader_view(&a->reader, a->block, DEPTH);
	sem_init(&a->wake, 0, 0);
	pthread_create(&producer, NULL, produce, a);
	consume(a, type);
	pthread_join(producer, NULL);
	/* One notification per arm: what was slept for was fired; the last may not have been slept
	 * for. */
	CHECK(a->slept == a->fired || a->slept + 1 == a->fired, "%u sleeps, %u fired\n", a->slept,
		a->fired);
	printf("%u entries, %u sleeps\n", CYCLES, a->slept);
	sem_destroy(&a->wake);
	free(a);
}

/* ---- descriptors and doorbells ------------------------------------------------------- */

struct bell {
	void *block;
	struct ndsh_session_page page;
	struct ndsh_sq daemon_sq;
	sem_t wake;
};

/* As the engine leaves a ring (lib/roce/ring.c). */
static bool
park(struct ndsh_qp_page *qp, const struct ndsh_sq *sq)
{
	__atomic_store_n(&qp->sq_polled, 0, __ATOMIC_RELAXED);
	ndsh_full_barrier();
	return !ndsh_sq_ready(sq);
}

/* Parks and sleeps as soon as nothing is there. */
static void *
serve(void *arg)
{
	struct bell *b = arg;
	struct ndsh_qp_page *qp = b->block;
	struct ndsh_send s;
	uint32_t seen = 0, word;
	uint64_t summary, bits;

	while (seen < CYCLES) {
		do {
			while (ndsh_sq_fetch(&b->daemon_sq, &s) == NDSH_FETCH_OK) {
				CHECK(s.context == seen, "descriptor %u\n", seen);
				seen++;
				__atomic_store_n(&qp->sq_done, seen, __ATOMIC_RELEASE);
			}
		} while (!park(qp, &b->daemon_sq));
		while (seen < CYCLES && (summary = ndsh_doorbell_begin(&b->page)) == 0) {
			if (!ndsh_doorbell_sleep(&b->page))
				continue;
			CHECK(wait_for(&b->wake), "asleep with %u of %u descriptors seen\n", seen,
				CYCLES);
			ndsh_doorbell_awake(&b->page);
		}
		while (ndsh_doorbell_take(&b->page, &summary, &word, &bits))
			;
		__atomic_store_n(&qp->sq_polled, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
post_and_ring(void)
{
	const struct ndsh_qp_dims d = {.sq_depth = 16, .rq_depth = 1, .sq_sge = 2, .rq_sge = 1};
	struct bell *b = aligned_alloc(64, sizeof(*b));
	struct ndsh_qp_layout l;
	struct ndsh_qp_page *qp;
	struct ndsh_sq sq;
	pthread_t daemon;
	uint32_t seed = 3;

	memset(b, 0, sizeof(*b));
	CHECK(ndsh_qp_layout(&d, &l), "layout\n");
	b->block = aligned_alloc(64, l.total_bytes);
	memset(b->block, 0, l.total_bytes);
	qp = b->block;
	ndsh_sq_view(&sq, b->block, &d);
	ndsh_sq_view(&b->daemon_sq, b->block, &d);
	sem_init(&b->wake, 0, 0);
	pthread_create(&daemon, NULL, serve, b);
	for (uint32_t i = 0; i < CYCLES; i++) {
		const struct ndsh_sge sge[2] = {{i, 1, 2}, {i, 3, 4}};
		struct ndsh_swr wr = {
			.context = i, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1 + i % 2, 0, 0)};

		while (i - __atomic_load_n(&qp->sq_done, __ATOMIC_ACQUIRE) >= d.sq_depth)
			sched_yield();
		ndsh_sq_push(&sq, &wr, sge, NULL);
		if (ndsh_doorbell_ring(&b->page, qp, 5))
			sem_post(&b->wake);
		(void)pause_a_bit(&seed);
	}
	pthread_join(daemon, NULL);
	sem_destroy(&b->wake);
	free(b->block);
	free(b);
}

int
main(void)
{
	arm_and_sleep(NDSH_ARM_ANY);
	/* An unsolicited entry may satisfy it at arm time only (R-CQ-13); the last one is
	 * solicited. */
	arm_and_sleep(NDSH_ARM_SOLICITED);
	post_and_ring();
	return 0;
}
