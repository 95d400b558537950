// SPDX-License-Identifier: GPL-2.0-only
/* Paths of cgroups as the runtimes make them, from their documentation and from hosts; pods of a made-up
 * directory of logs, users of a made-up /etc/passwd. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include "host/identity.h"
#include "host/pods.h"
#include "host/users.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define ID    "4f3c2b1a0f9e8d7c6b5a49382716054f3c2b1a0f9e8d7c6b5a493827160543aa"
#define INNER "00aa11bb22cc33dd44ee55ff66778899aabbccddeeff00112233445566778899"
#define POD   "2f5c9d1e-6b7a-4c3d-8e9f-0a1b2c3d4e5f"
#define POD_  "2f5c9d1e_6b7a_4c3d_8e9f_0a1b2c3d4e5f"

static const struct {
    const char *path, *runtime, *id, *pod;
} paths[] = {
    {"/", NULL, "", ""},
    {"/user.slice/user-1000.slice/session-3.scope", NULL, "", ""},
    {"/system.slice/docker.service", NULL, "", ""},
    {"/docker/" ID, "docker", ID, ""},
    {"/system.slice/docker-" ID ".scope", "docker", ID, ""},
    {"/system.slice/docker-" ID ".scope/init.scope", "docker", ID, ""},
    {"/kubepods/burstable/pod" POD "/" ID, NULL, ID, POD},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice/cri-containerd-" ID
     ".scope",
     "containerd", ID, POD},
    {"/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope", "crio", ID, POD},
    {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_ ".slice/docker-" ID ".scope",
     "docker", ID, POD},
    {"/kubepods/besteffort/podaabbccddeeff00112233445566778899/" ID, NULL, ID,
     "aabbccddeeff00112233445566778899"},
    {"/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" ID, "containerd",
     ID, ""},
    {"/kubepods.slice/kubepods-pod" POD_ ".slice", NULL, "", POD},
    {"/kubepods.slice/kubepods-pod" POD_ ".slice/crio-conmon-" ID ".scope", NULL, "", POD},
    {"/default/" ID, NULL, ID, ""},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container", "podman", ID,
     ""},
    {"/machine.slice/libpod-" ID ".scope", "podman", ID, ""},
    {"/machine.slice/libpod-conmon-" ID ".scope", NULL, "", ""},
    {"/libpod_parent/libpod-" ID, "podman", ID, ""},
    {"/lxc/web", "lxc", "web", ""},
    {"/lxc.payload/web/system.slice", "lxc", "web", ""},
    {"/lxc.payload.web/init.scope", "lxc", "web", ""},
    {"/lxc.monitor.web", NULL, "", ""},
    {"/machine.slice/systemd-nspawn@build.service/payload", "nspawn", "build", ""},
    {"/machine.slice/machine-build.scope/payload", "nspawn", "build", ""},
    {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL, "", ""},
    {"/docker/" ID "/docker/" INNER, "docker", INNER, ""},
    {"/docker/" ID "/kubelet/kubepods/pod" POD "/" INNER, NULL, INNER, POD},
    {"/docker/4f3c2b", NULL, "", ""},
    {"/docker/" ID "0", NULL, "", ""},
    {"/system.slice/docker-.scope", NULL, "", ""},
    {"//docker//" ID "/", "docker", ID, ""},
    {"/lxc/", NULL, "", ""},
    {"/x.slice/pod" POD ".slice", NULL, "", ""},
};

static bool is(const char *bytes, size_t length, const char *text)
{
    return length == strlen(text) && (!length || !memcmp(bytes, text, length));
}

static void check_paths(void)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct container c;
        container_of_path(paths[i].path, strlen(paths[i].path), &c);
        bool runtime =
            !paths[i].runtime == !c.runtime && (!c.runtime || !strcmp(c.runtime, paths[i].runtime));
        check(runtime && is(c.id, c.length, paths[i].id) && !strcmp(c.pod, paths[i].pod),
              "%s: %s %.*s, pod %s", paths[i].path, c.runtime ? c.runtime : "-", (int)c.length, c.id, c.pod);
    }
    struct container c;
    container_of_path("/docker/" ID, strlen("/docker/" ID), &c);
    check(container_short(&c) == 12, "of 64 digits twelve are shown, as docker ps does");
    container_of_path("/lxc/an-old-container", strlen("/lxc/an-old-container"), &c);
    check(container_short(&c) == strlen("an-old-container"), "a name is shown whole");
}

/* ---- which of several hierarchies ---- */

/* expected "": none. */
static void choose(const char *what, const char *text, const char *expected)
{
    struct container c;
    const char *path = "";
    size_t length = 0;
    bool found = identity_path(text, &path, &length, &c);

    check(found == (*expected != 0) && is(path, length, expected), "%s: %.*s", what, (int)length, path);
}

static void check_hierarchies(void)
{
    static char text[8192], path[4096];

    choose("version 2", "0::/user.slice/a.scope\n", "/user.slice/a.scope");
    choose("version 1", "4:memory:/m\n3:cpu,cpuacct:/c\n1:name=systemd:/s\n", "/s");
    choose("hybrid: version 2 before others", "4:memory:/m\n1:name=systemd:/s\n0::/u\n", "/u");
    choose("hybrid: not its root", "4:memory:/m\n1:name=systemd:/\n0::/\n", "/m");
    choose("hybrid: a container before all", "4:memory:/docker/" ID "\n0::/system.slice/containerd.service\n",
           "/docker/" ID);
    choose("a group that was removed", "0::/gone (deleted)\n", "/gone");
    choose("a colon in a path", "0::/a:b\n", "/a:b");
    choose("the root", "0::/\n", "/");
    choose("damaged: nothing", "", "");
    choose("damaged: no path", "0::\n", "");
    choose("damaged: no end", "0::/a", "");
    choose("damaged: no list", "0/a\n", "");
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    snprintf(text, sizeof text, "0::%s\n", path);
    choose("4,095 bytes", text, path);
}

