/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each round asks the daemon, and writes what has changed. A device is made aside and appears as a
 * whole, and goes as a whole, since readers fail on half a device. It is made anew when the daemon
 * was, when the list of its addresses changes, an address gets another port, or other things are
 * counted.
 */
#include "exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/fail.h"
#include "devices.h"
#include "figures.h"
#include "place.h"
#include "sysfs.h"

#define ROUND_MS 5000 /* a daemon that lives answers at once */

struct shown {
	struct verbs_placed placed;
	bool link_up;
	struct verbs_values values;
};

struct exporter {
	const struct verbs_export *how;
	struct verbs_place place;
	struct verbs_telemetry telemetry;
	struct verbs_devices devices; /* count 0: none are shown */
	uint32_t port[VERBS_DEVICES_MAX];
	uint32_t asked; /* the device whose port was asked for last */
	struct shown shown[VERBS_DEVICES_MAX];
};

/* The daemon can't be asked, or is not as it should be: for another time. */
enum round { ROUND_DONE, ROUND_WITHOUT_DAEMON, ROUND_FAILED };

/* ---- what a device has to say -------------------------------------------------------- */

/* A port's counters stand in the first of its devices, those of the daemon in the first of all, so
 * that nothing is counted twice where figures are added up. */
static void
values_of(const struct exporter *e, const struct verbs_counts *c, uint32_t number,
	struct verbs_values *v)
{
	bool first = true;

	for (uint32_t i = 0; i < number; i++)
		first &= e->port[i] != e->port[number];
	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < VERBS_FIGURES; i++) {
		bool of_port = verbs_figures[i].source == VERBS_OF_PORT;
		const struct verbs_values *from =
			of_port ? &c->port[e->port[number]].values : &c->engine;

		if (!(of_port ? first : number == 0))
			continue;
		v->has |= from->has & UINT64_C(1) << i;
		v->value[i] = from->value[i];
	}
}

static bool
write_value(struct verbs_tree *t, unsigned i, const struct verbs_values *v)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "ports/1/%s", verbs_figures[i].file);
	return verbs_tree_file(t, path, "%" PRIu64, v->value[i]);
}

/* Readers take a port without the folder counters for broken. */
static bool
write_values(struct verbs_tree *t, const struct verbs_values *v, bool first)
{
	bool ok = verbs_tree_folder(t, "ports/1/counters") &&
		  (!first || verbs_tree_folder(t, "ports/1/hw_counters"));

	for (unsigned i = 0; ok && i < VERBS_FIGURES; i++)
		if (v->has >> i & 1)
			ok = write_value(t, i, v);
	return ok;
}

/* ---- the devices come, change and go ------------------------------------------------- */

static bool
replace_link(struct exporter *e, struct shown *s, bool up)
{
	if (s->link_up == up)
		return true;
	s->link_up = up;
	return verbs_place_replace(&e->place, &s->placed, "ports/1/state",
		       up ? VERBS_PORT_ACTIVE : VERBS_PORT_DOWN) &&
	       verbs_place_replace(&e->place, &s->placed, "ports/1/phys_state",
		       up ? VERBS_PHYS_LINK_UP : VERBS_PHYS_DOWN);
}

static bool
replace_values(struct exporter *e, struct shown *s, const struct verbs_values *v)
{
	char path[64], line[32];
	bool ok = true;

	for (unsigned i = 0; ok && i < VERBS_FIGURES; i++) {
		if (!(v->has >> i & 1) || v->value[i] == s->values.value[i])
			continue;
		(void)snprintf(path, sizeof(path), "ports/1/%s", verbs_figures[i].file);
		(void)snprintf(line, sizeof(line), "%" PRIu64, v->value[i]);
		ok = verbs_place_replace(&e->place, &s->placed, path, line);
	}
	s->values = *v;
	return ok;
}

static bool
hide_devices(struct exporter *e)
{
	bool ok = true;

	while (e->devices.count > 0)
		ok &= verbs_place_end(&e->place, &e->shown[--e->devices.count].placed);
	return ok;
}

static bool
show_device(struct exporter *e, const struct verbs_counts *c, const struct verbs_devices *d,
	uint32_t number)
{
	struct shown *s = &e->shown[number];

	values_of(e, c, number, &s->values);
	s->link_up = true;
	return verbs_place_begin(&e->place, &s->placed) &&
	       verbs_sysfs_device(&s->placed.tree, &d->address[number], d->version) &&
	       write_values(&s->placed.tree, &s->values, number == 0) &&
	       replace_link(e, s, c->port[e->port[number]].link_up) &&
	       verbs_place_show(&e->place, &s->placed, number);
}

/* What was begun is counted, so that it is ended. */
static bool
show_devices(struct exporter *e, const struct verbs_counts *c, const struct verbs_devices *d)
{
	e->devices = *d;
	for (e->devices.count = 0; e->devices.count < d->count;)
		if (!show_device(e, c, d, e->devices.count++))
			return false;
	return true;
}

/* false: they have to be made anew. */
static bool
devices_fit(const struct exporter *e, const struct verbs_counts *c, const struct verbs_devices *now)
{
	struct verbs_values v;

	if (now->count != e->devices.count ||
		memcmp(now->address, e->devices.address, now->count * sizeof(now->address[0])) != 0)
		return false;
	for (uint32_t i = 0; i < now->count; i++) {
		values_of(e, c, i, &v);
		if (v.has != e->shown[i].values.has)
			return false;
	}
	return true;
}

