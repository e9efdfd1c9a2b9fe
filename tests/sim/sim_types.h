/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of a world, and names of its parts. */
#ifndef SIM_TYPES_H
#define SIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm/cm.h"
#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"
#include "roce/roce.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

#define SIM_ADDRESSES  3u /* hosts at one time */
#define SIM_HOSTS_MAX  8u /* with those that took a dead one's place */
#define SIM_SHARDS_MAX 8u
#define SIM_CONNS_MAX  12u
#define SIM_UDS_MAX    6u /* queue pairs of datagrams */
#define SIM_ASKS_MAX   8u
#define SIM_CQS	       2u /* per client */
#define SIM_OPS_MAX    64u
#define SIM_RECVS_MAX  4096u
#define SIM_SLOTS      8u
#define SIM_WINDOWS    4u /* of each end of a connection; the last is a fast-register region */
#define SIM_MTU_MAX    4096u
#define SIM_PORT       4711u
#define SIM_UD_PORT    4720u
#define SIM_NEVER      UINT64_MAX
#define SIM_US	       UINT64_C(1000)
#define SIM_MS	       UINT64_C(1000000)
#define SIM_S	       UINT64_C(1000000000)

struct sim_world;
struct sim_ep;
struct sim_conn;
struct sim_client;
struct sim_cq;
struct sim_srq;
struct sim_ud;
struct sim_frame;
struct sim_shard;
struct sim_host;
struct sim_speech;
struct sim_insider;

#endif
