/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of addresses, as Windows has them. */
#ifndef NDSPI_ADDRESSES_H
#define NDSPI_ADDRESSES_H

#include "ndspi/object.h"

/* nd_query_addresses() or the like, of whatever asked is. */
typedef nd_status (*spi_addresses_fn)(
	const void *asked, struct sockaddr_storage *list, uint32_t *count);
/* All addresses as one block: the list, and behind it the addresses that it points to. *bytes: in,
 * its room; out, what it takes, 0 if there is no address. ND_BUFFER_OVERFLOW: it takes more. */
HRESULT spi_addresses_list(
	spi_addresses_fn query, const void *asked, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes);
/* The same as a method QueryAddressList, which has another type for the size.
 * ND_INVALID_PARAMETER_2: bytes is NULL. */
HRESULT spi_addresses_method(
	spi_addresses_fn query, const void *asked, SOCKET_ADDRESS_LIST *list, ULONG *bytes);
/* Of an address of the daemon. */
SIZE_T spi_address_bytes(const struct sockaddr_storage *address);

#endif
