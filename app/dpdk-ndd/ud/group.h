/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups, and the queue pairs that are in them. */
#ifndef NDD_GROUP_H
#define NDD_GROUP_H

#include <sys/queue.h>

#include "object/qp.h"
#include "roce/ud/group.h"
#include "session/reply.h"

#define NDD_GROUP_QPS_PER_SESSION 8u /* in one group: others find room among the engine's most */

struct ndd;
struct ndd_session;

/* A group of a port, as long as it has members. */
struct ndd_group {
	TAILQ_ENTRY(ndd_group) next; /* of the daemon's */
	struct ndd_member_list members;
	struct roce_group_key key;
	int fd; /* of the kernel's membership, or -1 */
};
/* A queue pair in a group. */
struct ndd_member {
	LIST_ENTRY(ndd_member) of_group, of_qp;
	struct ndd_group *group;
	const struct ndd_session *session;
	const struct ndd_qp *qp;
	bool not_own; /* what it sends itself is not for it */
};

/* ---- group.c ---- */

ndd_handler ndd_group_attach, ndd_group_detach;
/* The queue pair leaves all groups. */
void ndd_group_leave_all(struct ndd_session *s, struct ndd_qp *qp);

/* ---- group_table.c ---- */

/* Give a shard a new table of the daemon's groups. False: no memory; then it has none, and what is
 * sent to groups does not reach its queue pairs. */
bool ndd_group_table_renew(struct ndd *d, struct ndd_shard *shard);

#endif
