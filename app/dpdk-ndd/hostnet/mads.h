/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MADs whose next hop is being resolved. There is room for a few: MADs to a made-up address, where
 * no host answers, must not hold up those to other hosts.
 */
#ifndef NDD_HOSTNET_MADS_H
#define NDD_HOSTNET_MADS_H

#include "cm/cm.h"

#define NDD_MADS_WAITING 64u
#define NDD_MADS_OURS	 16u /* of these, for what began here */

struct ndd_mad {
	uint64_t until_ns; /* 0: free */
	struct roce_cm_tx tx;
};
struct ndd_mads {
	struct ndd_mad mad[NDD_MADS_WAITING];
	uint32_t waiting;
	uint64_t generation; /* of the network, when they were tried last */
};

/* Keep a copy, if there is room; if not, the peer's CM repeats its request. */
void ndd_mads_keep(struct ndd_mads *m, uint64_t now_ns, const struct roce_cm_tx *tx);
void ndd_mads_free(struct ndd_mads *m, struct ndd_mad *mad);

#endif
