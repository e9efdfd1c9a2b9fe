/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDWIN_GUIDDEF_H
#define NDWIN_GUIDDEF_H

#include "windows.h"

#endif
