/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: adapters by their ids, and their addresses. Part of ndclient.h.
 *
 * An adapter is a port of the daemon, and so is its id: the same for all clients, another one for
 * each port, and the same as long as the daemon lives; never 0. It is nd_adapter_info.adapter_id.
 */
#ifndef NDCLIENT_ADAPTER_H
#define NDCLIENT_ADAPTER_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The id of the adapter that has this local address (the port in it does not count): ND's
 * ResolveAddress. Statuses as of nd_adapter_open(), and ND_NOT_SUPPORTED: the daemon is too old.
 */
nd_status nd_resolve_adapter(const struct nd_open_options *opt, const struct sockaddr *local,
	socklen_t local_bytes, uint64_t *adapter_id);
/*
 * Open an adapter instance by the id of the adapter, as nd_adapter_open() does with its first
 * address. ND_INVALID_PARAMETER: the daemon has no such adapter; ND_INVALID_ADDRESS: it has no
 * address now, or none for this client; ND_NOT_SUPPORTED: the daemon is too old; else as of
 * nd_adapter_open().
 */
nd_status nd_adapter_open_id(
	uint64_t adapter_id, const struct nd_open_options *opt, struct nd_adapter **adapter);
/* The local addresses of the adapter, as nd_query_addresses() has those of all. ND_NOT_SUPPORTED:
 * the daemon is too old. */
nd_status nd_adapter_query_addresses(
	struct nd_adapter *a, struct sockaddr_storage *list, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
