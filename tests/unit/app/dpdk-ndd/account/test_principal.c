/* SPDX-License-Identifier: BSD-3-Clause */
/* Principals of real sessions: how they are found, what they get, and what a refusal says. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "account/credentials.h"
#include "lcore/party.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "session/class.h"
#include "session/end.h"
#include "session/rate.h"
#include "session/send.h"

union message {
	struct ndsh_msg_hdr h;
	struct ndsh_ev_refusal refusal;
	struct ndsh_ev_session_end end;
	struct ndsh_id_msg id;
	struct ndsh_address_list_reply list;
	uint8_t room[NDSH_MSG_BYTES];
};

static struct ndd_rig *
two_principals(const struct config_principal *red, const struct config_principal *blue)
{
	return ndd_rig_red_and_blue(red, blue, true);
}

static int
open_by(struct ndd_rig *r, const char *label, struct ndd_session **s)
{
	ndd_rig_connect_by(r, label);
	return ndd_rig_open(r, s);
}

/* The client asks for something. Returns the words of the refusal; NULL: it has it. */
static char *
refusal(struct ndd_rig *r, int client, struct ndsh_msg_hdr *msg, enum ndsh_status refused)
{
	union message m;
	static char why[sizeof(m.refusal.reason)];
	const size_t bytes = ndsh_msg_table[msg->type].bytes;

	msg->cookie = 99;
	cr_assert_eq(send(client, msg, bytes, 0), (ssize_t)bytes);
	ndd_rig_turn(r);
	cr_assert_gt(ndd_rig_take(client, &m, NULL), 0);
	why[0] = 0;
	if (m.h.type == NDSH_EV_REFUSAL) {
		cr_expect(eq(u64, m.h.cookie, 99));
		cr_expect(eq(i32, m.h.status, refused));
		memcpy(why, m.refusal.reason, sizeof(why));
		cr_assert_gt(ndd_rig_take(client, &m, NULL), 0);
	}
	cr_assert_eq(m.h.type, msg->type | NDSH_REPLY);
	cr_assert_eq(m.h.status, why[0] == 0 ? NDSH_OK : refused);
	return why[0] == 0 ? NULL : why;
}

/* ... for one more domain. */
static char *
ask_domain(struct ndd_rig *r, int client)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_PD_CREATE};

	return refusal(r, client, &m.h, NDSH_ERR_NO_RESOURCES);
}

static unsigned
take_domains(struct ndd_rig *r, int client)
{
	unsigned n = 0;

	while (ask_domain(r, client) == NULL)
		n++;
	return n;
}

Test(principal, of_a_user_by_default)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *a, *b;
	char name[32];
	int first = ndd_rig_open(r, &a), second = ndd_rig_open(r, &b);

	(void)snprintf(name, sizeof(name), "uid %u", getuid());
	cr_expect(eq(str, a->account.principal->name, name));
	cr_expect(eq(ptr, a->account.principal, b->account.principal));
	close(first);
	ndd_rig_turn(r);
	cr_expect(ne(ptr, TAILQ_FIRST(&r->d.accounts.principals), NULL));
	close(second);
	ndd_rig_turn(r);
	cr_expect(eq(ptr, TAILQ_FIRST(&r->d.accounts.principals), NULL),
		"it ends with its last session");
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++)
		cr_expect(
			eq(u64, r->d.accounts.pool[0][k].promised, 0), "%s", config_share_name(k));
}

/* Sessions are free; what they use is not. */
Test(principal, sessions_share_what_it_has)
{
	static const struct config_principal red = {.has_limit[CONFIG_SHARE_domains] = true,
						     .limit[CONFIG_SHARE_domains] = 5},
					     blue;
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_session *s;
	int first = open_by(r, "red", &s), second = open_by(r, "red", &s), other;

	for (int i = 0; i < 3; i++)
		cr_expect(eq(ptr, ask_domain(r, first), NULL));
	cr_expect(eq(u32, take_domains(r, second), 2));
	cr_expect(eq(str, ask_domain(r, first), "red has 5 of its 5 domains (its limits.domains)"));
	cr_expect(eq(u64, s->account.principal->share[0][CONFIG_SHARE_domains].refused, 2));
	cr_expect(eq(u64, r->d.accounts.refused[CONFIG_SHARE_domains], 2));
	other = open_by(r, "blue", &s);
	cr_expect(eq(ptr, ask_domain(r, other), NULL), "blue has a share of its own");
	close(first);
	ndd_rig_turn(r);
	cr_expect(eq(u32, take_domains(r, second), 3), "an end gives back");
}

