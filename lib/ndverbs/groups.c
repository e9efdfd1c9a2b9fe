/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of datagrams in multicast groups. A group is its GID, the address that datagrams to
 * it have; LIDs, which the calls also take, RoCE has not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/ud/group.h"
#include "ndverbs/address.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"

struct ndv_membership {
	union ibv_gid gid;
	LIST_ENTRY(ndv_membership) next;
};

static bool
is_group(const union ibv_gid *gid)
{
	struct ndsh_addr address = {.port = 0};

	memcpy(address.ip, gid->raw, sizeof(address.ip));
	return nd_is_group(&address);
}

static struct ndv_membership *
membership_find(const struct ndv_qp *qp, const union ibv_gid *gid)
{
	struct ndv_membership *m;

	LIST_FOREACH (m, &qp->groups, next)
		if (memcmp(&m->gid, gid, sizeof(*gid)) == 0)
			break;
	return m;
}

static int
attach_locked(struct ndv_qp *qp, const union ibv_gid *gid)
{
	struct sockaddr_storage group;
	struct ndv_membership *m;
	nd_status st;

	if (membership_find(qp, gid) != NULL)
		return 0; /* the kernel takes a second attach as well */
	m = malloc(sizeof(*m));
	if (m == NULL)
		return ENOMEM;
	ndv_address_of(gid, &group);
	st = nd_ud_qp_attach(qp->nd, (struct sockaddr *)&group, sizeof(group),
		qp->blocks_own ? ND_UD_NOT_OWN : 0);
	if (st != ND_SUCCESS) {
		free(m);
		return ndv_errno(st);
	}
	m->gid = *gid;
	LIST_INSERT_HEAD(&qp->groups, m, next);
	return 0;
}

/* The daemon has ended it already where the device's address was taken away. */
static int
detach_locked(struct ndv_qp *qp, const union ibv_gid *gid)
{
	struct ndv_membership *m = membership_find(qp, gid);
	struct sockaddr_storage group;

	if (m == NULL)
		return EINVAL;
	ndv_address_of(gid, &group);
	(void)nd_ud_qp_detach(qp->nd, (struct sockaddr *)&group, sizeof(group));
	LIST_REMOVE(m, next);
	free(m);
	return 0;
}

static int
change_groups(struct ibv_qp *base, const union ibv_gid *gid,
	int (*change)(struct ndv_qp *qp, const union ibv_gid *gid))
{
	struct ndv_qp *qp = ndv_qp(base);
	int err;

	if (base->qp_type != IBV_QPT_UD || !is_group(gid))
		return EINVAL;
	pthread_mutex_lock(&qp->modify_lock);
	err = change(qp, gid);
	pthread_mutex_unlock(&qp->modify_lock);
	return err;
}

int
ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return change_groups(qp, gid, attach_locked);
}

int
ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return change_groups(qp, gid, detach_locked);
}
