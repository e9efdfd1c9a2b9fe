/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What asks for a datagram service, or is asked for one: the owner of a SIDR query or request. The
 * CM's word that one is over may be for an address handle, for a request that ND's client has, or
 * for a connection by numbers; so each of these begins with this.
 */
#ifndef NDD_SIDR_USER_H
#define NDD_SIDR_USER_H

struct ndd;
struct roce_cm_event;

struct ndd_sidr_user {
	/* A query has its reply or none will come, or the peer of a request has given up. */
	void (*on_end)(struct ndd *d, const struct roce_cm_event *ev);
};

#endif
