/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be asked of devices and ports. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

/* Programs compare pointers to devices of one list with those of another. */
static void
lists_agree(void)
{
	struct ibv_device **first, **second;
	int n, m;

	first = ibv_get_device_list(&n);
	second = ibv_get_device_list(&m);
	WANT(first != NULL && second != NULL && n > 0 && n == m);
	WANT(first[n] == NULL);
	for (int i = 0; i < n; i++) {
		WANT(first[i] == second[i]);
		for (int k = 0; k < i; k++)
			WANT(strcmp(ibv_get_device_name(first[i]), ibv_get_device_name(first[k])) !=
				0);
	}
	ibv_free_device_list(first);
	WANT(ibv_get_device_name(second[0]) != NULL); /* devices outlive their list */
	ibv_free_device_list(second);
}

static void
tables_have_one_entry(struct ibv_context *context)
{
	struct ibv_gid_entry entry, table[4];
	union ibv_gid gid;
	__be16 pkey;

	WANT(ibv_query_gid(context, 1, 0, &gid) == 0);
	WANT(ibv_query_gid(context, 1, 1, &gid) != 0);
	WANT(ibv_query_gid(context, 2, 0, &gid) != 0);
	WANT(ibv_query_gid_ex(context, 1, 0, &entry, 0) == 0);
	WANT(memcmp(&entry.gid, &gid, sizeof(gid)) == 0);
	WANT(entry.gid_type == IBV_GID_TYPE_ROCE_V2 && entry.port_num == 1);
	WANT(ibv_query_gid_ex(context, 1, 1, &entry, 0) == ENODATA);
	WANT(ibv_query_gid_table(context, table, 4, 0) == 1);
	WANT(memcmp(&table[0], &entry, sizeof(entry)) == 0 || table[0].gid_index == 0);
	WANT(ibv_query_pkey(context, 1, 0, &pkey) == 0 && pkey == 0xffff);
	WANT(ibv_query_pkey(context, 1, 1, &pkey) != 0);
	WANT(ibv_get_pkey_index(context, 1, pkey) == 0);
}

/* An old program's structure ends with flags: behind it nothing is written. */
static void
port_has_two_sizes(struct ibv_context *context)
{
	struct ibv_port_attr port;
	struct {
		uint8_t attr[48], behind[16];
	} old;
	int (*query)(struct ibv_context *, uint8_t, void *) = (void *)(ibv_query_port);

	memset(&port, 0xff, sizeof(port));
	WANT(ibv_query_port(context, 1, &port) == 0);
	WANT(port.state == IBV_PORT_ACTIVE && port.link_layer == IBV_LINK_LAYER_ETHERNET);
	WANT(port.flags & IBV_QPF_GRH_REQUIRED);
	WANT(port.gid_tbl_len == 1 && port.pkey_tbl_len == 1);
	WANT(ibv_query_port(context, 2, &port) == EINVAL);
	memset(&old, 0xa5, sizeof(old));
	WANT(query(context, 1, &old) == 0);
	for (size_t i = 0; i < sizeof(old.behind); i++)
		WANT(old.behind[i] == 0xa5);
	WANT(memcmp(&old, &port, sizeof(old.attr)) == 0);
}

/* What is not there says so, and can be asked for. */
static void
extensions_are_refused(struct rig *r)
{
	struct ibv_device_attr_ex d;

	WANT(ibv_query_device_ex(r->context, NULL, &d) == 0 && d.orig_attr.phys_port_cnt == 1);
	WANT(d.phys_port_cnt_ex == 1 && d.completion_timestamp_mask == 0);
	WANT(ibv_reg_dmabuf_mr(r->pd, 0, 4096, 0, 0, 0) == NULL && errno == EOPNOTSUPP);
}

void
run_devices(void)
{
	struct rig r;

	lists_agree();
	rig_open(&r, false);
	tables_have_one_entry(r.context);
	port_has_two_sizes(r.context);
	extensions_are_refused(&r);
	WANT(strcmp(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR), "transport retry counter exceeded") ==
		0);
	WANT(strcmp(ibv_wc_status_str((enum ibv_wc_status)99), "unknown") == 0);
	rig_close(&r);
}
