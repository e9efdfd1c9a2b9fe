/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are taken, values that are refused, and what is said about these. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"

#define PORT  "{\"device\": \"net_a\", \"addresses\": [\"10.0.0.1/24\"]}"
#define UDP   "{\"device\": \"udp\", \"addresses\": [\"127.0.0.2/8\"]}"
#define VDEV  "\"eal\": {\"vdevs\": [\"net_a,x=1\", \"net_b\"]}"
#define LEAST "{" VDEV ", \"lcores\": [0], \"ports\": [" PORT "]}"

static struct config c;
static char err[4096];

static bool
parse(const char *json)
{
	memset(err, 'x', sizeof(err));
	return config_parse(&c, "t.json", json, err, sizeof(err));
}

/* A document with extra text at the top, and ports as given. */
static bool
parse_with(const char *top, const char *ports)
{
	char json[8192];

	(void)snprintf(json, sizeof(json), "{%s\n\"lcores\": [0], \"ports\": [%s]}", top, ports);
	return parse(json);
}

/* The port with members behind its device and address. */
static bool
parse_port(const char *members)
{
	char port[4096];

	(void)snprintf(port, sizeof(port),
		"{\"device\": \"net_a\", \"addresses\": [\"10.0.0.1/24\", \"fd00::1/64\"], %s}",
		members);
	return parse_with(VDEV ",", port);
}

static bool
parse_addresses(const char *addresses)
{
	char port[4096];

	(void)snprintf(port, sizeof(port), "{\"device\": \"net_a\", \"addresses\": %s}", addresses);
	return parse_with(VDEV ",", port);
}

#define assert_refused(parsed, text)                                                               \
	do {                                                                                       \
		bool taken = (parsed);                                                             \
		cr_assert_not(taken, "taken, but should be: %s", text);                            \
		cr_assert_str_eq(err, text "\n");                                                  \
	} while (0)

/* checks W-CC-01[4] */
Test(config, least_document_has_documented_defaults)
{
	cr_assert(parse(LEAST), "%s", err);
	cr_assert_str_empty(err);
	cr_assert(c.huge_pages);
	cr_assert_eq(c.memory_mb, 256);
	cr_assert_str_eq(c.file_prefix, "dpdk-ndd");
	cr_assert_eq(c.vdevs, 2);
	cr_assert_str_eq(c.vdev[0], "net_a,x=1");
	cr_assert_eq(c.pcis, 0);
	cr_assert_eq(c.extras, 0);
	cr_assert_eq(c.lcores, 1);
	cr_assert_eq(c.idle, CONFIG_IDLE_SLEEP);
	cr_assert_str_eq(c.socket_path, "/run/dpdk-ndd/dpdk-ndd.sock");
	cr_assert_eq(c.socket_mode, 0660);
	cr_assert_eq(c.max_sessions, 256);
	cr_assert_eq(c.max_memory_bytes, 1024ull << 20);
	cr_assert_eq(c.total_memory_bytes, 65536ull << 20);
	cr_assert_eq(c.max_qps, 1024);
	cr_assert_not(c.port[0].ecn);
	cr_assert_not(c.port[0].check_source_port);
	cr_assert_not(c.port[0].require_udp_checksum);
	cr_assert_eq(c.max_mrs, 20000);
	cr_assert_eq(c.window, 128);
	cr_assert_eq(c.rto_floor_us, 10000);
	cr_assert_eq(c.timeout_code, 17);
	cr_assert_eq(c.retry_count, 7);
	cr_assert_eq(c.rnr_retry, 7);
	cr_assert_eq(c.rnr_give_up_ms, 2000);
	cr_assert_eq(c.cm_retries, 15);
	cr_assert_eq(c.cm_source_rate, 4000);
	cr_assert_eq(c.cm_source_burst, 8000);
	cr_assert_eq(c.min_rnr_code, 12);
	cr_assert_eq(c.ports, 1);
	cr_assert_eq(c.port[0].mtu, 1500);
	cr_assert_not(c.port[0].untagged.has_gateway4);
	cr_assert_not(c.port[0].untagged.has_gateway6);
	cr_assert_not(c.port[0].has_mac);
}

