/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues that get another depth while in use; the CPU that serves them. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

#define WINDOW	 16u /* sends and receives outstanding */
#define MESSAGES 100000u
#define PIECE	 64u
#define SMALL	 16u
#define LARGE	 2000u

/* Message i lies in a piece of its own at either end, says i, and has i + 1 as its context. */
static struct nd_sge
piece(const struct side *s, uintptr_t i, bool incoming)
{
	return (struct nd_sge){s->buf + (i % WINDOW + (incoming ? WINDOW : 0)) * PIECE, PIECE,
		nd_mr_local_token(s->mr)};
}

static void
post_receive(struct side *s, uintptr_t i)
{
	struct nd_sge sge = piece(s, i, true);

	WANT(ND_SUCCESS, nd_qp_receive(s->qp, (void *)(i + 1), &sge, 1));
}

static void
post_send(struct side *s, uintptr_t i)
{
	struct nd_sge sge = piece(s, i, false);

	memcpy(sge.buffer, &i, sizeof(i));
	WANT(ND_SUCCESS, nd_qp_send(s->qp, (void *)(i + 1), &sge, 1,
				 i % 5 == 0 ? ND_OP_FLAG_SEND_AND_SOLICIT_EVENT : 0));
}

/* Both directions by this side. */
struct traffic {
	struct side *s;
	uintptr_t sent, sent_done, received;
	struct nd_overlapped wait;
	uint32_t waits;
};

static void
result(struct traffic *t, const struct nd_result *r)
{
	uintptr_t said;

	WANT(ND_SUCCESS, r->status);
	if (r->request_type == ND_REQUEST_SEND) {
		CHECK(r->request_context == (void *)++t->sent_done);
		return;
	}
	memcpy(&said, piece(t->s, t->received, true).buffer, sizeof(said));
	CHECK(said == t->received);
	CHECK(r->request_context == (void *)++t->received);
	if (t->received + WINDOW <= MESSAGES)
		post_receive(t->s, t->received + WINDOW - 1);
}

/* Take all that is there; post all that may be posted. False: nothing happened. */
static bool
advance(struct traffic *t)
{
	struct nd_result r[8];
	int32_t got, all = 0;
	uintptr_t before = t->sent;

	while ((got = nd_cq_get_results(t->s->cq, r, 8)) != 0) {
		CHECK(got > 0);
		for (int32_t i = 0; i < got; i++)
			result(t, &r[i]);
		all += got;
	}
	while (t->sent < MESSAGES && t->sent - t->sent_done < WINDOW &&
		t->sent < t->received + WINDOW)
		post_send(t->s, t->sent++);
	return all != 0 || t->sent != before;
}

static bool
over(const struct traffic *t)
{
	return t->sent_done == MESSAGES && t->received == MESSAGES;
}

/* By turns it polls, and sleeps until it is notified: a notification that a resize loses ends the
 * test. */
static void *
run_traffic(void *arg)
{
	struct traffic *t = arg;

	while (!over(t)) {
		if (advance(t))
			continue;
		if (t->sent / 500 % 2 == 0) {
			sched_yield();
			continue;
		}
		WANT(ND_PENDING, nd_cq_notify(t->s->cq, ND_CQ_NOTIFY_ANY, &t->wait));
		WANT(ND_SUCCESS, nd_overlapped_wait(&t->wait, PATIENCE_MS));
		t->waits++;
	}
	return NULL;
}

struct resizer {
	struct side *s;
	uint32_t *stop;
	uint32_t up, down;
};

static void *
run_resizer(void *arg)
{
	struct resizer *z = arg;

	while (!__atomic_load_n(z->stop, __ATOMIC_ACQUIRE)) {
		nd_status st;

		WANT(ND_SUCCESS, nd_cq_resize(z->s->cq, LARGE));
		z->up++;
		st = nd_cq_resize(z->s->cq, SMALL);
		CHECK(st == ND_SUCCESS || st == ND_BUFFER_OVERFLOW);
		z->down += st == ND_SUCCESS;
		sleep_ms(1); /* the others need the CPU, too */
	}
	return NULL;
}

/*
 * checks R-RSZ-01[1,2]: both queues go up and down all the time, with two lcores making entries,
 * two threads taking them and waiting for them. Each comes once, in order, and no thread sleeps
 * too long.
 */
