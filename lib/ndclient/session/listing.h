/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of the daemon's addresses, which may need several messages. */
#ifndef ND_LISTING_H
#define ND_LISTING_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_listing {
	struct nd_adapter *adapter; /* of its addresses; NULL: of all, by sock */
	int sock;
	uint32_t abi_minor; /* of the daemon */
	uint32_t before;    /* addresses of earlier pages */
	struct ndsh_address_list_reply page;
};

/* The next page; the first one, if none was asked for yet. */
nd_status nd_listing_next(struct nd_listing *l);

#endif