static bool
update_devices(struct exporter *e, const struct verbs_counts *c)
{
	struct verbs_values v;

	for (uint32_t i = 0; i < e->devices.count; i++) {
		values_of(e, c, i, &v);
		if (!replace_link(e, &e->shown[i], c->port[e->port[i]].link_up) ||
			!replace_values(e, &e->shown[i], &v))
			return false;
	}
	return true;
}

/* ---- rounds -------------------------------------------------------------------------- */

/* The daemon has answered a call of libndclient with st. */
static bool
not_answered(struct exporter *e, nd_status st)
{
	(void)snprintf(e->telemetry.why, sizeof(e->telemetry.why), "%s (%s)", nd_last_error(),
		nd_status_name(st));
	return false;
}

static bool
find_port(struct exporter *e, const struct verbs_counts *c, const struct verbs_devices *d,
	uint32_t number, uint32_t *port)
{
	uint64_t adapter;
	nd_status st = nd_resolve_adapter(NULL, (const struct sockaddr *)&d->address[number],
		sizeof(d->address[number]), &adapter);

	if (st != ND_SUCCESS)
		return not_answered(e, st);
	for (*port = 0; *port < c->ports; ++*port)
		if (c->port[*port].adapter == adapter)
			return true;
	(void)snprintf(e->telemetry.why, sizeof(e->telemetry.why),
		"the daemon's telemetry does not know the port of ndd%u", number);
	return false;
}

/* Which port each address is of. */
static bool
find_ports(struct exporter *e, const struct verbs_counts *c, const struct verbs_devices *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (!find_port(e, c, d, i, &e->port[i]))
			return false;
	return true;
}

/* A reload may give an address to another port, and the list stays as it is. It takes a connection
 * to ask for one address, so each round asks for the next one. */
static bool
port_stays(struct exporter *e, const struct verbs_counts *c)
{
	uint32_t port;

	if (e->devices.count == 0)
		return true;
	e->asked = (e->asked + 1) % e->devices.count;
	return find_port(e, c, &e->devices, e->asked, &port) && port == e->port[e->asked];
}

/* All that the daemon has to say. false: the reason is in e->telemetry. */
static bool
ask_daemon(struct exporter *e, struct verbs_counts *c, struct verbs_devices *now)
{
	nd_status st;

	verbs_telemetry_limit(&e->telemetry, ROUND_MS);
	if (e->telemetry.sock < 0 &&
		!verbs_telemetry_open(&e->telemetry, e->how->control, e->how->telemetry))
		return false;
	if (!verbs_counts_read(&e->telemetry, c))
		return false;
	st = verbs_devices_ask(now);
	return st == ND_SUCCESS || not_answered(e, st);
}

static bool
ask_identities(struct exporter *e, const struct verbs_counts *c, struct verbs_devices *now)
{
	nd_status st = now->count > 0 ? verbs_devices_version(now) : ND_SUCCESS;

	return st == ND_SUCCESS ? find_ports(e, c, now) : not_answered(e, st);
}

static enum round
without_daemon(struct exporter *e)
{
	verbs_telemetry_close(&e->telemetry);
	return hide_devices(e) ? ROUND_WITHOUT_DAEMON : ROUND_FAILED;
}

static enum round
round_of(struct exporter *e)
{
	static struct verbs_counts counts;
	static struct verbs_devices now;

	if (!ask_daemon(e, &counts, &now))
		return without_daemon(e);
	if (devices_fit(e, &counts, &now) && port_stays(e, &counts))
		return update_devices(e, &counts) ? ROUND_DONE : ROUND_FAILED;
	if (!hide_devices(e))
		return ROUND_FAILED;
	if (!ask_identities(e, &counts, &now))
		return without_daemon(e);
	return show_devices(e, &counts, &now) ? ROUND_DONE : ROUND_FAILED;
}

/* true: a signal says that it is time to end. */
static bool
await_signal(const sigset_t *ends, double seconds)
{
	struct timespec ts = {.tv_sec = (time_t)seconds};

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	return sigtimedwait(ends, NULL, &ts) > 0;
}

/* Say that the daemon came back, or went, once. */
static void
tell_change(const struct exporter *e, enum round before, enum round now)
{
	if (before == now || now == ROUND_FAILED)
		return;
	if (now == ROUND_WITHOUT_DAEMON)
		app_complain("no devices, until the daemon is back: %s", e->telemetry.why);
	else if (!e->how->quiet)
		verbs_devices_name(&e->devices);
}

static int
keep_up(struct exporter *e, const sigset_t *ends)
{
	enum round before, now = round_of(e);

	if (now == ROUND_WITHOUT_DAEMON) {
		app_complain("%s", e->telemetry.why);
		return APP_EXIT_LOCAL;
	}
	tell_change(e, ROUND_WITHOUT_DAEMON, now);
	while (now != ROUND_FAILED && !await_signal(ends, e->how->seconds)) {
		before = now;
		now = round_of(e);
		tell_change(e, before, now);
	}
	return now == ROUND_FAILED ? APP_EXIT_LOCAL : APP_EXIT_OK;
}

int
verbs_export(const struct verbs_export *how)
{
	static struct exporter e;
	sigset_t ends;
	int status;

	e.how = how;
	e.telemetry.sock = -1;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (!verbs_place_open(&e.place, how->folder))
		return APP_EXIT_LOCAL;
	status = keep_up(&e, &ends);
	verbs_telemetry_close(&e.telemetry);
	if (!hide_devices(&e))
		status = APP_EXIT_LOCAL;
	return verbs_place_close(&e.place) ? status : APP_EXIT_LOCAL;
}
