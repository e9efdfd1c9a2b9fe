/* SPDX-License-Identifier: BSD-3-Clause */
/* A service of both families, as iSER targets make it: a wildcard each, at one port. */
#include <string.h>

#include "cm_rig.h"
#include "cm_scenarios.h"

static struct rdma_cm_id *
listen_at_all(struct cm_rig *r, int family, uint16_t port)
{
	/* The wildcards of both families, and the place of the port, are alike. */
	struct sockaddr_in6 any = {.sin6_family = (sa_family_t)family, .sin6_port = port};
	struct rdma_cm_id *id = cm_rig_id(r);
	int one = 1;

	WANT(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof(one)) == 0);
	WANT(rdma_bind_addr(id, (struct sockaddr *)&any) == 0);
	WANT(rdma_listen(id, 0) == 0);
	WANT(rdma_get_src_port(id) == port);
	return id;
}

/* The family that the device has not may be one that the daemon has no address of. */
void
run_families(void)
{
	const int families[2] = {AF_INET, AF_INET6};
	struct rdma_cm_id *other = NULL;
	struct cm_rig r;
	uint16_t port;

	cm_rig_open(&r);
	port = rdma_get_src_port(r.listener);
	WANT(rdma_destroy_id(r.listener) == 0);
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_id *id = listen_at_all(&r, families[i], port);

		if (families[i] == r.address.ss_family)
			r.listener = id;
		else
			other = id;
	}
	cm_rig_connect(&r);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	WANT(rdma_destroy_id(other) == 0);
	cm_rig_close(&r);
}
