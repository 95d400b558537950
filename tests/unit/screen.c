// SPDX-License-Identifier: GPL-2.0-only
/* Pictures of the screen, as a terminal would show them: at all sizes, with all keys. */
#include "screen/screen_private.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "tap.h"

#define WIDEST  240
#define HIGHEST 70

static const struct column columns[] = {
    COLUMN(pid, 7, NONE, TASK, NARROW, "process"),
    COLUMN(used_pct, 8, PCT, SUM, NARROW_RANKED, "a number that stays"),
    COLUMN(rss_kib, 9, KIB, LEVEL, DEFAULT, "a number of the default set"),
    COLUMN(reads_s, 9, PER_S, SUM, DEFAULT, "another"),
    COLUMN(further_ms, 12, MS, SUM, WIDE, "a further number"),
    COLUMN(uid, 6, NONE, TASK, WIDE, "of which no value is known"),
    COLUMN(state, -14, NONE, FIRST, NARROW, "a word"),
    COLUMN(by, -24, NONE, FIRST, NARROW, "a long word"),
    COLUMN(comm, -15, NONE, TASK, NARROW, "name"),
};
static const struct schema schema = {
    .name = "view", .columns = columns, .ncolumns = sizeof columns / sizeof *columns};
static const struct schema *const schemas[] = {&schema, NULL};

/* ---- a terminal ---- */

struct terminal_picture {
    char rows[HIGHEST][WIDEST + 1];
    unsigned row, column;
    const char *wrong; /* what no terminal should get, or NULL */
};

static const char *take_escape(struct terminal_picture *t, const char *p)
{
    char *end;

    if (!strncmp(p, "[H", 2))
        t->row = t->column = 0;
    else if (!strncmp(p, "[2J", 3))
        memset(t->rows, 0, sizeof t->rows);
    else if (!strncmp(p, "[K", 2) && t->row < HIGHEST)
        memset(&t->rows[t->row][t->column], 0, WIDEST - t->column);
    else if (*p == '[' && strtoul(p + 1, &end, 10) && !strncmp(end, ";1H", 3)) {
        t->row = (unsigned)strtoul(p + 1, &end, 10) - 1;
        t->column = 0;
    } else if (*p != '[' || p[strspn(p + 1, "0123456789;") + 1] != 'm')
        t->wrong = "an escape";
    return p + strcspn(p, "HJKm") + 1;
}

static void show(struct terminal_picture *t, const char *bytes, size_t n)
{
    for (const char *p = bytes; p < bytes + n;) {
        if (*p == '\033') {
            p = take_escape(t, p + 1);
            continue;
        }
        if ((unsigned char)*p < ' ' || *p == 127)
            t->wrong = "a control byte";
        if (t->row >= HIGHEST || t->column >= WIDEST)
            t->wrong = "something beyond its edges";
        else
            t->rows[t->row][t->column++] = *p;
        p++;
    }
}

/* What stdout gets meanwhile. */
static void draw(struct screen *s, struct terminal_picture *t)
{
    static char bytes[1 << 20];
    int old = dup(STDOUT_FILENO), fd = memfd_create("picture", 0);

    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    screen_draw(s, false);
    dup2(old, STDOUT_FILENO);
    ssize_t n = pread(fd, bytes, sizeof bytes - 1, 0);
    bytes[n > 0 ? n : 0] = '\0';
    show(t, bytes, n > 0 ? (size_t)n : 0);
    close(fd);
    close(old);
}

static unsigned widest(const struct terminal_picture *t)
{
    unsigned most = 0;

    for (unsigned i = 0; i < HIGHEST; i++)
        most = strlen(t->rows[i]) > most ? (unsigned)strlen(t->rows[i]) : most;
    return most;
}

static unsigned lowest(const struct terminal_picture *t)
{
    unsigned rows = 0;

    for (unsigned i = 0; i < HIGHEST; i++)
        rows = *t->rows[i] ? i + 1 : rows;
    return rows;
}

static const char *header_of(const struct terminal_picture *t)
{
    for (unsigned i = 0; i < HIGHEST; i++)
        if (strstr(t->rows[i], "comm") && strstr(t->rows[i], "pid"))
            return t->rows[i];
    return "";
}

