/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine pair with more queue pairs than timers that stay, than rings that one turn looks at,
 * and than doorbells that stand in line. */
#ifndef MANY_QPS_H
#define MANY_QPS_H

#include "rigs/engine_pair.h"

#define MANY_QPS     700u
#define MANY_AT	     (1u << 20) /* offset that they write to */
#define MANY_WIRE_NS UINT64_C(2000)

struct pair *many_new(void);
/* A write of 64 bytes by each queue pair of side 0. */
void many_write(struct pair *p);
/* How many of side 0 there are; all are successful. */
unsigned many_completions(struct pair *p);
/* Turns of both sides for so long, by small steps of time. */
void many_go_on(struct pair *p, uint64_t ns);

#endif
