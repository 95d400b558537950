// SPDX-License-Identifier: GPL-2.0-only
/* Which tasks filters choose: values with and without `!`, groups by path and unit, pods by name. */
#include "host/filter.h"
#include <errno.h>
#include <string.h>
#include "host/container.h"
#include "host/users.h"
#include "tests/unit/tap.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2f5c9d1e-6b7a-4c3d-8e9f-0a1b2c3d4e5f"

static struct users *users;

static struct filter *open_filter(const struct filter_options *options)
{
    struct filter *filter;
    struct error why = {""};
    int err = filter_open(&filter, options, users, false, &why);

    check(!err && filter, "a filter: %s", why.text);
    return filter;
}

static bool passes(const struct filter_options *options, const struct filter_task *task)
{
    struct filter *filter = open_filter(options);
    bool is = filter && filter_passes(filter, task, NULL);

    filter_close(filter);
    return is;
}

static void check_groups(void)
{
    static const char unit[] = "/system.slice/nginx.service", below[] = "/a/nginx.service/worker",
                      root[] = "/";
    static const struct {
        const char *path, *group;
        bool is;
    } cases[] = {
        {unit, "/", true},
        {unit, "/system.slice", true},
        {unit, "/system.slice/", true},
        {unit, "/system", false},
        {unit, "/nginx.service", false},
        {unit, "nginx.service", true},
        {unit, "nginx", true},
        {unit, "nginx.serv", false},
        {unit, "ginx.service", false},
        {unit, "system.slice/nginx.service", true},
        {unit, "system.slice", true},
        {unit, "system", false},
        {below, "nginx.service", true},
        {below, "nginx", true},
        {below, "worker", true},
        {below, "a/nginx", true},
        {below, "nginx.service/", true},
        {below, "nginx.service/w", false},
        {root, "/", true},
        {root, "nginx", false},
        {"/nginx.service.d/x", "nginx", false},
        {"/nginx-a.service", "nginx", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = cases[i].path, *group = cases[i].group;
        check(cgroup_path_is_in(path, strlen(path), group, strlen(group)) == cases[i].is, "%s is %sin -g %s",
              path, cases[i].is ? "" : "not ", group);
    }
}

static void check_containers(void)
{
    static const char path[] =
        "/kubepods.slice/kubepods-pod2f5c9d1e_6b7a_4c3d_8e9f_0a1b2c3d4e5f.slice/crio-" ID ".scope";
    struct container in, shown = {.id = ID, .length = 12}, name = {.id = "web", .length = 3},
                         none = {.length = 0};

    container_of_path(path, strlen(path), &in);
    check(container_id_begins(&in, "0123", 4) && container_id_begins(&in, ID, 64), "the beginning of an id");
    check(!container_id_begins(&in, "123", 3), "and no other part");
    check(container_id_begins(&shown, ID, 64), "an id that was recorded with 12 digits is that of 64");
    check(container_id_begins(&name, "web", 3) && !container_id_begins(&name, "web2", 4), "a name");
    check(container_id_begins(&in, "", 0) && !container_id_begins(&none, "", 0),
          "an empty one is any container");

    struct filter_task task = {.path = path, .path_length = strlen(path), .container = &in};
    const struct filter_options uid = {.pods = {{"2f5c9d1e-6b"}, 1}}, part = {.pods = {{"web-"}, 1}},
                                whole = {.pods = {{"shop/web"}, 1}}, other = {.pods = {{"shop/we", "db"}, 2}},
                                any = {.pods = {{""}, 1}}, no = {.pods = {{"!"}, 1}};
    check(passes(&uid, &task) && passes(&any, &task) && !passes(&no, &task), "--pod UID, any and none");
    check(!passes(&part, &task), "no name is known: --pod NAME does not match");
    task.pod = "shop/web-7f9c";
    check(passes(&uid, &task) && passes(&part, &task) && passes(&whole, &task) && passes(&other, &task),
          "--pod UID, NAME, NAMESPACE/NAME");
    task.container = &none;
    task.pod = "shop/db-0";
    check(!passes(&uid, &task) && !passes(&part, &task) && !passes(&whole, &task) && passes(&other, &task),
          "and another one");
    task.pod = NULL;
    check(!passes(&any, &task) && passes(&no, &task), "what is in no pod");
}

static void check_negation(void)
{
    const struct filter_options o = {
        .comms = {{"!postgres", "p*", "/^ng/", "!/x$/"}, 4}, .not_pids = {7}, .nnot_pids = 1};
    static const struct {
        const char *comm;
        uint32_t pid;
        bool is;
    } cases[] = {{"postgres", 1, false}, {"php", 1, true},   {"php", 7, false}, {"nginx", 1, false},
                 {"ngin", 1, true},      {"bash", 1, false}, {NULL, 1, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *comm = cases[i].comm;
        const struct filter_task task = {
            .pid = cases[i].pid, .comm = comm, .comm_length = comm ? strlen(comm) : 0};
        check(passes(&o, &task) == cases[i].is, "%s %u %s", comm ? comm : "unknown", cases[i].pid,
              cases[i].is ? "passes" : "does not pass");
    }
    const struct filter_options not = {.comms = {{"!postgres"}, 1}}, user = {.users = {{"!root,!33"}, 1}};
    check(passes(&not, &(struct filter_task){.pid = 1}), "an unknown name is none that is refused");
    check(!passes(&user, &(struct filter_task){.uid_known = true, .uid = 33}) &&
              !passes(&user, &(struct filter_task){.uid_known = true, .uid = 0}) &&
              passes(&user, &(struct filter_task){.uid_known = true, .uid = 34}),
          "a list of users with ! in front of each");
}

static void check_pairs(void)
{
    const struct filter_options wanted = {.comms = {{"make"}, 1}}, refused = {.comms = {{"!make"}, 1}};
    const struct filter_task make = {.comm = "make", .comm_length = 4},
                             cat = {.comm = "cat", .comm_length = 3};
    struct filter *a = open_filter(&wanted), *b = open_filter(&refused);

    check(a && filter_passes(a, &make, &cat) && filter_passes(a, &cat, &make) &&
              !filter_passes(a, &cat, &cat),
          "of a row about two tasks, one must match");
    check(b && !filter_passes(b, &make, &cat) && !filter_passes(b, &cat, &make) &&
              filter_passes(b, &cat, &cat),
          "and neither may be refused");
    filter_close(a);
    filter_close(b);
}

static void check_refused(void)
{
    static const struct {
        const struct filter_options options;
        const char *want;
    } cases[] = {
        {{.comms = {{""}, 1}}, "-c/--comm: the value is empty"},
        {{.comms = {{"!"}, 1}}, "-c/--comm: the value is empty"},
        {{.cgroups = {{""}, 1}}, "-g/--cgroup: the value is empty"},
        {{.comms = {{"/a"}, 1}}, "-c/--comm: \"/a\": a regular expression is /a/"},
        {{.comms = {{"!/[a/"}, 1}}, "-c/--comm: \"/[a/\": [ without ]"},
        {{.users = {{"root,!33"}, 1}},
         "-u/--user: \"root,!33\": a ! is in front of each of the list or of none"},
        {{.users = {{"no_such"}, 1}}, "-u/--user: \"no_such\" is neither a user in /etc/passwd nor a number"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter *filter;
        struct error why = {""};
        int err = filter_open(&filter, &cases[i].options, users, false, &why);
        check(err == -EINVAL && !filter && !strcmp(why.text, cases[i].want), "refused: %s", why.text);
    }
}

static void check_described(void)
{
    const struct filter_options o = {
        .comms = {{"a", "!/b/"}, 2}, .pods = {{"x"}, 1}, .not_pids = {3}, .nnot_pids = 1};
    char text[64], cut[8];

    filter_describe(&o, text, sizeof text);
    check(!strcmp(text, "-p !3 -c a -c !/b/ --pod x"), "as it was given: %s", text);
    filter_describe(&o, cut, sizeof cut);
    check(!strcmp(cut, "-p !3 -"), "or cut: %s", cut);
}

int main(void)
{
    users = users_open("");
    check_groups();
    check_containers();
    check_negation();
    check_pairs();
    check_refused();
    check_described();
    users_close(users);
    return done();
}
