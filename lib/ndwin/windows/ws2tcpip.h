/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDWIN_WS2TCPIP_H
#define NDWIN_WS2TCPIP_H

#include "windows.h"

#endif
