/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fail.h"

void
session_fail(struct session *s, int outcome, const char *what, ...)
{
	char text[256];
	va_list args;

	if (s->state == SESSION_ENDED)
		return;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	app_complain("%s: %s", s->peer, text);
	s->state = SESSION_ENDED;
	if (s->outcome == APP_EXIT_OK) /* a later failure follows from the first */
		s->outcome = outcome;
}

void
session_destroy(struct session *s)
{
	for (uint32_t i = 0; s->qps != NULL && i < s->params.qps; i++)
		conn_destroy(&s->qps[i].conn);
	control_destroy(&s->control);
	if (s->cq != NULL)
		nd_cq_close(s->cq);
	buffer_destroy(&s->buf);
	if (s->pd != NULL)
		nd_pd_close(s->pd);
	free(s->qps);
	free(s);
}

enum session_heat
session_heat(const struct session *s)
{
	if (s->state == SESSION_JOINING || session_awaits_ping(s))
		return SESSION_HOT;
	if (s->state == SESSION_STEP && s->params.op == NDPERF_SEND)
		return SESSION_WARM;
	return SESSION_COLD;
}
