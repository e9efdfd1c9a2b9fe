/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of a port, by the log and by telemetry: X(name, of struct rte_eth_stats). */
#ifndef NDD_STATS_H
#define NDD_STATS_H

#define NDD_PORT_STATS(X)                                                                          \
	X(rx_packets, ipackets)                                                                    \
	X(rx_bytes, ibytes)                                                                        \
	X(rx_missed, imissed)                                                                      \
	X(rx_errors, ierrors)                                                                      \
	X(rx_no_mbufs, rx_nombuf)                                                                  \
	X(tx_packets, opackets)                                                                    \
	X(tx_bytes, obytes)                                                                        \
	X(tx_errors, oerrors)

#endif
