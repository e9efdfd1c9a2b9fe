/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests do to memory, and what completions say of it. */
#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"
#include "scenarios.h"

static void
transfer_one(struct rig *r, uint32_t bytes, unsigned seed)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, bytes);
	struct ibv_send_wr write = rig_request(r, IBV_WR_RDMA_WRITE, &sge, seed);
	struct ibv_send_wr read = rig_request(r, IBV_WR_RDMA_READ, &sge, seed + 1);
	struct ibv_send_wr send = rig_request(r, IBV_WR_SEND, &sge, seed + 2);
	struct ibv_wc wc;

	rig_fill(r->memory[0], bytes, seed);
	memset(r->memory[1], 0, RIG_BYTES);
	rig_post(r, &write);
	rig_wait_for(r, seed, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(rig_holds(r->memory[1], bytes, seed));
	WANT(bytes == RIG_BYTES || r->memory[1][bytes] == 0);
	rig_fill(r->memory[1], bytes, seed + 1);
	rig_post(r, &read);
	wc = rig_wait(r);
	WANT(wc.wr_id == seed + 1 && wc.status == IBV_WC_SUCCESS);
	WANT(wc.opcode == IBV_WC_RDMA_READ && wc.byte_len == bytes);
	WANT(rig_holds(r->memory[0], bytes, seed + 1));
	rig_fill(r->memory[0], bytes, seed + 2);
	rig_receive(r, 1, 0, RIG_BYTES, 99);
	rig_post(r, &send);
	for (int i = 0; i < 2; i++) {
		wc = rig_wait(r);
		WANT(wc.status == IBV_WC_SUCCESS);
		if (wc.wr_id == 99)
			WANT(wc.opcode == IBV_WC_RECV && wc.byte_len == bytes &&
				wc.qp_num == r->qp[1]->qp_num);
		else
			WANT(wc.opcode == IBV_WC_SEND && wc.qp_num == r->qp[0]->qp_num);
	}
	WANT(rig_holds(r->memory[1], bytes, seed + 2));
}

void
run_contents(void)
{
	const uint32_t sizes[] = {1, 63, 1024, 1025, 65537, RIG_BYTES};
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		transfer_one(&r, sizes[i], 10 * i + 1);
	rig_close(&r);
}

static void
immediate_one(struct rig *r, enum ibv_wr_opcode op, enum ibv_wc_opcode seen)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 1000);
	struct ibv_send_wr wr = rig_request(r, op, &sge, 1);

	wr.imm_data = htonl(0x01020304);
	rig_receive(r, 1, 0, 2000, 99);
	rig_post(r, &wr);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = rig_wait(r);

		WANT(wc.status == IBV_WC_SUCCESS);
		if (wc.wr_id != 99)
			continue;
		WANT(wc.opcode == seen && wc.byte_len == 1000);
		WANT(wc.wc_flags & IBV_WC_WITH_IMM);
		WANT(wc.imm_data == htonl(0x01020304));
	}
}

void
run_immediates(void)
{
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	immediate_one(&r, IBV_WR_SEND_WITH_IMM, IBV_WC_RECV);
	immediate_one(&r, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RECV_RDMA_WITH_IMM);
	rig_close(&r);
}

void
run_atomics(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr add, swap;
	struct rig r;
	uint64_t *there, *here;

	rig_open(&r, false);
	rig_connect(&r);
	there = (uint64_t *)(void *)r.memory[1];
	here = (uint64_t *)(void *)r.memory[0];
	sge = rig_sge(&r, 0, 0, 8);
	add = rig_request(&r, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
	swap = rig_request(&r, IBV_WR_ATOMIC_CMP_AND_SWP, &sge, 2);
	*there = 1000;
	add.wr.atomic.compare_add = 7;
	rig_post(&r, &add);
	rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD);
	WANT(*here == 1000 && *there == 1007);
	swap.wr.atomic.compare_add = 1007;
	swap.wr.atomic.swap = 5;
	rig_post(&r, &swap);
	rig_wait_for(&r, 2, IBV_WC_SUCCESS, IBV_WC_COMP_SWAP);
	WANT(*here == 1007 && *there == 5);
	rig_post(&r, &swap); /* it is not 1007 any more */
	rig_wait_for(&r, 2, IBV_WC_SUCCESS, IBV_WC_COMP_SWAP);
	WANT(*here == 5 && *there == 5);
	rig_close(&r);
}