Test(principal, without_a_limit_it_is_fair)
{
	static const struct config_principal red, blue;
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_session *s;
	int greedy, late;

	r->cfg.max_qps = 64; /* domains of a session */
	greedy = open_by(r, "red", &s);
	cr_expect(eq(u32, take_domains(r, greedy), 56));
	cr_expect(eq(str, ask_domain(r, greedy),
		"red has 56 of 64 domains, its fair share; limits.domains can set another"));
	late = open_by(r, "blue", &s);
	cr_expect(eq(u32, take_domains(r, late), 7));
}

Test(principal, a_reserve_is_kept)
{
	static const struct config_principal red = {.has_limit[CONFIG_SHARE_domains] = true,
						     .limit[CONFIG_SHARE_domains] = 64},
					     blue = {.reserve[CONFIG_SHARE_domains] = 20};
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_session *s;
	int greedy, late;

	r->cfg.max_qps = 64;
	greedy = open_by(r, "red", &s);
	cr_expect(eq(u32, take_domains(r, greedy), 44));
	cr_expect(eq(str, ask_domain(r, greedy),
		"no domains are left for red: all 64 are in use or reserved"));
	late = open_by(r, "blue", &s);
	cr_expect(eq(u32, take_domains(r, late), 20));
	close(late);
	ndd_rig_turn(r);
	cr_expect(ne(ptr, ask_domain(r, greedy), NULL), "kept still");
}

/* A session's own limit, too, is told in words. */
Test(principal, the_limit_of_a_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);

	cr_expect(eq(u32, take_domains(r, client), r->cfg.max_qps));
	cr_expect(eq(str, ask_domain(r, client),
		"the session has all 16 objects of this kind that it may have (the daemon's "
		"\"limits\")"));
}

/* A client that does not know the event gets the status alone. */
Test(principal, words_are_for_clients_that_know_them)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	struct ndsh_id_msg ask = {.h.type = NDSH_MSG_PD_CREATE};
	union message m;

	(void)take_domains(r, client);
	s->minor = NDSH_MINOR_REFUSAL - 1;
	cr_expect(eq(i32, ndd_rig_ask(r, client, &ask, &m), NDSH_ERR_NO_RESOURCES));
}

/* ---- access, addresses and ports ------------------------------------------------------------ */

Test(principal, one_that_is_refused)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndd_session *s;
	union message m;
	int client;

	r->cfg.principal[0].allow = false;
	ndd_rig_connect_by(r, "red");
	client = ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_assert_eq(ndd_rig_take(client, &m, NULL), (long)sizeof(m.end));
	cr_expect(eq(i32, m.end.h.status, NDSH_ERR_ACCESS), "it has not come too late");
	cr_expect(eq(str, m.end.reason,
		"clients of principal \"red\" are refused (principals[].allow)"));
	(void)open_by(r, "blue", &s);
	cr_expect(eq(u32, r->d.session_count, 1));
}

Test(principal, each_user_is_one)
{
	static const struct config_principal red = {.each_user = true}, blue;
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_session *s;
	char name[48];

	(void)open_by(r, "red", &s);
	(void)snprintf(name, sizeof(name), "red, uid %u", getuid());
	cr_expect(eq(str, s->account.principal->name, name));
	cr_expect(eq(ptr, (void *)(uintptr_t)s->account.principal->rule, &r->cfg.principal[0]));
}

