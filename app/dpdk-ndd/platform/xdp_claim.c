/* SPDX-License-Identifier: BSD-3-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/log.h"
#include "ethdev/ethdev.h"
#include "wire/protocol.h"
#include "platform/xdp.h"

#define PROGRAM_NAME "ndd_share"

static int program_file = -1;

/* ---- the port ---- */

static bool
bind_to(int fd, sa_family_t family)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(ROCE_UDP_PORT)};

	return family == AF_INET ? bind(fd, (const void *)&v4, sizeof(v4)) == 0
				 : bind(fd, (const void *)&v6, sizeof(v6)) == 0;
}

/* A socket that drops all that it receives; open as long as the process lives. */
static bool
hold_port(sa_family_t family, const char *interface)
{
	struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	const struct sock_fprog filter = {.len = 1, .filter = nothing};
	int on = 1, fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno == EAFNOSUPPORT; /* then the kernel answers nothing of that family */
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
			(socklen_t)strlen(interface)) == 0 &&
		(family == AF_INET ||
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == 0) &&
		bind_to(fd, family))
		return true;
	if (errno == EADDRINUSE)
		ndd_error("interface %s: UDP port %u is another's: a second daemon shares the "
			  "interface, or the kernel's own RoCEv2 (rdma_rxe) has it",
			interface, ROCE_UDP_PORT);
	else
		ndd_error(
			"interface %s: UDP port %u: %s", interface, ROCE_UDP_PORT, strerror(errno));
	close(fd);
	return false;
}

/* ---- the program ---- */

/* The name of a program of the kernel's, or "". */
static void
name_of(uint32_t id, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	name[0] = 0;
	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
		snprintf(name, BPF_OBJ_NAME_LEN, "%s", info.name);
	close(fd);
}

/* Only the process that holds the UDP port has the program loaded: one that is there is a killed
 * daemon's. The driver would not replace it. */
static bool
remove_stale(const char *interface)
{
	int index = (int)if_nametoindex(interface), rc;
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id = 0;

	rc = bpf_xdp_query_id(index, 0, &id);
	if (rc == 0 && id == 0)
		return true;
	name_of(id, name);
	if (rc == 0 && strcmp(name, PROGRAM_NAME) == 0) {
		ndd_info("interface %s: removing the program of a daemon that is gone", interface);
		rc = bpf_xdp_detach(index, 0, NULL);
	} else if (rc == 0) {
		ndd_error("interface %s has an XDP program already, \"%s\" (%u): take it away "
			  "(ip link set %s xdp off), or don't share the interface",
			interface, name, id, interface);
		return false;
	}
	if (rc != 0)
		ndd_error("interface %s: XDP: %s", interface, strerror(-rc));
	return rc == 0;
}

static bool
write_program(void)
{
	size_t bytes;
	const void *program = ethdev_share_program(&bytes);

	program_file = memfd_create("dpdk-ndd share", MFD_CLOEXEC);
	if (program_file >= 0 && write(program_file, program, bytes) == (ssize_t)bytes)
		return true;
	ndd_error("no memory for the XDP program: %s", strerror(errno));
	return false;
}

void
ndd_xdp_program(char *out, size_t bytes)
{
	snprintf(out, bytes, "/proc/self/fd/%d", program_file);
}

bool
ndd_xdp_claim(const struct config *cfg)
{
	char interface[IFNAMSIZ];

	for (uint32_t i = 0; i < cfg->ports; i++) {
		if (!cfg->port[i].shared)
			continue;
		if (!ndd_xdp_interface(cfg, i, interface, sizeof(interface)))
			return false;
		if (if_nametoindex(interface) == 0) {
			ndd_error("ports[%u] %s: interface %s: %s", i, cfg->port[i].device,
				interface, strerror(errno));
			return false;
		}
		if (!hold_port(AF_INET, interface) || !hold_port(AF_INET6, interface) ||
			!remove_stale(interface) || (program_file < 0 && !write_program()))
			return false;
	}
	return true;
}
