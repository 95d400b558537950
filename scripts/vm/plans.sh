# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Which kernels are booted, and with what. A boot is called SUITE/ARCH/PLAN.

VM_SUITES=(bullseye bookworm trixie sid trixie-backports)
VM_ARCHS=(amd64 arm64)
VM_PLANS=(views loader faults file verdicts integrity confidentiality hostile users refused mounts readonly one-cpu many-cpus hotplug hotplug-ticks)

# plan NAME: sets cpus (qemu's -smp), cases (tests/vm/case) and parameters (of the kernel).
plan() {
    cpus=2 parameters=()
    case $1 in
    views) cases=views,hooks ;;
    loader) cases=programs,pin ;;
    faults) cases=faults,block parameters=(hog.disk=64M) ;;
    # One CPU: emulation of several may break when the first quota has the kernel patch itself.
    verdicts) cases=verdicts,calls cpus=1 parameters=(hog.disk=64M psi=1 tsc=reliable) ;; # see hotplug
    # The same, when programs come to system calls.
    file) cases='file' cpus=1 parameters=(tsc=reliable) ;;
    integrity) cases=lockdown parameters=("lockdown=$1") ;;
    confidentiality) cases=lockdown,pidns parameters=("lockdown=$1") ;;
    hostile) cases=nobtf,pidns ;;
    users) cases=privilege,memlock ;;
    refused) cases=refused ;;
    # One CPU: see verdicts; with two this one stood still each time.
    mounts) cases=cgroups,mounts cpus=1 parameters=(tsc=reliable) ;;
    readonly) cases='readonly' ;;
    one-cpu) cases=onecpu,contention cpus=1 parameters=(tsc=reliable) ;; # see hotplug
    many-cpus) cases=manycpus cpus=2,maxcpus=64 ;; # those that could be plugged in are possible
    # A second one comes while the case runs. The clock of the scheduler, by which it is judged, goes by ticks where counters
    # may not agree; hog must bear that, too.
    hotplug) cases=hotplug cpus=4 parameters=(maxcpus=1 tsc=reliable) ;;
    hotplug-ticks) cases=hotplug cpus=4 parameters=(maxcpus=1 tsc=unstable) ;;
    panic | hang) cases=$1 ;; # for the test of the matrix itself
    *) return 1 ;;
    esac
}

# In `make test`: all kernels of this architecture as they are, one of another, each hook on one kernel at least, and the
# hostile hosts on one: the oldest, where locked memory still bounds BPF. The longest first.
boots_ci() {
    local suite plan
    for suite in bullseye bookworm trixie sid; do
        echo "$suite/amd64/views"
    done
    for plan in verdicts users hostile loader; do
        echo "bullseye/amd64/$plan"
    done
    echo trixie/amd64/verdicts
    echo bookworm/arm64/views
    for suite in bullseye sid; do
        echo "$suite/amd64/faults"
    done
    for plan in confidentiality integrity refused mounts one-cpu hotplug; do
        echo "bullseye/amd64/$plan"
    done
    for suite in bullseye bookworm; do
        echo "$suite/amd64/file"
    done
}

# All of one kernel. CPUs that could be plugged in are possible for older kernels of x86 alone.
boots_of() { # boots_of SUITE ARCH
    local plan
    for plan in "${VM_PLANS[@]}"; do
        case $1/$2/$plan in
        */arm64/many-cpus | trixie*/*/many-cpus | sid/*/many-cpus) ;;
        *) echo "$1/$2/$plan" ;;
        esac
    done
}

# That, and every other kernel as it is.
boots_all() {
    local suite arch
    boots_ci
    printf '%s\n' bullseye/amd64/{hotplug-ticks,many-cpus,readonly} {bookworm,trixie,sid}/amd64/loader {bookworm,trixie}/amd64/faults \
        {trixie,sid}/amd64/file bookworm/arm64/{faults,file}
    for arch in "${VM_ARCHS[@]}"; do
        for suite in "${VM_SUITES[@]}"; do
            boots_ci | grep -qx "$suite/$arch/views" || echo "$suite/$arch/views"
        done
    done
}
