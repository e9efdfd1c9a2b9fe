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

#define CONFIG_PORTS_MAX      8u
#define CONFIG_UDP	      "udp" /* a port's device: the kernel's sockets */
#define CONFIG_MTU	      1500u /* of other ports, if none is given */
#define CONFIG_ADDRESSES_MAX  8u
#define CONFIG_VLANS_MAX      8u
#define CONFIG_ROUTES_MAX     16u
#define CONFIG_LCORES_MAX     8u
#define CONFIG_STRINGS_MAX    16u
#define CONFIG_PATH_BYTES     256u
#define CONFIG_SOCKETS_MAX    16u
#define CONFIG_PRINCIPALS_MAX 64u
#define CONFIG_IDS_MAX	      16u
#define CONFIG_LABEL_BYTES    32u
#define CONFIG_SOCKET_BYTES   108u /* of a path, as sockaddr_un has it */

enum config_idle { CONFIG_IDLE_POLL, CONFIG_IDLE_PAUSE, CONFIG_IDLE_SLEEP };
enum config_seccomp { CONFIG_SECCOMP_OFF, CONFIG_SECCOMP_LOG, CONFIG_SECCOMP_ENFORCE };
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
	bool shared;	     /* AF_XDP: the interface is the kernel's as well */
	bool udp;	     /* it is "udp": the kernel's sockets, no device */
	bool kernel;	     /* one of these: addresses and routes are the kernel's */
	bool ecn;	     /* connections react to congestion, unless they say otherwise */
	/* Peers keep to one UDP source port for each queue pair: others' packets are dropped. */
	bool check_source_port;
	bool require_udp_checksum; /* of "udp": datagrams without one are dropped */
	bool has_mtu;
	uint32_t mtu; /* IP MTU, 576..9000; default 1500, of "udp" 0: as the kernel has it */
	bool has_mac;
	uint8_t mac[6];
};
/*
 * What clients use up, and what each principal has a share of: X(name). Of CONFIG_SHARD_SHARES
 * there is so much on each shard, and shares are of each shard.
 */
#define CONFIG_SHARES(X)                                                                           \
	X(sessions)                                                                                \
	X(descriptors)                                                                             \
	X(listeners)                                                                               \
	X(ports)                                                                                   \
	X(connections)                                                                             \
	X(handles)                                                                                 \
	X(groups)                                                                                  \
	X(memory_mb)                                                                               \
	CONFIG_SHARD_SHARES(X)
#define CONFIG_SHARD_SHARES(X)                                                                     \
	X(queue_pairs)                                                                             \
	X(completion_queues)                                                                       \
	X(receive_queues)                                                                          \
	X(domains)                                                                                 \
	X(regions)                                                                                 \
	X(requests)
enum config_share {
#define CONFIG_X(name) CONFIG_SHARE_##name,
	CONFIG_SHARES(CONFIG_X)
#undef CONFIG_X
		CONFIG_SHARE_COUNT,
};
/* One more socket for clients to connect to. */
struct config_socket {
	char label[CONFIG_LABEL_BYTES]; /* for "principals" to name it */
	char path[CONFIG_SOCKET_BYTES];
	uint32_t mode;
};
struct config_port_range {
	uint16_t first, last;
};
/*
 * The principal of a client, and what it may use. A client is of the first one that matches it in
 * all that it names; one that names nothing matches everybody.
 */
struct config_principal {
	char name[CONFIG_LABEL_BYTES];
	char label[CONFIG_LABEL_BYTES]; /* of the socket; "": any */
	char cgroup[CONFIG_PATH_BYTES]; /* this one, or one below it; "": any */
	uint32_t uid[CONFIG_IDS_MAX], uids, gid[CONFIG_IDS_MAX], gids; /* none: any */
	bool allow;
	bool each_user;	     /* each uid is a principal of its own */
	bool direct_wakeups; /* no courier between: it takes of others' time what it likes */
	uint32_t weight;
	uint8_t address[CONFIG_ADDRESSES_MAX][16]; /* that it may use; none: all */
	uint32_t addresses;
	struct config_port_range listen[CONFIG_ADDRESSES_MAX]; /* CM ports; none: all */
	uint32_t listens;
	bool has_limit[CONFIG_SHARE_COUNT]; /* else a fair share is the limit */
	uint32_t commands; /* requests that it may make in a second; 0: any number */
	uint32_t wakeups;  /* of its clients in a second, on each shard; 0: any number */
	uint32_t limit[CONFIG_SHARE_COUNT], reserve[CONFIG_SHARE_COUNT];
};
struct config {
	/* "eal" */
	bool huge_pages;      /* default: unless all ports are of CONFIG_UDP, true */
	bool has_huge_pages;  /* said */
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
	char socket_path[CONFIG_SOCKET_BYTES];
	uint32_t socket_mode;				 /* e.g. 0660 */
	struct config_socket socket[CONFIG_SOCKETS_MAX]; /* beside that one */
	uint32_t sockets;
	uint32_t max_sessions;	     /* 1..1024 */
	char user[33];		     /* the daemon changes to this user; "": it stays as it is */
	bool core_dumps;	     /* default false */
	enum config_seccomp seccomp; /* "off" | "log" | "enforce" (default) */
	/* "principals" */
	struct config_principal principal[CONFIG_PRINCIPALS_MAX];
	uint32_t principals;
	/* "limits", of one session unless said otherwise */
	uint64_t max_memory_bytes;   /* segments of one session */
	uint64_t total_memory_bytes; /* of all sessions */
	uint32_t max_qps, max_cqs, max_mrs;
	uint32_t max_groups;			   /* attachments to multicast groups */
	uint32_t port_groups;			   /* multicast groups of a port */
	uint32_t shard_qps, shard_mrs, shard_wqes; /* pools of a shard */
	/* "rc" */
	uint32_t window; /* packets in flight per queue pair */
	bool has_window; /* the file says it */
	uint32_t rto_floor_us;
	uint8_t timeout_code, retry_count, rnr_retry, min_rnr_code, cm_retries;
	uint32_t rnr_give_up_ms; /* 0: never */
	/* "cm": what one address may ask in a second, and at once */
	uint32_t cm_source_rate, cm_source_burst;
	/* "telemetry" */
	bool telemetry; /* DPDK's socket is opened */
	bool cycles;	/* lcores count the cycles of their stages */
	/* "ports" */
	struct config_port port[CONFIG_PORTS_MAX];
	uint32_t ports;
};

#define CONFIG_LISTENERS 4096u	/* of the whole daemon */
#define CONFIG_EPHEMERAL 16384u /* local CM ports that are chosen for clients */
/* How much of it there is, on each shard if it is of shards, in its unit; UINT64_MAX: that depends
 * on the machine. */
uint64_t config_total(const struct config *c, enum config_share what);
/* What 1 stands for in the configuration: MiB of memory are counted in bytes. */
static inline uint64_t
config_share_unit(enum config_share what)
{
	return what == CONFIG_SHARE_memory_mb ? 1u << 20 : 1;
}
/* As it is called in the configuration. */
const char *config_share_name(enum config_share what);
/* Is there so much of it on each shard? */
static inline bool
config_share_of_shard(enum config_share what)
{
	return what >= CONFIG_SHARE_queue_pairs;
}

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