Test(config, every_value_of_a_full_document_is_stored)
{
	static const uint8_t ip4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	static const uint8_t gw4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 254};
	static const uint8_t ip6[16] = {0xfd, 0, [15] = 1};
	static const uint8_t mac[6] = {2, 0, 0, 0, 0xab, 0xCD};

	cr_assert(parse("{\"eal\": {\"huge_pages\": false, \"memory_mb\": 128, \"file_prefix\": "
			"\"p\","
			"\"pci\": [\"0000:03:00.0,opt=1\"], \"extra\": [\"--log-level=8\"]},"
			"\"lcores\": [3, 1], \"idle\": \"poll\","
			"\"control\": {\"socket\": \"s\", \"mode\": \"0600\", \"max_sessions\": 1},"
			"\"limits\": {\"memory_mb\": 1048576, \"total_memory_mb\": 16777216,"
			" \"qps\": 2, \"cqs\": 3, \"mrs\": 4,"
			" \"groups\": 8, \"port_groups\": 9,"
			" \"shard_qps\": 5, \"shard_mrs\": 6, \"shard_wqes\": 64},"
			"\"rc\": {\"window\": 16, \"rto_floor_us\": 100, \"timeout\": 1, "
			"\"retry\": 0,"
			" \"rnr_retry\": 1, \"rnr_give_up_ms\": 3, \"min_rnr\": 2, \"cm_retries\": "
			"4},"
			"\"cm\": {\"source_rate\": 7, \"source_burst\": 9},"
			"\"ports\": [{\"device\": \"0000:03:00.0\", \"mtu\": 9000,"
			" \"check_source_port\": true,"
			" \"addresses\": [\"10.0.0.1/24\", \"fd00::1/64\"], \"gateway\": "
			"\"10.0.0.254\","
			" \"gateway6\": \"fe80::1\", \"mac\": \"02:00:00:00:ab:CD\"}]}"),
		"%s", err);
	cr_assert_not(c.huge_pages);
	cr_assert_eq(c.memory_mb, 128);
	cr_assert_str_eq(c.file_prefix, "p");
	cr_assert_str_eq(c.pci[0], "0000:03:00.0,opt=1");
	cr_assert_str_eq(c.extra[0], "--log-level=8");
	cr_assert(c.lcores == 2 && c.lcore[0] == 3 && c.lcore[1] == 1);
	cr_assert_eq(c.idle, CONFIG_IDLE_POLL);
	cr_assert_str_eq(c.socket_path, "s");
	cr_assert_eq(c.socket_mode, 0600);
	cr_assert_eq(c.max_sessions, 1);
	cr_assert_eq(c.max_memory_bytes, 1ull << 40);
	cr_assert_eq(c.total_memory_bytes, 1ull << 44);
	cr_assert(c.max_qps == 2 && c.max_cqs == 3 && c.max_mrs == 4);
	cr_assert(c.max_groups == 8 && c.port_groups == 9);
	cr_assert(c.shard_qps == 5 && c.shard_mrs == 6 && c.shard_wqes == 64);
	cr_assert(c.window == 16 && c.rto_floor_us == 100 && c.timeout_code == 1);
	cr_assert(c.retry_count == 0 && c.rnr_retry == 1 && c.min_rnr_code == 2);
	cr_assert_eq(c.rnr_give_up_ms, 3);
	cr_assert_eq(c.cm_retries, 4);
	cr_assert(c.cm_source_rate == 7 && c.cm_source_burst == 9);
	cr_assert_str_eq(c.port[0].device, "0000:03:00.0");
	cr_assert_eq(c.port[0].mtu, 9000);
	cr_assert(c.port[0].check_source_port);
	cr_assert_eq(c.port[0].untagged.addresses, 2);
	cr_assert_arr_eq(c.port[0].untagged.address[0].ip, ip4, 16);
	cr_assert_eq(c.port[0].untagged.address[0].prefix_len, 24);
	cr_assert_arr_eq(c.port[0].untagged.address[1].ip, ip6, 16);
	cr_assert_eq(c.port[0].untagged.address[1].prefix_len, 64);
	cr_assert(c.port[0].untagged.has_gateway4 && c.port[0].untagged.has_gateway6 &&
		  c.port[0].has_mac);
	cr_assert_arr_eq(c.port[0].untagged.gateway4, gw4, 16);
	cr_assert_eq(c.port[0].untagged.gateway6[0], 0xfe);
	cr_assert_arr_eq(c.port[0].mac, mac, 6);
}