Test(principal, reserves_of_descriptors_must_be_there)
{
	static const struct config_principal red = {.reserve[CONFIG_SHARE_descriptors] = 100},
					     blue = {.reserve[CONFIG_SHARE_descriptors] = 29};
	struct ndd_rig *r = ndd_rig_new();
	char why[NDD_WHY_BYTES];

	r->cfg.principals = 2;
	r->cfg.principal[0] = red;
	r->cfg.principal[1] = blue;
	r->cfg.principal[0].allow = r->cfg.principal[1].allow = true;
	cr_expect_not(ndd_accounts_init(&r->d.accounts, &r->cfg, 128, why));
	cr_expect(eq(str, why,
		"principals[1].reserves.descriptors: 29 are not there: of 128, others reserve "
		"100"));
	cr_expect(ndd_accounts_init(&r->d.accounts, &r->cfg, 129, why));
}

Test(principal, files_are_counted)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	const struct base_share *files = &s->account.principal->share[0][CONFIG_SHARE_descriptors];
	struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_SEGMENT_DESTROY};
	union message m;
	uint32_t first, second;

	cr_expect(eq(u64, files->used, 4 + NDD_COURIER_FILES));
	(void)ndd_rig_segment(r, client, 65536, &first);
	(void)ndd_rig_segment(r, client, 65536, &second);
	cr_expect(eq(u64, files->used, 6 + NDD_COURIER_FILES));
	destroy.id = second;
	cr_expect(eq(i32, ndd_rig_ask(r, client, &destroy, &m), NDSH_OK));
	cr_expect(eq(u64, files->used, 5 + NDD_COURIER_FILES));
}

/* The daemon's user could as well end the daemon; other users, and those that the configuration is
 * about, are trusted with the lcores' time if it says so. */
Test(principal, lcores_wake_the_clients_of_the_daemons_own_user)
{
	static const struct config_principal trusted = {.allow = true, .direct_wakeups = true},
					     other = {.allow = true};
	struct ndd_credentials own = {.uid = geteuid(), .label = ""},
			       stranger = {.uid = geteuid() + 1, .label = ""};
	struct config cfg = {.lcores = 1};
	struct ndd_accounts a;
	char why[NDD_WHY_BYTES];

	cr_assert(ndd_accounts_init(&a, &cfg, 1024, why), "%s", why);
	cr_expect(ndd_principal_get(&a, &own)->direct);
	cr_expect_not(ndd_principal_get(&a, &stranger)->direct);
	cfg.principals = 1;
	cfg.principal[0] = other;
	cfg.principal[0].each_user = true;
	cr_expect_not(ndd_principal_get(&a, &own)->direct);
	cfg.principal[0] = trusted;
	cfg.principal[0].each_user = true;
	stranger.uid++;
	cr_expect(ndd_principal_get(&a, &stranger)->direct);
}

static const uint8_t own_ip[16] = {[10] = 0xff, 0xff, 10, 77, 0, 1};

Test(principal, addresses_that_it_may_not_use_are_not_there)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndsh_address_list ask = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndsh_open open = {.h.type = NDSH_MSG_OPEN, .placement = NDSH_PLACE_ANY};
	struct ndsh_hello hello;
	struct ndd_session *s;
	union message m;
	uint32_t all;
	int client;

	r->cfg.principal[0].addresses = 1; /* of :: */
	ndd_rig_connect_by(r, "blue");
	client = ndd_rig_connect(r, &s);
	ndsh_hello_fill(&hello);
	cr_assert_eq(ndd_rig_ask(r, client, &hello, &m), NDSH_OK);
	cr_assert_eq(ndd_rig_ask(r, client, &ask, &m), NDSH_OK);
	all = m.list.count;
	cr_assert_gt(all, 0);
	ndd_rig_connect_by(r, "red");
	client = ndd_rig_connect(r, &s);
	cr_assert_eq(ndd_rig_ask(r, client, &hello, &m), NDSH_OK);
	cr_assert_eq(ndd_rig_ask(r, client, &ask, &m), NDSH_OK);
	cr_expect(eq(u32, m.list.count, 0));
	memcpy(open.addr.ip, own_ip, 16);
	cr_expect(eq(str, refusal(r, client, &open.h, NDSH_ERR_ADDRESS_NOT_LOCAL),
		"the address is not one of red's (its principals[].addresses)"));
}

static enum ndsh_status
listen_at(struct ndd_rig *r, int client, uint16_t port, union message *reply)
{
	struct ndsh_listener_create ask = {
		.h.type = NDSH_MSG_LISTENER_CREATE, .addr.port = port, .backlog = 4};

	return ndd_rig_ask(r, client, &ask, reply);
}

