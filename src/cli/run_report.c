// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run_report.h"
#include <errno.h>
#include "base/message.h"
#include "host/users.h"
#include "history/report.h"
#include "verdict/verdict.h"
#include "view/view.h"

/* What is asked for, and what is known of the columns of all views. */
static struct report_options report_options_of(const struct options *o)
{
    static const struct schema *schemas[MAX_VIEWS + 1];

    for (size_t i = 0; i < MAX_VIEWS && views[i]; i++)
        schemas[i] = &views[i]->schema;
    return (struct report_options){
        .files = {o->files[0], o->files[1]},
        .from = o->from,
        .to = o->to,
        .columns = o->sort,
        .by = !o->by                 ? NULL
              : o->by == ROWS_THREAD ? "tid"
                                     : rows_word_name(o->by),
        .html = o->format == OUT_HTML,
        .no_kernel = o->run.no_kernel,
        .top = o->run.top,
        .format = o->format,
        .header = !o->no_header,
        .schemas = schemas,
        .verdicts = verdict_names,
        .nverdicts = VERDICTS,
    };
}

/* PIDs are rows like others, and not processes that are watched. */
static enum status run_filtered(const struct options *o, enum status (*run)(const struct report_options *))
{
    struct report_options options = report_options_of(o);
    struct filter_options filters = o->run.filters;
    struct users *users = users_open("");
    struct filter *filter = NULL;
    struct error why = {""};
    char chosen[200];

    filters.pids = o->pids;
    filters.npids = o->npids;
    int err =
        users ? filter_open(&filter, &filters, users, true, &why) : error_set(&why, -ENOMEM, "out of memory");
    filter_describe(&filters, chosen, sizeof chosen);
    options.filter = filter;
    options.filter_kinds = filter_kinds(&filters);
    options.chosen = filter ? chosen : "--no-kernel";
    if (err)
        message("%s", why.text);
    enum status status = !err ? run(&options) : err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
    filter_close(filter);
    users_close(users);
    return status;
}

enum status run_report(const struct options *options)
{
    return run_filtered(options, report);
}

enum status run_diff(const struct options *options)
{
    return run_filtered(options, report_diff);
}
