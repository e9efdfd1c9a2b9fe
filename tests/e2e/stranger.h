/* SPDX-License-Identifier: BSD-3-Clause */
/* b is not this project's: verbspeer in a guest (tests/interop/verbspeer.h), through its kernel's
 * verbs. */
#ifndef E2E_STRANGER_H
#define E2E_STRANGER_H

#include "pair.h"

/* What it sends and receives. */
struct stranger_message {
	char what[4];
	uint32_t token, bytes, reserved;
	uint64_t address;
};

/* Open a and connect it; one receive is posted, of a message. */
void stranger_connect(struct pair *p);
/* Send m; *m is in the buffer. */
void stranger_tell(struct side *s, const struct stranger_message *m);
/* Wait for its message. */
struct stranger_message stranger_told(struct side *s);

#endif
