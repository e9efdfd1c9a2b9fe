/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins of multicast groups. Of a join the daemon knows nothing: it is told at once, with what
 * datagrams to the group need, and librdmacm then attaches the queue pair (ibv_attach_mcast()),
 * which is what brings the host into the group. An attach that fails librdmacm tells as
 * MULTICAST_ERROR.
 */
#include <errno.h>
#include <stdlib.h>

#include "ndclient/session/address.h"
#include "ndclient/ud/group.h"
#include "ndverbs/cm/cm.h"

struct cm_join {
	struct cm_id *id;
	uint32_t handle;
	uint32_t reported; /* events that the program has taken */
	LIST_ENTRY(cm_join) in_id;
};

static uint32_t next_handle; /* guarded by cm_lock */

/* ---- joining ------------------------------------------------------------------------------ */

/* As in the kernel, the identifier has a device and is on no way to a service. */
static int
check_join(const struct cm_id *id, const struct ndsh_addr *group)
{
	if (!id->datagrams || id->device == NULL || id->any)
		return EINVAL;
	if (cm_state(id) != CM_BOUND && cm_state(id) != CM_ADDRESS)
		return EINVAL;
	if (!nd_is_group(group))
		return EINVAL;
	return nd_address_is_v4(group) == (id->device->address.ss_family == AF_INET)
		       ? 0
		       : EADDRNOTAVAIL;
}

int
cm_join(struct cm_id *id, const struct ndsh_addr *group, uint64_t uid, uint32_t *handle)
{
	int err = check_join(id, group);
	struct cm_join *j = err == 0 ? calloc(1, sizeof(*j)) : NULL;

	if (j == NULL)
		return err != 0 ? err : ENOMEM;
	*j = (struct cm_join){.id = id};
	pthread_mutex_lock(&cm_lock);
	j->handle = next_handle++;
	if (cm_event_joined(id, j, uid, group)) {
		LIST_INSERT_HEAD(&id->joins, j, in_id);
		*handle = j->handle;
	} else {
		free(j);
		err = ENOMEM;
	}
	pthread_mutex_unlock(&cm_lock);
	return err;
}

/* ---- leaving ------------------------------------------------------------------------------ */

static struct cm_join *
find_join(const struct cm_file *f, uint32_t handle)
{
	const struct cm_id *id;
	struct cm_join *j;

	LIST_FOREACH (id, &f->ids, in_file)
		LIST_FOREACH (j, &id->joins, in_id)
			if (j->handle == handle)
				return j;
	return NULL;
}

int
cm_leave(struct cm_file *f, uint32_t handle, uint32_t *reported)
{
	struct cm_join *j;

	pthread_mutex_lock(&cm_lock);
	j = find_join(f, handle);
	if (j != NULL) {
		cm_events_drop(j->id, j);
		LIST_REMOVE(j, in_id);
		*reported = j->reported;
	}
	pthread_mutex_unlock(&cm_lock);
	free(j);
	return j != NULL ? 0 : ENOENT;
}

void
cm_join_reported(struct cm_join *j)
{
	j->reported++;
}

void
cm_joins_end(struct cm_id *id)
{
	struct cm_join *j;

	while ((j = LIST_FIRST(&id->joins)) != NULL) {
		LIST_REMOVE(j, in_id);
		free(j);
	}
}
