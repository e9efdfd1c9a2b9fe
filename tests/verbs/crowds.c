/* SPDX-License-Identifier: BSD-3-Clause */
/* More of one kind than programs of others make. */
#include <string.h>

#include "rig.h"
#include "scenarios.h"

#define REGIONS	     10000u
#define REGION_BYTES 65536u

/* Each is a region of its own: the first and the last are written through their own keys, and a key
 * of one does not reach the next. */
void
run_regions(void)
{
	uint8_t *memory = malloc((size_t)REGIONS * REGION_BYTES);
	struct ibv_mr **mr = calloc(REGIONS, sizeof(struct ibv_mr *));
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct rig r;

	WANT(memory != NULL && mr != NULL);
	rig_open(&r, false);
	rig_connect(&r);
	for (uint32_t i = 0; i < REGIONS; i++) {
		mr[i] = ibv_reg_mr(r.pd, memory + (size_t)i * REGION_BYTES, REGION_BYTES, RIG_ALL);
		WANT(mr[i] != NULL);
		WANT(i == 0 || mr[i]->rkey != mr[i - 1]->rkey);
	}
	memset(r.memory[0], 0x5a, 8);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	for (uint32_t i = 0; i < REGIONS; i += REGIONS - 1) {
		wr.wr.rdma.remote_addr = (uintptr_t)mr[i]->addr + REGION_BYTES - 8;
		wr.wr.rdma.rkey = mr[i]->rkey;
		rig_post(&r, &wr);
		rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
		WANT(memcmp((uint8_t *)mr[i]->addr + REGION_BYTES - 8, r.memory[0], 8) == 0);
	}
	wr.wr.rdma.remote_addr = (uintptr_t)mr[1]->addr;
	wr.wr.rdma.rkey = mr[0]->rkey;
	rig_post(&r, &wr);
	rig_wait_for(&r, 1, IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_WRITE);
	for (uint32_t i = 0; i < REGIONS; i++)
		WANT(ibv_dereg_mr(mr[i]) == 0);
	rig_close(&r);
	free(mr);
	free(memory);
}
