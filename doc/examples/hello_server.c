/* SPDX-License-Identifier: BSD-3-Clause */
/* hello_server ADDRESS: take one connection at that local address and print its message. */
#include <arpa/inet.h>
#include <ndclient.h>

#include "must.h"

int
main(int argc, char **argv)
{
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_port = htons(HELLO_PORT)};
	struct nd_qp_options opt = {.receive_depth = 1, .initiator_depth = 1};
	struct nd_sge sge = {.bytes = 64};
	struct nd_overlapped ov = {0};
	struct nd_listener *listener;
	struct nd_adapter *adapter;
	struct nd_connector *conn;
	struct nd_result result;
	struct nd_cq *cq;
	struct nd_pd *pd;
	struct nd_qp *qp;
	struct nd_mr *mr;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &self.sin_addr) != 1)
		return 2;
	must("open", nd_adapter_open((void *)&self, sizeof(self), NULL, &adapter), &ov);
	must("create a PD", nd_pd_create(adapter, &pd), &ov);
	must("create a CQ", nd_cq_create(adapter, 2, &cq), &ov);
	opt.receive_cq = opt.initiator_cq = cq;
	must("create a QP", nd_qp_create(pd, &opt, &qp), &ov);
	sge.buffer = nd_alloc(adapter, sge.bytes);
	must("create an MR", nd_mr_create(pd, &mr), &ov);
	must("register", nd_mr_register(mr, sge.buffer, 64, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov),
		&ov);
	sge.token = nd_mr_local_token(mr);
	must("receive", nd_qp_receive(qp, NULL, &sge, 1), &ov);
	must("create a listener", nd_listener_create(adapter, &listener), &ov);
	must("listen", nd_listener_listen(listener, (void *)&self, sizeof(self), 0), &ov);
	must("create a connector", nd_connector_create(adapter, &conn), &ov);
	must("get a request", nd_listener_get_request(listener, conn, &ov), &ov);
	must("accept", nd_connector_accept(conn, qp, 0, 0, NULL, 0, &ov), &ov);
	while (nd_cq_get_results(cq, &result, 1) == 0)
		must("wait", nd_cq_notify(cq, ND_CQ_NOTIFY_ANY, &ov), &ov);
	must("receive", result.status, &ov);
	printf("%.*s\n", (int)result.bytes_transferred, (char *)sge.buffer);
	nd_adapter_close(adapter);
}
