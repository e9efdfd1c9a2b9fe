/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote invalidation, in both directions. */
#include <arpa/inet.h>

#include "verbspeer.h"

#define FIRST  0x5a /* written while the window is bound */
#define SECOND 0xa5 /* written when it is not */

static void
post_write(struct peer *p, uint8_t byte)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {p->area.in.address, ntohl(p->area.in.token)}};

	memset(p->area.source, byte, BYTES);
	peer_post(p, &wr, p->area.source, p->area.in.bytes);
}

void
peer_uses_window(struct peer *p)
{
	struct ibv_send_wr inv = {
		.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = ntohl(p->area.in.token)};

	peer_check(p->area.in.bytes <= BYTES, "a window that is too large");
	post_write(p, FIRST);
	peer_expect(p, IBV_WC_SUCCESS, "write to their window");
	strcpy(p->area.out.what, "inv");
	peer_post(p, &inv, &p->area.out, sizeof(p->area.out));
	peer_expect(p, IBV_WC_SUCCESS, "send with invalidate");
	post_write(p, SECOND);
	peer_expect(p, IBV_WC_REM_ACCESS_ERR, "write to their dead window");
}

/* rdma_rxe hands the kernel's flags to its library as they are, where the same bit has another
 * name: IB_WC_WITH_INVALIDATE is 1 << 2 there. */
#define KERNEL_WC_WITH_INVALIDATE (1 << 2)

void
peer_offers_window(struct peer *p)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->id->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr bind = {.opcode = IBV_WR_BIND_MW};
	struct message told;
	struct ibv_wc wc;
	uint32_t rkey;

	peer_must(mw != NULL, "ibv_alloc_mw");
	peer_receive(p);
	rkey = ibv_inc_rkey(mw->rkey); /* rdma_rxe wants to find the old one in mw */
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = rkey;
	bind.bind_mw.bind_info = (struct ibv_mw_bind_info){p->mr, (uintptr_t)p->area.target, BYTES,
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	peer_post(p, &bind, NULL, 0);
	peer_expect(p, IBV_WC_SUCCESS, "bind");
	told = (struct message){"O", htonl(rkey), BYTES, 0, (uintptr_t)p->area.target};
	peer_tell(p, &told);
	wc = peer_expect(p, IBV_WC_SUCCESS, "receive of the invalidation");
	peer_check(wc.wc_flags & (IBV_WC_WITH_INV | KERNEL_WC_WITH_INVALIDATE),
		"the completion says nothing of an invalidation");
	peer_check(wc.invalidated_rkey == rkey, "another key was invalidated");
	for (uint32_t i = 0; i < BYTES; i++)
		peer_check(p->area.target[i] == FIRST, "the write before has not arrived");
	peer_receive(p);
	peer_tell(p, &told);	  /* try another write */
	(void)peer_completion(p); /* refused, it ends the queue pair and flushes the receive */
	for (uint32_t i = 0; i < BYTES; i++)
		peer_check(p->area.target[i] == FIRST, "a write came through the dead window");
}
