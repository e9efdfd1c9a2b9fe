/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_DIRECTORY_H
#define NDD_DIRECTORY_H

#include <sys/stat.h>

/* The directory that a file of that path is in is made, if only itself is missing: /run is empty
 * after a boot. Any other fault is reported by the caller when it makes the file. */
void ndd_directory_of(const char *path, mode_t mode);

#endif
