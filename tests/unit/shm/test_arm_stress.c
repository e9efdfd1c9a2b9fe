/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real arming and doorbell code between two threads that sleep at every opportunity. What a
 * model of x86-TSO proves, this tries with the compiler's code and, in a ThreadSanitizer build
 * (-Db_sanitize=thread), for races. In one part a third thread gives the queue one ring after the
 * other.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "shm/ndsh_ring.h"
#include "rigs/stress.h"

#define CYCLES 300000u
#define DEPTH  64u

/* ---- completions and arming ---------------------------------------------------------- */

enum answer { NO_ANSWER, MOVED, REFUSED };

struct arming {
	_Alignas(64) uint8_t block[sizeof(struct ndsh_cq_page) + DEPTH * sizeof(struct ndsh_cqe)];
	_Alignas(64) struct ndsh_cqe spare[2][DEPTH];
	struct ndsh_cq cq;
	struct ndsh_cq_reader reader;
	pthread_mutex_t lock; /* the client's threads: the reader */
	sem_t wake;
	uint32_t fired, slept;
	struct ndsh_cqe *next; /* a ring that the daemon shall move to, */
	uint32_t next_depth;
	uint32_t asked, answer; /* atomic */
	uint32_t over;		/* atomic */
	uint32_t moves, refusals;
};

static uint32_t
taken_of(const struct arming *a)
{
	return (uint32_t)__atomic_load_n(&a->cq.page->consumer, __ATOMIC_ACQUIRE);
}

/* The daemon does what it is asked between two entries. The rest of a burst still has room. */
static void
move(struct arming *a)
{
	bool ok;

	if (__atomic_load_n(&a->asked, __ATOMIC_ACQUIRE) == 0)
		return;
	memset(a->next, 0, a->next_depth * sizeof(*a->next));
	ok = ndsh_cq_move(&a->cq, a->next, a->next_depth, a->next_depth / 2);
	__atomic_store_n(&a->asked, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&a->answer, ok ? MOVED : REFUSED, __ATOMIC_RELEASE);
}

/* Bursts of a few entries. At times it waits until the client has taken all and gone to sleep, or
 * is about to: only if that one was told, of course. */
