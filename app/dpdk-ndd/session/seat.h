/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A seat: one session of a principal, as it is paid for. The session holds it, and so does what may
 * outlast the session because of its client: a socket that takes long to close, a worker that
 * waits. The seat is free again when the last of them has let go.
 *
 * A client that is refused has none; but its socket has a place of its principal, until it is
 * closed, as well: nothing that lasts is nobody's.
 */
#ifndef NDD_SEAT_H
#define NDD_SEAT_H

#include <sys/queue.h>

#include "account/account.h"
#include "shm/ndsh_status.h"

struct ndd_closer;
struct ndd_line;

struct ndd_seat {
	struct ndd_account account;
	STAILQ_ENTRY(ndd_seat) next; /* among the arrivals, or in a list of the closer's */
	int fd;			     /* the client's socket; -1: it is closed */
	struct ndd_line *line;	     /* has it, until that is closed */
	struct ndd_closer *closer;
	pid_t pid;
	uint32_t holders;
	bool stranger;	   /* of a client that was refused, or hopes for a place */
	bool leaves;	   /* its session is gone */
	uint64_t since_ns; /* it is there */
	uint32_t before;   /* so many of its principal's were leaving when it asked last */
};
STAILQ_HEAD(ndd_seat_list, ndd_seat);

/* What a client is told that gets none. */
struct ndd_refusal {
	enum ndsh_status status; /* NDSH_ERR_ACCESS: it would not get one later, either */
	char why[NDD_WHY_BYTES];
};
/* A seat for this client. NULL: it is refused, and why says so. */
struct ndd_seat *ndd_seat_take(
	struct ndd_accounts *a, const struct ndd_credentials *cred, struct ndd_refusal *why);
/* A place for the socket of this client, which was refused. NULL: its principal has its share of
 * them. */
struct ndd_seat *ndd_seat_take_stranger(struct ndd_accounts *a, const struct ndd_credentials *cred);
/* Of one that was refused, which has its client's socket: is there a place for it now? */
bool ndd_seat_take_again(struct ndd_seat *seat, struct ndd_refusal *why);
/* Its line gets the client's socket; what takes long to close is for the closer. False: there is no
 * thread for its principal, or no memory. */
bool ndd_seat_connect(struct ndd_seat *seat, int fd, struct ndd_closer *closer);
/* Close the socket: the line drops the seat then. */
void ndd_seat_hang_up(struct ndd_seat *seat);
/* One more holds it; returns it. */
struct ndd_seat *ndd_seat_hold(struct ndd_seat *seat);
void ndd_seat_drop(struct ndd_seat *seat);

#endif
