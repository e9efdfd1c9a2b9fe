/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_STATS_H
#define NDD_STATS_H

struct ndd;

/* A port's counters in the log and in telemetry: X(name, member of struct rte_eth_stats). */
#define NDD_PORT_STATS(X)                                                                          \
	X(rx_packets, ipackets)                                                                    \
	X(rx_bytes, ibytes)                                                                        \
	X(rx_missed, imissed)                                                                      \
	X(rx_errors, ierrors)                                                                      \
	X(rx_no_mbufs, rx_nombuf)                                                                  \
	X(tx_packets, opackets)                                                                    \
	X(tx_bytes, obytes)                                                                        \
	X(tx_errors, oerrors)

/* All counters to the log. */
void ndd_stats_log(const struct ndd *d);

#endif
