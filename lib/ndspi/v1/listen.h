/* SPDX-License-Identifier: BSD-3-Clause */
/* INDListen. */
#ifndef NDSPI_V1_LISTEN_H
#define NDSPI_V1_LISTEN_H

#include "ndspi/object.h"

/* INDAdapter::Listen */
HRESULT STDMETHODCALLTYPE spi1_listen(INDAdapter *self, SIZE_T backlog, INT protocol, USHORT port,
	USHORT *assigned, INDListen **out);

#endif