/* When it asks for all addresses, it listens on its own. */
Test(principal, ports_and_addresses_that_it_may_listen_on)
{
	static const struct config_principal red = {.listen = {{500, 599}, {700, 700}},
						     .listens = 2,
						     .addresses = 1},
					     blue;
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndsh_listener_create_reply *got;
	struct ndd_session *s;
	union message m;
	int client;

	memcpy(r->cfg.principal[0].address[0], own_ip, 16);
	client = open_by(r, "red", &s);
	cr_expect(eq(i32, listen_at(r, client, 499, &m), NDSH_ERR_ACCESS));
	cr_expect(eq(i32, listen_at(r, client, 500, &m), NDSH_OK));
	got = (struct ndsh_listener_create_reply *)&m;
	cr_expect(eq(int, memcmp(got->addr.ip, own_ip, 16), 0));
	cr_expect(eq(i32, listen_at(r, client, 599, &m), NDSH_OK));
	cr_expect(eq(i32, listen_at(r, client, 600, &m), NDSH_ERR_ACCESS));
	cr_expect(eq(i32, listen_at(r, client, 700, &m), NDSH_OK));
	cr_expect(eq(i32, listen_at(r, client, 0, &m), NDSH_OK), "one that the daemon chooses");
	cr_expect(eq(u64, s->account.principal->share[0][CONFIG_SHARE_ports].used, 4));
	cr_expect(eq(u64, s->account.principal->share[0][CONFIG_SHARE_listeners].used, 4));
	client = open_by(r, "blue", &s);
	cr_expect(eq(i32, listen_at(r, client, 499, &m), NDSH_OK));
}

/* ---- time of the control thread ------------------------------------------------------------ */

#define OWES_MUCH (-1000000000000)

/* When a principal has used up its time, its requests wait, and those of others do not. */
Test(principal, one_that_has_used_its_time_waits_and_no_other)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndsh_id_msg ask = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_session *s, *other;
	int busy = open_by(r, "red", &s), quiet = open_by(r, "blue", &other);
	union message m;

	s->account.principal->credit_ns = OWES_MUCH;
	cr_assert_eq(send(busy, &ask, sizeof(ask), 0), (ssize_t)sizeof(ask));
	ndd_rig_turn(r);
	cr_expect(eq(i64, ndd_rig_take(busy, &m, NULL), 0));
	cr_expect(eq(ptr, ask_domain(r, quiet), NULL));
	s->account.principal->credit_ns = 1;
	ndd_rig_turn(r);
	cr_expect(lt(i64, 0, ndd_rig_take(busy, &m, NULL)));
	cr_expect(eq(i32, m.h.status, NDSH_OK));
}

/* In each turn a principal gets time by its weight; what it does not use is lost. */
Test(principal, time_comes_by_weight)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndd_principal *red = TAILQ_FIRST(&r->d.accounts.principals),
			     *blue = TAILQ_NEXT(red, next);

	r->cfg.principal[1].weight = 4;
	for (int i = 0; i < 3; i++)
		ndd_accounts_turn(&r->d.accounts);
	cr_expect(eq(i64, red->credit_ns, NDD_TURN_NS));
	cr_expect(eq(i64, blue->credit_ns, 4 * NDD_TURN_NS));
	red->credit_ns = blue->credit_ns = -5 * NDD_TURN_NS;
	ndd_accounts_turn(&r->d.accounts);
	cr_expect(eq(i64, red->credit_ns, -4 * NDD_TURN_NS));
	cr_expect(eq(i64, blue->credit_ns, -NDD_TURN_NS));
}

/* The client asks, and the daemon does not serve it now. */
static void
expect_delayed(struct ndd_rig *r, int client, struct ndd_session *s)
{
	const struct ndsh_id_msg ask = {.h = {.type = NDSH_MSG_PD_CREATE, .cookie = 99}};
	union message m;

	cr_assert_eq(send(client, &ask, sizeof(ask), 0), (ssize_t)sizeof(ask));
	ndd_rig_turn(r);
	cr_expect(eq(i64, ndd_rig_take(client, &m, NULL), 0));
	cr_expect(ne(u64, s->delayed_until_ns, 0));
	cr_expect(ge(u64, s->delayed_until_ns, ndd_principal_command_ns(s->account.principal)));
	cr_expect(le(u64, r->d.delayed_until_ns, s->delayed_until_ns));
	cr_expect(ndd_rig_is_quiet(r), "the control thread sleeps");
}

