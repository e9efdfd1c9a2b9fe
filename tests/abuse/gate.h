/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads stop between two rounds of their work, when they are told to. */
#ifndef ABUSE_GATE_H
#define ABUSE_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool shut;
	unsigned int inside;
};
#define GATE_SHUT                                                                                  \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true, 0                       \
	}

void gate_enter(struct gate *g);
void gate_leave(struct gate *g);
void gate_open(struct gate *g);
/* Shut it; false: a thread is still inside after that many seconds. */
bool gate_shut(struct gate *g, unsigned int seconds);

#endif
