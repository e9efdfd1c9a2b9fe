/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_HELP_H
#define NDPERF_HELP_H

extern const char ndperf_help[];

#endif
