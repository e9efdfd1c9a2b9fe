/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which packets met a queue pair in which state, and which messages of connection management an
 * exchange in which state, in all worlds so far: sim --pairs prints both.
 */
#ifndef SIM_PAIR_H
#define SIM_PAIR_H

#include "sim_types.h"

/* A packet reaches the queue pair, or NULL. */
void sim_pair_met(const struct roce_qp *qp, const struct roce_pkt *pkt);
void sim_pairs_print(void);

/* A message reaches the connection manager. */
void sim_pair_cm_met(const struct roce_cm *cm, const struct roce_pkt *pkt);
void sim_pairs_cm_print(void);

/* Numbers by rows and columns; 0: a dash. */
void sim_table_print(const char *const *rows, unsigned n_rows, const char *const *columns,
	unsigned n_columns, const uint64_t *of);

#endif
