/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a copy between a packet and memory. */
#ifndef ROCE_COPY_H
#define ROCE_COPY_H

enum roce_copy {
	ROCE_COPY_OK,
	ROCE_COPY_REFUSED, /* a key does not open the memory */
	ROCE_COPY_LATER,   /* nothing was done; the queue pair will be told when to try again */
};

#endif