static void *
produce(void *arg)
{
	struct arming *a = arg;
	bool solicited = false;
	uint32_t seed = 1, room;

	for (uint32_t made = 0; made < CYCLES;) {
		uint32_t burst = 1 + (stress_pause(&seed) >> 8) % 3;

		do {
			move(a);
			room = solicited && seed & 512 ? 0 : a->cq.depth / 2;
			if (made - taken_of(a) > room)
				sched_yield();
		} while (made - taken_of(a) > room);
		for (; burst > 0 && made < CYCLES; burst--, made++) {
			struct ndsh_cqe e = {.context = made, .op = NDSH_OP_RECV};

			solicited = seed & 256 || made % 8 == 7; /* 7: the last one, too */
			if (solicited)
				e.flags = NDSH_CQEF_SOLICITED;
			STRESS_CHECK(ndsh_cq_push(&a->cq, &e), "entry %u\n", made);
			move(a);
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

static uint32_t
poll(struct arming *a, struct ndsh_cqe *e, uint32_t n)
{
	uint32_t got;

	pthread_mutex_lock(&a->lock);
	got = ndsh_cq_poll(&a->reader, e, n);
	pthread_mutex_unlock(&a->lock);
	return got;
}

static enum ndsh_arm_result
arm(struct arming *a, enum ndsh_arm type)
{
	enum ndsh_arm_result result;

	pthread_mutex_lock(&a->lock);
	result = ndsh_cq_arm(&a->reader, type, NULL);
	pthread_mutex_unlock(&a->lock);
	return result;
}

static void
consume(struct arming *a, enum ndsh_arm type)
{
	struct ndsh_cqe e[8];
	uint32_t taken = 0, slept = 0, got, seed = 7;

	while (taken < CYCLES) {
		while ((got = poll(a, e, 8)) != 0)
			for (uint32_t i = 0; i < got; i++, taken++)
				STRESS_CHECK(e[i].context == taken, "entry %u\n", taken);
		(void)stress_pause(&seed);
		if (taken == CYCLES || arm(a, type) == NDSH_ARM_FIRED)
			continue;
		STRESS_CHECK(stress_wait(&a->wake), "asleep with %u of %u entries taken\n", taken,
			CYCLES);
		slept++;
	}
	a->slept = slept;
}

/* What is left in the ring before is carried over in portions; polling goes on between them. */
static void
settle(struct arming *a, enum answer answer)
{
	enum ndsh_settle state;

	do {
		pthread_mutex_lock(&a->lock);
		state = ndsh_cq_settle(&a->reader, 2);
		pthread_mutex_unlock(&a->lock);
	} while (state == NDSH_SETTLING);
	STRESS_CHECK((state == NDSH_SETTLED) == (answer == MOVED), "answer %u, settled: %u\n",
		answer, state);
}

/* One ring after the other, larger and smaller. A ring that was given up is used again. */
static void *
resize(void *arg)
{
	struct arming *a = arg;
	uint32_t seed = 5, answer;

	for (;;) {
		a->next = a->spare[a->moves % 2];
		a->next_depth = DEPTH >> (stress_pause(&seed) >> 8) % 4;
		pthread_mutex_lock(&a->lock);
		ndsh_cq_expect(&a->reader, a->next, a->next_depth);
		pthread_mutex_unlock(&a->lock);
		__atomic_store_n(&a->asked, 1, __ATOMIC_RELEASE);
		while ((answer = __atomic_exchange_n(&a->answer, NO_ANSWER, __ATOMIC_ACQUIRE)) ==
			NO_ANSWER) {
			if (__atomic_load_n(&a->over, __ATOMIC_ACQUIRE))
				return NULL;
			sched_yield();
		}
		settle(a, answer);
		a->moves += answer == MOVED;
		a->refusals += answer == REFUSED;
	}
}

/* checks R-CQ-12[1], R-CQ-15 */
static void
arm_and_sleep(enum ndsh_arm type, bool resizing)
{
	struct arming *a = aligned_alloc(64, sizeof(*a));
	pthread_t producer, resizer;

	memset(a, 0, sizeof(*a));
	ndsh_cq_view(&a->cq, a->block, DEPTH);
	ndsh_cq_reader_view(&a->reader, a->block, DEPTH);
	pthread_mutex_init(&a->lock, NULL);
	sem_init(&a->wake, 0, 0);
	pthread_create(&producer, NULL, produce, a);
	if (resizing)
		pthread_create(&resizer, NULL, resize, a);
	consume(a, type);
	pthread_join(producer, NULL);
	__atomic_store_n(&a->over, 1, __ATOMIC_RELEASE);
	if (resizing)
		pthread_join(resizer, NULL);
	/* One notification per arm: what was slept for was fired; the last may not have been slept
	 * for. */
	STRESS_CHECK(a->slept == a->fired || a->slept + 1 == a->fired, "%u sleeps, %u fired\n",
		a->slept, a->fired);
	STRESS_CHECK(!resizing || a->moves > 1, "%u other rings\n", a->moves);
	printf("%u entries, %u sleeps, %u other rings, %u refused\n", CYCLES, a->slept, a->moves,
		a->refusals);
	sem_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* ---- descriptors and doorbells ------------------------------------------------------- */

struct bell {
	void *block;
	struct ndsh_session_page page;
	struct ndsh_sq daemon_sq;
	sem_t wake;
};

/* As the engine leaves a ring (lib/roce/queue/send_ring.c). */
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
				STRESS_CHECK(s.context == seen, "descriptor %u\n", seen);
				seen++;
				__atomic_store_n(&qp->sq_done, seen, __ATOMIC_RELEASE);
			}
		} while (!park(qp, &b->daemon_sq));
		while (seen < CYCLES && (summary = ndsh_doorbell_begin(&b->page)) == 0) {
			if (!ndsh_doorbell_sleep(&b->page))
				continue;
			STRESS_CHECK(stress_wait(&b->wake),
				"asleep with %u of %u descriptors seen\n", seen, CYCLES);
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
	STRESS_CHECK(ndsh_qp_layout(&d, &l), "layout\n");
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
		(void)stress_pause(&seed);
	}
	pthread_join(daemon, NULL);
	sem_destroy(&b->wake);
	free(b->block);
	free(b);
}

int
main(void)
{
	arm_and_sleep(NDSH_ARM_ANY, false);
	arm_and_sleep(NDSH_ARM_ANY, true);
	/* An unsolicited entry may satisfy it at arm time only (R-CQ-13); the last one is
	 * solicited. */
	arm_and_sleep(NDSH_ARM_SOLICITED, false);
	post_and_ring();
	return 0;
}
