/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider: the daemon. */
#ifndef NDSPI_PROVIDER_H
#define NDSPI_PROVIDER_H

#include "ndspi/object.h"

/* How adapters are opened and queries made: as the environment says. */
struct nd_open_options spi_provider_options(void);
/* IND2Provider's QueryAddressList, with a buffer's size in the type of whatever asks. */
HRESULT spi_provider_addresses(SOCKET_ADDRESS_LIST *list, SIZE_T *bytes);

#endif
