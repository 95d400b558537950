// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/rules.h"

/* The input of a rule. */
struct view_of {
    const struct times *times;
    const struct outlook *outlook;
    const struct thresholds *thresholds;
    double faulting; /* ns on a CPU that went to major faults, at most */
    double active;
};

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* ns */
static double lost_to_cpu(const struct view_of *v)
{
    return v->times->wait - at_most(v->times->own_wait, v->times->wait) + v->times->stolen;
}

static double lost_to_quota(const struct view_of *v)
{
    return v->times->throttled;
}

static double lost_to_io(const struct view_of *v)
{
    return v->times->io;
}

static double lost_to_memory(const struct view_of *v)
{
    return v->times->memory + v->faulting;
}

static double lost_to_locks(const struct view_of *v)
{
    return v->times->lock;
}

static double lost_to_silence(const struct view_of *v)
{
    return v->times->blocked;
}

/* It ran, or had more threads ready than it may use CPUs: it computes. */
static double computed(const struct view_of *v)
{
    return v->times->run + at_most(v->times->own_wait, v->times->wait);
}

/* percent of the span. Where many wait, a process that hardly runs causes much waiting: its own time is the
 * bound. */
static double kept_waiting(const struct view_of *v)
{
    return v->times->span > 0 ? 100 * at_most(v->times->caused, v->times->run) / v->times->span : 0;
}

static double busiest(const struct view_of *v)
{
    return v->times->span > 0 ? 100 * v->times->busiest / v->times->span : 0;
}

/* seconds */
static double left(const struct view_of *v)
{
    return v->outlook->seconds;
}

/*
 * The rules. oom-risk comes before all others; then, of the losses that are at least as large as their
 * threshold says, the largest; then the others in this order; else, if it was busy, the verdict of its
 * largest share; else the process is ok or idle.
 */
static const struct rule {
    enum verdict verdict;
    enum { ENDS, LOSS, LEVEL } kind;
    enum threshold threshold;
    double (*value)(const struct view_of *v);
    const char *what;
} rules[RULES] = {
    {VERDICT_OOM_RISK, ENDS, OOM_SECONDS, left, "seconds until its memory ends, as it grows now"},
    {VERDICT_STARVED, LOSS, STARVED_PCT, lost_to_cpu,
     "percent of its active time that it could have run, and other processes or the hypervisor had the CPU"},
    {VERDICT_THROTTLED, LOSS, THROTTLED_PCT, lost_to_quota,
     "percent of its active time that the CPU quota of its cgroup was used up"},
    {VERDICT_IO_BOUND, LOSS, IO_BOUND_PCT, lost_to_io,
     "percent of its active time that it was blocked on a disk"},
    {VERDICT_THRASHING, LOSS, THRASHING_PCT, lost_to_memory,
     "percent of its active time that went to page faults which wait, to refaults and to reclaim"},
    {VERDICT_LOCK_BOUND, LOSS, LOCK_BOUND_PCT, lost_to_locks,
     "percent of its active time that it slept for locks in futex(2)"},
    {VERDICT_BLOCKED, LOSS, BLOCKED_PCT, lost_to_silence,
     "percent of its active time that it slept for what does not answer"},
    {VERDICT_NOISY_NEIGHBOR, LEVEL, NOISY_PCT, kept_waiting,
     "time that others waited for a CPU which it had, at most what it ran, in percent of the span"},
    {VERDICT_CPU_BOUND, LEVEL, CPU_BOUND_PCT, busiest,
     "the most that it or one of its threads had of one CPU, percent"},
};

static double sum_of(const struct times *t)
{
    return t->run + t->wait + t->stolen + t->throttled + t->io + t->memory + t->lock + t->blocked;
}

/* ns that a rule's loss is; 0: it is none, or not large enough to be said. */
static double apply(const struct rule *rule, const struct view_of *v, struct finding *finding)
{
    const double *limits = v->thresholds->value;
    bool enough = v->active > 0 && v->active * 100 >= limits[ACTIVE_PCT] * v->times->span;
    double value = rule->value(v);

    *finding = (struct finding){
        .verdict = rule->verdict,
        .threshold = rule->threshold,
        .limit = limits[rule->threshold],
        .known = rule->kind != ENDS || v->outlook->known,
        .value = rule->kind != LOSS ? value
                 : v->active > 0    ? 100 * value / v->active
                                    : 0,
        .what = rule->what,
    };
    if (!finding->known)
        return 0;
    if (rule->kind == ENDS)
        finding->holds = value <= finding->limit && v->outlook->share_pct >= limits[OOM_SHARE_PCT];
    else
        finding->holds = finding->value >= finding->limit && (rule->kind == LEVEL || enough);
    return finding->holds && rule->kind == LOSS ? value : 0;
}

/* Of a busy process for which no rule holds. */
static enum verdict largest_share(const struct view_of *v)
{
    double most = computed(v);
    enum verdict verdict = VERDICT_CPU_BOUND;

    for (int i = 0; i < RULES; i++)
        if (rules[i].kind == LOSS && rules[i].value(v) > most) {
            most = rules[i].value(v);
            verdict = rules[i].verdict;
        }
    return verdict;
}

void judge(const struct times *times, const struct outlook *outlook, const struct thresholds *thresholds,
           struct judgement *judgement)
{
    struct view_of v = {.times = times, .outlook = outlook, .thresholds = thresholds};
    double most = 0;
    enum verdict verdict = VERDICT_OK;

    v.faulting = at_most(times->run, times->majors * thresholds->value[FAULT_CPU_US] * 1e3);
    v.active = judgement->active = sum_of(times);
    for (int i = 0; i < RULES; i++) {
        struct finding *finding = &judgement->findings[i];
        double lost = apply(&rules[i], &v, finding);
        if (lost > most) {
            most = lost;
            verdict = finding->verdict;
        }
    }
    for (int i = 0; i < RULES; i++)
        if (judgement->findings[i].holds &&
            (rules[i].kind == ENDS || (rules[i].kind == LEVEL && verdict == VERDICT_OK)))
            verdict = judgement->findings[i].verdict;
    judgement->largest_share =
        verdict == VERDICT_OK && v.active > 0 && v.active * 100 >= thresholds->value[BUSY_PCT] * times->span;
    if (judgement->largest_share)
        verdict = largest_share(&v);
    else if (verdict == VERDICT_OK && v.active * 100 < thresholds->value[IDLE_PCT] * times->span)
        verdict = VERDICT_IDLE;
    judgement->verdict = verdict;
}

double score(const struct times *times)
{
    return times->span > 0 ? 100 * (sum_of(times) + times->caused) / times->span : 0;
}