/* ---- windows ---- */

static void put(struct screen *s, const char *text)
{
    struct lines_sink *sink = screen_sink(s);

    sink->write(sink, text, strlen(text));
}

/* Rows change with `seq`, and so does their order. */
static void put_window(struct screen *s, unsigned seq, unsigned rows, bool header)
{
    char line[256];

    snprintf(line, sizeof line,
             "#window\tseq=%u\tdur_ms=1000.000\tlost=0\n#headline\tshort=none\ttext=some words %u\n"
             "#totals\tcpus=4\tidle_ms=%u.0\n#psi\tcpu_pct=%u.5\tmem_pct=0.0\tio_pct=-\n",
             seq, seq, seq * 100 % 4000, seq % 99);
    put(s, line);
    if (header)
        put(s, "#view\tpid\tused_pct\trss_kib\treads_s\tfurther_ms\tuid\tstate\tby\tcomm\n");
    for (unsigned i = 0; i < rows; i++) {
        unsigned pid = 100 + (i + seq) % rows;
        snprintf(line, sizeof line,
                 "view\t%u\t%u.50\t%u\t-\t12.000\t-\tstarved\t%u/neighbour,%u/other\t%s%u\n", pid,
                 (rows - i) * seq % 1000, pid * 1000, pid + 1, pid + 2, i == 1 ? "tmux:\\x20\\x1b" : "name",
                 pid);
        put(s, line);
    }
    s->drawn = clock_ns(CLOCK_MONOTONIC); /* too short a time ago to draw once more */
    screen_end_window(s);
}

static struct screen *open_screen(unsigned width, unsigned height)
{
    struct screen *s = screen_open(&(struct screen_options){.interval_ns = 1000000000});

    screen_views(s, schemas);
    s->width = width;
    s->height = height;
    put_window(s, 1, 30, true);
    return s;
}

/* ---- tests ---- */

static void test_columns(void)
{
    static const struct {
        unsigned width;
        const char *header;
    } cases[] = {
        {160, "pid used_pct rss_kib further_ms state by comm"},
        {100, "pid used_pct rss_kib further_ms state by comm"},
        {70, "pid used_pct rss_kib state by comm"},
        {60, "pid used_pct state by comm"},
        {36, "pid used_pct state by comm"},
        {12, "pid comm"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct terminal_picture t;
        char header[WIDEST + 1] = "";
        struct screen *s = open_screen(cases[i].width, 24);
        memset(&t, 0, sizeof t);
        draw(s, &t);
        for (const char *p = header_of(&t); *p;) {
            size_t n = strcspn(p += strspn(p, " "), " ");
            snprintf(header + strlen(header), sizeof header - strlen(header), "%s%.*s",
                     *header && n ? " " : "", (int)n, p);
            p += n;
        }
        check(!strcmp(header, cases[i].header), "%u columns have %s: %s", cases[i].width, cases[i].header,
              header);
        screen_close(s);
    }
}

static void test_sizes(void)
{
    static const char *const keys[] = {"", "?", "\033[B\r", "w\033[C\033[C\033[C", "/name"};
    unsigned wrong = 0;

    for (unsigned width = 1; width < WIDEST; width += width < 12 ? 1 : 19)
        for (unsigned height = 1; height < HIGHEST; height += height < 12 ? 1 : 13)
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                static struct terminal_picture t;
                struct screen *s = open_screen(width, height);
                memset(&t, 0, sizeof t);
                s->frame.colour = width % 2; /* without colours a mark stands in front of rows */
                keys_take(s, keys[i], strlen(keys[i]));
                draw(s, &t);
                bool full = height < 8 || width < 8 || lowest(&t) == height;
                wrong += t.wrong || widest(&t) > width || lowest(&t) > height || !full;
                screen_close(s);
            }
    check(!wrong, "no size of a terminal is written beyond: %u are", wrong);
}

