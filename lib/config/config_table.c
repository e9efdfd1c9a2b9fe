/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config_table.h"

/* A field of struct config, or of struct config_port; and one that is an array there. */
#define IN(type, field)                                                                            \
	.offset = offsetof(struct type, field), .bytes = sizeof(((struct type *)0)->field)
#define ARRAY(type, field, count_field, least, most)                                               \
	.offset = offsetof(struct type, field), .bytes = sizeof(((struct type *)0)->field[0]),     \
	.count_offset = offsetof(struct type, count_field), .items_min = least, .items_max = most
#define STRING_OF(type, field)                                                                     \
	IN(type, field), .min = 1, .max = sizeof(((struct type *)0)->field) - 1
#define RANGE(lo, hi) .min = lo, .max = hi, .scale = 1

static const struct config_key eal_keys[] = {
	{"huge_pages", CONFIG_BOOL, IN(config, huge_pages), .initial = "true",
		.flag_offset = offsetof(struct config, has_huge_pages)},
	{"memory_mb", CONFIG_UINT, IN(config, memory_mb), RANGE(64, 65536), .initial = "256"},
	{"file_prefix", CONFIG_STRING, STRING_OF(config, file_prefix), .initial = "\"dpdk-ndd\""},
	{"vdevs", CONFIG_STRING, ARRAY(config, vdev, vdevs, 0, CONFIG_STRINGS_MAX), .min = 1,
		.max = CONFIG_PATH_BYTES - 1, .initial = "[]"},
	{"pci", CONFIG_PCI, ARRAY(config, pci, pcis, 0, CONFIG_STRINGS_MAX), .min = 1,
		.max = CONFIG_PATH_BYTES - 1, .initial = "[]"},
	{"extra", CONFIG_STRING, ARRAY(config, extra, extras, 0, CONFIG_STRINGS_MAX), .min = 1,
		.max = CONFIG_PATH_BYTES - 1, .initial = "[]"},
	{NULL},
};

static const struct config_key socket_keys[] = {
	{"label", CONFIG_STRING, STRING_OF(config_socket, label), .required = true},
	{"path", CONFIG_STRING, STRING_OF(config_socket, path), .required = true},
	{"mode", CONFIG_MODE, IN(config_socket, mode), .initial = "\"0660\""},
	{NULL},
};

static const char *const seccomp_words[] = {
	[CONFIG_SECCOMP_OFF] = "off",
	[CONFIG_SECCOMP_LOG] = "log",
	[CONFIG_SECCOMP_ENFORCE] = "enforce",
	NULL,
};

static const struct config_key control_keys[] = {
	{"socket", CONFIG_STRING, STRING_OF(config, socket_path),
		.initial = "\"/run/dpdk-ndd/dpdk-ndd.sock\""},
	{"mode", CONFIG_MODE, IN(config, socket_mode), .initial = "\"0660\""},
	{"sockets", CONFIG_OBJECT, socket_keys,
		ARRAY(config, socket, sockets, 0, CONFIG_SOCKETS_MAX), .initial = "[]"},
	{"max_sessions", CONFIG_UINT, IN(config, max_sessions), RANGE(1, 1024), .initial = "256"},
	{"user", CONFIG_STRING, STRING_OF(config, user)},
	{"core_dumps", CONFIG_BOOL, IN(config, core_dumps), .initial = "false"},
	{"seccomp", CONFIG_WORD, IN(config, seccomp), .words = seccomp_words,
		.initial = "\"enforce\""},
	{NULL},
};

/* The upper ends are those of the ABI (bits of a doorbell page) and of the engine's tables. */
static const struct config_key limits_keys[] = {
	{"memory_mb", CONFIG_UINT, IN(config, max_memory_bytes), .min = 2, .max = 1048576,
		.scale = 1 << 20, .initial = "1024"},
	{"total_memory_mb", CONFIG_UINT, IN(config, total_memory_bytes), .min = 2, .max = 16777216,
		.scale = 1 << 20, .initial = "65536"},
	{"qps", CONFIG_UINT, IN(config, max_qps), RANGE(1, 16380), .initial = "1024"},
	{"cqs", CONFIG_UINT, IN(config, max_cqs), RANGE(1, 8192), .initial = "1024"},
	{"mrs", CONFIG_UINT, IN(config, max_mrs), RANGE(1, 262144), .initial = "20000"},
	{"groups", CONFIG_UINT, IN(config, max_groups), RANGE(0, 1024), .initial = "64"},
	{"port_groups", CONFIG_UINT, IN(config, port_groups), RANGE(0, 1024), .initial = "256"},
	{"shard_qps", CONFIG_UINT, IN(config, shard_qps), RANGE(1, 131072), .initial = "4096"},
	{"shard_mrs", CONFIG_UINT, IN(config, shard_mrs), RANGE(1, 262144), .initial = "65536"},
	{"shard_wqes", CONFIG_UINT, IN(config, shard_wqes), RANGE(64, 4194304), .initial = "65536"},
	{NULL},
};

