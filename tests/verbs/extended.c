/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended completion queues. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"
#include "scenarios.h"

static struct ibv_poll_cq_attr plain;

/* When an answer of the peer is here, so are those to all requests before; when the daemon has been
 * asked for something since, the lcore has ended that turn, and the completions are there. */
static void
wait_unpolled(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 64, 8);
	struct ibv_send_wr read = rig_request(r, IBV_WR_RDMA_READ, &sge, 0);
	volatile uint8_t *arrived = r->memory[0] + 64;
	struct ibv_qp_init_attr init;
	time_t end = time(NULL) + 5;
	struct ibv_qp_attr a;

	*arrived = 0;
	r->memory[1][64] = 0xff;
	read.wr.rdma.remote_addr += 64;
	read.send_flags = 0;
	rig_post(r, &read);
	while (*arrived != 0xff)
		WANT(time(NULL) <= end);
	WANT(ibv_query_qp(r->qp[0], &a, IBV_QP_STATE, &init) == 0);
}

/* Signaled writes of these numbers, which are complete, and nobody has polled. */
static void
write_some(struct rig *r, uint64_t first, uint64_t last)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 0);

	for (wr.wr_id = first; wr.wr_id <= last; wr.wr_id++)
		rig_post(r, &wr);
	wait_unpolled(r);
}

static void
want_write(struct rig *r, uint64_t id)
{
	WANT(r->ex->wr_id == id && r->ex->status == IBV_WC_SUCCESS);
	WANT(ibv_wc_read_opcode(r->ex) == IBV_WC_RDMA_WRITE);
	WANT(ibv_wc_read_qp_num(r->ex) == r->qp[0]->qp_num);
	WANT(ibv_wc_read_wc_flags(r->ex) == 0 && ibv_wc_read_vendor_err(r->ex) == 0);
	WANT(ibv_wc_read_slid(r->ex) == 0 && ibv_wc_read_dlid_path_bits(r->ex) == 0);
}

/* Nothing is held after a poll that failed: the next one may start. */
static void
empty_says_so(struct rig *r)
{
	struct ibv_poll_cq_attr unknown = {.comp_mask = 1};

	for (int i = 0; i < 3; i++) {
		WANT(ibv_start_poll(r->ex, &plain) == ENOENT);
		WANT(ibv_start_poll(r->ex, &unknown) == EINVAL);
	}
}

static void
entry_after_entry(struct rig *r)
{
	write_some(r, 1, 40);
	WANT(ibv_start_poll(r->ex, &plain) == 0);
	for (uint64_t id = 1; id <= 40; id++) {
		want_write(r, id);
		WANT(ibv_next_poll(r->ex) == (id < 40 ? 0 : ENOENT));
	}
	ibv_end_poll(r->ex);
	empty_says_so(r);
}

/* Both ways of polling take from one queue, in its order. */
static void
ways_mix(struct rig *r)
{
	struct ibv_wc wc;

	write_some(r, 1, 4);
	WANT(ibv_start_poll(r->ex, &plain) == 0);
	want_write(r, 1);
	ibv_end_poll(r->ex);
	rig_wait_for(r, 2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(ibv_start_poll(r->ex, &plain) == 0);
	want_write(r, 3);
	ibv_end_poll(r->ex);
	WANT(ibv_poll_cq(r->cq, 8, &wc) == 1 && wc.wr_id == 4);
	empty_says_so(r);
}

static void
start_within(struct rig *r)
{
	time_t end = time(NULL) + 5;

	while (ibv_start_poll(r->ex, &plain) != 0)
		WANT(time(NULL) <= end);
}

static void
immediate_is_read(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 100);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_SEND_WITH_IMM, &sge, 5);

	wr.imm_data = htonl(0x01020304);
	wr.send_flags = 0;
	rig_receive(r, 1, 0, 2000, 9);
	rig_post(r, &wr);
	start_within(r);
	WANT(r->ex->wr_id == 9 && ibv_wc_read_opcode(r->ex) == IBV_WC_RECV);
	WANT(ibv_wc_read_byte_len(r->ex) == 100);
	WANT(ibv_wc_read_wc_flags(r->ex) == IBV_WC_WITH_IMM);
	WANT(ibv_wc_read_imm_data(r->ex) == htonl(0x01020304));
	WANT(ibv_wc_read_qp_num(r->ex) == r->qp[1]->qp_num);
	ibv_end_poll(r->ex);
}

