/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_DEPTHS_H
#define NDD_DEPTHS_H

struct ndd_session;
struct ndsh_open_reply;

/* Fill in how deep the queues of the session may be. */
void ndd_depths_tell(const struct ndd_session *s, struct ndsh_open_reply *r);

#endif
