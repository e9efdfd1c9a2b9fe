/* SPDX-License-Identifier: BSD-3-Clause */
/* ndpartner SOCKET ADDRESS MIB: what libndclient does, as partner.h has it. Queue pairs and their
 * work.
 */
#include "nd.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CQ_DEPTH    2048
#define PATIENCE_MS 20000
#define BAD_KEY	    0x10000000u /* of the token, whose bytes are the key's */

struct device device;
static struct end ends[ENDS_MAX];

static const char *const ops[] = {
	"send", "send-imm", "send-inv", "write", "write-imm", "read", "swap", "add", NULL};
static const char receives[] = "receive", binds[] = "bind";

void
must(nd_status status, const char *what)
{
	if (status != ND_SUCCESS)
		partner_die("%s: %s (%s)", what, nd_status_name(status), nd_last_error());
}

nd_status
wait_for(nd_status inline_status, struct nd_overlapped *ov)
{
	return inline_status == ND_PENDING ? nd_overlapped_wait(ov, PATIENCE_MS) : inline_status;
}

const char *
status_word(nd_status status)
{
	return nd_status_name(status) + strlen("ND_");
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

socklen_t
nd_address(const char *text, const char *port, struct sockaddr_storage *address)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found;
	socklen_t bytes;

	if (getaddrinfo(text, port, &hints, &found) != 0)
		partner_die("no address and port: %s %s", text, port);
	bytes = found->ai_addrlen;
	memcpy(address, found->ai_addr, bytes);
	freeaddrinfo(found);
	return bytes;
}

void
partner_start(int argc, char **argv)
{
	struct nd_open_options options = {0};

	if (argc != 4)
		partner_die("usage: ndpartner SOCKET ADDRESS MIB");
	options.socket_path = argv[1];
	device.local_bytes = nd_address(argv[2], "0", &device.local);
	must(nd_adapter_open((struct sockaddr *)&device.local, device.local_bytes, &options,
		     &device.adapter),
		"nd_adapter_open");
	must(nd_pd_create(device.adapter, &device.pd), "nd_pd_create");
	must(nd_cq_create(device.adapter, CQ_DEPTH, &device.cq), "nd_cq_create");
	partner_area = nd_alloc(device.adapter, partner_area_bytes);
	if (partner_area == NULL)
		partner_die("nd_alloc: %s", nd_last_error());
	must(nd_mr_create(device.pd, &device.mr), "nd_mr_create");
	must(nd_mr_create(device.pd, &device.weak), "nd_mr_create");
	must(nd_mr_register(device.mr, partner_area, partner_area_bytes,
		     ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
			     ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_ATOMIC,
		     NULL),
		"nd_mr_register");
	must(nd_mr_register(device.weak, partner_area, partner_area_bytes,
		     ND_MR_FLAG_ALLOW_LOCAL_WRITE, NULL),
		"nd_mr_register");
}

