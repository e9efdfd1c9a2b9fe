/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles of the ND face: where ND's pages and Microsoft's own test programs disagree. */
#ifndef ND_PROFILE_H
#define ND_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

/* Is it one of ND_PROFILE_*? */
bool nd_profile_is_known(uint32_t profile);
/* The profile that an adapter is opened with; opt may be NULL. */
uint32_t nd_profile_of(const struct nd_open_options *opt);
/* NDSH_OPEN_* of the session. */
uint32_t nd_profile_open_flags(uint32_t profile);
/* The status of an Accept of which the daemon tells this one. */
nd_status nd_profile_accept_status(uint32_t profile, nd_status st);

#endif
