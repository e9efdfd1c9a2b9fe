/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of cmtest that stand in files of their own. */
#ifndef VERBS_CM_SCENARIOS_H
#define VERBS_CM_SCENARIOS_H

/* cm_services.c: of RDMA_PS_UDP */
void run_service(void);
void run_service_reject(void);
void run_service_nobody(void);
void run_service_nowhere(void);
void run_service_spaces(void);
void run_service_limits(void);
void run_service_waits(void);
/* cm_families.c */
void run_families(void);
/* cm_options.c */
void run_ack_timeout(void);
/* cm_timewait.c */
void run_timewait(void);
/* cm_multicast.c */
void run_multicast(void);
void run_multicast_refused(void);
void run_multicast_limits(void);
/* cm_commands.c. fd: of a channel whose identifier 0 is one of datagrams */
void refuse_group_commands(int fd);

#endif