Test(config, syntax_errors_have_line_and_column)
{
	assert_refused(
		parse("{\n\t\"idle\" 1}"), "t.json: line 2, column 9: ':' expected near '1'");
	assert_refused(parse(""), "t.json: line 1, column 0: '[' or '{' expected near end of file");
	assert_refused(parse("[]"), "t.json: an object is expected here");
}

Test(config, keys_stand_once)
{
	cr_assert_not(parse("{\"idle\": \"poll\",\n \"idle\": \"poll\"}"));
	cr_assert_not_null(strstr(err, "t.json: line 2, column "));
	cr_assert_not_null(strstr(err, ": duplicate object key near '\"idle\"'"));
}

Test(config, unknown_keys_are_refused_with_a_guess)
{
	assert_refused(parse_port("\"mtuu\": 1500"),
		"t.json: ports[0].mtuu: unknown key; did you mean \"mtu\"?");
	assert_refused(parse_with(VDEV ", \"rc\": {\"retries\": 3},", PORT),
		"t.json: rc.retries: unknown key; known here: window, rto_floor_us, timeout, "
		"retry, "
		"rnr_retry, rnr_give_up_ms, min_rnr, cm_retries");
}

Test(config, unknown_key_far_from_all_lists_what_is_known)
{
	assert_refused(parse_with(VDEV ", \"control\": {\"colour\\u0007\": 1},", PORT),
		"t.json: control.colour?: unknown key; known here: socket, mode, sockets, "
		"max_sessions, user, core_dumps, seccomp");
}

Test(config, integers_have_type_and_range)
{
	assert_refused(parse_port("\"mtu\": 90000"),
		"t.json: ports[0].mtu: 90000 is out of range 576..9000");
	assert_refused(
		parse_port("\"mtu\": -1"), "t.json: ports[0].mtu: -1 is out of range 576..9000");
	assert_refused(parse_port("\"mtu\": 1500.0"),
		"t.json: ports[0].mtu: 1500.0 is not allowed; expected an integer in 576..9000");
	assert_refused(parse_port("\"mtu\": \"big\""),
		"t.json: ports[0].mtu: \"big\" is not allowed; expected an integer in 576..9000");
	assert_refused(parse_port("\"mtu\": null"),
		"t.json: ports[0].mtu: null is not allowed; expected an integer in 576..9000");
	cr_assert_not(parse_port("\"mtu\": 18446744073709551616"));
	cr_assert_not(parse_port("\"mtu\": 4294968796"), "1500 + 2^32 must not wrap");
}

Test(config, ends_of_ranges_are_inside)
{
	cr_assert(parse_port("\"mtu\": 9000"), "%s", err);
	cr_assert(parse_with(VDEV ", \"rc\": {\"window\": 16, \"timeout\": 31},", PORT), "%s", err);
	cr_assert_not(parse_with(VDEV ", \"rc\": {\"window\": 15},", PORT));
	cr_assert_not(parse_with(VDEV ", \"rc\": {\"window\": 4097},", PORT));
}

Test(config, booleans_and_words)
{
	assert_refused(parse_with(VDEV ", \"idle\": \"nap\",", PORT),
		"t.json: idle: \"nap\" is not allowed; expected one of \"poll\" \"pause\" "
		"\"sleep\"");
	cr_assert(parse_with(VDEV ", \"idle\": \"pause\",", PORT));
	cr_assert_eq(c.idle, CONFIG_IDLE_PAUSE);
	assert_refused(parse_with("\"eal\": {\"huge_pages\": 0, \"vdevs\": [\"net_a\"]},", PORT),
		"t.json: eal.huge_pages: 0 is not allowed; expected true or false");
}

Test(config, overlong_strings_are_refused_and_cut_in_the_message)
{
	char top[512], long_name[109];

	memset(long_name, 's', 108);
	long_name[108] = '\0';
	(void)snprintf(top, sizeof(top), VDEV ", \"control\": {\"socket\": \"%s\"},", long_name);
	cr_assert_not(parse_with(top, PORT));
	cr_assert_not_null(strstr(err, "control.socket: \"sss"));
	cr_assert_not_null(
		strstr(err, "... is not allowed; expected a string of 1 to 107 characters"));
	long_name[107] = '\0';
	(void)snprintf(top, sizeof(top), VDEV ", \"control\": {\"socket\": \"%s\"},", long_name);
	cr_assert(parse_with(top, PORT), "%s", err);
	cr_assert_not(parse_with(VDEV ", \"control\": {\"socket\": \"\"},", PORT));
}

