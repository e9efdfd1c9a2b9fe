/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn.h"

#include <stddef.h>

void
conn_destroy(struct conn *c)
{
	if (c->connector != NULL)
		nd_connector_close(c->connector);
	if (c->qp != NULL)
		nd_qp_close(c->qp);
	c->connector = NULL;
	c->qp = NULL;
}
