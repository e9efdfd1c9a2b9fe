/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects go, at the request of a client or with its session: from the shard, then for good. */
#ifndef NDD_LEAVE_H
#define NDD_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct ndd_class;
struct ndd_session;

/* One call of the lcore, in which n objects of a class leave the shard. Returns how many have: the
 * first ones. */
uint32_t ndd_objects_leave(
	const struct ndd_class *c, struct ndd_session *s, void *const *object, uint32_t n);
/* The same of one: is it gone from the shard? */
bool ndd_object_leave(const struct ndd_class *c, struct ndd_session *s, void *object);
/* From the shard, with as many calls as it takes, and for good. */
void ndd_object_free(const struct ndd_class *c, struct ndd_session *s, void *object);

#endif
