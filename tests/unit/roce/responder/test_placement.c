/* SPDX-License-Identifier: BSD-3-Clause */
/* When the bytes of a write are where they belong. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rigs/engine_pair.h"

#define PAGE   4096u
#define TARGET 65536u
#define LENGTH 20000u
#define LONG   UINT64_C(100000000000)

static unsigned
lossy(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *n = ctx;

	(void)p;
	(void)from;
	(void)pkt;
	*n = *n * 1103515245u + 12345u;
	*late_ns = (*n >> 20) % 3 == 0 ? 5000 : 0;
	return (*n >> 16) % 8 != 0;
}

/*
 * checks R-ORD-07[1], W-RESP-14[3]: after each turn: what has arrived is one piece from the
 * beginning on; with the message sent behind it, all.
 */
Test(placement, R_ORD_07_a_write_is_there_before_the_send_behind_it)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
	uint8_t *source = p->side[0].arena, *target = p->side[1].arena + TARGET;
	unsigned state = 1;

	p->tap = lossy;
	p->tap_ctx = &state;
	for (unsigned round = 1; round < 50; round++) {
		struct ndsh_cqe c;
		bool arrived = false;
		uint32_t there = 0;

		memset(source, (int)round, LENGTH);
		pair_recv(p, 1, 0, round, 0, 64);
		pair_write(p, 0, 0, round, 0, TARGET, LENGTH, NDSH_WRF_SILENT);
		pair_send(p, 0, 0, round, 0, 8, NDSH_WRF_SILENT);
		while (!arrived) {
			uint32_t n = 0;

			pair_run(p, 500);
			while (n < LENGTH && target[n] == round)
				n++;
			cr_assert_geq(n, there);
			there = n;
			while (n < LENGTH && target[n] != round)
				n++;
			cr_assert_eq(n, LENGTH, "a hole in front of byte %u", n);
			arrived = pair_poll(p, 1, &c);
		}
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		cr_assert_eq(there, LENGTH);
	}
	pair_run(p, LONG);
	pair_free(p);
}

static uint8_t *pages;
static uint32_t before; /* bytes of the write that lie in the first page */
static volatile sig_atomic_t faults, holes;

/* The first store to the second page. */
static void
on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if ((uint8_t *)info->si_addr < pages + PAGE || (uint8_t *)info->si_addr >= pages + 2 * PAGE)
		_exit(99);
	for (uint32_t i = 0; i < before; i++)
		holes += pages[PAGE - before + i] != 0x77;
	faults++;
	mprotect(pages, 2 * PAGE, PROT_READ | PROT_WRITE);
}

/*
 * checks R-ORD-07[2]: the last byte of a packet lies on a page that traps: all others are there
 * when it is stored.
 */
Test(placement, R_ORD_07_the_last_byte_comes_last)
{
	const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct sigaction old;

	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(sysconf(_SC_PAGESIZE), PAGE);
	sigaction(SIGSEGV, &action, &old);
	for (uint32_t bytes = 2; bytes <= 1024; bytes += bytes < 40 ? 1 : 37) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = 1024});
		struct roce_shard *s = p->side[1].shard;
		struct roce_mr *mr = roce_mr_register(s, p->side[1].pd, PAIR_VA, 2 * PAGE, pages,
			NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE);
		struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

		memset(pages, 0, 2 * PAGE);
		memset(p->side[0].arena, 0x77, bytes);
		before = bytes - 1;
		faults = 0;
		mprotect(pages + PAGE, PAGE, PROT_READ);
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.context = 1,
				.raddr = PAIR_VA + PAGE - before,
				.rkey = roce_mr_key(mr),
				.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
			&sge, NULL);
		cr_assert(pair_run(p, LONG));
		cr_assert_eq(faults, 1);
		cr_assert_eq(holes, 0, "%u bytes: %d came behind the last one", bytes, (int)holes);
		cr_assert_eq(pages[PAGE], 0x77);
		roce_mr_deregister(s, mr);
		pair_free(p);
	}
	sigaction(SIGSEGV, &old, NULL);
	munmap(pages, 2 * PAGE);
}

static const struct ndsh_cq_reader *reader;
static volatile sig_atomic_t early;

/* The first store to the first page: is there a completion already? */
static void
on_store(int number, siginfo_t *info, void *context)
{
	struct ndsh_cq_reader peek = *reader;
	struct ndsh_cqe c;

	(void)number;
	(void)context;
	if ((uint8_t *)info->si_addr < pages || (uint8_t *)info->si_addr >= pages + PAGE)
		_exit(99);
	faults++;
	early += ndsh_cq_take(&peek, &c);
	mprotect(pages, PAGE, PROT_READ | PROT_WRITE);
}

