/* SPDX-License-Identifier: BSD-3-Clause */
/* Control sockets and principals: what is taken, what is refused and in which words. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#define FRAME                                                                                      \
	"{\"eal\": {\"vdevs\": [\"net_a\"]}, \"lcores\": [0, 1], %s"                               \
	" \"ports\": [{\"device\": \"net_a\", \"addresses\": [\"10.0.0.1/24\"]}]}"
#define SOCKETS "\"control\": {\"sockets\": [{\"label\": \"red\", \"path\": \"r\"}]},"

static struct config c;
static char err[2048];

static bool
parse(const char *part)
{
	char text[4096];

	(void)snprintf(text, sizeof(text), FRAME, part);
	return config_parse(&c, "t.json", text, err, sizeof(err));
}

static bool
parse_principals(const char *list)
{
	char text[3072];

	(void)snprintf(text, sizeof(text), SOCKETS "\"principals\": [%s],", list);
	return parse(text);
}

/* With this one line, and no other. */
static void
refused(const char *list, const char *why)
{
	char line[512];

	(void)snprintf(line, sizeof(line), "t.json: %s\n", why);
	cr_assert_not(parse_principals(list), "taken, but should be: %s", why);
	cr_expect_str_eq(err, line);
}

Test(config_principals, none_by_default)
{
	cr_assert(parse(""), "%s", err);
	cr_expect_eq(c.principals, 0);
	cr_expect_eq(c.sockets, 0);
}

Test(config_principals, every_value_is_stored)
{
	static const uint8_t ip4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1}, ip6[16] = {0xfd, [15] = 7};
	const struct config_principal *p = &c.principal[0];

	cr_assert(parse_principals(
			  "{\"name\": \"n\", \"label\": \"red\", \"uids\": [0, 4294967294],"
			  " \"gids\": [7], \"cgroup\": \"/a\", \"allow\": false, \"weight\": 32,"
			  " \"addresses\": [\"10.0.0.1\", \"fd00::7\"],"
			  " \"listen\": [{\"first\": 1, \"last\": 65535}],"
			  " \"limits\": {\"sessions\": 9, \"regions\": 0, \"commands\": 5,"
			  " \"wakeups\": 1000000},"
			  " \"reserves\": {\"sessions\": 8}}, {\"name\": \"m\", \"each_user\": "
			  "true, \"direct_wakeups\": true}"),
		"%s", err);
	cr_expect_eq(c.principals, 2);
	cr_expect_str_eq(c.socket[0].label, "red");
	cr_expect_str_eq(c.socket[0].path, "r");
	cr_expect_eq(c.socket[0].mode, 0660);
	cr_expect_str_eq(p->name, "n");
	cr_expect_str_eq(p->label, "red");
	cr_expect_str_eq(p->cgroup, "/a");
	cr_expect(p->uids == 2 && p->uid[0] == 0 && p->uid[1] == 4294967294);
	cr_expect(p->gids == 1 && p->gid[0] == 7);
	cr_expect(!p->allow && !p->each_user && !p->direct_wakeups && p->weight == 32);
	cr_expect(p->addresses == 2 && memcmp(p->address[0], ip4, 16) == 0 &&
		  memcmp(p->address[1], ip6, 16) == 0);
	cr_expect(p->listens == 1 && p->listen[0].first == 1 && p->listen[0].last == 65535);
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		cr_expect_eq(p->has_limit[k],
			k == CONFIG_SHARE_sessions || k == CONFIG_SHARE_regions, "%u", k);
		cr_expect_eq(p->limit[k], k == CONFIG_SHARE_sessions ? 9 : 0, "%u", k);
		cr_expect_eq(p->reserve[k], k == CONFIG_SHARE_sessions ? 8 : 0, "%u", k);
	}
	cr_expect(p->commands == 5 && p->wakeups == 1000000);
	p++;
	cr_expect(p->commands == 0 && p->wakeups == 0);
	cr_expect(p->each_user && p->direct_wakeups && p->allow && p->weight == 1 &&
		  p->uids + p->gids == 0);
}

