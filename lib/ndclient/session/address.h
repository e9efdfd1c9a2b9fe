/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses and the ABI's. */
#ifndef ND_ADDRESS_H
#define ND_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* False: not an IPv4 or IPv6 address of that size. */
bool nd_address_from(struct ndsh_addr *to, const struct sockaddr *from, socklen_t bytes);
/* Fill *to (zeroed first); returns its size. */
socklen_t nd_address_to(struct sockaddr_storage *to, const struct ndsh_addr *from);
/* ND's rule of sizes (R-CONN-19): ND_BUFFER_OVERFLOW leaves addr untouched. */
nd_status nd_address_give(const struct ndsh_addr *from, struct sockaddr *addr, socklen_t *bytes);
/* Of IPv4, which the ABI has as mapped into IPv6. */
bool nd_address_is_v4(const struct ndsh_addr *a);
bool nd_address_is_any(const struct ndsh_addr *a);
/* How many leading bits two addresses share; -1: not of one family. */
int nd_address_common_bits(const struct ndsh_addr *a, const struct ndsh_addr *b);

#endif
