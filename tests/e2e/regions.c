/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: objects that are used again and again, what their flags permit, and what tokens are. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "scenarios.h"
#include "still.h"

#define ROUNDS	500
#define PART	4096u
#define REGIONS 20000u /* limits.mrs */

/* A message from a's region into b's: what came of it there. */
static nd_status
message(struct pair *p, struct nd_mr *from, void *source, struct nd_mr *to, void *target)
{
	struct nd_sge out = {source, 64, nd_mr_local_token(from)};
	struct nd_sge in = {target, 64, nd_mr_local_token(to)};
	struct nd_result at_a, at_b;

	WANT(ND_SUCCESS, nd_qp_receive(p->b.qp, NULL, &in, 1));
	WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, &out, 1, 0));
	CHECK(side_result(&p->a, &at_a) != ND_TIMEOUT);
	return side_result(&p->b, &at_b);
}

static void
is_blank(const struct nd_mr *mr)
{
	CHECK(nd_mr_local_token(mr) == 0 && nd_mr_remote_token(mr) == 0);
}

/*
 * checks R-MR-01[1-4], R-MR-07[1], R-MR-08[2,3], R-MR-09[2]: a region has one buffer at a time,
 * and is as new after Deregister; a buffer may be in several; without a buffer both tokens are
 * 0, and the remote one is the key in the order of the wire.
 */
void
scenario_region_again(struct pair *p)
{
	struct nd_overlapped ov = {0};
	uint32_t flags = ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_REMOTE_WRITE;
	struct nd_result result;
	struct nd_mr *mr;
	uint32_t token, last = 0;

	pair_open(p);
	WANT(ND_SUCCESS, nd_mr_create(p->b.pd, &mr));
	is_blank(mr);
	WANT(ND_INVALID_DEVICE_STATE, nd_mr_deregister(mr, NULL));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char *part = (char *)p->b.buf + i % 2 * PART;

		WANT(ND_PENDING, nd_mr_register(mr, part, PART, flags, &ov));
		WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
		token = nd_mr_remote_token(mr);
		CHECK(token == htonl(nd_mr_local_token(mr)) && token != last);
		WANT(ND_INVALID_DEVICE_STATE, nd_mr_register(mr, p->b.buf, PART, 0, NULL));
		CHECK(nd_mr_remote_token(mr) == token);
		if (i % 100 < 2) {
			WANT(ND_SUCCESS, side_reach(&p->a, i % 2, part, 100, token));
			WANT(ND_SUCCESS, side_result(&p->a, &result));
		}
		WANT(ND_PENDING, nd_mr_deregister(mr, &ov));
		WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
		is_blank(mr);
		last = token;
	}
	WANT(ND_SUCCESS, nd_mr_register(mr, p->b.buf, PART, 0, NULL));
	WANT(ND_SUCCESS, nd_mr_close(mr)); /* registered as it is */
	pair_works(p);			   /* the buffer's other region never noticed */
	pair_refuses(p, 1, p->b.buf, 100, last);
	pair_close(p);
}

/*
 * checks R-MR-03[1,2]: the remote-write right, of which the header's 5 has the local one
 * already, lets the owner receive there, alone as well; a region that may only be read needs no
 * local right.
 */
