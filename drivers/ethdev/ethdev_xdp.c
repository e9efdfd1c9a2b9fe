/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for DPDK's AF_XDP driver. It hands the whole pool to the kernel as memory of its sockets,
 * where
 *  - a chunk (pool's header, mbuf, headroom, frame) is at most a page: not our 8 KiB buffers;
 *  - the driver takes the n-th object to be n chunks behind the first, so the pool may leave no
 * gaps at page boundaries nor spread objects over memory channels. Chunks of just one page satisfy
 * drivers that map pages for DMA as well. Frames to send are in the buffers that all ports have in
 * common, and the driver copies them into these chunks.
 */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "ethdev/ethdev.h"

#define CHUNK 4096u
#define FLAGS (RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NO_SPREAD)
#define CACHE 256u
/* Rings of the driver: one to be filled and one to be sent for each queue, of 2048 each; and what
 * is in our hands. */
#define PER_QUEUE 4096u
#define IN_HANDS  1024u

bool
ethdev_is_xdp(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_af_xdp") == 0;
}

/* What is left of a chunk for the mbuf and its data, without the pool's own header. */
static uint32_t
object_bytes(void)
{
	uint32_t bytes = CHUNK;

	while (bytes > 0 && rte_mempool_calc_obj_size(bytes, FLAGS, NULL) > CHUNK)
		bytes -= RTE_MEMPOOL_ALIGN;
	return bytes;
}

struct rte_mempool *
ethdev_xdp_chunks(const char *device, uint16_t queues, unsigned socket)
{
	uint32_t bytes = object_bytes();
	struct rte_pktmbuf_pool_private room = {
		.mbuf_data_room_size = (uint16_t)(bytes - sizeof(struct rte_mbuf))};
	struct rte_mempool *mp;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "xdp:%.20s", device);
	mp = rte_mempool_create_empty(name, queues * PER_QUEUE + IN_HANDS, bytes, CACHE,
		sizeof(room), (int)socket, FLAGS);
	if (mp == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL) != 0) {
		rte_mempool_free(mp);
		return NULL;
	}
	rte_pktmbuf_pool_init(mp, &room);
	/* One piece of memory, or the driver would see a part of it. */
	if (rte_mempool_populate_default(mp) < 0 || mp->nb_mem_chunks != 1) {
		rte_mempool_free(mp);
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}