/*
 * checks W-RESP-14[2]: the receive lies on a page that traps: when the message, or its last packet,
 * is stored, no completion tells of it.
 */
Test(placement, W_RESP_14_the_completion_comes_behind_the_bytes)
{
	const struct sigaction action = {.sa_sigaction = on_store, .sa_flags = SA_SIGINFO};
	struct sigaction old;

	pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(pages, MAP_FAILED);
	sigaction(SIGSEGV, &action, &old);
	for (uint32_t bytes = 1; bytes <= 600; bytes += bytes < 20 ? 1 : 29) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
		struct roce_shard *s = p->side[1].shard;
		struct roce_mr *mr = roce_mr_register(
			s, p->side[1].pd, PAIR_VA, PAGE, pages, NDSH_ACCESS_LOCAL_WRITE);
		const uint32_t in_front = (bytes - 1) / 256 * 256;
		const struct ndsh_sge in[2] = {pair_sge(p, 1, 0, in_front),
			{.addr = PAIR_VA, .len = PAGE, .key = roce_mr_key(mr)}};

		memset(p->side[0].arena, 0x77, bytes);
		ndsh_rq_push(&p->side[1].q[0].rq, 1, &in[in_front == 0], 1 + (in_front > 0));
		reader = &p->side[1].reader;
		faults = early = 0;
		mprotect(pages, PAGE, PROT_READ);
		pair_send(p, 0, 0, 2, 0, bytes, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(faults, 1);
		cr_assert_eq(early, 0, "%u bytes", bytes);
		cr_assert_eq(pages[bytes - in_front - 1], 0x77);
		roce_mr_deregister(s, mr);
		pair_free(p);
	}
	sigaction(SIGSEGV, &old, NULL);
	munmap(pages, PAGE);
}

static const struct ndsh_srq_page *shared;

/* The first store to the completion queue: has the receive been taken? */
static void
on_completion(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if ((uint8_t *)info->si_addr < pages || (uint8_t *)info->si_addr >= pages + PAGE)
		_exit(99);
	faults++;
	early += shared->taken == 0;
	mprotect(pages, PAGE, PROT_READ | PROT_WRITE);
}

/*
 * checks R-SRQ-06[3]: the completion queue lies on a page that traps: when the completion of a
 * shared receive is stored, its place is free, whether it is filled or has failed: a client that
 * takes the one may post another.
 */
Test(placement, R_SRQ_06_the_completion_comes_behind_the_free_place)
{
	const struct sigaction action = {.sa_sigaction = on_completion, .sa_flags = SA_SIGINFO};
	struct sigaction old;

	sigaction(SIGSEGV, &action, &old);
	for (uint32_t over = 0; over < 2; over++) {
		struct pair *p = pair_new(&(struct pair_opts){.srq_depth = 16});

		shared = p->side[1].srq_page;
		pages = (uint8_t *)((uintptr_t)p->side[1].reader.ring & -(uintptr_t)PAGE);
		faults = early = 0;
		pair_recv(p, 1, 0, 1, 0, 64);
		pair_send(p, 0, 0, 2, 0, 64 + over, 0);
		mprotect(pages, PAGE, PROT_READ);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 1, 1, over ? NDSH_WC_LOC_LEN_ERR : NDSH_WC_SUCCESS);
		cr_assert_eq(faults, 1);
		cr_assert_eq(early, 0);
		pair_free(p);
	}
	sigaction(SIGSEGV, &old, NULL);
}

#define FIRST 100u

/* What an ACK names is there when it leaves. */
static unsigned
watch_acks(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const uint8_t *target = p->side[1].arena + TARGET;
	unsigned *acks = ctx;

	(void)late_ns;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_ACK) {
		for (uint32_t i = 0; i < (pkt->psn - FIRST + 1) * 256 && i < LENGTH; i++)
			cr_assert_eq(target[i], 0x77, "byte %u, ACK of %u", i, pkt->psn);
		++*acks;
	}
	return 1;
}

/* checks W-RESP-14[1] */
Test(placement, W_RESP_14_what_is_acknowledged_is_there)
{
	unsigned acks = 0;
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = 256, .window = 16, .set_psn = true, .sq_psn = {FIRST, 1}});

	p->tap = watch_acks;
	p->tap_ctx = &acks;
	memset(p->side[0].arena, 0x77, LENGTH);
	pair_write(p, 0, 0, 1, 0, TARGET, LENGTH, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_gt(acks, 3);
	pair_free(p);
}
