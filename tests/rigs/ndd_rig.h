/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon without ports, lcores and event loop: real sessions over real sockets, the real tables
 * of requests and classes, a real engine. Its one shard does not run, so that calls on it are made
 * at once; what an event loop would do is done by ndd_rig_turn().
 */
#ifndef NDD_RIG_H
#define NDD_RIG_H

#include "control/daemon.h"
#include "session/session.h"
#include "shm/ndsh_msg.h"

#define NDD_RIG_IP	    "10.77.0.1"
#define NDD_RIG_SESSIONS    5u	 /* that may be there at a time */
#define NDD_RIG_DESCRIPTORS 128u /* that may be open for them */

struct ndd_rig {
	struct ndd_rig *older;
	struct ndd d;
	struct config cfg;
	struct ndd_shard shard;
	uint32_t by; /* which of the sockets clients connect to */
};

/* The caller frees nothing: each test is a process of its own. */
struct ndd_rig *ndd_rig_new(void);
/* A new rig of two principals by these rules: red and blue, by the sockets of these labels. */
struct ndd_rig *ndd_rig_red_and_blue(
	const struct config_principal *red, const struct config_principal *blue, bool allow);
/* A client connects, and the daemon has no turn. Returns its end of the socket. */
int ndd_rig_dial(struct ndd_rig *r);
/* A client connects. Returns its end of the socket, which does not block; *s is its session. */
int ndd_rig_connect(struct ndd_rig *r, struct ndd_session **s);
/* The daemon has one more socket, with this label; the clients that follow connect to it ("": to
 * the first one again). */
void ndd_rig_connect_by(struct ndd_rig *r, const char *label);
/* The accounts begin anew, by the principals in cfg; there are none yet, nor sessions. */
void ndd_rig_principals(struct ndd_rig *r);
/* The same, after HELLO and OPEN. */
int ndd_rig_open(struct ndd_rig *r, struct ndd_session **s);
/* The same, of the adapter that has this address. */
int ndd_rig_open_at(struct ndd_rig *r, const char *ip, struct ndd_session **s);
/* The daemon has a second port, with this address. */
void ndd_rig_second_port(struct ndd_rig *r, const char *ip);
/* Would the control thread sleep? */
bool ndd_rig_is_quiet(const struct ndd_rig *r);
/* Serve the descriptors that are ready, once each. */
void ndd_rig_receive(struct ndd_rig *r);
/* The same; then what sessions' workers have done, the end of the sessions that have ended, and
 * what goes on with queue pairs. */
void ndd_rig_turn(struct ndd_rig *r);
/* Are jobs of sessions, or requests that take several turns, under way? */
bool ndd_rig_works(struct ndd_rig *r);
/* Turns until there are none. */
void ndd_rig_settle(struct ndd_rig *r);
/* Send a request, let the daemon serve it, and take the reply; the words of a refusal are passed
 * over. Returns its status. */
enum ndsh_status ndd_rig_ask(struct ndd_rig *r, int client, const void *msg, void *reply);
/* The next message that the client has; 0: none, -1: the daemon has closed the socket. *fd: the
 * descriptor that came with it, or -1; with fd NULL it is closed. */
long ndd_rig_take(int client, void *msg, int *fd);
/* The client makes a segment of so many bytes live. Returns its mapping; *id is its number. */
void *ndd_rig_segment(struct ndd_rig *r, int client, uint64_t bytes, uint32_t *id);

#endif
