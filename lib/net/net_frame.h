/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, in and out, without tags. */
#ifndef NDD_NET_FRAME_H
#define NDD_NET_FRAME_H

#include "net/net_state.h"

/* A frame without tags, at least an Ethernet header. */
void net_link_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);

/* The next slot, with the Ethernet header written; NULL: queue full, counted. An answer to a
 * station, which can bring about as many as it likes, leaves room for what is sent unasked. */
uint8_t *net_frame(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned ethertype);
uint8_t *net_answer_frame(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned ethertype);
void net_frame_send(struct net *n, size_t bytes);

#endif