Test(config, file_modes_are_octal_strings)
{
	cr_assert_not(parse_with(VDEV ", \"control\": {\"mode\": \"660\"},", PORT));
	cr_assert_not(parse_with(VDEV ", \"control\": {\"mode\": \"0690\"},", PORT));
	cr_assert_not(parse_with(VDEV ", \"control\": {\"mode\": \"01777\"},", PORT));
	assert_refused(parse_with(VDEV ", \"control\": {\"mode\": 660},", PORT),
		"t.json: control.mode: 660 is not allowed; expected a file mode such as \"0660\"");
}

Test(config, arrays_have_bounds)
{
	assert_refused(parse("{" VDEV ", \"lcores\": [], \"ports\": [" PORT "]}"),
		"t.json: lcores: 0 items; 1 to 8 are allowed");
	assert_refused(parse("{" VDEV ", \"lcores\": [0,1,2,3,4,5,6,7,8], \"ports\": [" PORT "]}"),
		"t.json: lcores: 9 items; 1 to 8 are allowed");
	assert_refused(parse("{" VDEV ", \"lcores\": 0, \"ports\": [" PORT "]}"),
		"t.json: lcores: an array is expected here, of an integer in 0..1023");
	assert_refused(parse("{" VDEV ", \"lcores\": [1024], \"ports\": [" PORT "]}"),
		"t.json: lcores[0]: 1024 is out of range 0..1023");
	assert_refused(parse("{" VDEV ", \"lcores\": [0], \"ports\": [7]}"),
		"t.json: ports[0]: an object is expected here");
}

Test(config, what_is_required_must_be_there)
{
	assert_refused(parse("{" VDEV "}"),
		"t.json: lcores: missing; an array of an integer in 0..1023 is required\n"
		"t.json: ports: missing; an array of objects is required");
	assert_refused(parse_with(VDEV ",", "{\"device\": \"net_a\"}"),
		"t.json: ports[0].addresses: the port has no address, and no VLAN with one");
	assert_refused(parse_port("\"vlans\": [{\"id\": 7}]"),
		"t.json: ports[0].vlans[0].addresses: missing; an array of an address with prefix "
		"length, \"10.77.0.1/24\" or \"fd77::1/64\" is required");
}

Test(config, several_errors_are_told_at_once_as_room_allows)
{
	const char *bad = "{" VDEV ", \"lcores\": [-1], \"idle\": 3, \"rc\": {\"window\": 1},"
			  "\"ports\": [{\"device\": \"net_a\", \"addresses\": [\"10.0.0.1\"]}]}";
	char small[128], tiny[20];

	cr_assert_not(parse(bad));
	cr_assert(strstr(err, "lcores[0]: ") && strstr(err, "\nt.json: idle: "));
	cr_assert(strstr(err, "\nt.json: rc.window: ") && strstr(err, "ports[0].addresses[0]: "));
	cr_assert_not(config_parse(&c, "t.json", bad, small, sizeof(small)));
	cr_assert_str_eq(small, "t.json: lcores[0]: -1 is out of range 0..1023\n(and 3 more)\n");
	cr_assert_not(config_parse(&c, "t.json", bad, tiny, sizeof(tiny)));
	cr_assert_str_eq(tiny, "t.json: lcores[0]:\n");
	cr_assert_not(config_parse(&c, "t.json", bad, NULL, 0));
}

Test(config, addresses_must_be_those_of_a_host)
{
	static const char *const bad[] = {"10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/0",
		"10.0.0.1/24x", "10.0.0.1/ 24", "10.0.0/24", "10.0.0.0/24", "10.0.0.255/24",
		"0.0.0.0/8", "127.0.0.1/8", "224.0.0.1/24", "255.255.255.255/32", "fd00::/64",
		"fe80::1/64", "::1/128", "::/64", "ff02::1/64", "fd00::1/129",
		"::ffff:10.0.0.1/120", "fd00::1/64/64", "fd00::1%eth0/64", "", "/24"};
	static const char *const good[] = {"10.0.0.1/32", "10.0.0.0/31", "fd00::1/128",
		"fd00::2/127", "192.168.1.254/24", "2001:DB8::10/32"};
	char a[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(a, sizeof(a), "[\"%s\"]", bad[i]);
		cr_assert_not(parse_addresses(a), "taken: %s", bad[i]);
		cr_assert(strstr(err, "t.json: ports[0].addresses[0]: ") == err, "%s", err);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		(void)snprintf(a, sizeof(a), "[\"%s\"]", good[i]);
		cr_assert(parse_addresses(a), "%s", err);
	}
}

