/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended completion queues: a program looks at one entry after the other in the queue itself,
 * from ibv_start_poll() to ibv_end_poll(). Entries are taken one by one, so none is held back that
 * ibv_poll_cq() should find, or that is of a queue pair which is destroyed meanwhile.
 */
#include <errno.h>

#include "ndverbs/cq.h"
#include "ndverbs/errors.h"
#include "ndverbs/idle.h"

/* 0: an entry is there, ENOENT: there is none, EIO: the queue is dead. Entries of queue pairs that
 * were destroyed, or reset since, are passed over. */
static int
take_entry(struct ndv_cq *cq)
{
	struct nd_entry entry;
	int32_t got;

	do
		got = nd_cq_take_entries(cq->nd, &entry, 1);
	while (got == 1 && entry.qp_context == NULL);
	if (got != 1)
		return got == 0 ? ENOENT : EIO;
	ndv_wc_of(&entry, &cq->wc);
	cq->ex.wr_id = cq->wc.wr_id;
	cq->ex.status = cq->wc.status;
	return 0;
}

static void
poll_unlock(struct ndv_cq *cq)
{
	if (!cq->single_threaded)
		pthread_mutex_unlock(&cq->poll_lock);
}

/* If it fails there is nothing to end. */
static int
start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct ndv_cq *cq = ndv_cq(ibv_cq_ex_to_cq(ex));
	int err;

	if (attr->comp_mask != 0)
		return EINVAL;
	if (!cq->single_threaded)
		pthread_mutex_lock(&cq->poll_lock);
	err = take_entry(cq);
	if (err == 0) {
		ndv_idle_end();
		return 0;
	}
	poll_unlock(cq);
	if (err == ENOENT)
		ndv_idle_wait();
	return err;
}

static int
next_poll(struct ibv_cq_ex *ex)
{
	return take_entry(ndv_cq(ibv_cq_ex_to_cq(ex)));
}

static void
end_poll(struct ibv_cq_ex *ex)
{
	poll_unlock(ndv_cq(ibv_cq_ex_to_cq(ex)));
}

/* ---- what the entry says ------------------------------------------------------------------ */

static const struct ibv_wc *
entry_of(struct ibv_cq_ex *ex)
{
	return &ndv_cq(ibv_cq_ex_to_cq(ex))->wc;
}

static enum ibv_wc_opcode
read_opcode(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->opcode;
}

static uint32_t
read_vendor_err(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->vendor_err;
}

static uint32_t
read_byte_len(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->byte_len;
}

/* Or the key that was invalidated: there is one field for both. */
static __be32
read_imm_data(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->imm_data;
}

static uint32_t
read_qp_num(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->qp_num;
}

static uint32_t
read_src_qp(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->src_qp;
}

static unsigned int
read_wc_flags(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->wc_flags;
}

/* Ethernet has no LIDs: 0, in the next but one as well. */
static uint32_t
read_slid(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->slid;
}

static uint8_t
read_sl(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->sl;
}

static uint8_t
read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return entry_of(ex)->dlid_path_bits;
}

/* Nobody calls for fields that were not asked for; those that we have not are refused. */
static void
fill_calls(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
}

/* A completion has no time: the moment of the poll would be none of its own. A queue that overruns
 * is dead, so overruns can't be ignored. */
static int
check_asked(const struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;

	if ((attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS) != 0)
		return EOPNOTSUPP;
	if ((attr->comp_mask & ~known) != 0)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
		(attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD))
		return 0;
	return attr->parent_domain == NULL || attr->parent_domain->context != context ||
			       ndv_pd(attr->parent_domain)->within == NULL
		       ? EINVAL
		       : 0;
}

struct ibv_cq_ex *
ndv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int err = check_asked(context, attr);
	struct ndv_cq *cq = err == 0 ? ndv_cq_make(context, attr) : NULL;

	if (err != 0)
		return ndv_null(err);
	if (cq == NULL)
		return NULL;
	cq->single_threaded = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
			      (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->domain = ndv_pd(attr->parent_domain);
		ndv_use(&cq->domain->users);
	}
	fill_calls(&cq->ex);
	return &cq->ex;
}