static void test_changes(void)
{
    static struct terminal_picture t, fresh;
    struct screen *s = open_screen(100, 24);
    unsigned wrong = 0;

    for (unsigned seq = 2; seq < 40; seq++) {
        put_window(s, seq, 5 + seq * 7 % 20, false);
        keys_take(s, &"\033[B\033[B?\033w/n\033g\033[B\033[C s s \033"[seq % 20], 1);
        draw(s, &t);
        frame_forget(&s->frame);
        memset(&fresh, 0, sizeof fresh);
        draw(s, &fresh);
        wrong += memcmp(t.rows, fresh.rows, sizeof t.rows) != 0;
    }
    check(!wrong, "to write what changed gives the same picture: %u times it does not", wrong);
    screen_close(s);
}

static void test_filter(void)
{
    static const struct {
        const char *typed;
        unsigned rows;
    } cases[] = {{"/tmux: ", 1},      {"/\\x20", 0}, {"/name1", 29},   {"/name10?", 9},
                 {"/tmux:*[0-9]", 1}, {"/none", 0},  {"/none\033", 30}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct screen *s = open_screen(100, 60);
        struct table table;
        keys_take(s, cases[i].typed, strlen(cases[i].typed));
        table_find(s, &s->views[0], &table);
        check(table.n == cases[i].rows, "\"%s\" leaves %u rows: %u", cases[i].typed, cases[i].rows, table.n);
        screen_close(s);
    }
}

static void test_selected(void)
{
    static struct terminal_picture t;
    struct screen *s = open_screen(100, 24);
    struct table table;

    draw(s, &t);
    keys_take(s, "\033[B\033[B\r", 7);
    check(s->wish.pid == 102, "Enter asks about the process of the row: %u", s->wish.pid);
    put_window(s, 2, 30, false);
    draw(s, &t);
    check(strstr(t.rows[3], "pid ") == t.rows[3] && strstr(t.rows[3], " 102 "),
          "the page stays with its process: %s", t.rows[3]);
    check(strstr(t.rows[4], "a number that stays") != NULL, "columns are explained: %s", t.rows[4]);
    screen_tell(s, "It waits for 103.\nAsk 103.");
    put_window(s, 3, 30, false);
    draw(s, &t);
    check(!strcmp(t.rows[3], "It waits for 103.") && !strcmp(t.rows[4], "Ask 103."),
          "what is told of it comes first: %s", t.rows[3]);
    s->width = 11;
    draw(s, &t);
    check(!strcmp(t.rows[1], "some words"), "the headline is wrapped: %s, %s", t.rows[1], t.rows[2]);
    check(!strcmp(t.rows[3], "It waits") && !strcmp(t.rows[4], "for 103.") && !strcmp(t.rows[5], "Ask 103."),
          "where the terminal is narrow it has more rows: %s, %s, %s", t.rows[3], t.rows[4], t.rows[5]);
    keys_take(s, "\033", 1);
    table_find(s, &s->views[0], &table);
    check(!s->wish.pid && s->page == PAGE_TABLE, "Escape goes back");
    screen_close(s);
}

/* Anything may be typed, in any order. */
static void test_any_keys(void)
{
    static const char bytes[] = "\033[ABCDHFZ5678~OM \t\r\n/?gtwskhq019*\x7f\xc3\xa9\xff\x01";
    static struct terminal_picture t;
    struct screen *s = open_screen(80, 24);
    unsigned wrong = 0;

    srandom(1);
    for (unsigned i = 0; i < 4000; i++) {
        char keys[8];
        size_t n = 1 + (size_t)random() % sizeof keys;
        for (size_t j = 0; j < n; j++)
            keys[j] = bytes[(size_t)random() % (sizeof bytes - 1)];
        keys_take(s, keys, n);
        if (i % 7 == 0)
            put_window(s, i, (unsigned)random() % 40, i % 49 == 0);
        if (i % 3 == 0) {
            s->width = 1 + (unsigned)random() % 120;
            s->height = 1 + (unsigned)random() % 40;
            frame_forget(&s->frame);
        }
        draw(s, &t);
        wrong += t.wrong != NULL;
        t.wrong = NULL;
    }
    check(!wrong, "whatever is typed, the terminal gets text and its own escapes: %u times not", wrong);
    screen_close(s);
}

int main(void)
{
    setenv("NO_COLOR", "", 1);
    test_columns();
    test_sizes();
    test_changes();
    test_filter();
    test_selected();
    test_any_keys();
    return done();
}