Test(config, addresses_are_unique_over_all_ports)
{
	assert_refused(parse_addresses("[\"10.0.0.1/24\", \"10.0.0.1/16\"]"),
		"t.json: ports[0].addresses[1]: 10.0.0.1 is also ports[0].addresses[0]");
	assert_refused(parse_with(VDEV ",", PORT ", {\"device\": \"net_b\", \"addresses\":"
						 " [\"fd00::1/64\", \"10.0.0.1/24\"]}"),
		"t.json: ports[1].addresses[1]: 10.0.0.1 is also ports[0].addresses[0]");
}

Test(config, duplicate_address_detection)
{
	cr_assert(parse_port("\"mtu\": 1500"), "%s", err);
	cr_assert_eq(c.port[0].dad, CONFIG_DAD_QUICK);
	cr_assert(parse_port("\"dad\": \"full\""), "%s", err);
	cr_assert_eq(c.port[0].dad, CONFIG_DAD_FULL);
	assert_refused(parse_port("\"dad\": true"), "t.json: ports[0].dad: true is not allowed; "
						    "expected one of \"off\" \"quick\" \"full\"");
}

#define VLAN7(rest) "\"vlans\": [{\"id\": 7, \"addresses\": [\"10.7.0.1/24\"]" rest "}]"

Test(config, vlans_have_addresses_of_their_own)
{
	const struct config_link *v = &c.port[0].vlan[0];

	cr_assert(parse_port(VLAN7("")), "%s", err);
	cr_assert_eq(c.port[0].vlans, 1);
	cr_assert(v->id == 7 && !v->has_priority && v->addresses == 1 && v->routes == 0);
	cr_assert(parse_port(VLAN7(", \"priority\": 0, \"gateway\": \"10.7.0.254\"")), "%s", err);
	cr_assert(v->has_priority && v->priority == 0 && v->has_gateway4);
	cr_assert(parse_with(VDEV ",", "{\"device\": \"net_a\", " VLAN7("") "}"), "%s", err);
	cr_assert_eq(c.port[0].untagged.addresses, 0, "a port may have VLANs only");
}

Test(config, what_is_wrong_with_vlans)
{
	assert_refused(parse_port("\"vlans\": [{\"id\": 0, \"addresses\": [\"10.7.0.1/24\"]}]"),
		"t.json: ports[0].vlans[0].id: 0 is out of range 1..4094");
	assert_refused(parse_port("\"vlans\": [{\"id\": 7, \"addresses\": [\"10.7.0.1/24\"]},"
				  "{\"id\": 7, \"addresses\": [\"10.8.0.1/24\"]}]"),
		"t.json: ports[0].vlans[1].id: 7 is also ports[0].vlans[0].id");
	assert_refused(parse_port(VLAN7(", \"priority\": 8")),
		"t.json: ports[0].vlans[0].priority: 8 is out of range 0..7");
	assert_refused(parse_port(VLAN7(", \"gateway\": \"10.0.0.254\"")),
		"t.json: ports[0].vlans[0].gateway: 10.0.0.254 is in none of the VLAN's prefixes");
	assert_refused(parse_port("\"vlans\": [{\"id\": 7, \"addresses\": [\"10.0.0.1/24\"]}]"),
		"t.json: ports[0].vlans[0].addresses[0]: 10.0.0.1 is also ports[0].addresses[0]");
	assert_refused(parse_port("\"vlans\": [{\"id\": 7, \"addresses\": [\"10.7.0.1/24\","
				  "\"10.7.0.1/24\"]}]"),
		"t.json: ports[0].vlans[0].addresses[1]: 10.7.0.1 is also "
		"ports[0].vlans[0].addresses[0]");
}

#define ROUTE(to, via) "{\"to\": \"" to "\", \"via\": \"" via "\"}"

