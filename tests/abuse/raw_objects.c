/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions, memory, objects and connections by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw.h"

#define EVENT_MS    5000
#define ADMIN_DEPTH 64u
#define ALL_RIGHTS                                                                                 \
	(NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |            \
		NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_WINDOW_BIND)

/* ---- sessions ---- */

int
raw_hello(struct raw *r, const char *path)
{
	struct ndsh_hello m;

	*r = (struct raw){.fd = raw_dial(path), .wake = -1};
	if (r->fd < 0)
		return RAW_GONE;
	ndsh_hello_fill(&m);
	return raw_ask(r, &m, NULL, NULL);
}

int
raw_open(struct raw *r, const char *path)
{
	struct ndsh_address_list ask = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndsh_address_list_reply list = {.count = 0};
	struct ndsh_open open = {.h.type = NDSH_MSG_OPEN, .placement = NDSH_PLACE_ANY};
	int status = raw_hello(r, path);

	if (status == NDSH_OK)
		status = raw_ask(r, &ask, &list, NULL);
	if (status != NDSH_OK || list.count == 0)
		return status;
	open.addr = r->addr = list.addr[0];
	return raw_ask(r, &open, NULL, &r->wake);
}

static int
begin_admin(struct raw *r)
{
	struct ndsh_admin_create m = {.h.type = NDSH_MSG_ADMIN_CREATE, .depth = ADMIN_DEPTH};
	struct raw_cq cq;
	int status = raw_cq(r, ADMIN_DEPTH, &cq);

	if (status != NDSH_OK)
		return status;
	m.segment = r->segment;
	m.cq = cq.id;
	m.offset = raw_carve(r, ndsh_admin_bytes(ADMIN_DEPTH));
	ndsh_admin_view(&r->admin, r->base + m.offset, ADMIN_DEPTH);
	r->admin_cq = cq.reader;
	return raw_ask(r, &m, NULL, NULL);
}

static void
begin_must(int status, const char *what, const char *path)
{
	if (status == NDSH_OK)
		return;
	fprintf(stderr, "%s: %s: status %x\n", path, what, (unsigned int)status);
	exit(3);
}

void
raw_begin(struct raw *r, const char *path)
{
	raw_begin_with(r, path, RAW_SEGMENT_BYTES);
}

void
raw_begin_with(struct raw *r, const char *path, uint32_t bytes)
{
	begin_must(raw_open(r, path), "open", path);
	begin_must(raw_segment(r, bytes, &r->base, &r->segment), "segment", path);
	r->bytes = bytes;
	(void)raw_carve(r, sizeof(struct ndsh_session_page));
	begin_must(raw_ask_id(r, NDSH_MSG_PD_CREATE, 0, &r->pd), "domain", path);
	begin_must(begin_admin(r), "admin ring", path);
}

void
raw_end(struct raw *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->wake >= 0)
		close(r->wake);
	if (r->base != NULL)
		munmap(r->base, r->bytes);
	*r = (struct raw){.fd = -1, .wake = -1};
}

/* ---- memory ---- */

int
raw_segment_file(struct raw *r, uint64_t bytes, uint32_t *segment)
{
	struct ndsh_segment_create m = {.h.type = NDSH_MSG_SEGMENT_CREATE, .bytes = bytes};
	struct ndsh_segment_create_reply reply = {.segment = 0};
	int file = -1, status = raw_ask(r, &m, &reply, &file);

	*segment = reply.segment;
	return status == NDSH_OK ? file : -1;
}

int
raw_segment_mapped(struct raw *r, uint32_t segment, const void *base)
{
	struct ndsh_segment_mapped m = {
		.h.type = NDSH_MSG_SEGMENT_MAPPED,
		.segment = segment,
		.client_va = (uintptr_t)base,
	};

	return raw_ask(r, &m, NULL, NULL);
}

int
raw_segment(struct raw *r, uint64_t bytes, uint8_t **base, uint32_t *segment)
{
	int file = raw_segment_file(r, bytes, segment);

	if (file < 0)
		return NDSH_ERR_NO_RESOURCES;
	*base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (*base == MAP_FAILED)
		return NDSH_ERR_NO_RESOURCES;
	raw_step("segment mapped");
	memset(*base, 0, bytes);
	raw_step("segment touched");
	return raw_segment_mapped(r, *segment, *base);
}

uint32_t
raw_carve(struct raw *r, uint32_t bytes)
{
	uint32_t at = r->carved, end = (at + bytes + 4095u) & ~4095u;

	if (end > r->bytes) {
		fprintf(stderr, "no room in the segment for %u bytes\n", bytes);
		exit(3);
	}
	r->carved = end;
	return at;
}

/* ---- objects ---- */

