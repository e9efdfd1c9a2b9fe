/* SPDX-License-Identifier: BSD-3-Clause */
/* The rings of a client are of this kind: one writer, one reader, each with an index of its own. */
#include "cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 10u
#define SLOTS  1024u
#define LINE   64u

struct slot {
	uint64_t word[LINE / 8];
};

static struct {
	_Alignas(2 * LINE) uint64_t tail; /* the writer's; in the line test what it says */
	_Alignas(2 * LINE) uint64_t head; /* the reader's; what it answers */
	_Alignas(2 * LINE) uint32_t stop;
	_Alignas(2 * LINE) struct slot slot[SLOTS];
} shared;

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return;
	fprintf(stderr, "limits: CPU %d is not for this process\n", cpu);
	exit(1);
}

static bool
stopped(void)
{
	return __atomic_load_n(&shared.stop, __ATOMIC_RELAXED) != 0;
}

static void *
answer(void *cpu)
{
	uint64_t seen = 0;

	pin(*(const int *)cpu);
	while (!stopped()) {
		uint64_t said = __atomic_load_n(&shared.tail, __ATOMIC_ACQUIRE);

		if (said == seen)
			continue;
		seen = said;
		__atomic_store_n(&shared.head, seen, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *
take(void *cpu)
{
	uint64_t head = 0, sum = 0;

	pin(*(const int *)cpu);
	while (!stopped()) {
		uint64_t tail = __atomic_load_n(&shared.tail, __ATOMIC_ACQUIRE);

		if (tail == head)
			continue;
		for (; head != tail; head++)
			for (unsigned i = 0; i < LINE / 8; i++)
				sum += shared.slot[head % SLOTS].word[i];
		__atomic_store_n(&shared.head, head, __ATOMIC_RELEASE);
	}
	shared.slot[0].word[0] = sum;
	return NULL;
}

static uint64_t
ask(uint64_t number)
{
	__atomic_store_n(&shared.tail, number, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared.head, __ATOMIC_ACQUIRE) != number)
		;
	return 1;
}

/* room: what the reader had left when it was asked last. */
static uint64_t
put(uint64_t *tail, uint64_t *room, uint32_t batch)
{
	while (*room < batch)
		*room = SLOTS - (*tail - __atomic_load_n(&shared.head, __ATOMIC_ACQUIRE));
	for (uint32_t i = 0; i < batch; i++, ++*tail)
		for (unsigned k = 0; k < LINE / 8; k++)
			shared.slot[*tail % SLOTS].word[k] = *tail + k;
	*room -= batch;
	__atomic_store_n(&shared.tail, *tail, __ATOMIC_RELEASE);
	return batch;
}

/* batch 0: the line, to and fro. */
static double
measure(const int cpu[2], uint64_t ns, uint32_t batch)
{
	uint64_t tail = 0, room = 0;
	pthread_t other;
	double best = 0;

	memset(&shared, 0, sizeof(shared));
	pin(cpu[0]);
	if (pthread_create(&other, NULL, batch == 0 ? answer : take, (void *)&cpu[1]) != 0) {
		fprintf(stderr, "limits: no thread for the other core\n");
		exit(1);
	}
	if (batch == 0)
		ask(++tail);
	for (unsigned i = 0; i < SLICES; i++) {
		uint64_t t0 = cores_now_ns(), t, done = 0;

		do {
			for (unsigned k = 0; k < 64; k++)
				done += batch == 0 ? ask(++tail) : put(&tail, &room, batch);
			t = cores_now_ns();
		} while (t - t0 < ns / SLICES);
		if (i == 0 || (double)(t - t0) / (double)done < best)
			best = (double)(t - t0) / (double)done;
	}
	__atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	return best;
}

double
cores_line(const int cpu[2], uint64_t ns)
{
	return measure(cpu, ns, 0);
}

double
cores_ring(const int cpu[2], uint64_t ns, uint32_t batch)
{
	return measure(cpu, ns, batch);
}
