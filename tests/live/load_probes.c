/* SPDX-License-Identifier: GPL-2.0-only */
/* The results of the probes against bpftool's, and type data against the kernel that has to accept it. */
#include "loader/kernel/attach.h"
#include "loader/spec/btf.h"
#include "loader/kernel/probe.h"
#include "loader/spec/sanitize.h"
#include "tests/live/objects.h"
#include <sys/wait.h>
#include <unistd.h>

/* A line of `bpftool feature probe` that is there if (but, because of backports, not only if) the kernel has
 * the feature: something introduced in the same release or later. */
static const struct {
    enum feature feature;
    const char *line;
} implied[] = {
    {FEATURE_BPF, "eBPF program_type socket_filter is available"},
    {FEATURE_RINGBUF, "eBPF map_type ringbuf is available"},
    {FEATURE_BTF, "eBPF map_type sk_storage is available"},
    {FEATURE_BTF_FUNC, "eBPF map_type sk_storage is available"},
    {FEATURE_BTF_DATASEC, "eBPF map_type sk_storage is available"},
    {FEATURE_GLOBAL_DATA, "eBPF map_type sk_storage is available"},
    {FEATURE_ARRAY_MMAP, "eBPF map_type struct_ops is available"},
    {FEATURE_BATCH, "- bpf_jiffies64"},
    {FEATURE_BTF_FUNC_GLOBAL, "- bpf_jiffies64"},
    {FEATURE_TEST_RUN_CPU, "- bpf_this_cpu_ptr"},
    {FEATURE_MEMCG_ACCOUNT, "- bpf_ktime_get_coarse_ns"},
    {FEATURE_ATOMICS, "- bpf_for_each_map_elem"},
    {FEATURE_BTF_FLOAT, "- bpf_timer_init"},
    {FEATURE_PERF_LINK, "- bpf_get_attach_cookie"},
    {FEATURE_BTF_DECL_TAG, "- bpf_find_vma"},
    {FEATURE_BTF_TYPE_TAG, "- bpf_copy_from_user_task"},
    {FEATURE_BTF_ENUM64, "- bpf_ktime_get_tai_ns"},
};

static char said[256 << 10];

static bool ask_bpftool(void)
{
    FILE *f = popen("PATH=$PATH:/usr/sbin:/sbin bpftool feature probe kernel 2>/dev/null", "re");
    size_t n = f ? fread(said, 1, sizeof said - 1, f) : 0;

    return f && pclose(f) == 0 && n > 0;
}

static void check_features(void)
{
    unsigned seen = 0;

    check(ask_bpftool(), "bpftool probes this kernel");
    for (size_t i = 0; i < sizeof implied / sizeof *implied; i++) {
        bool there = strstr(said, implied[i].line) != NULL;
        seen += there;
        check(!there || feature(implied[i].feature), "%s is found where bpftool shows '%s'",
              feature_name(implied[i].feature), implied[i].line);
    }
    check(seen > 0, "bpftool shows some of them: %u", seen);
}

/* The link of a tracepoint shows whether the kernel has perf links. */
static void check_perf_link(void)
{
    struct object *obj = object_ready("live_attach");
    struct object_program *program = obj ? program_ready(obj, "on_tracepoint") : NULL;
    struct link link = {0};
    char path[64], name[64] = "";
    unsigned links = 0;

    if (!program)
        return;
    check(link_attach(&link, program, NULL) == 0, "a tracepoint attaches");
    for (size_t i = 0; i < link.nfds; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", link.fds[i]);
        ssize_t n = readlink(path, name, sizeof name - 1);
        name[n > 0 ? n : 0] = 0;
        links += strstr(name, "bpf_link") != NULL || strstr(name, "bpf-link") != NULL;
    }
    check((links == 1) == feature(FEATURE_PERF_LINK), "perf_link is found where a tracepoint gets one: %u",
          links);
    link_detach(&link);
    object_close(obj);
}

/* Whatever is left out of the type data, the kernel accepts the rest. */
static void check_sanitized(struct object *obj)
{
    size_t size, length;
    const void *raw = btf_bytes(obj->spec->btf, &size);
    unsigned refused = 0, tried = 0;
    struct error why = {""};

    for (unsigned without = 0; without < 128; without++) {
        struct btf_support support = {
            .func = !(without & 1) && feature(FEATURE_BTF_FUNC),
            .datasec = !(without & 2) && feature(FEATURE_BTF_DATASEC),
            .func_global = !(without & 4) && feature(FEATURE_BTF_FUNC_GLOBAL),
            .float_kind = !(without & 8) && feature(FEATURE_BTF_FLOAT),
            .decl_tag = !(without & 16) && feature(FEATURE_BTF_DECL_TAG),
            .type_tag = !(without & 32) && feature(FEATURE_BTF_TYPE_TAG),
            .enum64 = !(without & 64) && feature(FEATURE_BTF_ENUM64),
        };
        void *bytes;
        if (btf_sanitize(raw, size, &support, &bytes, &length, &why) < 0) {
            refused++;
            continue;
        }
        int fd = sys_bpf_btf_load(bytes, length, NULL, 0);
        refused += fd < 0;
        tried++;
        if (fd >= 0)
            close(fd);
        else
            error_set(&why, fd, "without kinds %#x: %s", without, error_name(fd));
        free(bytes);
    }
    check(tried == 128 && refused == 0, "type data with any kinds left out is taken: %u refused %s", refused,
          why.text);
}

static void check_new_kinds(void)
{
    const void *bytes;
    struct bpf_map_info info;
    uint32_t size = sizeof info;

    if (!object_bytes("live_btf.clang19", &bytes)) {
        skip("type data of new kinds", "needs CLANG19: the object is not built");
        return;
    }
    struct object *obj = object_ready("live_btf.clang19");
    struct object_program *program = obj ? program_ready(obj, "on_run") : NULL;
    if (!program)
        return;
    memset(&info, 0, sizeof info);
    check(obj->btf_fd >= 0, "type data of new kinds is taken, whatever the kernel knows");
    sys_bpf_info(object_map(obj, "hog_test_kinds")->fd, &info, &size);
    check(info.btf_id && info.btf_value_type_id, "a map has its types in the kernel: %u", info.btf_id);
    check(run_here(program) == 6 && GLOBAL(obj, "ran", uint32_t) == 1, "its program runs");
    check_sanitized(obj);
    object_close(obj);
}

/* Without privileges: a refusal that says what is missing. */
static void check_unprivileged(void)
{
    int status, answers[2];
    struct error why = {""};

    if (pipe(answers) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        int err = setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534);
        if (!err)
            err = probe_hook("raw_tp", &why);
        _exit(write(answers[1], &why, sizeof why) != sizeof why || err != -1);
    }
    waitpid(child, &status, 0);
    check(read(answers[0], &why, sizeof why) == sizeof why && status == 0 && strstr(why.text, "CAP_BPF"),
          "without privileges the refusal says what is missing: %s", why.text);
    close(answers[0]);
    close(answers[1]);
}

int main(void)
{
    check_unprivileged(); /* first: the probes remember */
    check_features();
    check_perf_link();
    check_new_kinds();
    return done();
}
