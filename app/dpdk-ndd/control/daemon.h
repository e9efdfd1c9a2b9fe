/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread's state: sessions, the CM, the network. Lcores see nothing of it but struct
 * ndd_plane; the control thread reaches their shards through ndd_shard_call() and the rings.
 */
#ifndef NDD_DAEMON_H
#define NDD_DAEMON_H

#include <sys/queue.h>

#include "account/account.h"
#include "cm/cm.h"
#include "config/config.h"
#include "conn/ports.h"
#include "control/watch.h"
#include "hostnet/follower.h"
#include "hostnet/mads.h"
#include "lcore/shard.h"
#include "lcore/wakeup.h"
#include "net/net.h"
#include "object/peer.h"
#include "session/listening.h"
#include "session/seat.h"

struct ndd_ah;
struct ndd_closer;
struct ndd_group;
struct ndd_kernel_ports;
struct ndd_qp;
struct ndd_session;
struct ndd_workers;

TAILQ_HEAD(ndd_qp_list, ndd_qp);
TAILQ_HEAD(ndd_session_list, ndd_session);
TAILQ_HEAD(ndd_group_list, ndd_group);

struct ndd {
	struct config *cfg;	 /* a reload changes the network's part of it alone */
	const char *config_path; /* the file that it was read from; NULL: none */
	struct ndd_plane plane;
	struct net *net;
	struct ndd_kernel_ports *kernel_ports; /* NULL: no port is shared with the kernel */
	struct roce_cm *cm;
	size_t net_bytes, cm_bytes;
	int epoll_fd;
	struct ndd_wakeup wakeup; /* lcores wake the control thread by it */
	struct ndd_watch wakeup_watch, signal_watch, local_watch;
	struct ndd_listening listening[NDD_LISTENING_MAX];
	uint32_t listenings;
	struct ndd_accounts accounts;
	struct ndd_seat_list arrivals, hopeful; /* session/arrival.h */
	struct ndd_session_list sessions, ended;
	struct ndd_session_list calling; /* session/incoming.h */
	uint32_t session_count;
	uint64_t delayed_until_ns;   /* the first time that a session waits for (session/rate.c) */
	struct ndd_closer *closer;   /* of clients' sockets */
	struct ndd_workers *workers; /* of sessions */
	uint32_t borrowed_mappings;  /* object/memory.c */
	uint64_t serial;	     /* of sessions and objects; never reused */
	struct ndd_followers followers; /* connections, but for leaving; address handles; ... */
	uint64_t leave_look_ns;		/* of conn/leave.h; UINT64_MAX: none leaves */
	struct ndd_qp_list working_qps; /* object/qp_work.h */
	uint64_t work_look_ns;
	struct ndd_group_list groups; /* multicast groups with members */
	struct ndd_mads mads;	      /* that wait for their next hop */
	uint32_t mad_psn;
	uint64_t permit_secret[2]; /* conn/numbers.h */
	struct ndd_peers peers;
	struct ndd_ports ports, ud_ports; /* of connections, of datagram services */
	uint64_t links_check_ns;
	struct ndd_pace pace; /* the control thread's */
	bool stopping, mlock_refused;
};

#endif
