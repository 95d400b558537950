/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols of the running kernel: an address, names that no kernel has, and functions to call if they exist.
 */
#include "kernel/helpers.bpf.h"

#define ksym __attribute__((section(".ksyms")))
#define weak __attribute__((weak))

extern const int schedule ksym;
extern const int hog_no_such_symbol ksym weak;
extern void bpf_rcu_read_lock(void) ksym weak;
extern void bpf_rcu_read_unlock(void) ksym weak;
extern void hog_no_such_function(int x) ksym weak;

u64 schedule_address;
u32 missing, called;

SEC("tp_btf/sys_enter") int on_run(void *ctx)
{
    schedule_address = (u64)&schedule;
    missing = &hog_no_such_symbol == NULL;
    if (hog_no_such_function)
        hog_no_such_function(1);
    else
        missing++;
    if (bpf_rcu_read_lock && bpf_rcu_read_unlock) {
        bpf_rcu_read_lock();
        called++;
        bpf_rcu_read_unlock();
    }
    return 0;
}

extern const int hog_not_there ksym;

SEC("raw_tp/sys_enter") int on_missing(void *ctx)
{
    schedule_address = (u64)&hog_not_there;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
