/* SPDX-License-Identifier: BSD-3-Clause */
/* Private data of requests, which lie in the application's memory. */
#ifndef ND_PRIVATE_DATA_H
#define ND_PRIVATE_DATA_H

#include <stdint.h>

#include "ndclient/ndclient.h"

/* Copy private data of at most max bytes into a message. ND_INVALID_BUFFER_SIZE;
 * ND_ACCESS_VIOLATION: not all of them can be read (R-CONN-07). */
nd_status nd_private_data_put(
	const void *priv, uint32_t bytes, uint32_t max, uint8_t *to, uint32_t *count);

#endif
