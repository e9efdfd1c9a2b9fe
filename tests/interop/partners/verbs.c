/* SPDX-License-Identifier: BSD-3-Clause */
/* verbspartner MIB: what a guest's verbs do, as partner.h has it. Queue pairs and their work. */
#include "verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CQ_DEPTH 2048
#define ACCESS	 (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define BAD_KEY	 0x10u
#define READS	 4

/*
 * rdma_rxe of 6.1 and 6.12 hands the kernel's flags to its library as they are, where the same bit
 * has another name: IB_WC_WITH_INVALIDATE is 1 << 2 there.
 */
#define KERNEL_WC_WITH_INVALIDATE (1 << 2)

struct device device;
static struct end ends[ENDS_MAX];
static unsigned int psns;

static const struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
} ops[] = {
	{"send", IBV_WR_SEND},
	{"send-imm", IBV_WR_SEND_WITH_IMM},
	{"send-inv", IBV_WR_SEND_WITH_INV},
	{"write", IBV_WR_RDMA_WRITE},
	{"write-imm", IBV_WR_RDMA_WRITE_WITH_IMM},
	{"read", IBV_WR_RDMA_READ},
	{"swap", IBV_WR_ATOMIC_CMP_AND_SWP},
	{"add", IBV_WR_ATOMIC_FETCH_AND_ADD},
	{"bind", IBV_WR_BIND_MW},
};
#define OPS	(sizeof(ops) / sizeof(ops[0]))
#define RECEIVE OPS /* in a wr_id */

void
must(bool good, const char *what)
{
	if (!good)
		partner_die("%s: %s", what, strerror(errno));
}

struct end *
end_of(const char *name)
{
	for (struct end *e = ends; e < ends + ENDS_MAX; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	partner_die("no such name: %s", name);
}

struct end *
end_new(const char *name)
{
	for (struct end *e = ends; e < ends + ENDS_MAX; e++) {
		if (e->name[0] == '\0') {
			memset(e, 0, sizeof(*e));
			snprintf(e->name, sizeof(e->name), "%s", name);
			return e;
		}
	}
	partner_die("too many names");
}

void
partner_start(int argc, char **argv)
{
	struct ibv_context **found = rdma_get_devices(NULL);

	(void)argc;
	(void)argv;
	must(found != NULL && found[0] != NULL, "rdma_get_devices");
	device.verbs = found[0];
	device.pd = ibv_alloc_pd(device.verbs);
	must(device.pd != NULL, "ibv_alloc_pd");
	device.cq = ibv_create_cq(device.verbs, CQ_DEPTH, NULL, NULL, 0);
	must(device.cq != NULL, "ibv_create_cq");
	partner_area = mmap(NULL, partner_area_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(partner_area != MAP_FAILED, "mmap");
	device.mr = ibv_reg_mr(device.pd, partner_area, partner_area_bytes,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | ACCESS);
	device.weak =
		ibv_reg_mr(device.pd, partner_area, partner_area_bytes, IBV_ACCESS_LOCAL_WRITE);
	must(device.mr != NULL && device.weak != NULL, "ibv_reg_mr");
	device.channel = rdma_create_event_channel();
	must(device.channel != NULL, "rdma_create_event_channel");
}

struct ibv_qp_init_attr
verbs_qp_attributes(struct ibv_cq *cq)
{
	return (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1}};
}

struct sockaddr_storage
verbs_address(const char *text, const char *port)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found;
	struct sockaddr_storage address = {0};

	if (getaddrinfo(text, port, &hints, &found) != 0)
		partner_die("no address and port: %s %s", text, port);
	memcpy(&address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return address;
}

void
run_memory(char **words)
{
	(void)words;
	partner_ok("%lu %u %u", (unsigned long)(uintptr_t)partner_area, device.mr->rkey,
		device.weak->rkey);
}

void
run_qp(char **words)
{
	struct ibv_qp_init_attr init = verbs_qp_attributes(device.cq);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct end *e = end_new(words[0]);

	e->qp = ibv_create_qp(device.pd, &init);
	must(e->qp != NULL, "ibv_create_qp");
	must(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
		"INIT");
	psns = (psns + 0x31415) & 0xffffff;
	partner_ok("%u %u", e->qp->qp_num, psns);
}

/* Our GID of the address's family, and not the link-local one. */
static uint8_t
gid_index(const union ibv_gid *peer)
{
	union ibv_gid gid;

	for (int i = 0; ibv_query_gid(device.verbs, 1, i, &gid) == 0; i++)
		if (memcmp(gid.raw, peer->raw, 8) == 0)
			return (uint8_t)i;
	partner_die("no GID on the link of the peer's");
}

static union ibv_gid
gid_of(const char *text)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, text, gid.raw + 12) != 1 && inet_pton(AF_INET6, text, gid.raw) != 1)
		partner_die("no address: %s", text);
	return gid;
}

