/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system calls that are left to a thread, by what it is for. All others return EPERM: a call
 * that was forgotten is an error somewhere, while ending the process would be everybody's loss.
 */
#ifndef NDD_FILTER_H
#define NDD_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "config/config.h"

enum ndd_thread_kind {
	NDD_THREAD_LCORE,
	NDD_THREAD_CONTROL,
	NDD_THREAD_CLOSER, /* closes what clients have sent */
	NDD_THREAD_MEMIF,  /* its connections */
	NDD_THREAD_DPDK,   /* interrupts, telemetry, vhost-user */
	NDD_THREAD_KINDS,
};

#define NDD_FILTER_MAX 1024

/* As the kernel takes it. */
struct ndd_filter {
	unsigned short length;
	struct sock_filter code[NDD_FILTER_MAX];
};

/* What cfg wants of that kind: "log" refuses nothing. False after a log line. */
bool ndd_filter_make(struct ndd_filter *f, enum ndd_thread_kind kind, const struct config *cfg);
/* For the calling thread and those that it makes; it must have PR_SET_NO_NEW_PRIVS. System calls
 * alone. */
bool ndd_filter_install(const struct ndd_filter *f);

#endif
