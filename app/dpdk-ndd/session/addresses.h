/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients may know before they open an adapter: adapters, their addresses, and routes. */
#ifndef NDD_ADDRESSES_H
#define NDD_ADDRESSES_H

#include "session/reply.h"

ndd_handler ndd_address_list, ndd_address_page, ndd_address_route, ndd_adapter_find;

#endif