static unsigned int
access_of(const char *rights)
{
	return (strchr(rights, 'r') ? IBV_ACCESS_REMOTE_READ : 0) |
	       (strchr(rights, 'w') ? IBV_ACCESS_REMOTE_WRITE : 0) |
	       (strchr(rights, 'a') ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

/* NAME ADDRESS NUMBER PSN MTU TIMEOUT RETRIES RNR-RETRIES RNR-TIMER RIGHTS */
void
run_up(char **words)
{
	struct end *e = end_of(words[0]);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)(__builtin_ctzl(number_of(words[4])) - 7),
		.dest_qp_num = (uint32_t)number_of(words[2]),
		.rq_psn = (uint32_t)number_of(words[3]),
		.max_dest_rd_atomic = READS,
		.qp_access_flags = access_of(words[9]),
		.min_rnr_timer = (uint8_t)number_of(words[8]),
		.ah_attr = {.is_global = 1, .port_num = 1}};

	attr.ah_attr.grh.dgid = gid_of(words[1]);
	attr.ah_attr.grh.sgid_index = gid_index(&attr.ah_attr.grh.dgid);
	attr.ah_attr.grh.hop_limit = 64;
	must(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			     IBV_QP_ACCESS_FLAGS) == 0,
		"RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
		.sq_psn = psns,
		.timeout = (uint8_t)number_of(words[5]),
		.retry_cnt = (uint8_t)number_of(words[6]),
		.rnr_retry = (uint8_t)number_of(words[7]),
		.max_rd_atomic = READS};
	must(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
		"RTS");
	partner_ok("%s", "");
}

static struct ibv_sge
sge_of(char **words)
{
	return (struct ibv_sge){(uintptr_t)partner_area + number_of(words[0]),
		(uint32_t)number_of(words[1]), device.mr->lkey};
}

void
run_receive(char **words)
{
	struct ibv_sge sge = sge_of(words + 1);
	struct ibv_recv_wr wr = {.wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1}, *bad;

	sge.lkey ^= words[3] != NULL ? BAD_KEY : 0;
	must(ibv_post_recv(end_of(words[0])->qp, &wr, &bad) == 0, "ibv_post_recv");
	partner_ok("%s", "");
}

static void
post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	for (wr->wr_id = 0; ops[wr->wr_id].opcode != wr->opcode; wr->wr_id++)
		;
	must(ibv_post_send(e->qp, wr, &bad) == 0, "ibv_post_send");
}

/* NAME OP AT BYTES [ADDRESS KEY [A [B]]] */
void
run_post(char **words)
{
	struct ibv_sge sge = sge_of(words + 2);
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = sge.length != 0};
	uint64_t address = optional(words, 4), a = words[4] ? optional(words, 6) : 0;
	uint32_t key = words[4] ? (uint32_t)optional(words, 5) : 0;
	size_t op = 0;

	while (op < OPS && strcmp(ops[op].name, words[1]) != 0)
		op++;
	if (op == OPS)
		partner_die("no operation: %s", words[1]);
	wr.opcode = ops[op].opcode;
	if (wr.opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = (uint32_t)a;
	else
		wr.imm_data = htonl((uint32_t)a);
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = a;
		wr.wr.atomic.swap = words[6] ? optional(words, 7) : 0;
	} else {
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = key;
	}
	post(end_of(words[0]), &wr);
	partner_ok("%s", "");
}