struct nd_qp *
new_qp(struct nd_cq *cq, uint32_t depth)
{
	struct nd_qp_options options = {.receive_cq = cq,
		.initiator_cq = cq,
		.receive_depth = depth,
		.initiator_depth = depth,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
	struct nd_qp *qp;

	must(nd_qp_create(device.pd, &options, &qp), "nd_qp_create");
	return qp;
}

void
run_memory(char **words)
{
	(void)words;
	partner_ok("%lu %u %u", (unsigned long)(uintptr_t)partner_area,
		ntohl(nd_mr_remote_token(device.mr)), ntohl(nd_mr_remote_token(device.weak)));
}

static struct nd_qp_info
info_of(struct nd_qp *qp)
{
	struct nd_qp_info info;

	must(nd_qp_query(qp, &info), "nd_qp_query");
	return info;
}

void
run_qp(char **words)
{
	struct end *e = end_new(words[0]);
	struct nd_qp_info info;

	e->qp = new_qp(device.cq, DEPTH);
	info = info_of(e->qp);
	partner_ok("%u %u", info.number, info.first_psn);
}

static uint32_t
access_of(const char *rights)
{
	return (strchr(rights, 'r') ? ND_QP_ALLOW_REMOTE_READ : 0) |
	       (strchr(rights, 'w') ? ND_QP_ALLOW_REMOTE_WRITE : 0) |
	       (strchr(rights, 'a') ? ND_QP_ALLOW_REMOTE_ATOMIC : 0);
}

/* NAME ADDRESS NUMBER PSN MTU TIMEOUT RETRIES RNR-RETRIES RNR-TIMER RIGHTS */
void
run_up(char **words)
{
	struct end *e = end_of(words[0]);
	struct nd_qp_attributes attr = {
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS,
		.access = access_of(words[9]),
		.path_mtu = (uint32_t)number_of(words[4]),
		.peer_number = (uint32_t)number_of(words[2]),
		.rq_psn = (uint32_t)number_of(words[3]),
		.sq_psn = info_of(e->qp).first_psn,
		.inbound_reads = READS,
		.outbound_reads = READS,
		.timeout = (uint8_t)number_of(words[5]),
		.retries = (uint8_t)number_of(words[6]),
		.rnr_retries = (uint8_t)number_of(words[7]),
		.min_rnr_timer = (uint8_t)number_of(words[8]),
	};

	(void)nd_address(words[1], "0", &attr.peer);
	must(wait_for(nd_qp_modify(e->qp, ND_QP_STATE_RTS, &attr, &e->step), &e->step),
		"nd_qp_modify");
	partner_ok("%s", "");
}

static struct nd_sge
sge_of(char **words)
{
	return (struct nd_sge){partner_area + number_of(words[0]), (uint32_t)number_of(words[1]),
		nd_mr_local_token(device.mr)};
}

void
run_receive(char **words)
{
	struct nd_sge sge = sge_of(words + 1);

	sge.token ^= words[3] != NULL ? BAD_KEY : 0;
	must(nd_qp_receive(end_of(words[0])->qp, (void *)(uintptr_t)receives, &sge, 1),
		"nd_qp_receive");
	partner_ok("%s", "");
}

/* NAME OP AT BYTES [ADDRESS KEY [A [B]]] */
void
run_post(char **words)
{
	struct nd_qp *qp = end_of(words[0])->qp;
	struct nd_sge sge = sge_of(words + 2);
	uint64_t address = optional(words, 4), a = words[4] ? optional(words, 6) : 0;
	uint64_t b = words[4] && words[6] ? optional(words, 7) : 0;
	uint32_t token = words[4] ? htonl((uint32_t)optional(words, 5)) : 0;
	uint32_t n = sge.bytes != 0;
	nd_status st;
	size_t op = 0;
	void *what;

	while (ops[op] != NULL && strcmp(ops[op], words[1]) != 0)
		op++;
	if (ops[op] == NULL)
		partner_die("no operation: %s", words[1]);
	what = (void *)(uintptr_t)ops[op];
	switch (op) {
	case 0:
		st = nd_qp_send(qp, what, &sge, n, 0);
		break;
	case 1:
		st = nd_qp_send_with_immediate(qp, what, &sge, n, htonl((uint32_t)a), 0);
		break;
	case 2:
		st = nd_qp_send_and_invalidate(qp, what, &sge, n, htonl((uint32_t)a), 0);
		break;
	case 3:
		st = nd_qp_write(qp, what, &sge, n, address, token, 0);
		break;
	case 4:
		st = nd_qp_write_with_immediate(
			qp, what, &sge, n, address, token, htonl((uint32_t)a), 0);
		break;
	case 5:
		st = nd_qp_read(qp, what, &sge, n, address, token, 0);
		break;
	case 6:
		st = nd_qp_compare_swap(qp, what, &sge, address, token, a, b, 0);
		break;
	default:
		st = nd_qp_fetch_add(qp, what, &sge, address, token, a, 0);
		break;
	}
	must(st, ops[op]);
	partner_ok("%s", "");
}

static bool
wait_for_result(struct nd_result_ex *r, uint64_t ms)
{
	const struct timespec moment = {.tv_nsec = 100000};
	uint64_t end = now_us() + ms * 1000;
	int32_t n;

	while ((n = nd_cq_get_results_ex(device.cq, r, 1)) == 0 && now_us() < end)
		nanosleep(&moment, NULL);
	if (n < 0)
		must(n, "nd_cq_get_results_ex");
	return n == 1;
}

void
run_window(char **words)
{
	struct end *e = end_of(words[0]);
	struct nd_sge sge = sge_of(words + 1);
	struct nd_result_ex r;

	if (e->mw == NULL)
		must(nd_mw_create(device.pd, &e->mw), "nd_mw_create");
	must(nd_qp_bind(e->qp, (void *)(uintptr_t)binds, device.mr, e->mw, sge.buffer, sge.bytes,
		     ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE),
		"nd_qp_bind");
	if (!wait_for_result(&r, PATIENCE_MS) || r.status != ND_SUCCESS)
		partner_die("bind: no success");
	partner_ok("%u", ntohl(nd_mw_remote_token(e->mw)));
}

void
run_take(char **words)
{
	struct nd_result_ex r;
	const char *what;
	uint32_t extra = 0;

	if (!wait_for_result(&r, number_of(words[0]))) {
		partner_ok("none");
		return;
	}
	what = r.request_context;
	switch (r.request_type) {
	case ND_REQUEST_RECEIVE_WITH_IMMEDIATE:
		what = "receive-imm";
		extra = ntohl(r.immediate);
		break;
	case ND_REQUEST_WRITTEN_WITH_IMMEDIATE:
		what = "written-imm";
		extra = ntohl(r.immediate);
		break;
	case ND_REQUEST_RECEIVE_AND_INVALIDATE:
		what = "receive-inv";
		extra = ntohl(r.invalidated_token);
		break;
	default:
		break;
	}
	partner_ok("%s %s %u %u", status_word(r.status), what, r.bytes_transferred, extra);
}

void
run_state(char **words)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERROR"};

	partner_ok("%s", names[info_of(end_of(words[0])->qp).state]);
}

void
run_drop(char **words)
{
	struct end *e = end_of(words[0]);
	struct nd_result_ex r;

	if (e->qp != NULL)
		must(nd_qp_close(e->qp), "nd_qp_close");
	if (e->mw != NULL)
		must(nd_mw_close(e->mw), "nd_mw_close");
	if (e->connector != NULL)
		(void)nd_connector_close(e->connector);
	while (nd_cq_get_results_ex(device.cq, &r, 1) > 0)
		; /* what it has left there */
	e->name[0] = '\0';
	partner_ok("%s", "");
}
