/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <endian.h>
#include <string.h>

static uint8_t *
control_receive_slot(const struct control *ctl, uint32_t i)
{
	return ctl->buf.mem + i * NDPERF_MSG_BYTES;
}

static uint8_t *
control_send_slot(const struct control *ctl)
{
	return ctl->buf.mem + (CONTROL_SLOTS + ctl->send_next) * NDPERF_MSG_BYTES;
}

static nd_status
control_post_receive(struct control *ctl, void *slot)
{
	struct nd_sge sge = {slot, NDPERF_MSG_BYTES, nd_mr_local_token(ctl->buf.mr)};

	return nd_qp_receive(ctl->conn.qp, slot, &sge, 1);
}

nd_status
control_create(struct control *ctl, struct nd_adapter *adapter, struct nd_pd *pd)
{
	struct nd_qp_options q = {.context = ctl,
		.receive_depth = CONTROL_SLOTS,
		.initiator_depth = CONTROL_SLOTS,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
	nd_status st = buffer_create(&ctl->buf, adapter, pd, NDPERF_MEMORY_ARENA,
		2ull * CONTROL_SLOTS * NDPERF_MSG_BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE);

	if (st == ND_SUCCESS)
		st = nd_cq_create(adapter, 2 * CONTROL_SLOTS, &ctl->cq);
	if (st == ND_SUCCESS) {
		q.receive_cq = q.initiator_cq = ctl->cq;
		st = nd_qp_create(pd, &q, &ctl->conn.qp);
	}
	for (uint32_t i = 0; st == ND_SUCCESS && i < CONTROL_SLOTS; i++)
		st = control_post_receive(ctl, control_receive_slot(ctl, i));
	return st;
}

void
control_destroy(struct control *ctl)
{
	conn_destroy(&ctl->conn);
	if (ctl->cq != NULL)
		nd_cq_close(ctl->cq);
	buffer_destroy(&ctl->buf);
}

/* Count a request that was posted with status st. Sends and writes complete in order, so the slot
 * after the newest one is free while fewer than CONTROL_SLOTS are under way. */
static nd_status
control_count_send(struct control *ctl, nd_status st)
{
	if (st == ND_SUCCESS) {
		ctl->send_next = (ctl->send_next + 1) % CONTROL_SLOTS;
		ctl->sends_out++;
	}
	return st;
}

nd_status
control_send(struct control *ctl, const struct ndperf_msg *msg)
{
	struct nd_sge sge = {
		control_send_slot(ctl), NDPERF_MSG_BYTES, nd_mr_local_token(ctl->buf.mr)};

	if (ctl->sends_out == CONTROL_SLOTS)
		return ND_NO_MORE_ENTRIES;
	ndperf_msg_encode(msg, sge.buffer);
	return control_count_send(ctl, nd_qp_send(ctl->conn.qp, NULL, &sge, 1, 0));
}

nd_status
control_write(struct control *ctl, uint64_t value, uint64_t address, uint32_t token)
{
	struct nd_sge sge = {control_send_slot(ctl), sizeof(value), nd_mr_local_token(ctl->buf.mr)};

	if (ctl->sends_out >= CONTROL_SLOTS - CONTROL_RESERVED)
		return ND_NO_MORE_ENTRIES;
	value = htole64(value);
	memcpy(sge.buffer, &value, sizeof(value));
	return control_count_send(ctl, nd_qp_write(ctl->conn.qp, NULL, &sge, 1, address, token, 0));
}

enum control_event
control_poll(struct control *ctl, struct ndperf_msg *msg)
{
	struct nd_result *r = &ctl->failure;
	bool good;
	int32_t n;

	while ((n = nd_cq_get_results(ctl->cq, r, 1)) > 0) {
		if (r->status != ND_SUCCESS)
			return CONTROL_FAILED;
		if (r->request_type != ND_REQUEST_RECEIVE) {
			ctl->sends_out--;
			continue;
		}
		good = ndperf_msg_decode(r->request_context, r->bytes_transferred, msg);
		if (!good)
			return CONTROL_GARBAGE;
		r->status = control_post_receive(ctl, r->request_context);
		return r->status == ND_SUCCESS ? CONTROL_MESSAGE : CONTROL_FAILED;
	}
	if (n == 0)
		return CONTROL_NONE;
	memset(r, 0, sizeof(*r));
	r->status = n;
	return CONTROL_FAILED;
}