static bool
wait_for_result(struct ibv_wc *wc, uint64_t ms)
{
	const struct timespec moment = {.tv_nsec = 200000};
	uint64_t end = now_us() + ms * 1000;
	int n;

	while ((n = ibv_poll_cq(device.cq, 1, wc)) == 0 && now_us() < end)
		nanosleep(&moment, NULL);
	must(n >= 0, "ibv_poll_cq");
	return n == 1;
}

void
run_window(char **words)
{
	struct end *e = end_of(words[0]);
	struct ibv_send_wr bind = {.opcode = IBV_WR_BIND_MW};
	struct ibv_sge sge = sge_of(words + 1);
	struct ibv_wc wc;

	if (e->mw == NULL)
		e->mw = ibv_alloc_mw(device.pd, IBV_MW_TYPE_2);
	must(e->mw != NULL, "ibv_alloc_mw");
	bind.bind_mw.mw = e->mw;
	/* rdma_rxe of Linux 6.1 and 6.12 wants to find the old key in mw, so this one is put there
	 * later. */
	bind.bind_mw.rkey = ibv_inc_rkey(e->mw->rkey);
	bind.bind_mw.bind_info = (struct ibv_mw_bind_info){
		device.mr, sge.addr, sge.length, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	post(e, &bind);
	if (!wait_for_result(&wc, 5000) || wc.status != IBV_WC_SUCCESS)
		partner_die("bind: no success");
	e->mw->rkey = bind.bind_mw.rkey;
	partner_ok("%u", e->mw->rkey);
}

void
run_take(char **words)
{
	static const char *const statuses[] = {"SUCCESS", "LOC_LEN", "LOC_QP_OP", "LOC_EEC",
		"LOC_PROT", "FLUSH", "MW_BIND", "BAD_RESP", "LOC_ACCESS", "REM_INV_REQ",
		"REM_ACCESS", "REM_OP", "RETRY_EXC", "RNR_RETRY_EXC"};
	const char *what, *status;
	uint32_t extra = 0;
	struct ibv_wc wc;

	if (!wait_for_result(&wc, number_of(words[0]))) {
		partner_ok("none");
		return;
	}
	status = wc.status < sizeof(statuses) / sizeof(statuses[0]) ? statuses[wc.status] : "?";
	what = wc.wr_id < OPS ? ops[wc.wr_id].name : "receive";
	if (wc.wr_id == RECEIVE && wc.status == IBV_WC_SUCCESS) {
		extra = ntohl(wc.imm_data);
		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			what = "written-imm";
		else if (wc.wc_flags & IBV_WC_WITH_IMM)
			what = "receive-imm";
		else if (wc.wc_flags & (IBV_WC_WITH_INV | KERNEL_WC_WITH_INVALIDATE)) {
			what = "receive-inv";
			extra = wc.invalidated_rkey;
		} else
			extra = 0;
	}
	partner_ok(
		"%s %s %u %u", status, what, wc.status == IBV_WC_SUCCESS ? wc.byte_len : 0, extra);
}

void
run_state(char **words)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERROR"};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(ibv_query_qp(end_of(words[0])->qp, &attr, IBV_QP_STATE, &init) == 0, "ibv_query_qp");
	partner_ok("%s", names[attr.qp_state]);
}

void
run_drop(char **words)
{
	struct end *e = end_of(words[0]);
	struct ibv_wc wc;

	if (e->qp != NULL)
		must((e->id ? (rdma_destroy_qp(e->id), 0) : ibv_destroy_qp(e->qp)) == 0,
			"destroy of a queue pair");
	if (e->mw != NULL)
		must(ibv_dealloc_mw(e->mw) == 0, "ibv_dealloc_mw");
	if (e->id != NULL)
		must(rdma_destroy_id(e->id) == 0, "rdma_destroy_id");
	while (ibv_poll_cq(device.cq, 1, &wc) > 0)
		; /* what it has left there */
	e->name[0] = '\0';
	partner_ok("%s", "");
}
