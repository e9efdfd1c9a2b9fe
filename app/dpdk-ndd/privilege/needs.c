/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/capability.h>
#include <string.h>

#include "platform/xdp.h"
#include "privilege/needs.h"

#define CAP(name) (UINT64_C(1) << CAP_##name)
/* At the end the XDP program is taken off the interface; to have neighbours resolved is to change
 * the kernel's table. */
#define OF_XDP	   CAP(NET_ADMIN)
#define OF_UNKNOWN (CAP(NET_ADMIN) | CAP(NET_RAW))
#define OF_PCI	   (CAP(NET_ADMIN) | CAP(NET_RAW) | CAP(SYS_RAWIO))

static const struct {
	const char *driver;
	uint64_t caps;
} needs[] = {
	{"net_af_packet", 0}, /* its socket is bound, its rings are mapped */
	{"net_af_xdp", OF_XDP},
	{"net_tap", CAP(NET_ADMIN)}, /* its link is taken down at the end */
	{"net_memif", 0},
	{"net_vhost", 0},
	{"eth_vhost", 0},
	{"net_virtio_user", 0},
	{"virtio_user", 0},
};

/* -1: it is not in the table. */
static int
row_of(const char *vdev)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (strncmp(vdev, needs[i].driver, strlen(needs[i].driver)) == 0)
			return (int)i;
	return -1;
}

uint64_t
ndd_needs_caps(const struct config *cfg)
{
	uint64_t caps = CAP(IPC_LOCK); /* clients' memory is locked beyond RLIMIT_MEMLOCK */

	for (uint32_t i = 0; i < cfg->vdevs; i++) {
		int row = row_of(cfg->vdev[i]);

		caps |= row < 0 ? OF_UNKNOWN : needs[row].caps;
	}
	return cfg->pcis != 0 ? caps | OF_PCI : caps;
}

bool
ndd_needs_bpf(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->vdevs; i++)
		if (ndd_xdp_is(cfg->vdev[i]))
			return true;
	return false;
}

bool
ndd_needs_unknown(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->vdevs; i++)
		if (row_of(cfg->vdev[i]) < 0)
			return true;
	return cfg->pcis != 0;
}
