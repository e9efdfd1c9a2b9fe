/* SPDX-License-Identifier: BSD-3-Clause */
/* hello_client ADDRESS: connect to the hello_server there, send "hello", see that it arrived. */
#include <arpa/inet.h>
#include <string.h>

#include "must.h"

int
main(int argc, char **argv)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(HELLO_PORT)};
	struct sockaddr_storage local;
	struct nd_qp_options opt = {.receive_depth = 1, .initiator_depth = 1};
	struct nd_sge sge = {.bytes = 6};
	struct nd_overlapped ov = {0};
	struct nd_adapter *adapter;
	struct nd_connector *conn;
	struct nd_result result;
	struct nd_cq *cq;
	struct nd_pd *pd;
	struct nd_qp *qp;
	struct nd_mr *mr;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &peer.sin_addr) != 1)
		return 2;
	must("find an address", nd_resolve_address(NULL, (void *)&peer, sizeof(peer), &local), &ov);
	must("open", nd_adapter_open((void *)&local, sizeof(local), NULL, &adapter), &ov);
	must("create a PD", nd_pd_create(adapter, &pd), &ov);
	must("create a CQ", nd_cq_create(adapter, 2, &cq), &ov);
	opt.receive_cq = opt.initiator_cq = cq;
	must("create a QP", nd_qp_create(pd, &opt, &qp), &ov);
	sge.buffer = nd_alloc(adapter, sge.bytes);
	must("create an MR", nd_mr_create(pd, &mr), &ov);
	must("register", nd_mr_register(mr, sge.buffer, sge.bytes, 0, &ov), &ov);
	sge.token = nd_mr_local_token(mr);
	memcpy(sge.buffer, "hello", sge.bytes);
	must("create a connector", nd_connector_create(adapter, &conn), &ov);
	must("connect",
		nd_connector_connect(conn, qp, (void *)&peer, sizeof(peer), 0, 0, NULL, 0, &ov),
		&ov);
	must("complete", nd_connector_complete_connect(conn, &ov), &ov);
	must("send", nd_qp_send(qp, NULL, &sge, 1, 0), &ov);
	while (nd_cq_get_results(cq, &result, 1) == 0)
		must("wait", nd_cq_notify(cq, ND_CQ_NOTIFY_ANY, &ov), &ov);
	must("arrive", result.status, &ov);
	nd_adapter_close(adapter);
}
