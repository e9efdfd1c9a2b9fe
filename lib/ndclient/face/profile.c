/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/face/profile.h"

#include "shm/ndsh_msg.h"

bool
nd_profile_is_known(uint32_t profile)
{
	return profile <= ND_PROFILE_DOC;
}

uint32_t
nd_profile_of(const struct nd_open_options *opt)
{
	return opt != NULL ? opt->profile : ND_PROFILE_TEST;
}

uint32_t
nd_profile_open_flags(uint32_t profile)
{
	return profile == ND_PROFILE_DOC ? NDSH_OPEN_NO_FLUSH : 0;
}

nd_status
nd_profile_accept_status(uint32_t profile, nd_status st)
{
	bool pages = profile == ND_PROFILE_DOC;

	return pages && st == ND_CONNECTION_REFUSED ? ND_CONNECTION_ABORTED : st;
}