/* Requests beyond limits.commands wait in their sockets, and nobody else does. */
Test(principal, commands_come_at_a_rate)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndd_session *s, *second, *other;
	int client = open_by(r, "red", &s), again = open_by(r, "red", &second),
	    quiet = open_by(r, "blue", &other);
	struct ndd_principal *red = s->account.principal;
	union message m;
	uint64_t until_ns;

	r->cfg.principal[0].commands = 2;
	red->commands.full_ns = 0;
	cr_expect(eq(ptr, ask_domain(r, client), NULL));
	cr_expect(ne(u64, red->commands.full_ns, 0), "a token is gone");
	red->commands.full_ns = ndd_now_ns() + 3600 * NDD_S;
	expect_delayed(r, client, s);
	expect_delayed(r, again, second);
	cr_expect(eq(u64, red->commands_delayed, 2));
	cr_expect(eq(u64, r->d.accounts.commands_delayed, 2));
	cr_expect(eq(ptr, ask_domain(r, quiet), NULL));
	shutdown(again, SHUT_WR);
	ndd_rig_turn(r);
	cr_expect(ndd_rig_is_quiet(r), "it is told once");

	until_ns = s->delayed_until_ns;
	ndd_rate_go_on(&r->d, until_ns - 1);
	cr_expect(ndd_rig_is_quiet(r), "not at once");
	red->commands.full_ns = 0;
	ndd_rate_go_on(&r->d, until_ns);
	cr_expect(eq(u64, s->delayed_until_ns, 0));
	ndd_rig_turn(r);
	cr_expect(lt(i64, 0, ndd_rig_take(client, &m, NULL)));
	cr_expect(eq(i32, m.h.status, NDSH_OK));
	ndd_rate_go_on(&r->d, UINT64_MAX - 1);
	cr_expect(eq(u64, r->d.delayed_until_ns, UINT64_MAX), "nobody waits any more");
	cr_expect(eq(u64, second->delayed_until_ns, 0));
}

/* ... and what waits does not keep a session whose client is gone. */
Test(principal, a_session_that_waits_ends_with_its_client)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	const struct ndsh_id_msg event = {.h.type = NDSH_EV_ASYNC};
	struct ndd_session *s;
	int client = open_by(r, "red", &s);

	r->cfg.principal[0].commands = 2;
	s->account.principal->commands.full_ns = ndd_now_ns() + 3600 * NDD_S;
	expect_delayed(r, client, s);
	close(client);
	ndd_session_send(s, &event, sizeof(event), -1); /* finds nobody */
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 0));
}

/* However much a session has, it ends in small steps, and others are served between them. */
Test(principal, the_end_of_a_session_takes_turns)
{
	static const struct config_principal rule;
	struct ndd_rig *r = two_principals(&rule, &rule);
	struct ndd_session *s, *other;
	int client = open_by(r, "red", &s), quiet = open_by(r, "blue", &other);
	struct ndd_principal *red = s->account.principal;
	uint32_t domains = take_domains(r, client);

	cr_assert_gt(domains, 8);
	red->credit_ns = OWES_MUCH;
	ndd_session_end(s, NULL);
	ndd_rig_turn(r);
	cr_expect(eq(u32, s->pds.used, domains), "no step without time");
	cr_expect(eq(ptr, ask_domain(r, quiet), NULL));
	while (s->pds.used == domains)
		cr_assert_not(ndd_tables_empty_some(s));
	cr_expect(eq(u64, red->share[0][CONFIG_SHARE_domains].used, s->pds.used));
	cr_expect(eq(ptr, ask_domain(r, quiet), NULL));
	red->credit_ns = NDD_TURN_NS;
	while (r->d.session_count > 1)
		ndd_rig_turn(r);
	cr_expect(eq(u64, red->share[0][CONFIG_SHARE_domains].used, 0));
	cr_expect(eq(u64, red->share[0][CONFIG_SHARE_sessions].used, 0));
}

