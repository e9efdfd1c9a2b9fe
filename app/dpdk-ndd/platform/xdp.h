/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's AF_XDP driver must be told about the interface that it is given. */
#ifndef NDD_XDP_H
#define NDD_XDP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

bool ndd_xdp_is(const char *vdev);
/*
 * The device with all of its arguments, in out. Without queue_count the driver would take one of
 * the interface's queues and leave to the kernel what arrives at the others; a shared port has a
 * program of ours. False: it was said why not.
 */
bool ndd_xdp_vdev(const struct config *cfg, const char *vdev, char *out, size_t bytes);
/* The interface of a port of that kind. */
bool ndd_xdp_interface(const struct config *cfg, uint32_t port, char *out, size_t bytes);

/* ---- xdp_claim.c ---- */

/*
 * RoCEv2 of the interfaces that are shared with the kernel is ours, from now on to the end of the
 * process: whatever the program does not redirect, before it is there, behind fragments, when it
 * has gone, ends in silence in a socket of the kernel's, instead of being answered that the port is
 * unreachable. False: it was said why not.
 */
bool ndd_xdp_claim(const struct config *cfg);
/* The file of the program, from ndd_xdp_claim() on. */
void ndd_xdp_program(char *out, size_t bytes);

#endif
