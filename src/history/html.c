/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/flames_html.h"
#include "history/html.h"
#include "history/page.h"
#include "history/when.h"
#include "out/cell.h"
#include "out/lines.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH   960
#define HEIGHT  160
#define COLOURS 10

/* Nothing may be loaded and nothing sent, whatever a name has slipped in. */
static const char head[] =
    "<!DOCTYPE html><html lang=en><meta charset=utf-8>"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none';style-src 'unsafe-inline';"
    "script-src 'unsafe-inline'\">"
    "<meta name=viewport content='width=device-width'><title>hog report</title><style>"
    "body{font:14px/1.4 system-ui,sans-serif;margin:1.5em auto;max-width:1280px;padding:0 "
    "1em;color:#222;background:#fff}"
    "h2{margin:1.6em 0 .3em;font-size:1.15em}table{border-collapse:collapse;font-size:13px}"
    "th,td{padding:1px .6em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "th{background:#f3f3f3;position:sticky;top:0}.t{text-align:left}div{overflow-x:auto}"
    "svg{width:100%;max-width:1000px;display:block}polyline{fill:none;stroke-width:1.5}"
    "text{font:10px "
    "system-ui,sans-serif;fill:#555}i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}"
    "#v{position:fixed;display:none;background:#222;color:#fff;padding:2px "
    "6px;font-size:12px;pointer-events:none;"
    "white-space:pre}"
    ".f "
    "text{fill:#222}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th{background:#333}"
    "th,td{border-color:#444}text{fill:#aaa}.f text{fill:#222}}"
    "</style><h1>hog report</h1>";

/* Values in data-t show up under the pointer. The tables have the rest, without script. */
static const char tail[] =
    "<div id=v></div><script>var v=document.getElementById('v');document.onmousemove=function(e){"
    "var t=e.target.closest&&e.target.closest('[data-t]');v.style.display=t?'block':'none';"
    "if(t){v.textContent=t.getAttribute('data-t');v.style.left=Math.min(e.clientX+12,innerWidth-280)+'px';"
    "v.style.top=e.clientY+14+'px'}}</script>\n";

static const char *const colours[COLOURS] = {"#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2",
                                             "#6cc5b0", "#ff8ab7", "#9c6b4e", "#97bbf5", "#9498a0"};

static void put_time(struct page *p, uint64_t ns)
{
    const struct cell cell = cell_time(ns);
    char text[CELL_TEXT];

    if (!ns || !cell_format(&cell, text))
        memcpy(text, "-", 2);
    unsigned end =
        p->d->seconds < (double)p->d->windows ? 23 : 19; /* to the second, or shorter windows' ms */
    if (strlen(text) > end)
        memcpy(text + end, "Z", 2);
    lines_text(&p->lines, text);
}

static void cell_number(struct page *p, double value, unsigned digits)
{
    page_put(p, "<td>");
    page_number(p, value, digits);
}

/* ---- tables ---- */

static void put_who(struct page *p, const char *pid, const char *name)
{
    page_put(p, "<td>");
    page_name(p, *pid ? pid : "-");
    page_put(p, "<td class=t>");
    page_name(p, *name ? name : "-");
}

static void put_series(struct page *p, const struct ranking *r, const struct series *s, unsigned rank)
{
    unsigned verdict = series_verdict(s);

    page_put(p, "<tr><td>%u", rank + 1);
    page_put(p, "<td><i style=background:%s></i>", colours[rank % COLOURS]);
    page_name(p, *s->pid ? s->pid : "-");
    page_put(p, "<td class=t>");
    page_name(p, *s->name ? s->name : "-");
    page_put(p, "<td>");
    if (r->how != TOTAL_NONE)
        page_number(p, s->total, 3);
    else
        page_put(p, "-");
    cell_number(p, series_mean(s), 2);
    cell_number(p, series_quantile(s, 0.5), 2);
    cell_number(p, series_quantile(s, 0.95), 2);
    cell_number(p, series_quantile(s, 0.99), 2);
    cell_number(p, s->peak, 2);
    page_put(p, "<td>");
    put_time(p, s->peak_at);
    page_put(p, "<td>%" PRIu64 "<td class=t>", s->windows);
    if (verdict >= DIGEST_WELL) {
        page_put(p, "%s %" PRIu32 " x%s", p->d->verdicts[verdict], s->verdicts[verdict],
                 *s->by ? " by " : "");
        page_name(p, s->by);
    }
    page_put(p, "\n");
}

static void put_tables(struct page *p, const struct ranking *r)
{
    const char *by = p->d->by ? p->d->by : p->d->grouped;
    const char *subject = r->subject ? r->subject : strcmp(by, "process") != 0 ? by : "comm";
    const char *unit = ranking_unit(r);

    page_put(p, "<div><table id=\"");
    page_name(p, r->view);
    page_put(p, ".%s\"><tr><th>rank<th>pid<th class=t>", r->column);
    page_name(p, subject);
    page_put(p,
             "<th>total%s%s<th>mean<th>p50<th>p95<th>p99<th>peak<th>at (UTC)"
             "<th>windows<th class=t>verdict\n",
             unit ? ", " : "", unit ? unit : "");
    for (unsigned i = 0; i < r->n; i++)
        put_series(p, r, &p->d->series[r->first + i], i);
    page_put(p, "</table></div><p>Worst windows, all rows:\n<table>");
    for (unsigned i = 0; i < DIGEST_WORST && r->worst[i].value > 0; i++) {
        page_put(p, "<tr><td>");
        put_time(p, r->worst[i].start);
        cell_number(p, r->worst[i].value, 2);
        page_put(p, "<td>most of it:");
        cell_number(p, r->worst[i].most, 2);
        put_who(p, r->worst[i].pid, r->worst[i].name);
        page_put(p, "\n");
    }
    page_put(p, "</table>\n");
}

/* ---- drawings ---- */

static unsigned slot_x(const struct digest *d, unsigned slot)
{
    return slot * WIDTH / d->slots;
}

static unsigned slot_width(const struct digest *d)
{
    return (WIDTH + d->slots - 1) / d->slots;
}

static uint64_t slot_time(const struct digest *d, unsigned slot)
{
    return d->first + (uint64_t)((double)(d->last - d->first) * slot / d->slots);
}

/* Mean of a slot of the time line. < 0: nothing was recorded then. */
static double slot_value(const struct digest *d, const float *line, unsigned slot)
{
    return d->slot_seconds[slot] > 0 ? (double)line[slot] / (double)d->slot_seconds[slot] : -1;
}

static double highest(const struct digest *d, const float *line, double most)
{
    for (unsigned i = 0; i < d->slots; i++)
        most = fmax(most, slot_value(d, line, i));
    return most;
}

/* Where nothing was recorded, the line is broken. */
static void put_line(struct page *p, const float *line, double most, const char *colour)
{
    bool open = false;

    for (unsigned i = 0; i < p->d->slots; i++) {
        double value = slot_value(p->d, line, i);
        if (value < 0) {
            if (open)
                page_put(p, "\"/>");
            open = false;
            continue;
        }
        if (!open)
            page_put(p, "<polyline stroke=%s points=\"", colour);
        open = true;
        page_put(p, "%u,%u ", slot_x(p->d, i) + slot_width(p->d) / 2,
                 (unsigned)lrint(HEIGHT * (1 - value / most)) + 4);
    }
    if (open)
        page_put(p, "\"/>");
    page_put(p, "\n");
}

/* What the pointer shows over a slot: each series with its value. */
static void put_hover(struct page *p, const struct ranking *r, unsigned slot)
{
    page_put(p, "<rect x=%u width=%u height=%d fill=transparent data-t=\"", slot_x(p->d, slot),
             slot_width(p->d), HEIGHT + 8);
    put_time(p, slot_time(p->d, slot));
    for (unsigned i = 0; i < r->n; i++) {
        const struct series *s = &p->d->series[r->first + i];
        double value = slot_value(p->d, s->line, slot);
        if (value <= 0)
            continue;
        page_put(p, "\n");
        page_number(p, value, 2);
        page_put(p, " ");
        page_name(p, s->pid);
        page_put(p, " ");
        page_name(p, s->name);
    }
    page_put(p, "\"/>");
}

static void put_lines(struct page *p, const struct ranking *r)
{
    const struct digest *d = p->d;
    double most = 0;

    for (unsigned i = 0; i < r->n; i++)
        most = highest(d, d->series[r->first + i].line, most);
    if (most <= 0)
        return;
    page_put(p, "<svg viewBox=\"0 0 %d %d\" role=img>", WIDTH, HEIGHT + 22);
    for (unsigned i = r->n; i-- > 0;)
        put_line(p, d->series[r->first + i].line, most, colours[i % COLOURS]);
    page_put(p, "<text x=2 y=12>");
    page_number(p, most, 2);
    page_put(p, "</text><text x=2 y=%d>", HEIGHT + 19);
    put_time(p, d->first);
    page_put(p, "</text><text x=%d y=%d text-anchor=end>", WIDTH - 2, HEIGHT + 19);
    put_time(p, d->last);
    page_put(p, "</text>");
    for (unsigned i = 0; i < d->slots; i++)
        if (d->slot_seconds[i] > 0)
            put_hover(p, r, i);
    page_put(p, "</svg>\n");
}

/* A row a ranking: how much all its rows had, against the most of any time. */
static void put_heat(struct page *p)
{
    const struct digest *d = p->d;

    page_put(p, "<h2>When</h2><svg viewBox=\"0 0 %d %u\" role=img>", WIDTH + 140, d->nrankings * 18);
    for (unsigned i = 0; i < d->nrankings; i++) {
        const struct ranking *r = &d->rankings[i];
        double most = highest(d, r->line, 0);
        if (most <= 0)
            continue;
        page_put(p, "<text x=0 y=%u>", i * 18 + 12);
        page_name(p, r->view);
        page_put(p, " %s</text>", r->column);
        for (unsigned slot = 0; slot < d->slots; slot++) {
            double value = slot_value(d, r->line, slot);
            if (value < 0)
                continue;
            page_put(p, "<rect x=%u y=%u width=%u height=16 fill=\"hsl(%d 80%% %d%%)\" data-t=\"",
                     140 + slot_x(p->d, slot), i * 18, slot_width(p->d), (int)(50 - 50 * value / most),
                     (int)(94 - 50 * value / most));
            put_time(p, slot_time(d, slot));
            page_put(p, " ");
            page_number(p, value, 2);
            page_put(p, "\"/>");
        }
        page_put(p, "\n");
    }
    page_put(p, "</svg>\n");
}

static void put_page(struct page *p, const struct reader *reader)
{
    const struct digest *d = p->d;
    char from[WHEN_TEXT], to[WHEN_TEXT];

    lines_add(&p->lines, head, sizeof head - 1);
    page_put(p, "<p><code>");
    page_name(p, reader->path);
    page_put(p, "</code>: %" PRIu64 " windows, ", d->windows);
    page_number(p, d->seconds, 0);
    when_format(d->first, from);
    when_format(d->last, to);
    page_put(p, " s, from %s to %s", from, to);
    page_put(p,
             "; lost %" PRIu64 ", torn %u, damaged %" PRIu64
             ". A process that is not among the first of a window has no value in it.\n",
             d->lost, reader->torn, reader->damaged);
    put_heat(p);
    flames_html(p);
    for (unsigned i = 0; i < d->nrankings; i++) {
        if (!d->rankings[i].n)
            continue;
        page_put(p, "<h2>");
        page_name(p, d->rankings[i].view);
        page_put(p, " %s</h2>\n", d->rankings[i].column);
        put_lines(p, &d->rankings[i]);
        put_tables(p, &d->rankings[i]);
        lines_end(&p->lines);
    }
    lines_add(&p->lines, tail, sizeof tail - 1);
    lines_end(&p->lines);
}

int html_write(int fd, const struct digest *digest, const struct reader *reader)
{
    struct page page = {.d = digest};

    lines_open(&page.lines, fd);
    put_page(&page, reader);
    int err = lines_flush(&page.lines);
    lines_close(&page.lines);
    return err;
}
