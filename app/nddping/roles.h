/* SPDX-License-Identifier: BSD-3-Clause */
/* The two roles of the program. */
#ifndef NDDPING_ROLES_H
#define NDDPING_ROLES_H

#include "options.h"

/* Both run to the end and return the program's exit code. */
int ping_client(const struct ping_options *opt);
int ping_server(const struct ping_options *opt);

#endif
