/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ndspi/addresses.h"

#define SLOT_BYTES sizeof(struct sockaddr_in6) /* the longest there is, and a multiple of four */

SIZE_T
spi_address_bytes(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
					     : sizeof(struct sockaddr_in6);
}

/* All addresses there are now, in memory of malloc(). */
static nd_status
addresses_now(
	spi_addresses_fn query, const void *asked, struct sockaddr_storage **all, uint32_t *count)
{
	uint32_t room = 0;
	nd_status st;

	*all = NULL;
	for (;;) { /* there may be more each time */
		*count = room;
		st = query(asked, *all, count);
		if (st != ND_BUFFER_OVERFLOW)
			break;
		free(*all);
		room = *count;
		*all = calloc(room, sizeof(**all));
		if (*all == NULL)
			return ND_NO_MEMORY;
	}
	if (st < 0) {
		free(*all);
		*all = NULL;
	}
	return st;
}

static void
addresses_lay_out(
	const struct sockaddr_storage *all, uint32_t count, SIZE_T head, SOCKET_ADDRESS_LIST *list)
{
	char *place = (char *)list + head;

	list->iAddressCount = (INT)count;
	for (uint32_t i = 0; i < count; i++, place += SLOT_BYTES) {
		SOCKET_ADDRESS *entry = &list->Address[i];

		memcpy(place, &all[i], SLOT_BYTES);
		entry->lpSockaddr = (LPSOCKADDR)place;
		entry->iSockaddrLength = (INT)spi_address_bytes(&all[i]);
	}
}

HRESULT
spi_addresses_list(
	spi_addresses_fn query, const void *asked, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes)
{
	const SIZE_T room = list != NULL ? *bytes : 0;
	struct sockaddr_storage *all;
	uint32_t count;
	SIZE_T head;
	nd_status st = addresses_now(query, asked, &all, &count);

	if (st < 0)
		return st;
	head = offsetof(SOCKET_ADDRESS_LIST, Address) + count * sizeof(SOCKET_ADDRESS);
	*bytes = count == 0 ? 0 : head + count * SLOT_BYTES;
	if (*bytes > room)
		st = ND_BUFFER_OVERFLOW;
	else if (count != 0)
		addresses_lay_out(all, count, head, list);
	free(all);
	return st;
}

HRESULT
spi_addresses_method(
	spi_addresses_fn query, const void *asked, SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	SIZE_T room;
	HRESULT hr;

	if (bytes == NULL)
		return ND_INVALID_PARAMETER_2;
	room = *bytes;
	hr = spi_addresses_list(query, asked, list, &room);
	*bytes = (ULONG)room;
	return hr;
}
