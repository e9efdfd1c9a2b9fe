/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: what the daemon's events do to them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/ud/ah.h"
#include "rigs/lone_adapter.h"
#include "shm/ndsh_status.h"

/* A handle whose question the daemon has not answered. */
static struct nd_ah *
make_busy(struct nd_adapter *a, uint32_t id, struct nd_overlapped *ov)
{
	struct nd_ah *ah = calloc(1, sizeof(*ah));

	cr_assert(eq(i32, nd_overlapped_begin(a, ov, "test"), ND_SUCCESS));
	*ah = (struct nd_ah){
		.adapter = a, .token = id, .has_id = true, .state = ND_AH_BUSY, .op = ov};
	TAILQ_INSERT_TAIL(&a->ahs, ah, link);
	return ah;
}

static void
tell(struct nd_adapter *a, uint32_t id, int32_t status, uint32_t qpn)
{
	const struct ndsh_ev_ah ev = {.h = {.type = NDSH_EV_AH, .status = status},
		.ah = id,
		.qpn = qpn,
		.q_key = 9,
		.priv_bytes = 3,
		.priv = "abc"};

	nd_ah_event(a, &ev);
}

Test(ndclient_ah, an_answer_makes_it_ready_and_is_kept)
{
	struct nd_overlapped ov = {0};
	struct nd_ud_service service;
	struct nd_adapter *a = lone_adapter_new();
	struct nd_ah *ah = make_busy(a, 5, &ov);

	tell(a, 6, NDSH_OK, 1);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING), "another one's");
	cr_expect(eq(i32, nd_ah_service(ah, &service), ND_ADDRESS_NOT_ASSOCIATED));
	tell(a, 5, NDSH_OK, 77);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(u32, ah->state, ND_AH_READY));
	cr_assert(eq(i32, nd_ah_service(ah, &service), ND_SUCCESS));
	cr_expect(eq(u32, service.qp, 77));
	cr_expect(eq(u32, service.q_key, 9));
	cr_expect(zero(int, memcmp(service.private_data, "abc", 3)));
	free(ah);
	nd_adapter_free(a);
}

Test(ndclient_ah, a_failure_makes_it_idle_also_later)
{
	struct nd_overlapped ov = {0};
	struct nd_adapter *a = lone_adapter_new();
	struct nd_ah *ah = make_busy(a, 5, &ov);

	tell(a, 5, NDSH_ERR_HOST_UNREACHABLE, 0);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_HOST_UNREACHABLE));
	cr_expect(eq(u32, ah->state, ND_AH_IDLE));
	ah->state = ND_AH_READY;
	tell(a, 5, NDSH_OK, 0);
	cr_expect(eq(u32, ah->state, ND_AH_READY));
	tell(a, 5, NDSH_ERR_NETWORK_UNREACHABLE, 0);
	cr_expect(eq(u32, ah->state, ND_AH_IDLE), "its way was taken away");
	free(ah);
	nd_adapter_free(a);
}
