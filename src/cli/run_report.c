// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run_report.h"
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
        .top = o->run.top,
        .format = o->format,
        .header = !o->no_header,
        .schemas = schemas,
        .verdicts = verdict_names,
        .nverdicts = VERDICTS,
    };
}

enum status run_report(const struct options *options)
{
    const struct report_options of_report = report_options_of(options);

    return report(&of_report);
}

enum status run_diff(const struct options *options)
{
    const struct report_options of_diff = report_options_of(options);

    return report_diff(&of_diff);
}
