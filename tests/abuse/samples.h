/* SPDX-License-Identifier: BSD-3-Clause */
/* How long something took, each time: for one thread that measures and another that asks. */
#ifndef ABUSE_SAMPLES_H
#define ABUSE_SAMPLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SAMPLES_MAX 65537u

struct samples {
	const char *name;
	pthread_mutex_t lock;
	uint64_t begun; /* the one under way; 0: none */
	uint64_t done, failed;
	uint64_t longest;
	uint32_t ns[SAMPLES_MAX]; /* a sample of 4 s is as bad as any longer one */
};

uint64_t samples_now(void); /* ns */
void samples_init(struct samples *s, const char *name);
void samples_begin(struct samples *s);
void samples_end(struct samples *s, bool good);
/* Print what came since the last time, as a member of a JSON object, and forget it. One that is
 * under way counts if it takes longer than any other. */
void samples_print(struct samples *s);

#endif