/* ---- on a shard ---------------------------------------------------------------------------- */

/* The client makes windows until it is refused. Returns how many it has got. */
static uint32_t
take_windows(struct ndd_rig *r, int client)
{
	struct ndsh_mw_create ask = {.h.type = NDSH_MSG_MW_CREATE};
	struct ndsh_id_msg domain = {.h.type = NDSH_MSG_PD_CREATE};
	union message m;
	uint32_t n = 0;

	cr_assert_eq(ndd_rig_ask(r, client, &domain, &m), NDSH_OK);
	ask.pd = m.id.id;
	while (ndd_rig_ask(r, client, &ask, &m) == NDSH_OK)
		n++;
	return n;
}

/* Regions and windows are handed out by the lcore, of the principal's share there. */
Test(principal, sessions_share_the_regions_of_a_shard)
{
	static const struct config_principal red = {.has_limit[CONFIG_SHARE_regions] = true,
						     .limit[CONFIG_SHARE_regions] = 70},
					     blue = {.reserve[CONFIG_SHARE_regions] = 10};
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_session *s, *other;
	int first = open_by(r, "red", &s), second = open_by(r, "red", &other);

	cr_expect(eq(u32, take_windows(r, first), r->cfg.max_mrs), "what a session may have");
	cr_expect(eq(u32, take_windows(r, second), 70 - r->cfg.max_mrs));
	cr_expect(eq(u64, r->shard.regions.promised, 80));
	close(first);
	ndd_rig_settle(r);
	cr_expect(eq(u64, other->account.principal->party[0]->regions.used, 70 - r->cfg.max_mrs));
	cr_expect(eq(u32, take_windows(r, second), r->cfg.max_mrs - (70 - r->cfg.max_mrs)));
}

/* A principal that the configuration names is on each shard from the start; one for a user, while
 * it has sessions. */
Test(principal, a_party_is_there_as_long_as_its_sessions)
{
	static const struct config_principal rule, slow = {.wakeups = 7};
	struct ndd_rig *r = two_principals(&slow, &rule);
	struct ndd_principal *red = TAILQ_FIRST(&r->d.accounts.principals), *user;
	struct ndd_session *s;
	int client;

	cr_expect(eq(u32, red->members[0], 1));
	cr_expect(eq(u64, red->party[0]->engine.wakeups.burst, 7));
	cr_expect(eq(u64, TAILQ_NEXT(red, next)->party[0]->engine.wakeups.burst, 0));
	client = open_by(r, "red", &s);
	cr_expect(eq(u32, red->members[0], 2));
	cr_expect(eq(ptr, s->lcore->client.principal, &red->party[0]->engine));
	close(client);
	ndd_rig_settle(r);
	cr_expect(eq(u32, red->members[0], 1));
	ndd_rig_connect_by(r, "");
	client = ndd_rig_open(r, &s);
	user = s->account.principal;
	cr_expect(ne(ptr, user, red));
	cr_expect(eq(u32, user->members[0], 1));
	user->refs++; /* it stays to be looked at */
	close(client);
	ndd_rig_settle(r);
	cr_expect(eq(u32, user->members[0], 0));
	cr_expect(eq(ptr, user->party[0], NULL));
}

/* A shard keeps the requests that are reserved: an eighth of them for receives. */
Test(principal, requests_that_are_reserved_must_be_there)
{
	static const struct config_principal red = {.reserve[CONFIG_SHARE_requests] = 3000},
					     blue = {.reserve[CONFIG_SHARE_requests] = 900};
	struct ndd_rig *r = two_principals(&red, &blue);
	struct ndd_principal *first = TAILQ_FIRST(&r->d.accounts.principals);

	cr_expect(eq(u32, first->party[0]->engine.share[ROCE_POOL_WQES].reserve[ROCE_SIDE_SEND],
		3000 - 375));
	cr_expect(eq(
		u32, first->party[0]->engine.share[ROCE_POOL_WQES].reserve[ROCE_SIDE_RECV], 375));
}
