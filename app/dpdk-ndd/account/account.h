/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place that is asked before anything is made that can run out. The control thread's own;
 * what lcores hand out by themselves (request slots, registrations) has shares of its own there.
 */
#ifndef NDD_ACCOUNT_H
#define NDD_ACCOUNT_H

#include <sys/queue.h>
#include <sys/types.h>

#include "account/number.h"
#include "base/bucket.h"
#include "base/share.h"
#include "config/config.h"
#include "courier/courier.h"

struct ndd_conn;
struct ndd_credentials;
struct ndd_follower;
struct ndd_party;
TAILQ_HEAD(ndd_conn_list, ndd_conn);
TAILQ_HEAD(ndd_follower_list, ndd_follower);

#define NDD_WHY_BYTES 160u /* as the messages have that tell it to a client */

/* Whom things are counted for. It is there as long as somebody refers to it; one that the
 * configuration names alone, from the start to the end. */
struct ndd_principal {
	TAILQ_ENTRY(ndd_principal) next;
	const struct config_principal *rule; /* NULL: a user that no rule is about */
	uid_t uid;			     /* if each user is a principal of its own */
	char name[CONFIG_LABEL_BYTES + 16];
	uint32_t number; /* account/number.h */
	uint32_t refs;
	uint32_t leaving;		  /* seats of sessions that are gone, whose files are not */
	uint32_t hopeful;		  /* clients that wait for one of these */
	bool direct;			  /* lcores ring its clients' bells themselves */
	struct ndd_courier *courier;	  /* since it was needed first, or NULL */
	struct base_share *courier_share; /* that pays for it */
	struct base_bucket commands;
	uint64_t commands_delayed;	     /* how often a session had to wait for its next one */
	struct ndd_follower_list due, moved; /* those that go on: hostnet/follower.c */
	struct ndd_conn_list leaving_conns;  /* conn/leave.h */
	int64_t credit_ns; /* time of the control thread that is left to it; below 0: owed */
	struct base_bucket woken[CONFIG_LCORES_MAX]; /* as the last party on each shard left it */
	struct ndd_party *party[CONFIG_LCORES_MAX];  /* on each shard, or NULL */
	uint32_t members[CONFIG_LCORES_MAX];	     /* of these */
	struct base_share share[CONFIG_LCORES_MAX][CONFIG_SHARE_COUNT]; /* by shard; others: [0] */
	struct base_share strangers; /* descriptors: sockets of refused clients, its courier */
};
TAILQ_HEAD(ndd_principal_list, ndd_principal);

struct ndd_accounts {
	const struct config *cfg;
	struct ndd_principal_list principals;
	struct base_pool pool[CONFIG_LCORES_MAX][CONFIG_SHARE_COUNT]; /* by shard; others: [0] */
	uint64_t refused[CONFIG_SHARE_COUNT], commands_delayed;
	struct ndd_numbers numbers;
	uint64_t turns; /* of the control thread */
	struct ndd_couriers couriers;
};

/* A session's way to its principal. */
struct ndd_account {
	struct ndd_accounts *all;
	struct ndd_principal *principal;
	uint32_t shard;		 /* the one that it takes things of */
	uint32_t objects;	 /* in the session's tables (session/slots.h) */
	char why[NDD_WHY_BYTES]; /* of the last refusal, in words for its client; "": none */
};

/* descriptors: how many files the daemon may open. False: *why says which reserves of the
 * configuration are too much for that. cfg must not move. */
bool ndd_accounts_init(struct ndd_accounts *a, const struct config *cfg, uint64_t descriptors,
	char why[NDD_WHY_BYTES]);
void ndd_accounts_fini(struct ndd_accounts *a);

/* The principal of a client, be it refused or not, with a reference; NULL: there is no memory. */
struct ndd_principal *ndd_principal_get(struct ndd_accounts *a, const struct ndd_credentials *cred);
/* One more reference to it; returns it. */
struct ndd_principal *ndd_principal_hold(struct ndd_principal *p);
/* All that was taken has been given back, if it was the last reference. */
void ndd_principal_put(struct ndd_accounts *a, struct ndd_principal *p);
uint32_t ndd_principal_weight(const struct ndd_principal *p);

/*
 * Time of the control thread. In each of its turns a principal has NDD_TURN_NS times its weight for
 * requests and for the ends of its sessions; what one request took beyond that is owed in the next
 * turns. So nobody waits for another principal's work longer than that, and one request.
 */
#define NDD_TURN_NS 100000
/* A turn begins. */
void ndd_accounts_turn(struct ndd_accounts *a);
static inline bool
ndd_principal_has_time(const struct ndd_principal *p)
{
	return p->credit_ns > 0;
}
/* Is more than half of a turn's left? What may come in a storm leaves the rest to others of its
 * principal. */
bool ndd_principal_has_half(const struct ndd_principal *p);
/* It has used the time since then; returns now. */
uint64_t ndd_principal_charge(struct ndd_principal *p, uint64_t since_ns);

/* Commands, which are requests of its clients: limits.commands a second, and what a second brings
 * at once. When may it have one more? */
uint64_t ndd_principal_command_ns(const struct ndd_principal *p);
/* It has one now. */
void ndd_principal_command(struct ndd_principal *p, uint64_t now_ns);

/* Take n of a kind. False: it was refused, and account->why says by which limit. */
bool ndd_account_take(struct ndd_account *account, enum config_share what, uint64_t n);
void ndd_account_give(struct ndd_account *account, enum config_share what, uint64_t n);
/* The same of something that is open files as well: both kinds are taken, or neither. what may be
 * CONFIG_SHARE_COUNT: it counts for nothing else; files may be 0. */
bool ndd_account_take_with_files(
	struct ndd_account *account, enum config_share what, uint64_t n, uint32_t files);
void ndd_account_give_with_files(
	struct ndd_account *account, enum config_share what, uint64_t n, uint32_t files);
/* How much of a kind it might have, if nobody else had any but reserves. */
uint64_t ndd_account_most(const struct ndd_account *account, enum config_share what);
/* Another refusal, that is no matter of shares; the last one is told. */
void ndd_account_refuse(struct ndd_account *account, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The courier of its principal, which is made for the first that asks. Its descriptors are in the
 * principal's share, or else where those of refused clients are. NULL, errno: there are none, or no
 * memory, or no thread. */
struct ndd_courier *ndd_account_courier(struct ndd_account *account);
/* No thread needs them any longer. False: some are held up, and go on. */
bool ndd_accounts_end_couriers(struct ndd_accounts *a);

/*
 * A descriptor for the socket of a client that is refused. The share is a fair one, whatever limits
 * the principal has: such a socket is there already.
 */
bool ndd_account_take_stranger(struct ndd_account *account);
void ndd_account_give_stranger(struct ndd_account *account);

/* May its clients connect at all? If not, account->why is set. */
bool ndd_account_may_connect(struct ndd_account *account);
/* Is it held to some of the daemon's addresses; is this one of its own? */
bool ndd_account_has_addresses(const struct ndd_account *account);
bool ndd_account_owns_address(const struct ndd_account *account, const uint8_t ip[16]);
/* May it use this address of the daemon; may it choose this port? If not, account->why is set. */
bool ndd_account_may_use_address(struct ndd_account *account, const uint8_t ip[16]);
bool ndd_account_may_choose_port(struct ndd_account *account, uint16_t port);

#endif