void
scenario_resize_load(struct pair *p)
{
	struct traffic t[2] = {{.s = &p->a}, {.s = &p->b}};
	uint32_t stop = 0;
	struct resizer z[2] = {{&p->a, &stop, 0, 0}, {&p->b, &stop, 0, 0}};
	pthread_t traffic[2], resizer[2];

	side_open(&p->a, SMALL);
	side_open(&p->b, SMALL);
	side_create_qp(&p->a, WINDOW);
	side_create_qp(&p->b, WINDOW);
	pair_connect(p);
	for (uintptr_t i = 0; i < WINDOW; i++) {
		post_receive(&p->a, i);
		post_receive(&p->b, i);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(pthread_create(&traffic[i], NULL, run_traffic, &t[i]) == 0);
		CHECK(pthread_create(&resizer[i], NULL, run_resizer, &z[i]) == 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(traffic[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++) {
		pthread_join(resizer[i], NULL);
		CHECK(z[i].up > 10 && z[i].down > 10 && t[i].waits > 10);
	}
	printf("%u messages each way, %u + %u resizes up, %u + %u down, %u + %u waits\n", MESSAGES,
		z[0].up, z[1].up, z[0].down, z[1].down, t[0].waits, t[1].waits);
	pair_close(p);
}

/* checks R-RSZ-01[1]: a refused resize changes nothing; a waiter and a fault stay. */
void
scenario_resize(struct pair *p)
{
	struct nd_overlapped wait = {0};
	struct nd_adapter_info info;
	struct nd_result r;

	pair_open(p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	CHECK(info.flags & ND_ADAPTER_FLAG_CQ_RESIZE);
	WANT(ND_INVALID_PARAMETER, nd_cq_resize(p->a.cq, 0));
	WANT(ND_INVALID_PARAMETER, nd_cq_resize(p->a.cq, info.max_cq_depth + 1));
	for (int i = 0; i < 12; i++)
		WANT(ND_SUCCESS, side_write(&p->a, &p->b, 8, nd_mr_remote_token(p->b.mr)));
	WANT(ND_SUCCESS, side_write(&p->b, &p->a, 8, nd_mr_remote_token(p->a.mr)));
	while (nd_cq_resize(p->a.cq, 11) == ND_SUCCESS) /* until the twelve lie there */
		sleep_ms(1);
	WANT(ND_BUFFER_OVERFLOW, nd_cq_resize(p->a.cq, 11));
	WANT(ND_SUCCESS, nd_cq_resize(p->a.cq, 12));
	WANT(ND_SUCCESS, nd_cq_resize(p->a.cq, info.max_cq_depth));
	for (int i = 0; i < 12; i++)
		WANT(ND_SUCCESS, side_result(&p->a, &r));
	CHECK(side_quiet(&p->a, 2));
	WANT(ND_SUCCESS, nd_cq_resize(p->a.cq, 1));

	WANT(ND_PENDING, nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ANY, &wait));
	WANT(ND_SUCCESS, nd_cq_resize(p->a.cq, 300));
	WANT(ND_TIMEOUT, nd_overlapped_wait(&wait, 50));
	pair_works(p);
	WANT(ND_SUCCESS, nd_overlapped_wait(&wait, PATIENCE_MS));
	pair_close(p);
}

/* The CPU that a task of the process is bound to; -1: it is no lcore, or has several. */
static int
only_cpu(pid_t process, const char *task)
{
	char path[320], line[256];
	int first = -1, more = 0;
	bool worker = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)process, task);
	f = fopen(path, "r");
	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "Name:", 5) == 0)
			worker = strstr(line, "worker") != NULL; /* as DPDK names lcores */
		if (sscanf(line, "Cpus_allowed_list: %d%n", &first, &more) == 1)
			break;
	}
	fclose(f);
	return worker && first >= 0 && line[more] == '\n' ? first : -1;
}

/* Its notifications come by the daemon's main thread, which may have several CPUs. */
static void
check_srq_affinity(struct pair *p)
{
	struct nd_srq *srq;
	uint16_t group;
	cpu_set_t cpus;
	uint64_t mask;

	WANT(ND_SUCCESS, nd_srq_create_near(p->a.pd, 4, 1, 0, 0, 1, &srq));
	WANT(ND_SUCCESS, nd_srq_get_affinity(srq, &group, &mask));
	CHECK(sched_getaffinity(p->daemon_a, sizeof(cpus), &cpus) == 0);
	for (uint32_t bit = 0; bit < 64; bit++)
		CHECK((mask >> bit & 1) == (uint64_t) !!CPU_ISSET(64u * group + bit, &cpus));
	WANT(ND_SUCCESS, nd_srq_close(srq));
}

/* checks R-CQ-37[3], R-SRQ-09[2]: the daemon's lcore is tied to the CPU that nd_cq_get_affinity()
 * tells: some task of the daemon but its main thread has that one alone. */
void
scenario_affinity(struct pair *p)
{
	uint16_t group;
	uint64_t mask;
	struct dirent *e;
	DIR *tasks;
	char path[64];
	bool found = false;

	side_open(&p->a, 16);
	WANT(ND_SUCCESS, nd_cq_get_affinity(p->a.cq, &group, &mask));
	CHECK(mask != 0 && (mask & (mask - 1)) == 0);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->daemon_a);
	tasks = opendir(path);
	CHECK(tasks != NULL);
	while ((e = readdir(tasks)) != NULL)
		if (e->d_name[0] != '.' && atoi(e->d_name) != p->daemon_a)
			found |= only_cpu(p->daemon_a, e->d_name) ==
				 64 * group + __builtin_ctzll(mask);
	closedir(tasks);
	CHECK(found);
	check_srq_affinity(p);
	side_close(&p->a);
}