/* The shares of a principal. No limit is a default of its own: a fair share, which is no number. */
#define LIMIT(share)                                                                               \
	{#share, CONFIG_UINT, IN(config_principal, limit[CONFIG_SHARE_##share]),                   \
		RANGE(0, 16777216),                                                                \
		.flag_offset =                                                                     \
			offsetof(struct config_principal, has_limit[CONFIG_SHARE_##share])},
#define RESERVE(share)                                                                             \
	{#share, CONFIG_UINT, IN(config_principal, reserve[CONFIG_SHARE_##share]),                 \
		RANGE(0, 16777216), .initial = "0"},
static const struct config_key share_limit_keys[] = {
	CONFIG_SHARES(LIMIT){"commands", CONFIG_UINT, IN(config_principal, commands),
		RANGE(0, 1000000), .initial = "0"},
	{"wakeups", CONFIG_UINT, IN(config_principal, wakeups), RANGE(0, 1000000), .initial = "0"},
	{NULL},
};
static const struct config_key share_reserve_keys[] = {CONFIG_SHARES(RESERVE){NULL}};

static const struct config_key listen_keys[] = {
	{"first", CONFIG_UINT, IN(config_port_range, first), RANGE(1, 65535), .required = true},
	{"last", CONFIG_UINT, IN(config_port_range, last), RANGE(1, 65535), .required = true},
	{NULL},
};

static const struct config_key principal_keys[] = {
	{"name", CONFIG_STRING, STRING_OF(config_principal, name), .required = true},
	{"label", CONFIG_STRING, STRING_OF(config_principal, label)},
	{"uids", CONFIG_UINT, ARRAY(config_principal, uid, uids, 0, CONFIG_IDS_MAX),
		RANGE(0, 4294967294), .initial = "[]"},
	{"gids", CONFIG_UINT, ARRAY(config_principal, gid, gids, 0, CONFIG_IDS_MAX),
		RANGE(0, 4294967294), .initial = "[]"},
	{"cgroup", CONFIG_STRING, STRING_OF(config_principal, cgroup)},
	{"allow", CONFIG_BOOL, IN(config_principal, allow), .initial = "true"},
	{"each_user", CONFIG_BOOL, IN(config_principal, each_user), .initial = "false"},
	{"direct_wakeups", CONFIG_BOOL, IN(config_principal, direct_wakeups), .initial = "false"},
	{"weight", CONFIG_UINT, IN(config_principal, weight), RANGE(1, 32), .initial = "1"},
	{"addresses", CONFIG_IP,
		ARRAY(config_principal, address, addresses, 0, CONFIG_ADDRESSES_MAX),
		.initial = "[]"},
	{"listen", CONFIG_OBJECT, listen_keys,
		ARRAY(config_principal, listen, listens, 0, CONFIG_ADDRESSES_MAX), .initial = "[]"},
	{"limits", CONFIG_OBJECT, share_limit_keys, .initial = "{}"},
	{"reserves", CONFIG_OBJECT, share_reserve_keys, .initial = "{}"},
	{NULL},
};

static const struct config_key rc_keys[] = {
	{"window", CONFIG_UINT, IN(config, window), RANGE(16, 4096), .initial = "128",
		.flag_offset = offsetof(struct config, has_window)},
	{"rto_floor_us", CONFIG_UINT, IN(config, rto_floor_us), RANGE(100, 10000000),
		.initial = "10000"},
	{"timeout", CONFIG_UINT, IN(config, timeout_code), RANGE(1, 31), .initial = "17"},
	{"retry", CONFIG_UINT, IN(config, retry_count), RANGE(0, 7), .initial = "7"},
	{"rnr_retry", CONFIG_UINT, IN(config, rnr_retry), RANGE(0, 7), .initial = "7"},
	{"rnr_give_up_ms", CONFIG_UINT, IN(config, rnr_give_up_ms), RANGE(0, 3600000),
		.initial = "2000"},
	{"min_rnr", CONFIG_UINT, IN(config, min_rnr_code), RANGE(0, 31), .initial = "12"},
	{"cm_retries", CONFIG_UINT, IN(config, cm_retries), RANGE(0, 15), .initial = "15"},
	{NULL},
};

static const struct config_key cm_keys[] = {
	{"source_rate", CONFIG_UINT, IN(config, cm_source_rate), RANGE(1, 1000000),
		.initial = "4000"},
	{"source_burst", CONFIG_UINT, IN(config, cm_source_burst), RANGE(1, 1000000),
		.initial = "8000"},
	{NULL},
};

static const struct config_key telemetry_keys[] = {
	{"socket", CONFIG_BOOL, IN(config, telemetry), .initial = "false"},
	{"cycles", CONFIG_BOOL, IN(config, cycles), .initial = "false"},
	{NULL},
};

static const char *const dad_words[] = {
	[CONFIG_DAD_OFF] = "off",
	[CONFIG_DAD_QUICK] = "quick",
	[CONFIG_DAD_FULL] = "full",
	NULL,
};

static const struct config_key route_keys[] = {
	{"to", CONFIG_PREFIX, IN(config_route, to), .required = true},
	{"via", CONFIG_IP, IN(config_route, via), .required = true},
	{NULL},
};

static const struct config_key vlan_keys[] = {
	{"id", CONFIG_UINT, IN(config_link, id), RANGE(1, 4094), .required = true},
	{"priority", CONFIG_UINT, IN(config_link, priority), RANGE(0, 7),
		.flag_offset = offsetof(struct config_link, has_priority)},
	{"addresses", CONFIG_PREFIX,
		ARRAY(config_link, address, addresses, 1, CONFIG_ADDRESSES_MAX), .required = true},
	{"gateway", CONFIG_IPV4, IN(config_link, gateway4),
		.flag_offset = offsetof(struct config_link, has_gateway4)},
	{"gateway6", CONFIG_IPV6, IN(config_link, gateway6),
		.flag_offset = offsetof(struct config_link, has_gateway6)},
	{"routes", CONFIG_OBJECT, route_keys,
		ARRAY(config_link, route, routes, 0, CONFIG_ROUTES_MAX), .initial = "[]"},
	{NULL},
};

static const struct config_key port_keys[] = {
	{"device", CONFIG_STRING, STRING_OF(config_port, device), .required = true},
	{"shared", CONFIG_BOOL, IN(config_port, shared), .initial = "false"},
	{"addresses", CONFIG_PREFIX,
		ARRAY(config_port, untagged.address, untagged.addresses, 0, CONFIG_ADDRESSES_MAX),
		.initial = "[]"},
	{"gateway", CONFIG_IPV4, IN(config_port, untagged.gateway4),
		.flag_offset = offsetof(struct config_port, untagged.has_gateway4)},
	{"gateway6", CONFIG_IPV6, IN(config_port, untagged.gateway6),
		.flag_offset = offsetof(struct config_port, untagged.has_gateway6)},
	{"routes", CONFIG_OBJECT, route_keys,
		ARRAY(config_port, untagged.route, untagged.routes, 0, CONFIG_ROUTES_MAX),
		.initial = "[]"},
	{"vlans", CONFIG_OBJECT, vlan_keys, ARRAY(config_port, vlan, vlans, 0, CONFIG_VLANS_MAX),
		.initial = "[]"},
	{"dad", CONFIG_WORD, IN(config_port, dad), .words = dad_words, .initial = "\"quick\""},
	{"ecn", CONFIG_BOOL, IN(config_port, ecn), .initial = "false"},
	{"check_source_port", CONFIG_BOOL, IN(config_port, check_source_port), .initial = "false"},
	{"require_udp_checksum", CONFIG_BOOL, IN(config_port, require_udp_checksum),
		.initial = "false"},
	{"mtu", CONFIG_UINT, IN(config_port, mtu), RANGE(576, 9000),
		.flag_offset = offsetof(struct config_port, has_mtu)},
	{"mac", CONFIG_MAC, IN(config_port, mac),
		.flag_offset = offsetof(struct config_port, has_mac)},
	{NULL},
};

static const char *const idle_words[] = {
	[CONFIG_IDLE_POLL] = "poll",
	[CONFIG_IDLE_PAUSE] = "pause",
	[CONFIG_IDLE_SLEEP] = "sleep",
	NULL,
};

const struct config_key config_table[] = {
	{"eal", CONFIG_OBJECT, eal_keys, .initial = "{}"},
	{"lcores", CONFIG_UINT, ARRAY(config, lcore, lcores, 1, CONFIG_LCORES_MAX), RANGE(0, 1023),
		.required = true},
	{"idle", CONFIG_WORD, IN(config, idle), .words = idle_words, .initial = "\"sleep\""},
	{"control", CONFIG_OBJECT, control_keys, .initial = "{}"},
	{"limits", CONFIG_OBJECT, limits_keys, .initial = "{}"},
	{"principals", CONFIG_OBJECT, principal_keys,
		ARRAY(config, principal, principals, 0, CONFIG_PRINCIPALS_MAX), .initial = "[]"},
	{"rc", CONFIG_OBJECT, rc_keys, .initial = "{}"},
	{"cm", CONFIG_OBJECT, cm_keys, .initial = "{}"},
	{"telemetry", CONFIG_OBJECT, telemetry_keys, .initial = "{}"},
	{"ports", CONFIG_OBJECT, port_keys, ARRAY(config, port, ports, 1, CONFIG_PORTS_MAX),
		.required = true},
	{NULL},
};
