/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: congestion control of connections. Part of ndclient.h. Our extension: ND 2 has no
 * such call.
 *
 * With it, data leave as ECN-capable (ECT(0)), so that congested switches mark them instead of
 * dropping them; the peer tells of marks (CNP), and the connection slows down. Each end decides
 * about what it sends itself. It needs a peer that tells: network cards and this program do, stock
 * Soft-RoCE does not, and data that it does not tell of would crowd others out.
 */
#ifndef NDCLIENT_CONGESTION_H
#define NDCLIENT_CONGESTION_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ND_ECN_PORT 0u /* as the daemon's configuration has it for the port ("ecn") */
#define ND_ECN_OFF  1u
#define ND_ECN_ON   2u

/*
 * Congestion control of what this side sends on the connections that c will make, or on the one
 * that a listener filled it with, until nd_connector_accept(). ecn: ND_ECN_*, ND_ECN_PORT without
 * this call. Any thread. ND_INVALID_PARAMETER: none of these; ND_CONNECTION_ACTIVE: connect or
 * accept was called and has not failed; ND_NOT_SUPPORTED: the daemon is too old.
 */
nd_status nd_connector_set_ecn(struct nd_connector *c, uint32_t ecn);

#ifdef __cplusplus
}
#endif
#endif
