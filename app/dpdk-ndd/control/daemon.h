/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread's state and loop: sessions, objects, the CM, neighbours. Lcores see nothing of
 * it but struct ndd_plane; it sees their shards through ndd_shard_call() and the rings.
 */
#ifndef NDD_DAEMON_H
#define NDD_DAEMON_H

#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "config/config.h"
#include "net/net.h"
#include "hostnet/next_hop.h"
#include "conn/ports.h"
#include "cm/cm.h"
#include "lcore/shard.h"

struct ndd;
struct ndd_ah;
struct ndd_conn;
struct ndd_qp_path;
struct ndd_session;
struct ndd_kernel_ports;

/* Something in the control thread's epoll: data.ptr is one of these, first in its owner. */
struct ndd_watch {
	void (*ready)(struct ndd *d, struct ndd_watch *w, uint32_t events);
	int fd;
};
bool ndd_watch_add(struct ndd *d, struct ndd_watch *w, int fd, uint32_t events,
	void (*ready)(struct ndd *d, struct ndd_watch *w, uint32_t events));
void ndd_watch_del(struct ndd *d, struct ndd_watch *w);

/* An address, of a GID or a message, as the little host wants it. */
static inline struct net_ip
ndd_ip(const uint8_t ip[16])
{
	struct net_ip out;

	memcpy(out.b, ip, sizeof(out.b));
	return out;
}

TAILQ_HEAD(ndd_conn_list, ndd_conn);
TAILQ_HEAD(ndd_qp_path_list, ndd_qp_path);
TAILQ_HEAD(ndd_ah_list, ndd_ah);
TAILQ_HEAD(ndd_session_list, ndd_session);

/* A MAD whose next hop is being asked for. */
#define NDD_MADS_WAITING 64u
struct ndd_mad {
	uint64_t until_ns; /* 0: free */
	struct roce_cm_tx tx;
};

struct ndd {
	struct config *cfg;	 /* what a reload may change of it is the network's */
	const char *config_path; /* where it came from */
	struct ndd_plane plane;
	struct net *net;
	struct ndd_kernel_ports *kernel_ports; /* NULL: no port is shared with the kernel */
	struct roce_cm *cm;
	size_t net_bytes, cm_bytes;
	int epoll_fd;
	struct ndd_wakeup wakeup; /* lcores ring it */
	struct ndd_watch wakeup_watch, listen_watch, signal_watch;
	struct ndd_session_list sessions, ended;
	uint32_t session_count;
	uint64_t serial;			       /* of sessions and objects; never reused */
	struct ndd_conn_list conns;		       /* all that the CM knows */
	struct ndd_qp_path_list paths;		       /* of queue pairs brought up by hand */
	struct ndd_ah_list ahs;			       /* address handles */
	struct ndd_hops conn_hops, path_hops, ah_hops; /* of these lists */
	uint64_t mads_generation; /* of the network, when those below were tried last */
	struct ndd_mad mad[NDD_MADS_WAITING];
	uint32_t mads_waiting, mad_psn;
	struct ndd_ports ports, ud_ports; /* of connections, of datagram services */
	uint64_t links_check_ns;
	bool stopping, mlock_refused;
};

/* ---- control.c ---- */

bool ndd_control_init(struct ndd *d);
/* When it is known of all addresses whether they are ours, open the control socket: clients may
 * come. */
bool ndd_control_listen(struct ndd *d);
void ndd_control_run(struct ndd *d); /* until SIGTERM or SIGINT */
/* End all sessions, within bounded time; the lcores still run. */
void ndd_control_farewell(struct ndd *d);
void ndd_control_fini(struct ndd *d);

/* ---- host.c: frames between shards and net, CM ---- */

/* Frames, events that the shards sent up. True if there may be more. */
bool ndd_host_rx(struct ndd *d, uint64_t now_ns);
/* What net and CM want to send; timers of both. */
void ndd_host_tx(struct ndd *d, uint64_t now_ns);
/* ns until something must be done; UINT64_MAX: nothing. */
uint64_t ndd_host_deadline(const struct ndd *d);

/* ---- links.c ---- */

/* From time to time: links that went up or down, connections of virtual devices made again. */
void ndd_links_check(struct ndd *d, uint64_t now_ns);

/* ---- async.c ---- */

/* The port's link came or went: its clients are told. */
void ndd_async_link(struct ndd *d, uint32_t port, bool up);
/* An address of the port is served from now on, or was until now. */
void ndd_async_addresses(struct ndd *d, uint32_t port);

/* ---- reload.c ---- */

/* The network's part of the configuration anew: addresses, VLANs, gateways and routes. */
void ndd_reload(struct ndd *d);
/* Who uses that address of ours, which is about to go, is at its end; why is for the log. */
void ndd_end_address(struct ndd *d, const uint8_t ip[16], const char *why);

/* ---- stats.c ---- */

void ndd_stats_log(const struct ndd *d);

#endif
