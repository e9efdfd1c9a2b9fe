/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that can be made to fail, how they say so, and the error that they give:
 * X(name, way, error).
 *
 *   MINUS     -1 and errno               ERROR     an error number
 *   NOTHING   NULL and errno             NEGATIVE  a negative error number
 *   AFTER     -1 and errno, but what was asked for is done, as Linux closes a file in any case
 *
 * The errors are those of a machine that is short of something, where there is one. What the daemon
 * and the library call is here or in unfailing.txt; selftest.py sees to that.
 */
#define FAULT_CALLS(X)                                                                             \
	X(accept4, MINUS, EMFILE)                                                                  \
	X(bind, MINUS, ENOMEM)                                                                     \
	X(bpf_obj_get_info_by_fd, NEGATIVE, ENOMEM)                                                \
	X(bpf_prog_get_fd_by_id, NEGATIVE, EMFILE)                                                 \
	X(bpf_xdp_detach, NEGATIVE, ENOMEM)                                                        \
	X(bpf_xdp_query_id, NEGATIVE, ENOMEM)                                                      \
	X(chmod, MINUS, EIO)                                                                       \
	X(close, AFTER, EIO)                                                                       \
	X(connect, MINUS, ENOMEM)                                                                  \
	X(dup, MINUS, EMFILE)                                                                      \
	X(epoll_create1, MINUS, EMFILE)                                                            \
	X(epoll_ctl, MINUS, ENOMEM)                                                                \
	X(epoll_pwait2, MINUS, EINTR)                                                              \
	X(epoll_wait, MINUS, EINTR)                                                                \
	X(eventfd, MINUS, EMFILE)                                                                  \
	X(fcntl64, MINUS, ENOMEM)                                                                  \
	X(fdopen, NOTHING, ENOMEM)                                                                 \
	X(flock, MINUS, ENOLCK)                                                                    \
	X(fopen, NOTHING, EMFILE)                                                                  \
	X(fopen64, NOTHING, EMFILE)                                                                \
	X(fstat64, MINUS, ENOMEM)                                                                  \
	X(fstatfs64, MINUS, ENOMEM)                                                                \
	X(ftruncate64, MINUS, ENOSPC)                                                              \
	X(getcwd, NOTHING, ENOMEM)                                                                 \
	X(__getdelim, MINUS, ENOMEM)                                                               \
	X(getgrouplist, MINUS, ENOMEM)                                                             \
	X(getpwnam, NOTHING, ENOMEM)                                                               \
	X(getrandom, MINUS, ENOSYS)                                                                \
	X(getrlimit64, MINUS, EPERM)                                                               \
	X(getsockname, MINUS, ENOBUFS)                                                             \
	X(getsockopt, MINUS, ENOBUFS)                                                              \
	X(if_indextoname, NOTHING, ENXIO)                                                          \
	X(if_nametoindex, NOTHING, ENODEV)                                                         \
	X(ioctl, MINUS, ENOMEM)                                                                    \
	X(listen, MINUS, EADDRINUSE)                                                               \
	X(lseek64, MINUS, ENOMEM)                                                                  \
	X(lstat64, MINUS, ENOMEM)                                                                  \
	X(madvise, MINUS, ENOMEM)                                                                  \
	X(mbind, MINUS, ENOMEM)                                                                    \
	X(memfd_create, MINUS, EMFILE)                                                             \
	X(mkdir, MINUS, ENOSPC)                                                                    \
	X(mlock2, MINUS, ENOMEM)                                                                   \
	X(mmap, MINUS, ENOMEM)                                                                     \
	X(mmap64, MINUS, ENOMEM)                                                                   \
	X(mnl_cb_run, MINUS, ENOMEM)                                                               \
	X(mnl_socket_bind, MINUS, ENOMEM)                                                          \
	X(mnl_socket_open2, NOTHING, EMFILE)                                                       \
	X(mnl_socket_recvfrom, MINUS, ENOBUFS)                                                     \
	X(mnl_socket_sendto, MINUS, ENOBUFS)                                                       \
	X(mnl_socket_setsockopt, MINUS, ENOMEM)                                                    \
	X(mprotect, MINUS, ENOMEM)                                                                 \
	X(mremap, MINUS, ENOMEM)                                                                   \
	X(msync, MINUS, ENOMEM)                                                                    \
	X(munmap, MINUS, ENOMEM)                                                                   \
	X(open, MINUS, EMFILE)                                                                     \
	X(open64, MINUS, EMFILE)                                                                   \
	X(opendir, NOTHING, EMFILE)                                                                \
	X(pipe2, MINUS, EMFILE)                                                                    \
	X(poll, MINUS, ENOMEM)                                                                     \
	X(prctl, MINUS, ENOMEM)                                                                    \
	X(pread64, MINUS, EIO)                                                                     \
	X(process_vm_readv, MINUS, ENOMEM)                                                         \
	X(process_vm_writev, MINUS, ENOMEM)                                                        \
	X(pthread_attr_init, ERROR, ENOMEM)                                                        \
	X(pthread_attr_setdetachstate, ERROR, EINVAL)                                              \
	X(pthread_attr_setstacksize, ERROR, EINVAL)                                                \
	X(pthread_cond_init, ERROR, ENOMEM)                                                        \
	X(pthread_condattr_init, ERROR, ENOMEM)                                                    \
	X(pthread_condattr_setclock, ERROR, EINVAL)                                                \
	X(pthread_create, ERROR, EAGAIN)                                                           \
	X(pthread_mutex_init, ERROR, ENOMEM)                                                       \
	X(pthread_setname_np, ERROR, ENOMEM)                                                       \
	X(pthread_sigmask, ERROR, EINVAL)                                                          \
	X(read, MINUS, EIO)                                                                        \
	X(readlink, MINUS, ENOMEM)                                                                 \
	X(recv, MINUS, ENOMEM)                                                                     \
	X(recvmmsg, MINUS, ENOMEM)                                                                 \
	X(recvmsg, MINUS, ENOMEM)                                                                  \
	X(rte_eal_alarm_set, NEGATIVE, ENOMEM)                                                     \
	X(rte_eal_init, MINUS, ENOMEM)                                                             \
	X(rte_eal_remote_launch, NEGATIVE, EBUSY)                                                  \
	X(rte_eth_allmulticast_enable, NEGATIVE, EIO)                                              \
	X(rte_eth_dev_configure, NEGATIVE, ENOMEM)                                                 \
	X(rte_eth_dev_default_mac_addr_set, NEGATIVE, EIO)                                         \
	X(rte_eth_dev_get_mtu, NEGATIVE, EIO)                                                      \
	X(rte_eth_dev_get_port_by_name, NEGATIVE, ENODEV)                                          \
	X(rte_eth_dev_info_get, NEGATIVE, EIO)                                                     \
	X(rte_eth_dev_set_mtu, NEGATIVE, EIO)                                                      \
	X(rte_eth_dev_start, NEGATIVE, ENOMEM)                                                     \
	X(rte_eth_dev_stop, NEGATIVE, EIO)                                                         \
	X(rte_eth_link_get_nowait, NEGATIVE, EIO)                                                  \
	X(rte_eth_macaddr_get, NEGATIVE, EIO)                                                      \
	X(rte_eth_promiscuous_enable, NEGATIVE, EIO)                                               \
	X(rte_eth_rx_queue_setup, NEGATIVE, ENOMEM)                                                \
	X(rte_eth_stats_get, NEGATIVE, EIO)                                                        \
	X(rte_eth_tx_queue_setup, NEGATIVE, ENOMEM)                                                \
	X(rte_malloc, NOTHING, ENOMEM)                                                             \
	X(rte_malloc_socket, NOTHING, ENOMEM)                                                      \
	X(rte_mempool_create_empty, NOTHING, ENOMEM)                                               \
	X(rte_mempool_populate_default, NEGATIVE, ENOMEM)                                          \
	X(rte_mempool_set_ops_byname, NEGATIVE, EINVAL)                                            \
	X(rte_memzone_reserve, NOTHING, ENOMEM)                                                    \
	X(rte_memzone_reserve_aligned, NOTHING, ENOMEM)                                            \
	X(rte_pktmbuf_pool_create, NOTHING, ENOMEM)                                                \
	X(rte_ring_create, NOTHING, ENOMEM)                                                        \
	X(rte_ring_create_elem, NOTHING, ENOMEM)                                                   \
	X(rte_tel_data_add_array_int, NEGATIVE, ENOSPC)                                            \
	X(rte_tel_data_add_array_string, NEGATIVE, ENOSPC)                                         \
	X(rte_tel_data_add_array_u64, NEGATIVE, ENOSPC)                                            \
	X(rte_tel_data_add_dict_container, NEGATIVE, ENOSPC)                                       \
	X(rte_tel_data_add_dict_string, NEGATIVE, ENOSPC)                                          \
	X(rte_tel_data_add_dict_u64, NEGATIVE, ENOSPC)                                             \
	X(rte_tel_data_alloc, NOTHING, ENOMEM)                                                     \
	X(rte_tel_data_start_array, NEGATIVE, ENOMEM)                                              \
	X(rte_tel_data_start_dict, NEGATIVE, ENOMEM)                                               \
	X(rte_telemetry_register_cmd, NEGATIVE, ENOMEM)                                            \
	X(rte_zmalloc, NOTHING, ENOMEM)                                                            \
	X(rte_zmalloc_socket, NOTHING, ENOMEM)                                                     \
	X(sched_getaffinity, MINUS, ENOMEM)                                                        \
	X(sched_setaffinity, MINUS, ENOMEM)                                                        \
	X(seccomp_attr_set, NEGATIVE, ENOMEM)                                                      \
	X(seccomp_export_bpf, NEGATIVE, ENOMEM)                                                    \
	X(seccomp_init, NOTHING, ENOMEM)                                                           \
	X(seccomp_rule_add, NEGATIVE, ENOMEM)                                                      \
	X(seccomp_rule_add_array, NEGATIVE, ENOMEM)                                                \
	X(send, MINUS, ENOBUFS)                                                                    \
	X(sendmsg, MINUS, ENOBUFS)                                                                 \
	X(setrlimit64, MINUS, EPERM)                                                               \
	X(setsockopt, MINUS, ENOMEM)                                                               \
	X(shutdown, MINUS, ENOTCONN)                                                               \
	X(sigaction, MINUS, EINVAL)                                                                \
	X(signal, MINUS, EINVAL)                                                                   \
	X(signalfd, MINUS, EMFILE)                                                                 \
	X(sigprocmask, MINUS, EINVAL)                                                              \
	X(socket, MINUS, EMFILE)                                                                   \
	X(socketpair, MINUS, EMFILE)                                                               \
	X(stat64, MINUS, ENOMEM)                                                                   \
	X(statfs64, MINUS, ENOMEM)                                                                 \
	X(statx, MINUS, ENOMEM)                                                                    \
	X(syscall, MINUS, ENOMEM)                                                                  \
	X(sysconf, MINUS, EINVAL)                                                                  \
	X(timerfd_create, MINUS, EMFILE)                                                           \
	X(timerfd_settime, MINUS, EINVAL)                                                          \
	X(unlink, MINUS, EIO)                                                                      \
	X(write, MINUS, ENOMEM)

/* Those of memory have definitions of their own: the injector's look-up of all others uses them. */
#define FAULT_ALLOCATIONS(X)                                                                       \
	X(malloc)                                                                                  \
	X(calloc)                                                                                  \
	X(realloc)                                                                                 \
	X(aligned_alloc)                                                                           \
	X(posix_memalign)
