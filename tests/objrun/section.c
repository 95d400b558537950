/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of sections that hog itself does not use. */
#include "tests/objrun/section.h"
#include <linux/bpf.h>
#include <linux/btf.h>

/* Newer than some of the kernel headers that hog is built with; the numbers are ABI. */
enum {
    PROG_NETFILTER = 32,
    AT_LSM_CGROUP = 43,
    AT_NETFILTER = 45,
    AT_TCX_INGRESS,
    AT_TCX_EGRESS,
    AT_UPROBE_MULTI,
    AT_UNIX_CONNECT,
    AT_UNIX_SENDMSG,
    AT_UNIX_RECVMSG,
    AT_UNIX_GETPEERNAME,
    AT_UNIX_GETSOCKNAME,
    AT_NETKIT_PRIMARY,
    AT_NETKIT_PEER,
    AT_KPROBE_SESSION,
    AT_UPROBE_SESSION,
    AT_FSESSION,
    AT_FENTRY_MULTI,
    AT_FEXIT_MULTI,
    AT_FSESSION_MULTI,
};
#define SLEEP BPF_F_SLEEPABLE
#define FRAGS BPF_F_XDP_HAS_FRAGS

#define TYPE(prefix, type, attach)                                                                           \
    {                                                                                                        \
        prefix, BPF_PROG_TYPE_##type, attach, 0, 0, NULL                                                     \
    }
#define FLAGS(prefix, type, attach, flag)                                                                    \
    {                                                                                                        \
        prefix, BPF_PROG_TYPE_##type, attach, flag, 0, NULL                                                  \
    }
#define TRACE(prefix, type, attach, flag, begin)                                                             \
    {                                                                                                        \
        prefix, BPF_PROG_TYPE_##type, attach, flag, BTF_KIND_FUNC, begin                                     \
    }