int
raw_cq(struct raw *r, uint32_t depth, struct raw_cq *cq)
{
	struct ndsh_cq_create m = {
		.h.type = NDSH_MSG_CQ_CREATE,
		.segment = r->segment,
		.depth = depth,
		.offset = raw_carve(r, ndsh_cq_bytes(depth)),
	};
	struct ndsh_id_msg reply = {.id = 0};
	int status;

	cq->wake_fd = -1;
	cq->page = (void *)(r->base + m.offset);
	ndsh_cq_reader_view(&cq->reader, cq->page, depth);
	status = raw_ask(r, &m, &reply, &cq->wake_fd);
	cq->id = reply.id;
	return status;
}

static struct ndsh_qp_create
qp_request(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp)
{
	struct ndsh_qp_layout l;

	qp->dims = (struct ndsh_qp_dims){depth, depth, 1, 1, depth > 256 ? 0 : 64};
	(void)ndsh_qp_layout(&qp->dims, &l);
	return (struct ndsh_qp_create){
		.h.type = NDSH_MSG_QP_CREATE,
		.pd = r->pd,
		.recv_cq = cq->id,
		.send_cq = cq->id,
		.segment = r->segment,
		.offset = raw_carve(r, l.total_bytes),
		.sq_depth = depth,
		.rq_depth = depth,
		.sq_sge = 1,
		.rq_sge = 1,
		.inline_bytes = qp->dims.inline_bytes,
	};
}

static int
qp_made(struct raw *r, void *request, uint64_t offset, struct raw_qp *qp)
{
	struct ndsh_qp_create_reply reply = {.qp = 0};
	int status = raw_ask(r, request, &reply, NULL);

	qp->id = reply.qp;
	qp->qpn = reply.qpn;
	qp->page = (void *)(r->base + offset);
	ndsh_sq_view(&qp->sq, qp->page, &qp->dims);
	ndsh_rq_view(&qp->rq, qp->page, &qp->dims);
	return status;
}

int
raw_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp)
{
	struct ndsh_qp_create m = qp_request(r, cq, depth, qp);

	return qp_made(r, &m, m.offset, qp);
}

int
raw_uc_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp)
{
	struct ndsh_qp_create m = qp_request(r, cq, depth, qp);

	m.h.type = NDSH_MSG_UC_QP_CREATE;
	return qp_made(r, &m, m.offset, qp);
}

int
raw_ud_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp)
{
	struct ndsh_ud_qp_create m = {.q = qp_request(r, cq, depth, qp), .q_key = 0x11};

	m.q.h.type = NDSH_MSG_UD_QP_CREATE;
	return qp_made(r, &m, m.q.offset, qp);
}

int
raw_state(struct raw *r, const struct raw_qp *qp, enum ndsh_qp_state state)
{
	struct ndsh_qp_modify m = {{.type = NDSH_MSG_QP_MODIFY}, qp->id, state, {.mask = 0}};

	return raw_ask(r, &m, NULL, NULL);
}

static int
bring_up(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *peer, uint32_t qpn,
	uint32_t psn, uint32_t access, uint32_t mask)
{
	struct ndsh_qp_modify m = {{.type = NDSH_MSG_QP_MODIFY}, qp->id, NDSH_QPS_INIT,
		{.mask = NDSH_QPA_ACCESS,
			.access = access,
			.hop_limit = 64,
			.max_dest_rd = 16,
			.max_rd = 16,
			.min_rnr_code = 1,
			.timeout_code = 14,
			.retry = 7,
			.rnr_retry = 7,
			.mtu_bytes = 1024,
			.dest_qpn = qpn,
			.rq_psn = psn,
			.sq_psn = psn}};
	int status = raw_ask(r, &m, NULL, NULL);

	if (status != NDSH_OK)
		return status;
	memcpy(m.attr.ip, peer->ip, sizeof(m.attr.ip));
	m.state = NDSH_QPS_RTS;
	m.attr.mask = mask;
	status = raw_ask(r, &m, NULL, NULL);
	return status == NDSH_PENDING ? raw_event(r, NDSH_EV_QP_MODIFIED, NULL, EVENT_MS) : status;
}

int
raw_by_hand(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *peer, uint32_t qpn,
	uint32_t psn)
{
	return bring_up(r, qp, peer, qpn, psn, NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE,
		NDSH_QPA_ALL & ~(uint32_t)(NDSH_QPA_ACCESS | NDSH_QPA_KEEPALIVE));
}

int
raw_uc_by_hand(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *peer, uint32_t qpn,
	uint32_t psn)
{
	return bring_up(r, qp, peer, qpn, psn, NDSH_ACCESS_REMOTE_WRITE,
		NDSH_QPA_PATH | NDSH_QPA_MTU | NDSH_QPA_DEST_QPN | NDSH_QPA_RQ_PSN |
			NDSH_QPA_SQ_PSN);
}

void
raw_admin(struct raw *r, const struct ndsh_admin_request *q)
{
	ndsh_admin_push(&r->admin, q);
	raw_step("admin request written");
	if (ndsh_doorbell_ring_admin((void *)r->base))
		(void)!write(r->wake, &(uint64_t){1}, sizeof(uint64_t));
	raw_step("admin request rung");
}

