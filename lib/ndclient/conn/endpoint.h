/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: a local address that several connectors share. */
#ifndef ND_ENDPOINT_H
#define ND_ENDPOINT_H

#include <stdint.h>

#include "ndclient/session/object.h"
#include "shm/ndsh_msg.h"

struct nd_endpoint {
	struct nd_object obj;
	uint32_t id;
	struct ndsh_addr local;
};

extern const struct nd_class nd_endpoint_class;

#endif
