/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's configuration: JSON in, one validated struct out. An error names
 * the JSON path, what was found, and what is allowed.
 */
#ifndef NDD_CONFIG_H
#define NDD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_PORTS_MAX     8u
#define CONFIG_ADDRESSES_MAX 8u
#define CONFIG_VLANS_MAX     8u
#define CONFIG_ROUTES_MAX    16u
#define CONFIG_LCORES_MAX    8u
#define CONFIG_STRINGS_MAX   16u
#define CONFIG_PATH_BYTES    256u

enum config_idle { CONFIG_IDLE_POLL, CONFIG_IDLE_PAUSE, CONFIG_IDLE_SLEEP };
enum config_dad { CONFIG_DAD_OFF, CONFIG_DAD_QUICK, CONFIG_DAD_FULL };
struct config_address {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint8_t prefix_len;
};
struct config_route {
	struct config_address to;
	uint8_t via[16];
};
/* A port without tags, or one of its VLANs. */
struct config_link {
	uint16_t id; /* 1..4094 of a VLAN, else 0 */
	bool has_priority;
	uint8_t priority; /* 0..7 of a VLAN */
	struct config_address address[CONFIG_ADDRESSES_MAX];
	uint32_t addresses;
	bool has_gateway4, has_gateway6;
	uint8_t gateway4[16], gateway6[16];
	struct config_route route[CONFIG_ROUTES_MAX];
	uint32_t routes;
};
struct config_port {
	char device[64]; /* PCI address or vdev name, e.g. "net_memif0" */
	struct config_link untagged;
	struct config_link vlan[CONFIG_VLANS_MAX];
	uint32_t vlans;
	enum config_dad dad; /* "dad": "off" | "quick" (default) | "full" */
	bool shared;	     /* with the kernel: addresses and routes are the kernel's */
	bool ecn;	     /* connections react to congestion, unless they say otherwise */
	uint32_t mtu;	     /* IP MTU, 576..9000; default 1500 */
	bool has_mac;
	uint8_t mac[6];
};
struct config {
	/* "eal" */
	bool huge_pages;      /* default true */
	uint32_t memory_mb;   /* 64..65536; default 256 */
	char file_prefix[64]; /* default "dpdk-ndd" */
	char vdev[CONFIG_STRINGS_MAX][CONFIG_PATH_BYTES];
	uint32_t vdevs;
	char pci[CONFIG_STRINGS_MAX]
		[CONFIG_PATH_BYTES]; /* allow list, as for -a; empty: no PCI at all */
	uint32_t pcis;
	char extra[CONFIG_STRINGS_MAX][CONFIG_PATH_BYTES]; /* passed to EAL as they stand */
	uint32_t extras;
	/* "lcores" */
	uint16_t lcore[CONFIG_LCORES_MAX]; /* CPU of each shard */
	uint32_t lcores;
	enum config_idle idle; /* "idle": "poll" | "pause" | "sleep" (default) */
	/* "control" */
	char socket_path[108];
	uint32_t socket_mode;  /* e.g. 0660 */
	uint32_t max_sessions; /* 1..1024 */
	/* "limits", of one session unless said otherwise */
	uint64_t max_memory_bytes; /* segments of one session */
	uint32_t max_qps, max_cqs, max_mrs;
	uint32_t max_groups;			   /* attachments to multicast groups */
	uint32_t port_groups;			   /* multicast groups of a port */
	uint32_t shard_qps, shard_mrs, shard_wqes; /* pools of a shard */
	/* "rc" */
	uint32_t window; /* packets in flight per queue pair */
	uint32_t rto_floor_us;
	uint8_t timeout_code, retry_count, rnr_retry, min_rnr_code, cm_retries;
	uint32_t rnr_give_up_ms; /* 0: never */
	/* "telemetry" */
	bool telemetry; /* DPDK's socket is opened */
	bool cycles;	/* lcores count the cycles of their stages */
	/* "ports" */
	struct config_port port[CONFIG_PORTS_MAX];
	uint32_t ports;
};
/*
 * Read and check the file at path. False: err holds one or more lines, each with its newline, such
 *as FILE: ports[0].mtu: 90000 is out of range 576..9000 FILE: line 12, column 7: '}' expected near
 *']' with at most err_bytes-1 characters; *c is undefined.
 */
bool config_load(struct config *c, const char *path, char *err, size_t err_bytes);
/* The same from a string (name stands for the file in messages). */
bool config_parse(
	struct config *c, const char *name, const char *json, char *err, size_t err_bytes);

#endif
