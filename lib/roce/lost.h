/* SPDX-License-Identifier: BSD-3-Clause */
/* Payload that did not get to its place: the memory behind a mover has gone. */
#ifndef ROCE_LOST_H
#define ROCE_LOST_H

#include "roce/mem/moved.h"

/* moved->lost says what: its transfer fails, and the queue pair ends. Once more is the same. */
void roce_lost(struct roce_shard *s, struct roce_moved *moved);

#endif
