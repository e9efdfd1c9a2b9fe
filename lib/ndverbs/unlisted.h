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

struct ib_uverbs_ah_attr;
struct ib_uverbs_qp_attr;
struct ib_user_path_rec;
struct ibv_sa_path_rec;
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *to, struct ib_uverbs_ah_attr *from);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *to, struct ib_uverbs_qp_attr *from);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *to, struct ib_user_path_rec *from);

const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#endif
