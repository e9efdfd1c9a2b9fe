/* SPDX-License-Identifier: BSD-3-Clause */
/* What an lcore counts of frames, doorbells and sleeps. */
#ifndef NDD_COUNTERS_H
#define NDD_COUNTERS_H

#include <stdint.h>

/* clang-format off */
#define NDD_IO_COUNTERS(X)                                                                         \
	X(rx_frames) X(rx_control) X(rx_truncated) X(rx_ip_header) X(rx_length) X(rx_tver)         \
	X(rx_opcode) X(rx_pkey) X(rx_linearised) X(rx_linearise_failed) X(handed_over)             \
	X(handover_full) X(control_full) X(loopback) X(tx_frames) X(tx_stalled) X(tx_link_dropped) \
	X(multicast_no_group) X(multicast_foreign) X(multicast_full)                               \
	X(no_mbufs) X(doorbells) X(wakeups) X(demotions) X(promotions) X(sleeps) X(crowded)
/* clang-format on */
struct ndd_io_counters {
#define NDD_X(n) uint64_t n;
	NDD_IO_COUNTERS(NDD_X)
#undef NDD_X
};

#endif
