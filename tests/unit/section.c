/* SPDX-License-Identifier: GPL-2.0-only */
/* Section names against the numbers of the kernel's ABI, written out here. */
#include <string.h>
#include "tests/objrun/section.h"
#include "tests/unit/tap.h"

static const struct {
    const char *section, *target;
    unsigned type, attach, flags, btf;
} all[] = {
    {"socket", "", 1, 0, 0, ATTACH_NO_BTF},
    {"kprobe/vfs_read", "vfs_read", 2, 0, 0, ATTACH_NO_BTF},
    {"kretprobe/vfs_read", "vfs_read", 2, 0, 0, ATTACH_NO_BTF},
    {"kprobe.multi/vfs_*", "vfs_*", 2, 42, 0, ATTACH_NO_BTF},
    {"kprobe.session/vfs_*", "vfs_*", 2, 56, 0, ATTACH_NO_BTF},
    {"uprobe//bin/sh:main", "/bin/sh:main", 2, 0, 0, ATTACH_NO_BTF},
    {"uprobe.s", "", 2, 0, 16, ATTACH_NO_BTF},
    {"uretprobe/x:y", "x:y", 2, 0, 0, ATTACH_NO_BTF},
    {"uprobe.multi/x:y", "x:y", 2, 48, 0, ATTACH_NO_BTF},
    {"usdt/x:y:z", "x:y:z", 2, 0, 0, ATTACH_NO_BTF},
    {"ksyscall/read", "read", 2, 0, 0, ATTACH_NO_BTF},
    {"classifier", "", 3, 0, 0, ATTACH_NO_BTF},
    {"tc", "", 3, 0, 0, ATTACH_NO_BTF},
    {"tc/ingress", "", 3, 46, 0, ATTACH_NO_BTF},
    {"tcx/egress", "", 3, 47, 0, ATTACH_NO_BTF},
    {"netkit/primary", "", 3, 54, 0, ATTACH_NO_BTF},
    {"action", "", 4, 0, 0, ATTACH_NO_BTF},
    {"tracepoint/sched/sched_switch", "sched/sched_switch", 5, 0, 0, ATTACH_NO_BTF},
    {"tp/sched/sched_switch", "sched/sched_switch", 5, 0, 0, ATTACH_NO_BTF},
    {"xdp", "", 6, 37, 0, ATTACH_NO_BTF},
    {"xdp.frags", "", 6, 37, 32, ATTACH_NO_BTF},
    {"xdp/devmap", "", 6, 33, 0, ATTACH_NO_BTF},
    {"xdp.frags/cpumap", "", 6, 35, 32, ATTACH_NO_BTF},
    {"perf_event", "", 7, 0, 0, ATTACH_NO_BTF},
    {"cgroup/skb", "", 8, 0, 0, ATTACH_NO_BTF},
    {"cgroup_skb/egress", "", 8, 1, 0, ATTACH_NO_BTF},
    {"cgroup/sock_create", "", 9, 2, 0, ATTACH_NO_BTF},
    {"lwt_in", "", 10, 0, 0, ATTACH_NO_BTF},
    {"lwt_out", "", 11, 0, 0, ATTACH_NO_BTF},
    {"lwt_xmit", "", 12, 0, 0, ATTACH_NO_BTF},
    {"sockops", "", 13, 3, 0, ATTACH_NO_BTF},
    {"sk_skb/stream_verdict", "", 14, 5, 0, ATTACH_NO_BTF},
    {"cgroup/dev", "", 15, 6, 0, ATTACH_NO_BTF},
    {"sk_msg", "", 16, 7, 0, ATTACH_NO_BTF},
    {"raw_tp/sched_switch", "sched_switch", 17, 0, 0, ATTACH_NO_BTF},
    {"raw_tracepoint/sched_switch", "sched_switch", 17, 0, 0, ATTACH_NO_BTF},
    {"cgroup/connect4", "", 18, 10, 0, ATTACH_NO_BTF},
    {"cgroup/connect_unix", "", 18, 49, 0, ATTACH_NO_BTF},
    {"lwt_seg6local", "", 19, 0, 0, ATTACH_NO_BTF},
    {"lirc_mode2", "", 20, 16, 0, ATTACH_NO_BTF},
    {"sk_reuseport", "", 21, 39, 0, ATTACH_NO_BTF},
    {"sk_reuseport/migrate", "", 21, 40, 0, ATTACH_NO_BTF},
    {"flow_dissector", "", 22, 17, 0, ATTACH_NO_BTF},
    {"cgroup/sysctl", "", 23, 18, 0, ATTACH_NO_BTF},
    {"raw_tp.w/x", "x", 24, 0, 0, ATTACH_NO_BTF},
    {"cgroup/getsockopt", "", 25, 21, 0, ATTACH_NO_BTF},
    {"tp_btf/sched_switch", "sched_switch", 26, 23, 0, ATTACH_TP},
    {"?tp_btf/sched_switch", "sched_switch", 26, 23, 0, ATTACH_TP},
    {"fentry/vfs_read", "vfs_read", 26, 24, 0, ATTACH_FUNC},
    {"fexit.s/vfs_read", "vfs_read", 26, 25, 16, ATTACH_FUNC},
    {"fmod_ret/x", "x", 26, 26, 0, ATTACH_FUNC},
    {"fsession/x", "x", 26, 58, 0, ATTACH_FUNC},
    {"iter/task", "task", 26, 28, 0, ATTACH_ITER},
    {"iter.s/task", "task", 26, 28, 16, ATTACH_ITER},
    {"struct_ops/x", "x", 27, 0, 0, ATTACH_STRUCT_OPS},
    {"freplace/x", "x", 28, 0, 0, ATTACH_NO_BTF},
    {"lsm/file_open", "file_open", 29, 27, 0, ATTACH_LSM},
    {"lsm.s/file_open", "file_open", 29, 27, 16, ATTACH_LSM},
    {"lsm_cgroup/x", "x", 29, 43, 0, ATTACH_LSM},
    {"sk_lookup", "", 30, 36, 0, ATTACH_NO_BTF},
    {"syscall", "", 31, 0, 16, ATTACH_NO_BTF},
    {"netfilter", "", 32, 45, 0, ATTACH_NO_BTF},
};

int main(void)
{
    const char *target;
    check(!section_kind("xdp", &target) && section_kind("kprobe/vfs_read", &target),
          "hog has the kinds that its own programs use");
    section_more = objrun_sections;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct section_kind *k = section_kind(all[i].section, &target);
        check(k && k->type == all[i].type && k->expected_attach_type == all[i].attach &&
                  k->load_flags == all[i].flags && k->attach == all[i].btf && !strcmp(target, all[i].target),
              "%s", all[i].section);
    }
    check(!section_kind("kprobes", &target) && !*target, "a longer word is another section");
    check(!section_kind("", &target) && !section_kind("?", &target) && !section_kind(".text", &target),
          "no section");
    return done();
}
