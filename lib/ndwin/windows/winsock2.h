/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDWIN_WINSOCK2_H
#define NDWIN_WINSOCK2_H

#include "windows.h"

#endif