/* Entries of a queue pair are gone with it, also in the midst of polling. */
static void
destroyed_is_passed_over(struct rig *r)
{
	write_some(r, 1, 5);
	WANT(ibv_start_poll(r->ex, &plain) == 0);
	want_write(r, 1);
	ibv_end_poll(r->ex);
	WANT(ibv_destroy_qp(r->qp[0]) == 0);
	empty_says_so(r);
	r->qp[0] = NULL;
}

static void
failure_is_read(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 6);

	wr.wr.rdma.rkey ^= 0x100;
	rig_post(r, &wr);
	start_within(r);
	WANT(r->ex->wr_id == 6 && r->ex->status == IBV_WC_REM_ACCESS_ERR);
	WANT(ibv_wc_read_vendor_err(r->ex) != 0);
	ibv_end_poll(r->ex);
}

static void
want_refusal(struct rig *r, struct ibv_cq_init_attr_ex attr, int error)
{
	errno = 0;
	WANT(ibv_create_cq_ex(r->context, &attr) == NULL && errno == error);
}

static void
what_is_refused(struct rig *r)
{
	struct ibv_modify_cq_attr moderate = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	const uint32_t flags = IBV_CQ_INIT_ATTR_MASK_FLAGS;

	want_refusal(r, (struct ibv_cq_init_attr_ex){.cqe = 0}, EINVAL);
	want_refusal(r, (struct ibv_cq_init_attr_ex){.cqe = ~0u}, EINVAL);
	want_refusal(r, (struct ibv_cq_init_attr_ex){.cqe = 4, .comp_vector = 1}, EINVAL);
	for (uint64_t field = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
		field <= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK; field <<= 1)
		want_refusal(
			r, (struct ibv_cq_init_attr_ex){.cqe = 4, .wc_flags = field}, EOPNOTSUPP);
	want_refusal(r,
		(struct ibv_cq_init_attr_ex){
			.cqe = 4, .comp_mask = flags, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN},
		EOPNOTSUPP);
	want_refusal(r, (struct ibv_cq_init_attr_ex){.cqe = 4, .comp_mask = 1u << 31}, EOPNOTSUPP);
	want_refusal(r,
		(struct ibv_cq_init_attr_ex){.cqe = 4,
			.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
			.parent_domain = r->pd}, /* it is no parent domain */
		EINVAL);
	WANT(ibv_modify_cq(r->cq, &moderate) == EOPNOTSUPP);
}

void
run_polls(void)
{
	const uint32_t flags[] = {0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct rig r;

	for (int i = 0; i < 2; i++) {
		rig_open_extended(&r, flags[i]);
		rig_connect(&r);
		what_is_refused(&r);
		empty_says_so(&r);
		entry_after_entry(&r);
		ways_mix(&r);
		immediate_is_read(&r);
		destroyed_is_passed_over(&r);
		rig_close(&r);
	}
	rig_open_extended(&r, 0);
	rig_connect(&r);
	failure_is_read(&r);
	rig_close(&r);
}

static void *
poll_one(void *arg)
{
	struct rig *r = arg;

	WANT(ibv_start_poll(r->ex, &plain) == 0);
	want_write(r, 2);
	ibv_end_poll(r->ex);
	return NULL;
}

/* The fields are those of one thread's entry from its start to its end: others wait. */
void
run_pollers(void)
{
	pthread_t other;
	struct rig r;

	rig_open_extended(&r, 0);
	rig_connect(&r);
	write_some(&r, 1, 2);
	WANT(ibv_start_poll(r.ex, &plain) == 0);
	WANT(pthread_create(&other, NULL, poll_one, &r) == 0);
	usleep(100000);
	want_write(&r, 1);
	ibv_end_poll(r.ex);
	pthread_join(other, NULL);
	rig_close(&r);
}