/* A list of which the last is signaled, in pieces; and one in whose midst a bad request stands. */
void
run_lists(void)
{
	struct ibv_send_wr wr[8], *bad;
	struct ibv_sge sge[8];
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	rig_fill(r.memory[0], 800, 3);
	for (unsigned i = 0; i < 8; i++) {
		sge[i] = rig_sge(&r, 0, 100 * i, 100);
		wr[i] = rig_request(&r, IBV_WR_RDMA_WRITE, &sge[i], i);
		wr[i].wr.rdma.remote_addr += 100 * i;
		wr[i].send_flags = i == 7 ? IBV_SEND_SIGNALED : 0;
		wr[i].next = i < 7 ? &wr[i + 1] : NULL;
	}
	rig_post(&r, wr);
	rig_wait_for(&r, 7, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(rig_holds(r.memory[1], 800, 3));
	wr[3].num_sge = 99;
	wr[2].send_flags = IBV_SEND_SIGNALED;
	usleep(100000); /* by then the daemon does not look by itself any more */
	WANT(ibv_post_send(r.qp[0], wr, &bad) != 0 && bad == &wr[3]);
	rig_wait_for(&r, 2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	rig_close(&r);
}

/* The buffer is free when the post returns, and needs no region; on a READ the flag is ignored. */
void
run_inline(void)
{
	uint8_t stack[64];
	struct ibv_sge sge = {.addr = (uintptr_t)stack, .length = sizeof(stack)};
	struct ibv_send_wr write, read;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	write = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	write.send_flags |= IBV_SEND_INLINE | IBV_SEND_SOLICITED;
	rig_fill(stack, sizeof(stack), 9);
	rig_post(&r, &write);
	memset(stack, 0, sizeof(stack));
	rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(rig_holds(r.memory[1], sizeof(stack), 9));
	sge = rig_sge(&r, 0, 0, 64);
	read = rig_request(&r, IBV_WR_RDMA_READ, &sge, 2);
	read.send_flags |= IBV_SEND_INLINE | IBV_SEND_SOLICITED;
	rig_post(&r, &read);
	rig_wait_for(&r, 2, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	WANT(rig_holds(r.memory[0], sizeof(stack), 9));
	rig_close(&r);
}

#define THREADS 4
#define ADDS	500

static struct rig shared;

static void *
add_many(void *arg)
{
	struct ibv_sge sge = rig_sge(&shared, 0, 64 * (size_t)(uintptr_t)arg, 8);
	struct ibv_send_wr wr = rig_request(&shared, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1), *bad;

	wr.wr.atomic.compare_add = 1;
	for (int posted = 0, done = 0; done < ADDS;) {
		struct ibv_wc wc;

		if (posted < ADDS && ibv_post_send(shared.qp[0], &wr, &bad) == 0)
			posted++;
		while (ibv_poll_cq(shared.cq, 1, &wc) == 1) {
			WANT(wc.status == IBV_WC_SUCCESS);
			__atomic_fetch_add(
				(uint64_t *)(void *)(shared.memory[0] + 4096), 1, __ATOMIC_RELAXED);
		}
		done = posted == ADDS ? ADDS : 0;
	}
	return NULL;
}

/* All post to one queue and take from one queue; each request is done once. */
void
run_threads(void)
{
	pthread_t threads[THREADS];
	uint64_t *taken;

	rig_open(&shared, false);
	rig_connect(&shared);
	taken = (uint64_t *)(void *)(shared.memory[0] + 4096);
	for (uintptr_t i = 0; i < THREADS; i++)
		WANT(pthread_create(&threads[i], NULL, add_many, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint64_t left = THREADS * ADDS - *taken; left > 0; left--)
		rig_wait_for(&shared, 1, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD);
	WANT(*(uint64_t *)(void *)shared.memory[1] == THREADS * ADDS);
	rig_close(&shared);
}
