/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of the ND face. */
#ifndef ND_EVENT_TYPE_H
#define ND_EVENT_TYPE_H

#include <stdint.h>

#include "ndclient/ndclient.h"

/* The event that the daemon tells as NDSH_ASYNC_*; 0: this version of the library knows none. */
enum nd_event_type nd_event_type_of(uint32_t event);

#endif
