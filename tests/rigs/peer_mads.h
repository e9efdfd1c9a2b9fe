/* SPDX-License-Identifier: BSD-3-Clause */
/* The MADs that a peer of the daemon (rigs/ndd_rig.h) gets and sends. */
#ifndef PEER_MADS_H
#define PEER_MADS_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "rigs/ndd_rig.h"

/* The next one that leaves the daemon; *tx: how. */
struct cm_mad peer_gets(struct ndd_rig *r, struct roce_cm_tx *tx);
/* One of the peer at that address, and the event that it makes. */
struct roce_cm_event peer_sends(struct ndd_rig *r, const char *peer_ip, const struct cm_mad *m);

#endif
