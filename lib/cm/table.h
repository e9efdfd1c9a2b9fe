/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to find a connection; each is a hash table. */
#ifndef CM_TABLE_H
#define CM_TABLE_H

#include <stdint.h>

#include "wire/gid.h"

struct cm_bucket;
struct cm_in;
struct roce_cm;
struct roce_cm_conn;

enum cm_table {
	CM_BY_LOCAL_ID,
	CM_BY_REMOTE_ID,  /* (CA GUID, GID, comm id) of the peer */
	CM_BY_REMOTE_QPN, /* (CA GUID, GID, QPN) of the peer */
	CM_BY_LOCAL_QPN,
	CM_BY_SIDR_ID, /* SIDR queries by our id, requests by (tid, GID, id) of the peer */
	CM_TABLES,
};

void cm_table_link(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_table t);
void cm_table_unlink(struct roce_cm_conn *c, enum cm_table t);
/* The bucket in which c has to be. */
const struct cm_bucket *cm_table_bucket(
	const struct roce_cm *cm, const struct roce_cm_conn *c, enum cm_table t);

struct roce_cm_conn *cm_find_local_id(const struct roce_cm *cm, uint32_t local_id);
/* The connection that a MAD from this peer means by our comm id; NULL: another peer's. */
struct roce_cm_conn *cm_find_mine(const struct roce_cm *cm, const struct cm_in *in);
/* By both comm ids. */
struct roce_cm_conn *cm_find_both(const struct roce_cm *cm, const struct cm_in *in);
struct roce_cm_conn *cm_find_remote_id(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t remote_id);
struct roce_cm_conn *cm_find_remote_qpn(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t qpn);
/* Our query with this id. */
struct roce_cm_conn *cm_find_query_id(const struct roce_cm *cm, uint32_t local_id);
/* Our query that a SIDR_REP answers; the peer's request that a SIDR_REQ repeats. */
struct roce_cm_conn *cm_find_sidr_query(const struct roce_cm *cm, const struct cm_in *in);
struct roce_cm_conn *cm_find_sidr_request(const struct roce_cm *cm, const struct cm_in *in);

#endif
