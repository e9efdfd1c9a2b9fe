/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_HELP_H
#define NDPERF_HELP_H

/* The text of --help. */
extern const char ndperf_help[];

#endif
