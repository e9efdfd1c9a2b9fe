/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as GIDs: an IPv4 address is the one mapped into IPv6, as RoCEv2 has it. */
#ifndef NDV_ADDRESS_H
#define NDV_ADDRESS_H

#include <infiniband/verbs.h>
#include <sys/socket.h>

void ndv_gid_of(const struct sockaddr_storage *address, union ibv_gid *gid);
/* Port 0. */
void ndv_address_of(const union ibv_gid *gid, struct sockaddr_storage *address);
/* A number that no other address has, in the form of a 64-bit identifier (EUI-64) that is locally
 * administered. */
__be64 ndv_guid_of(const struct sockaddr_storage *address);

#endif
