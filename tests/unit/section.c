/* SPDX-License-Identifier: GPL-2.0-only */
/* Section names against the numbers of the kernel's ABI, written out here. */
#include <string.h>
#include "tests/objrun/section.h"
#include "tests/unit/tap.h"

static const struct {
    const char *section, *target;
    unsigned type, attach, flags;
    const char *begin;
} all[] = {
    {"socket", "", 1, 0, 0, NULL},
    {"kprobe/vfs_read", "vfs_read", 2, 0, 0, NULL},
    {"kretprobe/vfs_read", "vfs_read", 2, 0, 0, NULL},
    {"kprobe.multi/vfs_*", "vfs_*", 2, 42, 0, NULL},
    {"kprobe.session/vfs_*", "vfs_*", 2, 56, 0, NULL},
    {"uprobe//bin/sh:main", "/bin/sh:main", 2, 0, 0, NULL},
    {"uprobe.s", "", 2, 0, 16, NULL},
    {"uretprobe/x:y", "x:y", 2, 0, 0, NULL},
    {"uprobe.multi/x:y", "x:y", 2, 48, 0, NULL},
    {"usdt/x:y:z", "x:y:z", 2, 0, 0, NULL},
    {"ksyscall/read", "read", 2, 0, 0, NULL},
    {"classifier", "", 3, 0, 0, NULL},
    {"tc", "", 3, 0, 0, NULL},
    {"tc/ingress", "", 3, 46, 0, NULL},
    {"tcx/egress", "", 3, 47, 0, NULL},
    {"netkit/primary", "", 3, 54, 0, NULL},
    {"action", "", 4, 0, 0, NULL},
    {"tracepoint/sched/sched_switch", "sched/sched_switch", 5, 0, 0, NULL},
    {"tp/sched/sched_switch", "sched/sched_switch", 5, 0, 0, NULL},
    {"xdp", "", 6, 37, 0, NULL},
    {"xdp.frags", "", 6, 37, 32, NULL},
    {"xdp/devmap", "", 6, 33, 0, NULL},
    {"xdp.frags/cpumap", "", 6, 35, 32, NULL},
    {"perf_event", "", 7, 0, 0, NULL},
    {"cgroup/skb", "", 8, 0, 0, NULL},
    {"cgroup_skb/egress", "", 8, 1, 0, NULL},
    {"cgroup/sock_create", "", 9, 2, 0, NULL},
    {"lwt_in", "", 10, 0, 0, NULL},
    {"lwt_out", "", 11, 0, 0, NULL},
    {"lwt_xmit", "", 12, 0, 0, NULL},
    {"sockops", "", 13, 3, 0, NULL},
    {"sk_skb/stream_verdict", "", 14, 5, 0, NULL},
    {"cgroup/dev", "", 15, 6, 0, NULL},
    {"sk_msg", "", 16, 7, 0, NULL},
    {"raw_tp/sched_switch", "sched_switch", 17, 0, 0, NULL},
    {"raw_tracepoint/sched_switch", "sched_switch", 17, 0, 0, NULL},
    {"cgroup/connect4", "", 18, 10, 0, NULL},
    {"cgroup/connect_unix", "", 18, 49, 0, NULL},
    {"lwt_seg6local", "", 19, 0, 0, NULL},
    {"lirc_mode2", "", 20, 16, 0, NULL},
    {"sk_reuseport", "", 21, 39, 0, NULL},
    {"sk_reuseport/migrate", "", 21, 40, 0, NULL},
    {"flow_dissector", "", 22, 17, 0, NULL},
    {"cgroup/sysctl", "", 23, 18, 0, NULL},
    {"raw_tp.w/x", "x", 24, 0, 0, NULL},
    {"cgroup/getsockopt", "", 25, 21, 0, NULL},
    {"tp_btf/sched_switch", "sched_switch", 26, 23, 0, "btf_trace_"},
    {"?tp_btf/sched_switch", "sched_switch", 26, 23, 0, "btf_trace_"},
    {"fentry/vfs_read", "vfs_read", 26, 24, 0, ""},
    {"fexit.s/vfs_read", "vfs_read", 26, 25, 16, ""},
    {"fmod_ret/x", "x", 26, 26, 0, ""},
    {"fsession/x", "x", 26, 58, 0, ""},
    {"iter/task", "task", 26, 28, 0, "bpf_iter_"},
    {"iter.s/task", "task", 26, 28, 16, "bpf_iter_"},
    {"struct_ops/x", "x", 27, 0, 0, NULL},
    {"freplace/x", "x", 28, 0, 0, NULL},
    {"lsm/file_open", "file_open", 29, 27, 0, "bpf_lsm_"},
    {"lsm.s/file_open", "file_open", 29, 27, 16, "bpf_lsm_"},
    {"lsm_cgroup/x", "x", 29, 43, 0, "bpf_lsm_"},
    {"sk_lookup", "", 30, 36, 0, NULL},
    {"syscall", "", 31, 0, 16, NULL},
    {"netfilter", "", 32, 45, 0, NULL},
};

static const struct section_kind *any_kind(const char *section, const char **target)
{
    const struct section_kind *own = section_kind(section, target);
    return own ? own : section_kind_in(objrun_sections, objrun_nsections, section, target);
}

int main(void)
{
    const char *target;
    check(!section_kind("xdp", &target) && section_kind("kprobe/vfs_read", &target),
          "hog has the kinds that its own programs use");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct section_kind *k = any_kind(all[i].section, &target);
        check(k && k->type == all[i].type && k->expected_attach_type == all[i].attach &&
                  k->load_flags == all[i].flags && !k->attach == !all[i].begin &&
                  (!k->attach || !strcmp(k->attach, all[i].begin)) && !strcmp(target, all[i].target),
              "%s", all[i].section);
    }
    check(!any_kind("kprobes", &target) && !*target, "a longer word is another section");
    check(!any_kind("", &target) && !any_kind("?", &target) && !any_kind(".text", &target), "no section");
    return done();
}
