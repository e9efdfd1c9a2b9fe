/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDWIN_PROCESS_H
#define NDWIN_PROCESS_H

#include "windows.h"

#endif
