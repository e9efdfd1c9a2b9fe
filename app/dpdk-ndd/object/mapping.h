/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's mapping of a client's memfd: made and undone by the session's worker. */
#ifndef NDD_MAPPING_H
#define NDD_MAPPING_H

#include <stdint.h>

#include "session/worker.h"
#include "shm/ndsh_status.h"

struct ndd_mapping {
	struct ndd_job make, undo; /* undo may be given while make is under way: it comes behind */
	int fd;			   /* the memfd; -1: it is closed */
	uint8_t *host;		   /* or NULL */
	uint64_t bytes;
	/* of ndd_mapping_make() */
	enum ndsh_status status;
	const char *why; /* it is not OK */
	bool unlocked;	 /* it is OK, but the memory may be swapped out */
};

/* make.run: all pages are mapped then, guarded and locked; or none is. */
void ndd_mapping_make(struct ndd_job *j);
/* undo.run: nothing of it is left, whatever there was. */
void ndd_mapping_undo(struct ndd_job *j);

#endif
