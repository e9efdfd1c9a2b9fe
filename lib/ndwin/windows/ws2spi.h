/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDWIN_WS2SPI_H
#define NDWIN_WS2SPI_H

#include "windows.h"

#endif
