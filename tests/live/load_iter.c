/* SPDX-License-Identifier: GPL-2.0-only */
/* An iterator sees as many threads as this process has. */
#include "loader/kernel/attach.h"
#include "tests/live/objects.h"
#include <pthread.h>
#include <unistd.h>

#define THREADS 7

static pthread_barrier_t barrier;

static void *wait_for_end(void *unused)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void check_iterator(struct object *obj)
{
    struct object_program *program = object_program(obj, "on_task");
    struct link link = {0};
    struct error why = {""};
    char text[64], reason[640];

    int err = object_load_program(obj, program, &why);
    if (err && access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
        snprintf(reason, sizeof reason, "needs BTF: %s", why.text);
        skip("an iterator over tasks", reason);
        return;
    }
    if (!err)
        err = link_attach(&link, program, &why);
    check(!err, "an iterator over tasks attaches: %s", why.text);
    int fd = err ? -1 : sys_bpf_iter_create(link.fds[0]);
    check(fd > 2 && read(fd, text, sizeof text) == 0, "it runs when read, and writes nothing");
    check(GLOBAL(obj, "threads", uint32_t) == THREADS + 1, "it sees our threads: %u of %d",
          GLOBAL(obj, "threads", uint32_t), THREADS + 1);
    if (fd >= 0)
        close(fd);
    link_detach(&link);
}

int main(void)
{
    pthread_t threads[THREADS];
    struct object *obj = object_ready("live_iter");

    if (!obj)
        return done();
    GLOBAL(obj, "wanted_tgid", uint32_t) = getpid();
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, wait_for_end, NULL);
    pthread_barrier_wait(&barrier);
    check_iterator(obj);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    object_close(obj);
    return done();
}
