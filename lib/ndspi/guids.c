/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface ids: this file defines what the headers declare elsewhere. */
#include "ndspi/initguid.h"

#include "ndspi/ndspi.h"
