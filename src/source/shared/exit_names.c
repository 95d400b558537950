// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/exit_names.h"
#include <string.h>
#include "shared.types.h"
#include "source/shared/sketch.h"

/* Programs write concurrently: a copy is valid only if the key is the same before and after. */
static bool copy_exit_name(const volatile struct hog_exit_name *dead, uint64_t key,
                           struct hog_exit_name *copy)
{
    if (dead->key != key)
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy->uid = dead->uid;
    copy->cgroup = dead->cgroup;
    copy->cgroup_v1 = dead->cgroup_v1;
    copy->parent = dead->parent;
    for (size_t i = 0; i < sizeof copy->comm; i++)
        copy->comm[i] = dead->comm[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return dead->key == key;
}

/* Two copies must agree: see sketch_settle(). An entry that is being replaced is no longer this key's. */
static bool read_exit_name(const volatile struct hog_exit_name *dead, uint64_t key, struct name *name)
{
    struct hog_exit_name copy, before;

    if (!copy_exit_name(dead, key, &copy))
        return false;
    if (STORES_OVERTAKE) {
        before = copy;
        sketch_settle();
        if (!copy_exit_name(dead, key, &copy) || copy.uid != before.uid || copy.cgroup != before.cgroup ||
            copy.cgroup_v1 != before.cgroup_v1 || copy.parent != before.parent ||
            memcmp(copy.comm, before.comm, sizeof copy.comm) != 0)
            return false;
    }
    name->kernel = copy.comm[sizeof copy.comm - 1] != 0;
    name->comm_length = strnlen(copy.comm, sizeof copy.comm - 1);
    memcpy(name->comm, copy.comm, name->comm_length);
    name->uid = copy.uid;
    name->uid_known = true;
    name->cgroup = copy.cgroup;
    name->cgroup_v1 = copy.cgroup_v1;
    name->parent = copy.parent;
    return true;
}

bool exit_name_of(const struct sketch *sketch, size_t offset, size_t n, uint64_t key, struct name *name)
{
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++) {
        const char *head = sketch_head(sketch, cpu);
        const struct hog_exit_name *dead = (const void *)(head + offset);
        for (size_t i = 0; i < n; i++)
            if (read_exit_name(&dead[i], key, name))
                return true;
    }
    return false;
}

void exit_names_each(const struct sketch *sketch, size_t offset, size_t n, exit_name_fn fn, void *context)
{
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++) {
        const unsigned char *head = sketch_head(sketch, cpu);
        const struct hog_exit_name *dead = (const void *)(head + offset);
        for (size_t i = 0; i < n; i++) {
            uint64_t key = ((const volatile struct hog_exit_name *)&dead[i])->key;
            struct name name = {.comm_length = 0};
            if (key && read_exit_name(&dead[i], key, &name))
                fn(context, key, &name);
        }
    }
}