Test(config_principals, what_does_not_fit_is_refused)
{
	refused("{\"name\": \"a\", \"uids\": [1]}, {\"name\": \"a\"}",
		"principals[1].name: \"a\" is also the name of principals[0]");
	refused("{\"name\": \"a\", \"label\": \"blue\"}",
		"principals[0].label: no socket in control.sockets has the label \"blue\"");
	refused("{\"name\": \"a\", \"cgroup\": \"b\"}",
		"principals[0].cgroup: \"b\" is no path in the cgroup tree: it must begin with /");
	refused("{\"name\": \"a\"}, {\"name\": \"b\"}",
		"principals[0]: it matches everybody, so nobody ever gets to principals[1]");
	refused("{\"name\": \"a\", \"listen\": [{\"first\": 9, \"last\": 8}]}",
		"principals[0].listen[0].last: 8 is before the first port, 9");
	refused("{\"name\": \"a\", \"limits\": {\"ports\": 3}, \"reserves\": {\"ports\": 4}}",
		"principals[0].reserves.ports: 4 is more than the limit, 3");
	refused("{\"name\": \"a\", \"each_user\": true, \"reserves\": {\"ports\": 4}}",
		"principals[0].reserves.ports: nobody knows how many users there will be: "
		"each_user and reserves exclude each other");
}

Test(config_principals, sockets_are_told_apart)
{
	cr_assert_not(parse("\"control\": {\"socket\": \"r\", \"sockets\":"
			    " [{\"label\": \"a\", \"path\": \"r\"}]},"));
	cr_expect_str_eq(err, "t.json: control.sockets[0].path: \"r\" is also control.socket\n");
	cr_assert_not(parse("\"control\": {\"sockets\": [{\"label\": \"a\", \"path\": \"r\"},"
			    " {\"label\": \"a\", \"path\": \"r\"}]},"));
	cr_expect_str_eq(err,
		"t.json: control.sockets[1].path: \"r\" is also the path of control.sockets[0]\n"
		"t.json: control.sockets[1].label: \"a\" is also the label of "
		"control.sockets[0]\n");
}

Test(config_principals, reserves_are_there)
{
	cr_assert(parse_principals("{\"name\": \"a\", \"uids\": [1], \"reserves\": "
				   "{\"sessions\": 252, \"queue_pairs\": 4096}},"
				   "{\"name\": \"b\", \"reserves\": {\"sessions\": 4}}"),
		"%s", err);
	refused("{\"name\": \"a\", \"uids\": [1], \"reserves\": {\"sessions\": 252}},"
		"{\"name\": \"b\", \"reserves\": {\"sessions\": 5}}",
		"principals[].reserves.sessions: all together reserve 257; there are 256");
	refused("{\"name\": \"a\", \"reserves\": {\"queue_pairs\": 4097}}",
		"principals[].reserves.queue_pairs: all together reserve 4097; there are 4096 on "
		"each shard");
	refused("{\"name\": \"a\", \"reserves\": {\"connections\": 16385}}",
		"principals[].reserves.connections: all together reserve 16385; there are 16384");
}

/* As doc/config.md says; the engine and the CM are made by the same numbers. */
Test(config_principals, what_there_is)
{
	static const uint64_t totals[CONFIG_SHARE_COUNT] = {
		[CONFIG_SHARE_sessions] = 256,
		[CONFIG_SHARE_descriptors] = UINT64_MAX,
		[CONFIG_SHARE_listeners] = 4096,
		[CONFIG_SHARE_ports] = 16384,
		[CONFIG_SHARE_connections] = 2 * 2 * 4096,
		[CONFIG_SHARE_handles] = 4 * 2 * 4096,
		[CONFIG_SHARE_groups] = 256,
		[CONFIG_SHARE_memory_mb] = 65536,
		[CONFIG_SHARE_queue_pairs] = 4096,
		[CONFIG_SHARE_completion_queues] = 8192,
		[CONFIG_SHARE_receive_queues] = 4096,
		[CONFIG_SHARE_domains] = 4096,
		[CONFIG_SHARE_regions] = 65536,
		[CONFIG_SHARE_requests] = 65536,
	};

	cr_assert(parse(""), "%s", err);
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		cr_expect_eq(config_total(&c, k), totals[k], "%s", config_share_name(k));
		cr_expect_eq(config_share_of_shard(k), k >= CONFIG_SHARE_queue_pairs);
	}
	cr_expect_str_eq(config_share_name(CONFIG_SHARE_completion_queues), "completion_queues");
}