const struct section_kind objrun_sections[] = {
    /* tracing */
    TYPE("kprobe.multi", KPROBE, BPF_TRACE_KPROBE_MULTI),
    TYPE("kretprobe.multi", KPROBE, BPF_TRACE_KPROBE_MULTI),
    TYPE("kprobe.session", KPROBE, AT_KPROBE_SESSION),
    TYPE("ksyscall", KPROBE, 0),
    TYPE("kretsyscall", KPROBE, 0),
    FLAGS("uprobe.s", KPROBE, 0, SLEEP),
    FLAGS("uretprobe.s", KPROBE, 0, SLEEP),
    FLAGS("uprobe.multi.s", KPROBE, AT_UPROBE_MULTI, SLEEP),
    FLAGS("uretprobe.multi.s", KPROBE, AT_UPROBE_MULTI, SLEEP),
    TYPE("uprobe.session", KPROBE, AT_UPROBE_SESSION),
    FLAGS("uprobe.session.s", KPROBE, AT_UPROBE_SESSION, SLEEP),
    TYPE("usdt", KPROBE, 0),
    FLAGS("usdt.s", KPROBE, 0, SLEEP),
    TYPE("tp", TRACEPOINT, 0),
    FLAGS("tracepoint.s", TRACEPOINT, 0, SLEEP),
    FLAGS("tp.s", TRACEPOINT, 0, SLEEP),
    TYPE("raw_tracepoint", RAW_TRACEPOINT, 0),
    FLAGS("raw_tracepoint.s", RAW_TRACEPOINT, 0, SLEEP),
    FLAGS("raw_tp.s", RAW_TRACEPOINT, 0, SLEEP),
    TYPE("raw_tracepoint.w", RAW_TRACEPOINT_WRITABLE, 0),
    TYPE("raw_tp.w", RAW_TRACEPOINT_WRITABLE, 0),
    {"tp_btf.s", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, SLEEP, BTF_KIND_TYPEDEF, "btf_trace_"},
    TRACE("fentry.s", TRACING, BPF_TRACE_FENTRY, SLEEP, ""),
    TRACE("fexit.s", TRACING, BPF_TRACE_FEXIT, SLEEP, ""),
    TRACE("fmod_ret", TRACING, BPF_MODIFY_RETURN, 0, ""),
    TRACE("fmod_ret.s", TRACING, BPF_MODIFY_RETURN, SLEEP, ""),
    TRACE("fsession", TRACING, AT_FSESSION, 0, ""),
    TRACE("fsession.s", TRACING, AT_FSESSION, SLEEP, ""),
    TYPE("fentry.multi", TRACING, AT_FENTRY_MULTI),
    FLAGS("fentry.multi.s", TRACING, AT_FENTRY_MULTI, SLEEP),
    TYPE("fexit.multi", TRACING, AT_FEXIT_MULTI),
    FLAGS("fexit.multi.s", TRACING, AT_FEXIT_MULTI, SLEEP),
    TYPE("fsession.multi", TRACING, AT_FSESSION_MULTI),
    FLAGS("fsession.multi.s", TRACING, AT_FSESSION_MULTI, SLEEP),
    TYPE("freplace", EXT, 0), /* its id is of the program that it replaces */
    TRACE("lsm", LSM, BPF_LSM_MAC, 0, "bpf_lsm_"),
    TRACE("lsm.s", LSM, BPF_LSM_MAC, SLEEP, "bpf_lsm_"),
    TRACE("lsm_cgroup", LSM, AT_LSM_CGROUP, 0, "bpf_lsm_"),
    TRACE("iter.s", TRACING, BPF_TRACE_ITER, SLEEP, "bpf_iter_"),
    FLAGS("syscall", SYSCALL, 0, SLEEP),
    TYPE("struct_ops", STRUCT_OPS, 0),
    FLAGS("struct_ops.s", STRUCT_OPS, 0, SLEEP),
    /* packets */
    TYPE("socket", SOCKET_FILTER, 0),
    TYPE("tc", SCHED_CLS, 0),
    TYPE("tc/ingress", SCHED_CLS, AT_TCX_INGRESS),
    TYPE("tc/egress", SCHED_CLS, AT_TCX_EGRESS),
    TYPE("tcx/ingress", SCHED_CLS, AT_TCX_INGRESS),
    TYPE("tcx/egress", SCHED_CLS, AT_TCX_EGRESS),
    TYPE("classifier", SCHED_CLS, 0),
    TYPE("action", SCHED_ACT, 0),
    TYPE("netkit/primary", SCHED_CLS, AT_NETKIT_PRIMARY),
    TYPE("netkit/peer", SCHED_CLS, AT_NETKIT_PEER),
    TYPE("xdp", XDP, BPF_XDP),
    TYPE("xdp/devmap", XDP, BPF_XDP_DEVMAP),
    TYPE("xdp_devmap", XDP, BPF_XDP_DEVMAP),
    TYPE("xdp/cpumap", XDP, BPF_XDP_CPUMAP),
    TYPE("xdp_cpumap", XDP, BPF_XDP_CPUMAP),
    FLAGS("xdp.frags", XDP, BPF_XDP, FRAGS),
    FLAGS("xdp.frags/devmap", XDP, BPF_XDP_DEVMAP, FRAGS),
    FLAGS("xdp.frags/cpumap", XDP, BPF_XDP_CPUMAP, FRAGS),
    TYPE("lwt_in", LWT_IN, 0),
    TYPE("lwt_out", LWT_OUT, 0),
    TYPE("lwt_xmit", LWT_XMIT, 0),
    TYPE("lwt_seg6local", LWT_SEG6LOCAL, 0),
    TYPE("lirc_mode2", LIRC_MODE2, BPF_LIRC_MODE2),
    TYPE("flow_dissector", FLOW_DISSECTOR, BPF_FLOW_DISSECTOR),
    {"netfilter", PROG_NETFILTER, AT_NETFILTER, 0, 0, NULL},
    /* sockets */
    TYPE("sockops", SOCK_OPS, BPF_CGROUP_SOCK_OPS),
    TYPE("sk_skb", SK_SKB, 0),
    TYPE("sk_skb/stream_parser", SK_SKB, BPF_SK_SKB_STREAM_PARSER),
    TYPE("sk_skb/stream_verdict", SK_SKB, BPF_SK_SKB_STREAM_VERDICT),
    TYPE("sk_skb/verdict", SK_SKB, BPF_SK_SKB_VERDICT),
    TYPE("sk_msg", SK_MSG, BPF_SK_MSG_VERDICT),
    TYPE("sk_lookup", SK_LOOKUP, BPF_SK_LOOKUP),
    TYPE("sk_reuseport", SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT),
    TYPE("sk_reuseport/migrate", SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT_OR_MIGRATE),
    /* cgroups */
    TYPE("cgroup_skb/ingress", CGROUP_SKB, BPF_CGROUP_INET_INGRESS),
    TYPE("cgroup_skb/egress", CGROUP_SKB, BPF_CGROUP_INET_EGRESS),
    TYPE("cgroup/skb", CGROUP_SKB, 0),
    TYPE("cgroup/sock", CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE),
    TYPE("cgroup/sock_create", CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE),
    TYPE("cgroup/sock_release", CGROUP_SOCK, BPF_CGROUP_INET_SOCK_RELEASE),
    TYPE("cgroup/post_bind4", CGROUP_SOCK, BPF_CGROUP_INET4_POST_BIND),
    TYPE("cgroup/post_bind6", CGROUP_SOCK, BPF_CGROUP_INET6_POST_BIND),
    TYPE("cgroup/bind4", CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_BIND),
    TYPE("cgroup/bind6", CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND),
    TYPE("cgroup/connect4", CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT),
    TYPE("cgroup/connect6", CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT),
    TYPE("cgroup/connect_unix", CGROUP_SOCK_ADDR, AT_UNIX_CONNECT),
    TYPE("cgroup/sendmsg4", CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_SENDMSG),
    TYPE("cgroup/sendmsg6", CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_SENDMSG),
    TYPE("cgroup/sendmsg_unix", CGROUP_SOCK_ADDR, AT_UNIX_SENDMSG),
    TYPE("cgroup/recvmsg4", CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_RECVMSG),
    TYPE("cgroup/recvmsg6", CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_RECVMSG),
    TYPE("cgroup/recvmsg_unix", CGROUP_SOCK_ADDR, AT_UNIX_RECVMSG),
    TYPE("cgroup/getpeername4", CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETPEERNAME),
    TYPE("cgroup/getpeername6", CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETPEERNAME),
    TYPE("cgroup/getpeername_unix", CGROUP_SOCK_ADDR, AT_UNIX_GETPEERNAME),
    TYPE("cgroup/getsockname4", CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETSOCKNAME),
    TYPE("cgroup/getsockname6", CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETSOCKNAME),
    TYPE("cgroup/getsockname_unix", CGROUP_SOCK_ADDR, AT_UNIX_GETSOCKNAME),
    TYPE("cgroup/sysctl", CGROUP_SYSCTL, BPF_CGROUP_SYSCTL),
    TYPE("cgroup/getsockopt", CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT),
    TYPE("cgroup/setsockopt", CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT),
    TYPE("cgroup/dev", CGROUP_DEVICE, BPF_CGROUP_DEVICE),
};

const size_t objrun_nsections = sizeof objrun_sections / sizeof *objrun_sections;
