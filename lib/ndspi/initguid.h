/* SPDX-License-Identifier: BSD-3-Clause */
/* libndspi: include this before ndspi.h, and interface ids are defined in that file (ndcom.h). */
#ifndef INITGUID
#define INITGUID
#endif