bool
raw_admin_answer(struct raw *r, struct ndsh_cqe *answer, int ms)
{
	for (int i = 0; i < ms * 10; i++) {
		if (ndsh_cq_poll(&r->admin_cq, answer, 1) == 1)
			return true;
		usleep(100);
	}
	return false;
}

uint32_t
raw_region(struct raw *r)
{
	struct ndsh_admin_request q = {
		.va = (uintptr_t)r->base,
		.bytes = r->bytes,
		.pd = r->pd,
		.access = ALL_RIGHTS,
		.ctrl = NDSH_ADMIN_REGISTER,
	};
	struct ndsh_cqe answer = {.data = 0};

	raw_admin(r, &q);
	if (!raw_admin_answer(r, &answer, 2000) || answer.status != NDSH_ADMIN_OK)
		return 0;
	raw_step("region registered");
	return answer.data;
}

/* ---- work ---- */

void
raw_ring(struct raw *r, struct raw_qp *qp)
{
	if (ndsh_doorbell_ring((void *)r->base, qp->page, qp->id))
		(void)!write(r->wake, &(uint64_t){1}, sizeof(uint64_t));
}

static const char *
operation_name(uint32_t op)
{
	static const char *const names[] = {"?", "SEND", "SEND_INV", "SEND_IMM", "WRITE",
		"WRITE_IMM", "READ", "CMP_SWAP", "FETCH_ADD", "BIND", "INVALIDATE"};

	return names[op < sizeof(names) / sizeof(names[0]) ? op : 0];
}

void
raw_post(struct raw *r, struct raw_qp *qp, const struct ndsh_swr *wr)
{
	const char *name = operation_name(NDSH_CTRL_OP(wr->ctrl));

	ndsh_sq_push(&qp->sq, wr, &wr->sge0, NULL);
	raw_step("%s written", name);
	raw_ring(r, qp);
	raw_step("%s rung", name);
}

void
raw_receive(struct raw *r, struct raw_qp *qp, uint32_t bytes, uint32_t key)
{
	struct ndsh_sge sge = {(uintptr_t)r->base + r->bytes / 2, bytes, key};

	ndsh_rq_push(&qp->rq, 0, &sge, 1);
}

/* ---- connections ---- */

int
raw_listen(struct raw *r, uint32_t *listener, struct ndsh_addr *where)
{
	struct ndsh_listener_create m = {.h.type = NDSH_MSG_LISTENER_CREATE, .addr = r->addr};
	struct ndsh_listener_create_reply reply = {.listener = 0};
	int status;

	m.addr.port = 0;
	status = raw_ask(r, &m, &reply, NULL);
	*listener = reply.listener;
	*where = reply.addr;
	return status;
}

int
raw_connect(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *where, uint32_t *conn)
{
	struct ndsh_connect m = {
		.h.type = NDSH_MSG_CONNECT,
		.qp = qp->id,
		.local = r->addr,
		.remote = *where,
		.inbound_reads = 16,
		.outbound_reads = 16,
	};
	struct ndsh_id_msg reply = {.id = 0};
	int status;

	m.local.port = 0;
	status = raw_ask(r, &m, &reply, NULL);
	*conn = reply.id;
	return status;
}

int
raw_accept(struct raw *r, const struct raw_qp *qp, uint32_t conn)
{
	struct ndsh_accept m = {
		.h.type = NDSH_MSG_ACCEPT,
		.conn = conn,
		.qp = qp->id,
		.inbound_reads = 16,
		.outbound_reads = 16,
	};

	return raw_ask(r, &m, NULL, NULL);
}

int
raw_join(struct raw *a, const struct raw_qp *aq, struct raw *b, const struct raw_qp *bq)
{
	uint32_t listener, conn;
	struct ndsh_addr where;
	struct ndsh_ev_conn asked = {.conn = 0};
	int status = raw_listen(b, &listener, &where);

	if (status == NDSH_OK)
		status = raw_connect(a, aq, &where, &conn);
	if (status == NDSH_OK)
		status = raw_event(b, NDSH_EV_CONN_REQUEST, &asked, EVENT_MS);
	if (status == NDSH_OK)
		status = raw_accept(b, bq, asked.conn);
	if (status == NDSH_OK)
		status = raw_event(a, NDSH_EV_CONN_REPLY, NULL, EVENT_MS);
	if (status == NDSH_OK)
		status = raw_ask_id(a, NDSH_MSG_COMPLETE_CONNECT, conn, NULL);
	if (status == NDSH_OK)
		status = raw_event(b, NDSH_EV_CONN_ESTABLISHED, NULL, EVENT_MS);
	if (status == NDSH_OK)
		status = raw_ask_id(b, NDSH_MSG_LISTENER_DESTROY, listener, NULL);
	return status;
}
