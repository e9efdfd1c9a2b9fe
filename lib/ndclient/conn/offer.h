/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection requests by callback. */
#ifndef ND_OFFER_H
#define ND_OFFER_H

#include <stdbool.h>

#include "ndclient/ndclient.h"

/* Wake the callbacks' thread, if the listener has a callback; nd_adapter.lock held. */
void nd_listener_kick(struct nd_listener *l);
/* Run a callback that is owed; false: none was. By the callbacks' thread. */
bool nd_listener_call_back(struct nd_adapter *a);

#endif
