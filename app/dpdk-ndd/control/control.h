/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop. */
#ifndef NDD_CONTROL_H
#define NDD_CONTROL_H

#include <stdbool.h>

struct ndd;

/* The lists of the daemon are empty: part of ndd_control_init(). */
void ndd_lists_init(struct ndd *d);
bool ndd_control_init(struct ndd *d);
/* Wait until duplicate address detection has ended, then open the control socket to clients. */
bool ndd_control_listen(struct ndd *d);
void ndd_control_run(struct ndd *d); /* until SIGTERM or SIGINT */
/* End all sessions, within bounded time; the lcores still run. */
void ndd_control_farewell(struct ndd *d);
void ndd_control_fini(struct ndd *d);

#endif