/* ---- pods ---- */

static void is_pod(struct pods *pods, const char *what, const char *uid, const char *expected)
{
    char name[PODS_NAME] = "-";

    check(pods_find(pods, uid, name) == (strcmp(expected, "-") != 0) && !strcmp(name, expected), "%s: %s",
          what, name);
}

/* The directory's time of change has the granularity of a tick, and is made different. */
static void pods_have_changed(void)
{
    static time_t second = 1000;
    const struct timespec times[2] = {{.tv_sec = ++second}, {.tv_sec = second}};
    char full[128];

    snprintf(full, sizeof full, "%s/pods", tree_root);
    check(!utimensat(AT_FDCWD, full, times, 0), "the directory has changed");
}

static void check_pods(void)
{
    char directory[128], path[512], longest[254], name[PODS_NAME];

    tree_begin();
    snprintf(directory, sizeof directory, "%s/pods", tree_root);
    struct pods *pods = pods_open(directory);
    is_pod(pods, "without the directory no pod has a name", POD, "-");
    tree_file("/pods/shop_web-7d4b9c-x2x8k_" POD "/web/0.log", "");
    tree_file("/pods/kube-system_etcd-node1_aabbccddeeff00112233445566778899/etcd/0.log", "");
    tree_file("/pods/other_web.example.org_" INNER "/web/0.log", "");
    is_pod(pods, "a pod in a directory that came later", POD, "shop/web-7d4b9c-x2x8k");
    is_pod(pods, "a pod of a file", "aabbccddeeff00112233445566778899", "kube-system/etcd-node1");
    is_pod(pods, "a name with dots", INNER, "other/web.example.org");
    is_pod(pods, "another UID", "3f5c9d1e-6b7a-4c3d-8e9f-0a1b2c3d4e5f", "-");
    is_pod(pods, "the beginning of a UID", "2f5c9d1e", "-");
    is_pod(pods, "no UID", "", "-");

    tree_file("/pods/a_new_5f5c9d1e/x/0.log", "");
    tree_file("/pods/a_b_c_6f5c9d1e/x/0.log", "");
    tree_file("/pods/_b_7f5c9d1e/x/0.log", "");
    tree_file("/pods/a__8f5c9d1e/x/0.log", "");
    tree_file("/pods/9f5c9d1e/x/0.log", "");
    tree_file("/pods/a\n_b_af5c9d1e/x/0.log", "");
    tree_file("/pods/a_\033[31m_bf5c9d1e/x/0.log", "");
    tree_file("/pods/A_b_cf5c9d1e/x/0.log", "");
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "ns_", 3);
    memcpy(longest + sizeof longest - 10, "_df5c9d1e", 10);
    snprintf(path, sizeof path, "/pods/%s/x/0.log", longest);
    tree_file(path, "");
    pods_have_changed();
    is_pod(pods, "a pod that is new", "5f5c9d1e", "a/new");
    is_pod(pods, "and those before", POD, "shop/web-7d4b9c-x2x8k");
    const char *const bad[] = {"6f5c9d1e", "c_6f5c9d1e", "7f5c9d1e", "8f5c9d1e",
                               "9f5c9d1e", "af5c9d1e",   "bf5c9d1e", "cf5c9d1e"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_pod(pods, "not made by a kubelet", bad[i], "-");
    check(pods_find(pods, "df5c9d1e", name) && strlen(name) == sizeof longest - 10, "a name of the longest");

    tree_file("/pods/a_late_ef5c9d1e/x/0.log", "");
    pods_have_changed();
    snprintf(path, sizeof path, "/pods/shop_web-7d4b9c-x2x8k_" POD);
    tree_remove(path);
    is_pod(pods, "a pod that ended keeps its name until the directory is read", POD, "shop/web-7d4b9c-x2x8k");
    is_pod(pods, "which a new one brings about", "ef5c9d1e", "a/late");
    is_pod(pods, "then it has none", POD, "-");
    pods_close(pods);
    tree_end();
}

static void check_users(void)
{
    uint32_t uid = 7;

    tree_begin();
    tree_file("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nweb:x:33:33::/:/bin/false\nalso:x:33:33::/:\n"
                             "\n:x:5:5::/:\nbad:x\nbad:x:y:1::\nbad:x:4294967296:0::\nbig:x:4294967294:0::\n"
                             "last:x:1000:1000::/:");
    struct users *users = users_open(tree_root);
    check(users && users_name(users, 0) && !strcmp(users_name(users, 0), "root"), "a user's name");
    check(!strcmp(users_name(users, 33), "web"), "of two names of a number the first");
    check(users_find(users, "also", 4, &uid) && uid == 33, "and either is found");
    check(!strcmp(users_name(users, 4294967294u), "big"), "the largest number");
    check(users_name(users, 1000) && !strcmp(users_name(users, 1000), "last"), "a last line without an end");
    check(!users_name(users, 5) && !users_find(users, "bad", 3, &uid) && !users_find(users, "", 0, &uid),
          "damaged lines name no user");
    check(!users_find(users, "roo", 3, &uid), "the beginning of a name is no name");
    users_close(users);
    tree_remove("/etc/passwd");
    users = users_open(tree_root);
    check(users && !users_name(users, 0), "without the file no user has a name");
    users_close(users);
    tree_end();
}

int main(void)
{
    check_paths();
    check_hierarchies();
    check_pods();
    check_users();
    return done();
}
