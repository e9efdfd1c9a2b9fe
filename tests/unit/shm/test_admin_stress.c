/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The admin ring's real code between a client and a daemon, two threads that sleep at every
 * opportunity: requests, bell, answers, and their arming. Each request must arrive whole and once,
 * each answer in its order.
 */
#include <pthread.h>
#include <string.h>

#include "shm/ndsh_ring.h"
#include "rigs/stress.h"

#define REQUESTS 300000u
#define DEPTH	 16u
#define BUDGET	 5u /* served per turn */

struct admin {
	_Alignas(
		64) uint8_t cq_block[sizeof(struct ndsh_cq_page) + DEPTH * sizeof(struct ndsh_cqe)];
	_Alignas(64) struct ndsh_admin_request ring[DEPTH];
	struct ndsh_session_page page;
	struct ndsh_admin daemon_ring;
	struct ndsh_cq cq;
	sem_t daemon_wake, client_wake;
	uint32_t daemon_sleeps;
};

/* Every field follows from the number. */
static struct ndsh_admin_request
request_of(uint32_t n)
{
	return (struct ndsh_admin_request){
		.context = n,
		.va = (uint64_t)n << 20 | 1,
		.bytes = ~(uint64_t)n,
		.pd = n + 1,
		.access = n * 3,
		.token = n * 5,
		.ctrl = n % 2 ? NDSH_ADMIN_REGISTER : NDSH_ADMIN_DEREGISTER,
	};
}

static void
check(const struct ndsh_admin_request *got, uint32_t n)
{
	const struct ndsh_admin_request want = request_of(n);

	STRESS_CHECK(got->context == want.context && got->va == want.va &&
			     got->bytes == want.bytes && got->pd == want.pd &&
			     got->access == want.access && got->token == want.token &&
			     (got->ctrl & ~NDSH_CTRL_PHASE) == want.ctrl,
		"request %u\n", n);
}

/* As an lcore does (app/dpdk-ndd/lcore/doorbell.c). True: there may be more. */
static bool
serve(struct admin *a, uint32_t *served)
{
	struct ndsh_admin_request q;
	uint32_t n = 0;

	while (n < BUDGET && ndsh_admin_fetch(&a->daemon_ring, &q)) {
		check(&q, *served);
		++*served;
		n++;
		STRESS_CHECK(ndsh_cq_push(&a->cq, &(struct ndsh_cqe){.data = q.token,
							  .slot_count = a->daemon_ring.next}),
			"answer %u\n", *served);
	}
	if (n == 0)
		return false;
	ndsh_cq_publish(&a->cq);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&a->cq))
		sem_post(&a->client_wake);
	return n == BUDGET;
}

static void *
daemon_main(void *arg)
{
	struct admin *a = arg;
	uint32_t served = 0, word, seed = 1;
	bool due = false;

	while (served < REQUESTS) {
		uint64_t summary = ndsh_doorbell_begin(&a->page), bits;

		while (ndsh_doorbell_take(&a->page, &summary, &word, &bits)) {
			STRESS_CHECK(word == NDSH_ADMIN_DOORBELL / 64 &&
					     bits == 1ull << NDSH_ADMIN_DOORBELL % 64,
				"bell\n");
			due = true;
		}
		(void)stress_pause(&seed);
		due = due && serve(a, &served);
		if (due || served == REQUESTS || !ndsh_doorbell_sleep(&a->page))
			continue;
		STRESS_CHECK(stress_wait(&a->daemon_wake), "asleep with %u of %u requests served\n",
			served, REQUESTS);
		a->daemon_sleeps++;
		ndsh_doorbell_awake(&a->page);
	}
	return NULL;
}

/* A few requests, as far as there is room, behind one ring of the bell. */
static void
ask(struct admin *a, struct ndsh_admin *ring, uint32_t answered, uint32_t most)
{
	bool pushed = false;

	for (; most > 0 && ring->next < REQUESTS && ring->next - answered < DEPTH; most--) {
		const struct ndsh_admin_request r = request_of(ring->next);

		ndsh_admin_push(ring, &r);
		pushed = true;
	}
	if (pushed && ndsh_doorbell_ring_admin(&a->page))
		sem_post(&a->daemon_wake);
}

/* All: what is left when it arms is no reason to be woken. */
static uint32_t
take(struct ndsh_cq_reader *reader, uint32_t answered)
{
	struct ndsh_cqe e[4];
	uint32_t n;

	while ((n = ndsh_cq_poll(reader, e, 4)) != 0)
		for (uint32_t i = 0; i < n; i++, answered++)
			STRESS_CHECK(e[i].data == request_of(answered).token &&
					     e[i].slot_count == answered + 1,
				"answer %u\n", answered);
	return answered;
}

static uint32_t
client(struct admin *a, struct ndsh_admin *ring)
{
	struct ndsh_cq_reader reader;
	uint32_t answered = 0, sleeps = 0, seed = 7;

	ndsh_cq_reader_view(&reader, a->cq_block, DEPTH);
	while (answered < REQUESTS) {
		ask(a, ring, answered, 1 + (stress_pause(&seed) >> 8) % DEPTH);
		answered = take(&reader, answered);
		if (answered == ring->next || seed & 128 ||
			ndsh_cq_arm(&reader, NDSH_ARM_ANY, NULL) != NDSH_ARMED)
			continue;
		STRESS_CHECK(stress_wait(&a->client_wake), "asleep with %u of %u answers\n",
			answered, REQUESTS);
		sleeps++;
	}
	return sleeps;
}

int
main(void)
{
	struct admin *a = aligned_alloc(64, sizeof(*a));
	struct ndsh_admin ring;
	pthread_t daemon;
	uint32_t sleeps;

	memset(a, 0, sizeof(*a));
	ndsh_admin_view(&ring, a->ring, DEPTH);
	ndsh_admin_view(&a->daemon_ring, a->ring, DEPTH);
	ndsh_cq_view(&a->cq, a->cq_block, DEPTH);
	sem_init(&a->daemon_wake, 0, 0);
	sem_init(&a->client_wake, 0, 0);
	pthread_create(&daemon, NULL, daemon_main, a);
	sleeps = client(a, &ring);
	pthread_join(daemon, NULL);
	printf("%u requests, %u sleeps of the client, %u of the daemon\n", REQUESTS, sleeps,
		a->daemon_sleeps);
	sem_destroy(&a->client_wake);
	sem_destroy(&a->daemon_wake);
	free(a);
	return 0;
}
