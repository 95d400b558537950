# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Which kernels are booted, and with which cases. A boot is called SUITE/ARCH/PLAN.

VM_SUITES=(bullseye bookworm trixie sid trixie-backports)
VM_ARCHS=(amd64 arm64)
VM_MODULE=bookworm/amd64 # the kernel that the module of tests/vm/powercap is built for
VM_MODULES=(dm-mod dm-crypt md-mod raid1 configfs null_blk) # all modules in plans
VM_PLANS=(views hooks loader faults file verdicts integrity confidentiality hostile pidns users refused mounts readonly one-cpu energy many-cpus hotplug hotplug-ticks)

# plan NAME: sets cpus (qemu's -smp), cases (tests/vm/case), parameters (of the kernel) and modules (to be loaded).
plan() {
    cpus=2 parameters=() modules=()
    case $1 in
    views) cases=views,memory,stacks,events ;;
    hooks) cases=hooks ;;
    loader) cases=programs,pin ;;
    faults) cases=faults,block parameters=(hog.disk=64M) ;;
    # One CPU: emulation of several may break when the first quota makes the kernel patch itself.
    verdicts) cases=verdicts,calls cpus=1 parameters=(hog.disk=64M hog.disk_mb_s=50 psi=1 tsc=reliable) ;; # see hotplug
    # The same, with programs on system calls.
    file) cases='file' cpus=1 parameters=(tsc=reliable) ;;
    integrity) cases=lockdown parameters=("lockdown=$1") ;;
    confidentiality) cases=lockdown,pidns parameters=("lockdown=$1") ;;
    hostile) cases=nobtf ;;
    pidns) cases=pidns ;;
    users) cases=privilege,memlock ;;
    refused) cases=refused ;;
    # One CPU: see verdicts; with two this boot stood still each time.
    mounts) cases=cgroups,mounts cpus=1 parameters=(tsc=reliable) ;;
    readonly) cases='readonly' ;;
    one-cpu) cases=onecpu,contention,energy cpus=1 parameters=(tsc=reliable) ;; # see hotplug
    many-cpus) cases=manycpus cpus=2,maxcpus=64 ;; # CPUs that could be plugged in are possible
    energy) cases=energy cpus=1 parameters=(tsc=reliable) ;;
    # A second CPU comes online while the case runs. The scheduler's clock, the reference here, advances by ticks where
    # counters may not agree; hog must cope with that, too.
    hotplug) cases=hotplug cpus=4 parameters=(maxcpus=1 tsc=reliable) ;;
    hotplug-ticks) cases=hotplug cpus=4 parameters=(maxcpus=1 tsc=unstable) ;;
    stack) cases=stack parameters=(hog.disk=64M) modules=(dm-mod dm-crypt md-mod raid1) ;;
    # For tests/bench/file.sh and block.sh only: time there is the number of instructions.
    filecost) cases=filecost cpus=1 parameters=(hog.icount tsc=reliable) ;;
    blockcost) cases=blockcost cpus=1 parameters=(hog.icount tsc=reliable) modules=(configfs null_blk) ;;
    panic | hang) cases=$1 ;; # for the test of the matrix itself
    *) return 1 ;;
    esac
}

# In `make test`, as many as there is time for: the kernels of this architecture, one of another, each hook on
# at least one kernel, and hostile hosts on the oldest one. The longest first.
boots_ci() {
    local suite plan
    echo bookworm/amd64/hooks
    echo bullseye/amd64/verdicts
    for suite in bullseye bookworm sid; do
        echo "$suite/amd64/views"
    done
    echo bookworm/arm64/views
    for plan in faults hostile integrity; do
        echo "bullseye/amd64/$plan"
    done
    echo trixie/amd64/file # the oldest with all its hooks
    echo "$VM_MODULE/energy"
}

# All plans for one kernel. CPUs that could be plugged in are possible only on older x86 kernels.
boots_of() { # boots_of SUITE ARCH
    local plan
    for plan in "${VM_PLANS[@]}"; do
        case $1/$2/$plan in
        */arm64/many-cpus | trixie*/*/many-cpus | sid/*/many-cpus) ;;
        *) echo "$1/$2/$plan" ;;
        esac
    done
}

# All plans for the first, every other kernel as it is, and the rest where kernels differ.
boots_all() {
    local suite arch plan
    boots_ci
    for suite in "${VM_SUITES[@]}"; do
        for arch in "${VM_ARCHS[@]}"; do
            for plan in views hooks; do
                echo "$suite/$arch/$plan"
            done
        done
    done | grep -vxFf <(boots_ci)
    printf '%s\n' {bullseye,bookworm,trixie,sid}/amd64/loader {bookworm,trixie,sid}/amd64/{faults,verdicts} \
        {bullseye,bookworm,sid}/amd64/file bookworm/amd64/stack {trixie,sid}/amd64/energy bookworm/arm64/{faults,file,energy} \
        bullseye/amd64/{pidns,confidentiality,refused,readonly,one-cpu,hotplug,hotplug-ticks,many-cpus}
}