Test(config, routes)
{
	const struct config_route *r = c.port[0].untagged.route;

	cr_assert(parse_port("\"routes\": [" ROUTE("10.9.0.0/16", "10.0.0.9") "," ROUTE(
			  "fd09::/16", "fe80::9") "]"),
		"%s", err);
	cr_assert_eq(c.port[0].untagged.routes, 2);
	cr_assert(r[0].to.prefix_len == 16 && r[0].to.ip[13] == 9 && r[0].via[15] == 9);
	cr_assert(r[1].to.prefix_len == 16 && r[1].to.ip[1] == 9 && r[1].via[0] == 0xfe);
	cr_assert(parse_port(VLAN7(", \"routes\": [" ROUTE("10.9.0.0/16", "10.7.0.9") "]")), "%s",
		err);
	cr_assert_eq(c.port[0].vlan[0].routes, 1);
}

Test(config, what_is_wrong_with_routes)
{
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.1/16", "10.0.0.9") "]"),
		"t.json: ports[0].routes[0].to: 10.9.0.1/16 has bits behind its prefix; "
		"the address of the network belongs there");
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.0/16", "10.9.0.1") "]"),
		"t.json: ports[0].routes[0].via: 10.9.0.1 is in none of the port's prefixes");
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.0/16", "10.0.0.1") "]"),
		"t.json: ports[0].routes[0].via: 10.0.0.1 is the port's own address");
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.0/16", "fd00::9") "]"),
		"t.json: ports[0].routes[0].via: fd00::9 is not of the destination's family");
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.0/16", "10.0.0.9") "," ROUTE(
			       "10.9.0.0/16", "10.0.0.8") "]"),
		"t.json: ports[0].routes[1].to: 10.9.0.0/16 is also routes[0].to");
	assert_refused(parse_port("\"routes\": [{\"to\": \"10.9.0.0/16\"}]"),
		"t.json: ports[0].routes[0].via: missing; an IPv4 or IPv6 address is required");
	assert_refused(parse_port("\"routes\": [" ROUTE("10.9.0.0", "10.0.0.9") "]"),
		"t.json: ports[0].routes[0].to: \"10.9.0.0\" is not allowed; expected an address "
		"with prefix length, \"10.77.0.1/24\" or \"fd77::1/64\"");
}

Test(config, gateways_are_on_a_connected_prefix)
{
	assert_refused(parse_port("\"gateway\": \"10.0.1.254\""),
		"t.json: ports[0].gateway: 10.0.1.254 is in none of the port's prefixes");
	assert_refused(parse_port("\"gateway\": \"10.0.0.1\""),
		"t.json: ports[0].gateway: 10.0.0.1 is the port's own address");
	assert_refused(parse_port("\"gateway6\": \"fd00:0:0:1::1\""),
		"t.json: ports[0].gateway6: fd00:0:0:1::1 is in none of the port's prefixes");
	assert_refused(parse_port("\"gateway\": \"fd00::2\""),
		"t.json: ports[0].gateway: \"fd00::2\" is not allowed; expected an IPv4 address");
	assert_refused(parse_port("\"gateway6\": \"10.0.0.2\""),
		"t.json: ports[0].gateway6: \"10.0.0.2\" is not allowed; expected an IPv6 address");
	cr_assert(parse_port("\"gateway\": \"10.0.0.254\", \"gateway6\": \"fd00::2\""), "%s", err);
	cr_assert(parse_port("\"gateway6\": \"fe80::2\""), "%s", err);
}

/* A port of AF_XDP that is shared, its device with arguments behind it, and more of it. */
static bool
parse_shared(const char *arguments, const char *members)
{
	char top[256], port[1024];

	(void)snprintf(
		top, sizeof(top), "\"eal\": {\"vdevs\": [\"net_af_xdp0,iface=e%s\"]},", arguments);
	(void)snprintf(
		port, sizeof(port), "{\"device\": \"net_af_xdp0\", \"shared\": true%s}", members);
	return parse_with(top, port);
}

