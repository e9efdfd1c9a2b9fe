/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: what requests are made on, and where their packets go. */
#ifndef NDWIN_FILE_H
#define NDWIN_FILE_H

#include "ndwin/ndwin_provider.h"
#include "ndwin/port.h"

struct ndwin_file {
	struct ndwin_object object;
	const void *owner;
	uint32_t bound;		 /* atomic; 1: to the port below, or about to be */
	ULONG_PTR key;		 /* stands before the port does */
	struct ndwin_port *port; /* atomic; NULL or, once and for all, a port that is held */
};

#endif
