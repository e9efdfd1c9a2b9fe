/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of libibverbs that its public header does not declare, and programs use all the same. */
#ifndef NDV_UNLISTED_H
#define NDV_UNLISTED_H

#include <infiniband/verbs.h>
#include <stddef.h>

/* The numbers of sysfs' files: InfiniBand and RoCEv1 are one. */
enum ndv_gid_type { NDV_GID_TYPE_ROCE_V1, NDV_GID_TYPE_ROCE_V2 };
int ibv_query_gid_type(
	struct ibv_context *context, uint8_t port, unsigned int index, enum ndv_gid_type *type);

const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#endif
