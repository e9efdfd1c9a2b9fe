/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments that DPDK's AF_XDP driver needs for an interface. */
#ifndef NDD_XDP_H
#define NDD_XDP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* ---- xdp_interface.c ---- */

bool ndd_xdp_is(const char *vdev);
/* The interface of such a vdev, or of a port that has such a vdev. False after a log line. */
bool ndd_xdp_interface_of(const char *vdev, char *out, size_t bytes);
bool ndd_xdp_interface(const struct config *cfg, uint32_t port, char *out, size_t bytes);

/* ---- xdp.c ---- */

/*
 * The device with all of its arguments, in out. Without queue_count the driver would take one of
 * the interface's queues and leave to the kernel what arrives at the others; a shared port has a
 * program of ours. False after a log line.
 */
bool ndd_xdp_vdev(const struct config *cfg, const char *vdev, char *out, size_t bytes);

/* ---- xdp_claim.c ---- */

/*
 * RoCEv2 on the interfaces that are shared with the kernel belongs to the daemon from now on to the
 * end of the process: whatever the program does not redirect (before it is loaded, behind
 * fragments, after it has gone) ends in a socket that drops it; else the kernel would answer that
 * the port is unreachable. False after a log line.
 */
bool ndd_xdp_claim(const struct config *cfg);
/* The file of the program, from ndd_xdp_claim() on. */
void ndd_xdp_program(char *out, size_t bytes);

#endif