void
scenario_region_rights(struct pair *p)
{
	const uint32_t flags[] = {ND_MR_FLAG_ALLOW_REMOTE_WRITE,
		ND_MR_FLAG_ALLOW_REMOTE_WRITE & ~ND_MR_FLAG_ALLOW_LOCAL_WRITE};
	struct nd_result result;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, nd_mr_create(p->b.pd, &mr));
	for (int i = 0; i < 2; i++) {
		WANT(ND_SUCCESS, nd_mr_register(mr, p->b.buf, PART, flags[i], NULL));
		WANT(ND_SUCCESS, message(p, p->a.mr, p->a.buf, mr, p->b.buf));
		WANT(ND_SUCCESS, nd_mr_deregister(mr, NULL));
	}
	WANT(ND_SUCCESS, nd_mr_register(mr, p->b.buf, PART, ND_MR_FLAG_ALLOW_REMOTE_READ, NULL));
	WANT(ND_SUCCESS, side_read(&p->a, &p->b, 100, nd_mr_remote_token(mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	WANT(ND_ACCESS_VIOLATION, message(p, p->a.mr, p->a.buf, mr, p->b.buf));
	pair_close(p);
}

/*
 * checks R-MR-05[1], R-MR-10, R-MR-11[1]: memory that can't be written is registered without the
 * right to, and sent; READ_SINK and DO_NOT_SECURE_VM go with everything.
 */
void
scenario_region_flags(struct pair *p)
{
	const uint32_t odd = ND_MR_FLAG_RDMA_READ_SINK | ND_MR_FLAG_DO_NOT_SECURE_VM;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *constant;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, nd_mr_create(p->a.pd, &mr));
	for (uint32_t rights = 0; rights < 8; rights++)
		for (uint32_t more = 1; more < 4; more++) {
			uint32_t extra = (more & 1 ? ND_MR_FLAG_RDMA_READ_SINK : 0) |
					 (more & 2 ? ND_MR_FLAG_DO_NOT_SECURE_VM : 0);

			WANT(ND_SUCCESS, nd_mr_register(mr, p->a.buf, PART, rights | extra, NULL));
			WANT(ND_SUCCESS, nd_mr_deregister(mr, NULL));
		}
	constant = nd_alloc(p->a.adapter, 3 * page);
	CHECK(constant != NULL);
	constant += page - (uintptr_t)constant % page;
	memset(constant, 0x3c, page);
	CHECK(mprotect(constant, page, PROT_READ) == 0);
	WANT(ND_SUCCESS, nd_mr_register(mr, constant, page, odd, NULL));
	WANT(ND_SUCCESS, message(p, mr, constant, p->b.mr, p->b.buf));
	CHECK(memcmp(p->b.buf, constant, 64) == 0);
	pair_close(p);
}

/* checks R-RW-05: what a read fills needs the local-write right. */
void
scenario_read_into_read_only(struct pair *p)
{
	struct nd_sge sge = {.bytes = 64};
	struct nd_result result;
	struct nd_mr *mr;

	pair_open(p);
	memset(p->a.buf, 1, PART);
	memset(p->b.buf, 2, PART);
	WANT(ND_SUCCESS, nd_mr_create(p->a.pd, &mr));
	WANT(ND_SUCCESS, nd_mr_register(mr, p->a.buf, PART, ND_MR_FLAG_RDMA_READ_SINK, NULL));
	sge.buffer = p->a.buf;
	sge.token = nd_mr_local_token(mr);
	WANT(ND_SUCCESS, nd_qp_read(p->a.qp, NULL, &sge, 1, (uintptr_t)p->b.buf,
				 nd_mr_remote_token(p->b.mr), 0));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	for (uint32_t i = 0; i < PART; i++)
		CHECK(((uint8_t *)p->a.buf)[i] == 1);
	pair_close(p);
}

static int
by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)t.tv_sec * 1000000000u + (uint32_t)t.tv_nsec;
}

static void
report(const char *what, uint32_t *took)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < REGIONS; i++)
		sum += took[i];
	qsort(took, REGIONS, sizeof(*took), by_size);
	printf("%s: %.1f us median, %.1f us p99, %.0f/s; ", what, took[REGIONS / 2] / 1e3,
		took[REGIONS * 99 / 100] / 1e3, REGIONS * 1e9 / (double)sum);
}

#define BATCH 1000u /* more than the ring of registrations holds, four times */

/* Canceled, or done: what it ended with is what it is. */
static bool
was_taken_back(const struct nd_mr *mr, const struct nd_overlapped *ov, bool was_registered)
{
	const nd_status st = nd_overlapped_status(ov);

	CHECK(st == ND_SUCCESS || st == ND_CANCELED);
	CHECK((nd_mr_local_token(mr) != 0) == ((st == ND_SUCCESS) != was_registered));
	return st == ND_CANCELED;
}

/* All are canceled, the last one first: while the daemon stands still, those that it has not been
 * asked for; the others when it goes on. */
