/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDDPING_ROLES_H
#define NDDPING_ROLES_H

#include "options.h"

/* Both return the program's exit code. */
int ping_client(const struct ping_options *opt);
int ping_server(const struct ping_options *opt);

#endif
