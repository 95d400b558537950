// SPDX-License-Identifier: GPL-2.0-only
/* The rows above the tables: a title, the bars, and the headline. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/escape.h"
#include "out/human.h"
#include "rows/rows.h"
#include "screen/screen_private.h"

#define LEAST_BARRED  8  /* rows of a terminal that has one for the bars, and one for the headline */
#define LEAST_WRAPPED 20 /* rows of a terminal that has two for a long headline */
#define MOST_HOST     24
#define MOST_BAR      40

const char *screen_note(const struct screen *s, const char *name)
{
    size_t n = strlen(name);

    for (const char *line = s->now.length ? s->now.bytes : NULL; line && *line; line++) {
        if (*line == '#' && !strncmp(line + 1, name, n) && strchr("\t\n ", line[1 + n]))
            return line + 1 + n;
        line = strchr(line, '\n');
        if (!line)
            break;
    }
    return NULL;
}

/* ---- title ---- */

static void put_interval(struct frame *f, uint64_t ns)
{
    uint64_t ms = ns / 1000000;

    if (ms >= 1000 && ms % 1000)
        frame_format(f, "  every %u.%u s", (unsigned)(ms / 1000), (unsigned)(ms / 100 % 10));
    else if (ms >= 1000)
        frame_format(f, "  every %u s", (unsigned)(ms / 1000));
    else
        frame_format(f, "  every %u ms", (unsigned)ms);
}

static void put_state(const struct screen *s, struct frame *f)
{
    if (s->wish.by)
        frame_format(f, "  by %s", rows_word_name(s->wish.by));
    if (s->wish.threads)
        frame_text(f, "  threads");
    if (*s->wish.filter) {
        frame_text(f, "  only ");
        for (const char *p = s->wish.filter; *p;) {
            char step[ESCAPE_MAX];
            size_t n, taken = escape_step(p, strlen(p), step, &n);
            frame_put(f, step, n);
            p += taken;
        }
    }
    if (s->wide)
        frame_text(f, "  wide");
    if (s->paused) {
        frame_text(f, "  ");
        frame_style(f, STYLE_REVERSE);
        frame_text(f, "paused");
        frame_style(f, STYLE_NONE);
    }
}

static void put_title(struct screen *s)
{
    struct frame *f = &s->frame;
    char host[256] = "", name[MOST_HOST + ESCAPE_MAX];
    struct tm tm;
    time_t ended = (time_t)s->ended;

    frame_style(f, STYLE_BOLD);
    frame_text(f, "hog");
    for (const struct schema *const *schema = s->schemas; schema && *schema; schema++)
        frame_format(f, " %s", (*schema)->name);
    frame_style(f, STYLE_NONE);
    gethostname(host, sizeof host - 1);
    escape_name(name, MOST_HOST, host, strlen(host));
    frame_format(f, "  host %s", name);
    if (s->ended && localtime_r(&ended, &tm))
        frame_format(f, "  %02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
    put_interval(f, s->options.interval_ns);
    if (!f->plain)
        put_state(s, f);
}

/* ---- bars ---- */

/* name [|||||     ] text, in `width` characters. */
static void put_bar(struct frame *f, const char *name, double pct, const char *text, unsigned width)
{
    unsigned words = (unsigned)(strlen(name) + strlen(text)) + 4, room = width > words ? width - words : 0, n;
    static const char full[] = "||||||||||||||||||||||||||||||||||||||||";

    room = room < MOST_BAR ? room : MOST_BAR;
    pct = pct < 0 ? 0 : pct > 100 ? 100 : pct;
    n = (unsigned)(pct * room / 100 + 0.5);
    frame_format(f, "%s [", name);
    frame_style(f, pct >= 90 ? STYLE_BAD : pct >= 60 ? STYLE_FAIR : STYLE_GOOD);
    frame_put(f, full, n);
    frame_style(f, STYLE_NONE);
    frame_blanks(f, room - n);
    frame_format(f, "] %s", text);
    frame_blanks(f, width > words + room ? width - words - room : 0);
}

static unsigned hundredths(double value)
{
    return (unsigned)(value * 100 + 0.5);
}

static void put_bars(struct screen *s)
{
    static const char *const pressures[PRESSURES] = {"cpu", "mem", "io"};
    const struct load *load = &s->load;
    char text[96], used[HUMAN_TEXT], total[HUMAN_TEXT];
    unsigned width = s->width / 3;
    int most = 0;

    snprintf(text, sizeof text, "%u.%02u of %u", hundredths(load->busy_cpus) / 100,
             hundredths(load->busy_cpus) % 100, (unsigned)load->cpus);
    put_bar(&s->frame, "cpu", load->cpus > 0 ? 100 * load->busy_cpus / load->cpus : 0,
            load->cpus > 0 ? text : "-", width - 2);
    frame_blanks(&s->frame, 2);
    human_format(UNIT_KIB, (double)load->memory_used / 1024, used);
    human_format(UNIT_KIB, (double)load->memory_total / 1024, total);
    snprintf(text, sizeof text, "%s of %s", used, total);
    put_bar(&s->frame, "mem",
            load->memory_total ? 100.0 * (double)load->memory_used / (double)load->memory_total : 0,
            load->memory_total ? text : "-", width - 2);
    frame_blanks(&s->frame, 2);
    for (int i = 1; i < PRESSURES; i++)
        most = load->pressure[i] > load->pressure[most] ? i : most;
    snprintf(text, sizeof text, "%s %u %%", pressures[most], hundredths(load->pressure[most]) / 100);
    put_bar(&s->frame, "psi", load->pressure[most], load->pressure[most] >= 0 ? text : "-",
            s->width - 2 * width);
}

/* The sentence is the last field of its line. */
static const char *headline_of(const struct screen *s, size_t *length)
{
    static const char name[] = "\ttext=";
    const char *line = screen_note(s, "headline"), *text = line ? strstr(line, name) : NULL;

    *length = line ? strcspn(line, "\n") : 0;
    if (!text || text > line + *length)
        return NULL;
    text += sizeof name - 1;
    *length = strcspn(text, "\t\n");
    return *length ? text : NULL;
}

void head_draw(struct screen *s, unsigned kept)
{
    struct frame *f = &s->frame;
    size_t length;

    if (frame_row(f, kept))
        put_title(s);
    if (s->height < LEAST_BARRED || !s->ended)
        return;
    if (!f->plain && s->width >= 40 && frame_row(f, kept))
        put_bars(s);
    const char *headline = headline_of(s, &length);
    if (!headline || !frame_row(f, kept))
        return;
    size_t n = text_row(headline, s->height < LEAST_WRAPPED ? ~0u : s->width);
    frame_put(f, headline, n);
    if (n < length && frame_row(f, kept))
        frame_put(f, headline + n + 1, length - n - 1);
}