Test(config, what_a_shared_port_has_is_the_kernels)
{
	cr_assert(parse_shared("", ""), "%s", err);
	cr_assert(c.port[0].shared);
	cr_assert(parse_shared(",force_copy=1", ", \"mtu\": 3000"), "%s", err);
	assert_refused(parse_shared("", ", \"addresses\": [\"10.0.0.1/24\"]"),
		"t.json: ports[0].addresses: a shared port has the kernel's; give it to the "
		"interface");
	assert_refused(parse_shared("", ", \"gateway\": \"10.0.0.1\""),
		"t.json: ports[0].gateway: a shared port has the kernel's; give it to the "
		"interface");
	assert_refused(parse_shared("", ", \"mac\": \"02:00:00:00:00:01\""),
		"t.json: ports[0].mac: a shared port has the kernel's; give it to the interface");
	assert_refused(parse_shared("", ", \"vlans\": [{\"id\": 2, \"addresses\": "
					"[\"10.0.0.1/24\"]}]"),
		"t.json: ports[0].vlans: a VLAN of a shared port is an interface of the kernel's: "
		"share that one");
	assert_refused(parse_shared(",xdp_prog=x.o", ""),
		"t.json: eal.vdevs[0]: xdp_prog of a shared port is found by the daemon");
	assert_refused(parse_shared(",queue_count=2", ""),
		"t.json: eal.vdevs[0]: queue_count of a shared port is found by the daemon");
	assert_refused(parse_with(VDEV ",", "{\"device\": \"net_a\", \"shared\": true}"),
		"t.json: ports[0].shared: only ports of net_af_xdp can be shared with the kernel");
}

/* It is there without a line about DPDK's devices. */
Test(config, what_a_udp_port_has_is_the_kernels)
{
	cr_assert(parse_with("", "{\"device\": \"udp\"}"), "%s", err);
	cr_assert(c.port[0].udp && c.port[0].kernel && !c.port[0].shared && !c.huge_pages);
	cr_assert_eq(c.port[0].mtu, 0, "as the kernel has it");
	cr_assert(parse_with("", "{\"device\": \"udp\", \"mtu\": 4200, \"addresses\": "
				 "[\"127.0.0.2/8\", \"::1/128\", \"10.0.0.1/24\"]}"));
	cr_assert_eq(c.port[0].mtu, 4200);
	cr_assert(parse_with("", "{\"device\": \"udp\", \"require_udp_checksum\": true}"));
	cr_assert(c.port[0].require_udp_checksum);
	assert_refused(parse_shared("", ", \"require_udp_checksum\": true"),
		"t.json: ports[0].require_udp_checksum: only a port with the device \"udp\" looks "
		"at UDP checksums");
	assert_refused(parse_with("", "{\"device\": \"udp\", \"shared\": true}"),
		"t.json: ports[0].shared: only ports of net_af_xdp can be shared with the kernel");
	assert_refused(parse_with("", "{\"device\": \"udp\", \"gateway\": \"10.0.0.1\"}"),
		"t.json: ports[0].gateway: a UDP port has the kernel's; give it to the interface");
	assert_refused(parse_with("", "{\"device\": \"udp\", \"addresses\": [\"224.0.0.1/8\"]}"),
		"t.json: ports[0].addresses[0]: 224.0.0.1 is a multicast or reserved address");
	assert_refused(parse_with("", "{\"device\": \"udp\", \"addresses\": [\"fe80::1/64\"]}"),
		"t.json: ports[0].addresses[0]: fe80::1 is a link-local address: the kernel's are "
		"the port's if none is listed");
	assert_refused(parse_with("", "{\"device\": \"udp\"}, {\"device\": \"udp\"}"),
		"t.json: ports[1].device: \"udp\" is also the device of ports[0]");
	assert_refused(
		parse_with("", "{\"device\": \"udp\", \"vlans\": [{\"id\": 2, \"addresses\": "
			       "[\"10.0.0.1/24\"]}]}"),
		"t.json: ports[0].vlans: a VLAN of a UDP port is an interface of the kernel's: the "
		"port has that, too");
	cr_assert(parse_with("\"eal\": {\"huge_pages\": true},", UDP) && c.huge_pages);
	cr_assert(parse_with("\"eal\": {\"vdevs\": [\"net_a\"]},", PORT "," UDP) && c.huge_pages);
}

/* As some clouds have it. */
Test(config, a_lone_address_has_its_router_on_the_cable)
{
	cr_assert(parse_with(VDEV ",", "{\"device\": \"net_a\", \"addresses\": "
				       "[\"10.128.0.5/32\"], \"gateway\": \"10.128.0.1\"}"),
		"%s", err);
	assert_refused(parse_with(VDEV ",", "{\"device\": \"net_a\", \"addresses\": "
					    "[\"10.128.0.5/32\", \"fd00::1/64\"], "
					    "\"gateway6\": \"fd01::1\"}"),
		"t.json: ports[0].gateway6: fd01::1 is in none of the port's prefixes");
}

Test(config, ipv6_needs_its_least_mtu)
{
	assert_refused(parse_port("\"mtu\": 1279"),
		"t.json: ports[0].addresses[1]: "
		"IPv6 needs an MTU of 1280 or more; the port has 1279");
	cr_assert(parse_port("\"mtu\": 1280"), "%s", err);
}

