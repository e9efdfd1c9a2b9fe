/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include <stdio.h>

#include "common/fail.h"

int
perftest_open(struct perftest *p)
{
	const struct ndperf_options *o = p->opt;
	const struct app_addr *bind = o->has_bind ? &o->bind : NULL;
	char text[APP_ADDR_TEXT];
	nd_status st;

	if (o->cm && o->server) {
		st = app_acceptor_open(&p->acceptor, o->socket_path, bind, o->port);
		p->adapter = p->acceptor.adapter;
		p->local = p->acceptor.where;
		if (st == ND_SUCCESS)
			fprintf(stderr, "ndperf: listening at %s\n",
				app_addr_text(&p->local, true, text));
	} else if (o->cm) {
		st = app_open_for_remote(o->socket_path, bind, &o->addr, &p->adapter, &p->local);
	} else {
		st = app_open_local(o->socket_path, bind, &p->adapter, &p->local);
	}
	if (st != ND_SUCCESS)
		return st == ND_NETWORK_UNREACHABLE ? APP_EXIT_CONNECT : APP_EXIT_LOCAL;
	st = nd_adapter_query(p->adapter, &p->info);
	if (st == ND_SUCCESS)
		st = nd_pd_create(p->adapter, &p->pd);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't make a protection domain");
	return APP_EXIT_LOCAL;
}

void
perftest_close(struct perftest *p)
{
	if (p->cq != NULL)
		nd_cq_close(p->cq);
	buffer_destroy(&p->buf);
	if (p->pd != NULL)
		nd_pd_close(p->pd);
	if (p->acceptor.adapter != NULL)
		app_acceptor_close(&p->acceptor);
	else if (p->adapter != NULL)
		nd_adapter_close(p->adapter);
}

int
perftest_failed(struct perftest *p, const struct nd_result *r)
{
	ndperf_report_clear(&p->report);
	app_fail_result(
		r, r->request_type == ND_REQUEST_RECEIVE ? "a receive failed" : "a request failed");
	if (r->status == ND_DATA_OVERRUN || r->status == ND_DATA_ERROR)
		app_complain("the message was longer than its receive: --size (-s there) must be "
			     "the same at both ends");
	if (r->status == ND_ACCESS_VIOLATION)
		app_complain("the peer let us not there: is it the same test, and its -s as large "
			     "as our --size?");
	return APP_EXIT_TRANSFER;
}