static void
cancel_all(struct pair *p, struct nd_mr **mr, const struct nd_overlapped *ov, bool registered)
{
	const uint32_t stays = BATCH / 2;
	uint32_t taken_back = 0;

	for (uint32_t i = BATCH; i-- > 0;) {
		if (i == stays)
			CHECK(kill(p->daemon_a, SIGCONT) == 0);
		WANT(ND_SUCCESS, nd_mr_cancel(mr[i]));
		taken_back += was_taken_back(mr[i], &ov[i], registered);
		if (i > stays)
			CHECK(taken_back == BATCH - i);
	}
	CHECK(taken_back < BATCH);
}

/*
 * checks R-OV-10[1,2], R-OV-11[1,2]: requests of many regions, of which the daemon could see some:
 * each is over when its cancel returns, canceled or done, and its region is as before or as asked
 * for. All can be used again.
 */
void
scenario_region_cancel(struct pair *p)
{
	static struct nd_overlapped ov[BATCH];
	static struct nd_mr *mr[BATCH];
	struct side *a = &p->a;

	side_open(a, 16);
	CHECK(p->daemon_a > 0);
	for (uint32_t i = 0; i < BATCH; i++)
		WANT(ND_SUCCESS, nd_mr_create(a->pd, &mr[i]));
	WANT(ND_SUCCESS, nd_mr_cancel(mr[0])); /* nothing pends */
	CHECK(process_stop(p->daemon_a));
	for (uint32_t i = 0; i < BATCH; i++)
		WANT(ND_PENDING, nd_mr_register(mr[i], a->buf, PART, 0, &ov[i]));
	cancel_all(p, mr, ov, false);
	for (uint32_t i = 0; i < BATCH; i++)
		if (nd_mr_local_token(mr[i]) == 0)
			WANT(ND_SUCCESS, nd_mr_register(mr[i], a->buf, PART, 0, NULL));
	CHECK(process_stop(p->daemon_a));
	for (uint32_t i = 0; i < BATCH; i++)
		WANT(ND_PENDING, nd_mr_deregister(mr[i], &ov[i]));
	cancel_all(p, mr, ov, true);
	for (uint32_t i = 0; i < BATCH; i++)
		WANT(ND_SUCCESS, nd_mr_close(mr[i]));
	side_close(a);
}

/* As many regions of one adapter as it may have, one call after the other; the first, one in the
 * middle and the last serve the peer. */
void
scenario_many_regions(struct pair *p)
{
	static struct nd_mr *mr[REGIONS + 1];
	static uint32_t took[REGIONS];
	struct nd_result result;

	pair_open(p);
	WANT(ND_SUCCESS, nd_mr_deregister(p->b.mr, NULL)); /* it counts, too */
	for (uint32_t i = 0; i < REGIONS + 1; i++)
		WANT(ND_SUCCESS, nd_mr_create(p->b.pd, &mr[i]));
	for (uint32_t i = 0; i < REGIONS; i++) {
		uint32_t from = now_ns();

		WANT(ND_SUCCESS, nd_mr_register(mr[i], (char *)p->b.buf + i % PART, 64,
					 ND_MR_FLAG_ALLOW_REMOTE_WRITE, NULL));
		took[i] = now_ns() - from;
	}
	report("register", took);
	WANT(ND_INSUFFICIENT_RESOURCES, nd_mr_register(mr[REGIONS], p->b.buf, 64, 0, NULL));
	for (uint32_t i = 0; i < REGIONS; i += (REGIONS - 1) / 2) {
		WANT(ND_SUCCESS, side_reach(&p->a, 1, (char *)p->b.buf + i % PART, 64,
					 nd_mr_remote_token(mr[i])));
		WANT(ND_SUCCESS, side_result(&p->a, &result));
	}
	for (uint32_t i = 0; i < REGIONS; i++) {
		uint32_t from = now_ns();

		WANT(ND_SUCCESS, nd_mr_deregister(mr[i], NULL));
		took[i] = now_ns() - from;
	}
	report("deregister", took);
	WANT(ND_SUCCESS, nd_mr_register(mr[0], p->b.buf, 64, 0, NULL));
	pair_close(p);
}