Test(config, macs_are_unicast)
{
	static const char *const bad[] = {"01:00:00:00:00:01", "ff:ff:ff:ff:ff:ff",
		"00:00:00:00:00:00", "02:00:00:00:00", "02-00-00-00-00-01", "02:00:00:00:00:0g",
		"02:00:00:00:00:011", ""};
	char m[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(m, sizeof(m), "\"mac\": \"%s\"", bad[i]);
		cr_assert_not(parse_port(m), "taken: %s", bad[i]);
		cr_assert(strstr(err, "t.json: ports[0].mac: ") == err, "%s", err);
	}
}

Test(config, devices_are_named_once_and_exist)
{
	assert_refused(
		parse_with(VDEV ",", "{\"device\": \"net_c\", \"addresses\": [\"10.0.0.1/24\"]}"),
		"t.json: ports[0].device: \"net_c\" is named neither in eal.vdevs nor in eal.pci");
	assert_refused(parse_with(VDEV ",", PORT ", {\"device\": \"net_a\", \"addresses\":"
						 " [\"10.0.1.1/24\"]}"),
		"t.json: ports[1].device: \"net_a\" is also the device of ports[0]");
	assert_refused(parse_with("\"eal\": {\"vdevs\": [\"net_a,x=1\", \"net_a\"]},", PORT),
		"t.json: eal.vdevs[1]: the same device as eal.vdevs[0]");
	assert_refused(
		parse_with("\"eal\": {\"vdevs\": [\"net_a\"], \"pci\": [\"3:00.0\"]},", PORT),
		"t.json: eal.pci[0]: \"3:00.0\" is not allowed; expected a PCI address such as "
		"\"0000:03:00.0\"");
	cr_assert_not(parse_with(
		"\"eal\": {\"vdevs\": [\"net_a\"], \"pci\": [\"0000:03:00.0x\"]},", PORT));
}

Test(config, lcores_are_unique)
{
	assert_refused(parse("{" VDEV ", \"lcores\": [1, 0, 1], \"ports\": [" PORT "]}"),
		"t.json: lcores[2]: CPU 1 is also lcores[0]");
}

Test(config, memory_holds_the_frames)
{
	const char *two = PORT ", {\"device\": \"net_b\", \"addresses\": [\"10.0.1.1/24\"]}";

	assert_refused(parse_with("\"eal\": {\"vdevs\": [\"net_a\", \"net_b\"],"
				  " \"memory_mb\": 95},",
			       two),
		"t.json: eal.memory_mb: 95 is too little: 2 ports and 1 lcores take 96 for frames");
	cr_assert(
		parse_with("\"eal\": {\"vdevs\": [\"net_a\", \"net_b\"], \"memory_mb\": 96},", two),
		"%s", err);
}

Test(config, a_session_s_memory_fits_the_daemon_s)
{
	assert_refused(parse_with(VDEV ", \"limits\": {\"total_memory_mb\": 1023},", PORT),
		"t.json: limits.memory_mb: 1024 is more than limits.total_memory_mb, 1023");
	cr_assert(parse_with(VDEV ", \"limits\": {\"total_memory_mb\": 1024},", PORT), "%s", err);
}

Test(config, session_limits_fit_the_shard)
{
	assert_refused(parse_with(VDEV ", \"limits\": {\"qps\": 4096, \"shard_qps\": 4095},", PORT),
		"t.json: limits.qps: 4096 is more than limits.shard_qps, 4095");
	assert_refused(parse_with(VDEV ", \"limits\": {\"mrs\": 65537},", PORT),
		"t.json: limits.mrs: 65537 is more than limits.shard_mrs, 65536");
	assert_refused(parse_with(VDEV ", \"limits\": {\"shard_wqes\": 4095},", PORT),
		"t.json: limits.shard_wqes: 4095 is less than one request for each of "
		"limits.shard_qps, 4096");
}

Test(config, files_that_cannot_be_read_say_why)
{
	cr_assert_not(config_load(&c, "/nonexistent/x.json", err, sizeof(err)));
	cr_assert_str_eq(err, "/nonexistent/x.json: No such file or directory\n");
	cr_assert_not(config_load(&c, "/", err, sizeof(err)));
	cr_assert_str_eq(err, "/: Is a directory\n");
}
