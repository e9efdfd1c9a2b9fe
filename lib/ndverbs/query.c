/* SPDX-License-Identifier: BSD-3-Clause */
/* A device has one port, and that one GID: the address that the device stands for. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndverbs/address.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/query.h"
#include "ndverbs/unlisted.h"

/* No company's: the bit of local administration is set. Programs treat the vendors that they know
 * in ways that would not fit. */
#define VENDOR_ID      0x024e44
#define VENDOR_PART_ID 1

#define DEFAULT_PKEY 0xffff
#define LINK_UP	     5	/* IB's physical states */
#define WIDTH_1X     1	/* speed and width are asked for as numbers; there is no link that */
#define SPEED_EDR    32 /* would have them: 25 Gb/s is what programs reckon with */

enum ibv_mtu
ndv_mtu_of_bytes(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && ndv_bytes_of_mtu(mtu + 1) <= bytes)
		mtu++;
	return mtu;
}

uint32_t
ndv_bytes_of_mtu(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

static int
lesser_of(uint32_t a, uint32_t b)
{
	return (int)(a < b ? a : b);
}

/* How many of each there may be follows from three numbers of the daemon's configuration (its
 * object classes say how). What a user may have in all sessions may be less: that is met as it
 * comes. */
static void
fill_numbers(struct ibv_device_attr *attr, const struct nd_adapter *a)
{
	int qps = lesser_of(a->max_qps, NDSH_QP_PER_SESSION_MAX);

	attr->max_qp = qps;
	attr->max_pd = (int)a->max_qps;
	attr->max_ah = 4 * (int)a->max_qps;
	attr->max_res_rd_atom = (int)a->info.max_inbound_reads * qps;
	attr->max_cq = (int)a->max_cqs - 1; /* one is that of the answers to registrations */
	attr->max_srq = a->info.max_srq_depth != 0 ? (int)a->max_cqs : 0;
	attr->max_mr = (int)a->max_mrs;
	if (a->abi_minor < NDSH_MINOR_KEYED_WINDOWS)
		return;
	attr->max_mw = (int)a->max_mrs; /* in one table with regions */
	/* The last one stands for SEND with invalidate and LOCAL_INV. What the kernel's users have
	 * of it beside, fast registration, no call of verbs has. */
	attr->device_cap_flags |= IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				  IBV_DEVICE_MEM_MGT_EXTENSIONS;
}

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ndv_context *c;
	int err = ndv_session(context, &c);
	const struct nd_adapter_info *i = &c->info;

	if (err != 0)
		return err;
	*attr = (struct ibv_device_attr){
		.node_guid = ibv_get_device_guid(context->device),
		.sys_image_guid = ibv_get_device_guid(context->device),
		.max_mr_size = i->max_registration_bytes,
		.page_size_cap = ~(uint64_t)0xfff,
		.vendor_id = VENDOR_ID,
		.vendor_part_id = VENDOR_PART_ID,
		.max_qp_wr = lesser_of(i->max_receive_depth, i->max_initiator_depth),
		.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN,
		.max_sge = lesser_of(i->max_receive_sge, i->max_initiator_sge),
		.max_sge_rd = lesser_of(i->max_read_sge, i->max_initiator_sge),
		.max_cqe = (int)i->max_cq_depth,
		.max_qp_rd_atom = (int)i->max_inbound_reads,
		.max_qp_init_rd_atom = (int)i->max_outbound_reads,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_srq_wr = (int)i->max_srq_depth,
		.max_srq_sge = (int)i->max_receive_sge,
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	memcpy(attr->fw_ver, i->daemon_version, sizeof(i->daemon_version));
	fill_numbers(attr, c->adapter);
	return 0;
}

/* None of what has been added to the structure is there, but for the number of ports. A program
 * has as much of it as it was compiled with. */
int
ndv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t bytes)
{
	struct ibv_device_attr_ex a = {.phys_port_cnt_ex = 1};
	int err = input != NULL && input->comp_mask != 0 ? EINVAL
							 : ibv_query_device(context, &a.orig_attr);

	if (err != 0)
		return err;
	memset(attr, 0, bytes);
	memcpy(attr, &a, bytes < sizeof(a) ? bytes : sizeof(a));
	return 0;
}

int
ndv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t bytes)
{
	struct ibv_port_attr a;
	struct ndv_context *c;
	int err = port == 1 ? ndv_session(context, &c) : EINVAL;

	if (err != 0)
		return err;
	a = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE,
		.max_mtu = ndv_mtu_of_bytes(c->info.path_mtu),
		.active_mtu = ndv_mtu_of_bytes(c->info.path_mtu),
		.gid_tbl_len = 1,
		.max_msg_sz = (uint32_t)c->info.max_transfer_bytes,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = WIDTH_1X,
		.active_speed = SPEED_EDR,
		.phys_state = LINK_UP,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.flags = IBV_QPF_GRH_REQUIRED,
	};
	memset(attr, 0, bytes);
	memcpy(attr, &a, bytes < sizeof(a) ? bytes : sizeof(a));
	return 0;
}

/* For programs from before the inline function, whose structure ends with flags. */
#undef ibv_query_port
int
ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return ndv_query_port(context, port, (struct ibv_port_attr *)(void *)attr,
		offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* ---- the only entries of the port's tables -------------------------------------------- */

static bool
has_entry(uint8_t port, uint32_t index, int error)
{
	if (port == 1 && index == 0)
		return true;
	errno = port == 1 ? error : EINVAL;
	return false;
}

int
ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	if (!has_entry(port, (uint32_t)index, EINVAL))
		return -1;
	ndv_gid_of(&ndv_device(context->device)->address, gid);
	return 0;
}

int
ibv_query_gid_type(
	struct ibv_context *context, uint8_t port, unsigned int index, enum ndv_gid_type *type)
{
	(void)context;
	if (!has_entry(port, index, EINVAL))
		return -1;
	*type = NDV_GID_TYPE_ROCE_V2;
	return 0;
}

static void
fill_entry(struct ibv_context *context, struct ibv_gid_entry *entry, size_t bytes)
{
	struct ibv_gid_entry e = {.port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2};

	ndv_gid_of(&ndv_device(context->device)->address, &e.gid);
	memset(entry, 0, bytes);
	memcpy(entry, &e, bytes < sizeof(e) ? bytes : sizeof(e));
}

int
_ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
	struct ibv_gid_entry *entry, uint32_t flags, size_t bytes)
{
	if (flags != 0)
		return EOPNOTSUPP;
	if (!has_entry(port == 1, index, ENODATA))
		return errno;
	fill_entry(context, entry, bytes);
	return 0;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t room,
	uint32_t flags, size_t bytes)
{
	if (flags != 0)
		return -EOPNOTSUPP;
	if (room < 1)
		return -EINVAL;
	fill_entry(context, entries, bytes);
	return 1;
}

int
ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (!has_entry(port, (uint32_t)index, EINVAL))
		return -1;
	*pkey = htobe16(DEFAULT_PKEY);
	return 0;
}

int
ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	(void)context;
	if (port == 1 && be16toh(pkey) == DEFAULT_PKEY)
		return 0;
	errno = EINVAL;
	return -1;
}
