/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process with the injector and its test share: the calls that the process has made so far,
 * by site, and the one of them that is to fail. A file, which both map; injector.py has the same
 * layout.
 *
 * A site is a function and the place in the project's own code that called it, or called the
 * library which called it: a place in the executable, or (with FAULT_IN_LIBRARY) in libndclient.
 */
#ifndef NDD_TEST_FAULTS_H
#define NDD_TEST_FAULTS_H

#include <stdint.h>

#define FAULT_SITES	 8192u
#define FAULT_IN_LIBRARY (UINT64_C(1) << 48)
#define FAULT_INDIRECT	 (UINT64_C(1) << 49) /* by way of another library */

struct fault_site {
	uint64_t place;	   /* 0: a thread of a library's own */
	uint32_t function; /* a line of calls.h, from 1 on */
	uint32_t calls;
};

struct fault_page {
	uint32_t armed; /* function of the site that is to fail; 0: none. Written last */
	uint32_t skip;	/* calls there that go well before */
	uint64_t place;
	uint32_t fired;
	uint32_t sites;
	struct fault_site site[FAULT_SITES];
};

#endif
