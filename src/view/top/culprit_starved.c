// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/culprit_starved.h"
#include <stdio.h>
#include <string.h>
#include "shared.types.h"
#include "view/top/kin.h"

#define MOSTLY 0.5 /* of the wait: what had the CPU for so long is the culprit, */
#define SINGLE 0.6 /* unless one process had so much of that; in its own family: of all that this ran */

void starved_add(const struct top *top, struct heaviest_pairs *heaviest, const struct pair *pair)
{
    struct family_time *time = heaviest->families;
    bool ended = false;

    heaviest->all += (double)pair->ns;
    if (waits_no_process(pair->aggressor))
        return;
    const struct family *family = kin_of(top, pair->aggressor, &ended);
    if (ended)
        heaviest->unknown += (double)pair->ns;
    while (time < heaviest->families + HEAVIEST_PAIRS && time->family && time->family != family)
        time++;
    if (!family || time == heaviest->families + HEAVIEST_PAIRS)
        return;
    time->family = family;
    time->ns += (double)pair->ns;
}

static double heaviest_single(const struct judged_process *process, const struct heaviest_pairs *heaviest)
{
    double most = 0;

    for (size_t i = 0; i < heaviest->n; i++)
        if (heaviest->pairs[i]->aggressor != process->key && (double)heaviest->pairs[i]->ns > most)
            most = (double)heaviest->pairs[i]->ns;
    return most;
}

const struct family *starved_family(const struct top *top, const struct judged_process *process, double *ns,
                                    bool *own)
{
    const struct heaviest_pairs *heaviest = &top->heaviest[process->rank - 1];
    const struct family *most = NULL;

    *ns = 0;
    for (size_t i = 0; i < HEAVIEST_PAIRS && heaviest->families[i].family; i++) {
        const struct family_time *time = &heaviest->families[i];
        double all = time->ns + heaviest->unknown * kin_part_of_unknown(top, time->family);
        if (all > *ns) {
            *ns = all;
            most = time->family;
        }
    }
    bool ended;
    *own = most && kin_of(top, process->key, &ended) == most;
    if (!most || *ns < MOSTLY * heaviest->all || *ns <= process->now.stolen)
        return NULL;
    return (*own ? most->most < SINGLE * most->weight : heaviest_single(process, heaviest) < SINGLE * *ns)
               ? most
               : NULL;
}

/* ---- control groups ---- */

/* A session is where people start things that have nothing in common. */
static bool is_session(const struct cgroup_name *path)
{
    size_t begin = path->length;

    while (begin && path->text[begin - 1] != '/')
        begin--;
    return path->length - begin >= 8 && !memcmp(path->text + begin, "session-", 8);
}

static const struct cgroup_name *group_name(const struct top *top, uint64_t key)
{
    const struct cgroup *group = waits_no_process(key) ? NULL : top_group(top, key);

    if (!group)
        return NULL;
    return group->cpu.known && group->cpu.path.length > 1 ? &group->cpu.path : &group->unified;
}

static bool is_same(const struct cgroup_name *a, const struct cgroup_name *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* The control group of those that had most of its CPU, if that is another one than its own. */
static const struct cgroup_name *starved_group(const struct top *top, const struct judged_process *process)
{
    const struct heaviest_pairs *heaviest = &top->heaviest[process->rank - 1];
    const struct cgroup_name *own = group_name(top, process->key),
                             *group = heaviest->n ? group_name(top, heaviest->pairs[0]->aggressor) : NULL;
    double ns = 0;

    if (!group || group->length < 2 || is_session(group) || !own || is_same(own, group))
        return NULL;
    for (size_t i = 0; i < heaviest->n; i++) {
        const struct cgroup_name *other = group_name(top, heaviest->pairs[i]->aggressor);
        if (other && is_same(group, other))
            ns += (double)heaviest->pairs[i]->ns;
    }
    return ns >= MOSTLY * heaviest->all && ns > process->now.stolen &&
                   heaviest_single(process, heaviest) < SINGLE * ns
               ? group
               : NULL;
}

bool starved_text(const struct top *top, const struct judged_process *process, struct culprit *culprit)
{
    double ns;
    bool own;
    const struct family *family = starved_family(top, process, &ns, &own);
    const struct cgroup_name *group = family ? NULL : starved_group(top, process);

    if (family)
        kin_name(top, family, culprit->text, sizeof culprit->text);
    else if (group)
        snprintf(culprit->text, sizeof culprit->text, "%.*s", (int)group->length, group->text);
    else
        return false;
    culprit->length = strlen(culprit->text);
    return true;
}

/* ---- sentences ---- */

/* "make (30700)" */
static void put_head(struct paragraph *p, const struct family *family)
{
    paragraph_name(p, family->comm, family->comm_length);
    paragraph_add(p, " (%u)", key_process(family->head));
}

static unsigned cpus_of(const struct top *top)
{
    return sched_totals(top->sched)->cpus;
}

bool starved_prose(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    double ns, window = top->process_table.window;
    bool own;
    const struct family *family = starved_family(top, process, &ns, &own);

    if (!family)
        return false;
    if (process->judged.span > 1.5 * window) { /* the family is that of the window only */
        paragraph_add(p, " In the last ");
        paragraph_time(p, window);
        paragraph_add(p, own ? " its own family" : " a family");
    } else {
        paragraph_add(p, own ? " Meanwhile its own family" : " Meanwhile a family");
    }
    paragraph_add(p, " had the CPU, for ");
    paragraph_time(p, ns);
    paragraph_add(p, ": ");
    put_head(p, family);
    paragraph_add(p, " has %.1f processes runnable for %u CPU%s", family->wants / window, cpus_of(top),
                  cpus_of(top) > 1 ? "s" : "");
    if (family->ended * 2 > family->n)
        paragraph_add(p, ", %zu in all, most of which have ended", family->n);
    paragraph_add(p, ".");
    return true;
}

bool starved_next(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    double ns;
    bool own;
    const struct family *family = starved_family(top, process, &ns, &own);

    if (!family)
        return false;
    if (own)
        paragraph_add(p, "fewer of them at once wait less and are done as soon: make -j%u, or what ",
                      cpus_of(top));
    else
        paragraph_add(p, "fewer of them at once, or a lower CPUWeight= of the unit of ");
    put_head(p, family);
    paragraph_add(p, own ? " calls its jobs or workers. " : ", leave this one a CPU. ");
    paragraph_add(p, "hog contention -p %u shows all that it waited for.", key_process(process->key));
    return true;
}
