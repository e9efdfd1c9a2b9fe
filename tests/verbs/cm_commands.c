/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of groups as librdmacm never writes them. It has a file of its own, as the kernel's
 * header and librdmacm's have the same names. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <unistd.h>

#include "cm_scenarios.h"
#include "rig.h"

static long
command(int fd, uint32_t cmd, void *structure, uint16_t bytes, uint16_t out)
{
	struct rdma_ucm_cmd_hdr *h = structure;

	*h = (struct rdma_ucm_cmd_hdr){cmd, (uint16_t)(bytes - sizeof(*h)), out};
	errno = 0;
	return write(fd, structure, bytes);
}

/* As librdmacm never asks: numbers of nothing, of the identifier; no room; flags; sizes. */
void
refuse_group_commands(int fd)
{
	struct rdma_ucm_create_id_resp response;
	struct {
		struct rdma_ucm_cmd_hdr h;
		struct rdma_ucm_destroy_id m;
	} out = {.m = {(uintptr_t)&response, 0x7fffffff, 0}};
	struct {
		struct rdma_ucm_cmd_hdr h;
		struct rdma_ucm_join_mcast m;
	} in = {.m = {(uintptr_t)&response, 1, 0x7fffffff, sizeof(struct sockaddr_in), 0, {{{0}}}}};
	const struct sockaddr_in group = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef4d0304)};

	memcpy(&in.m.addr, &group, sizeof(group));
	WANT(command(fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &out, sizeof(out), 4) == -1);
	WANT(errno == ENOENT);
	WANT(command(fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &out, sizeof(out), 0) == -1);
	WANT(errno == ENOSPC);
	WANT(command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &in, sizeof(in), 4) == -1 && errno == ENOENT);
	in.m.id = 0; /* the listener's: it is the first */
	in.m.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	WANT(command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &in, sizeof(in), 4) == -1 && errno == EINVAL);
	in.m.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	in.m.addr_size++;
	WANT(command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &in, sizeof(in), 4) == -1 && errno == EINVAL);
	WANT(command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &in, sizeof(in) - 8, 4) == -1);
	WANT(errno == EINVAL);
}
