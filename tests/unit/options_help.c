/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of options: each name once, each on one page of help; pages fit a terminal. Run from the top of
 * the source tree: reads docs/hog.8. */
#include "cli/options_help.h"
#include "cli/options_table.h"
#include "cli/options_views.h"
#include "cli/options_verbs.h"
#include "view/view.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_OPTIONS 51
#define MOST_LINES   25

static char *slurp(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)(size < 0 ? 0 : size) + 1);

    if (!text || (size > 0 && pread(fd, text, (size_t)size, 0) != size))
        abort();
    return text;
}

/* The page; the caller frees it. topic: NULL for the first. */
static char *page_of(const char *topic, bool wide, const struct view *const *known)
{
    struct options o = {.topics = {topic}, .wide = wide};
    int fd = memfd_create("help", 0);

    thresholds_default(&o.thresholds);
    check(options_help(fd, &o, known) == 0, "help %s is written", topic ? topic : "");
    char *page = slurp(fd);
    close(fd);
    return page;
}

/* Whether text has `name` between `before` and something that does not continue a name. */
static unsigned mentions(const char *text, const char *before, const char *name)
{
    size_t nb = strlen(before), n = strlen(name);
    unsigned times = 0;

    for (const char *p = text; (p = strstr(p, before)); p += nb)
        times += !strncmp(p + nb, name, n) && !strchr("-_abcdefghijklmnopqrstuvwxyz=", p[nb + n]);
    return times;
}

static void check_size(const char *topic, const char *page, size_t most)
{
    size_t widest = 0, lines = 0;

    for (const char *line = page; *line; line += strcspn(line, "\n") + 1, lines++)
        widest = strcspn(line, "\n") > widest ? strcspn(line, "\n") : widest;
    check(widest < 80 && lines > 2 && lines <= most,
          "help %s has at most %zu lines of 80 columns: %zu of %zu", topic, most, lines, widest);
    check(!strstr(page, " \n") && !strstr(page, "\n\n\n"), "help %s has no trailing blanks", topic);
}

/* Each page that is not about everything; `all` has room for as many lines as it takes. */
static void check_pages(void)
{
    char *page = page_of(NULL, false, views);

    check_size("", page, MOST_LINES);
    for (const struct view *const *view = views; *view; view++)
        check(mentions(page, "\n  ", (*view)->name) == 1, "%s on the first page", (*view)->name);
    check(strstr(page, "\n  doctor ") && strstr(page, "Status: "), "doctor and statuses on the first page");
    free(page);
    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++) {
        page = page_of(section_name(section), false, views);
        check_size(section_name(section), page, MOST_LINES);
        free(page);
    }
    for (const struct verb_spec *verb = verb_table; verb->word; verb++) {
        page = page_of(verb->word, false, views);
        check_size(verb->word, page, MOST_LINES);
        free(page);
    }
    for (const struct view *const *view = views; *view; view++) {
        page = page_of((*view)->name, false, views);
        check_size((*view)->name, page, MOST_LINES);
        free(page);
        page = page_of((*view)->name, true, views);
        check_size((*view)->name, page, 100);
        for (size_t i = 0; i < (*view)->schema.ncolumns; i++)
            check(mentions(page, "\n  ", (*view)->schema.columns[i].name) == 1, "help %s -w explains %s",
                  (*view)->name, (*view)->schema.columns[i].name);
        free(page);
    }
    page = page_of("all", false, views);
    check_size("all", page, 150);
    free(page);
    page = page_of("thresholds", false, views);
    check(strstr(page, "\nstarved_pct=25\n") != NULL, "help thresholds has their values");
    free(page);
}

/* A page per section and view holds its options, and no other page does. */
static void check_option(const struct option_spec *spec, const struct view *owner, const char *manual)
{
    char item[64], manual_item[64];
    unsigned times = 0;

    snprintf(item, sizeof item, spec->letter ? "\n  -%c, --" : "\n      --", spec->letter);
    snprintf(manual_item, sizeof manual_item, spec->letter ? "\n.It Fl %c , Fl -" : "\n.It Fl -",
             spec->letter);
    for (enum option_section section = SECTION_VIEW + 1; section < SECTIONS; section++) {
        char *page = page_of(section_name(section), false, views);
        times += mentions(page, item, spec->name);
        free(page);
    }
    for (const struct view *const *view = views; *view; view++) {
        char *page = page_of((*view)->name, false, views);
        unsigned here = mentions(page, item, spec->name);
        check(!here || *view == owner, "help %s has its own options: --%s", (*view)->name, spec->name);
        times += here;
        free(page);
    }
    check(times == !spec->hidden, "--%s is on %s page of help: %u", spec->name, spec->hidden ? "no" : "one",
          times);
    char *all = page_of("all", false, views);
    check(mentions(all, item, spec->name) == !spec->hidden, "help all: --%s", spec->name);
    free(all);
    check(mentions(manual, manual_item, spec->name) == !spec->hidden, "--%s %s the manual", spec->name,
          spec->hidden ? "not in" : "in");
    check(spec->verbs && !(spec->verbs & ~VERBS_ALL), "--%s has an effect somewhere", spec->name);
}

static void check_made(void)
{
    static const struct column columns[] = {COLUMN(a_ms, 4, MS, SUM, DEFAULT, "time")};
    static const struct view lengthy = {
        .name = "lengthy",
        .schema = {.name = "lengthy", .columns = columns, .ncolumns = 1},
        .summary = "a summary that is much too long for a line of a terminal with eighty columns and so must "
                   "be wrapped"};
    static const struct view *const made[] = {&lengthy, NULL};
    struct error why = {""};
    char *page = page_of(NULL, false, made);

    check(strstr(page, "\n  lengthy     a summary"), "the first page shows the views it is given");
    check_size("of one view", page, MOST_LINES);
    free(page);
    page = page_of("lengthy", false, made);
    check(strstr(page, "\n  a_ms  time\n"), "and so does a page");
    free(page);
    check(!help_check("lengthy", made, &why) && help_check("cpu", made, &why) == -EINVAL,
          "only these have pages: %s", why.text);
}

static void check_files(void)
{
    struct options o = {0};
    int fd = memfd_create("version", 0);

    check(options_version(fd) == 0, "--version is written");
    char *version = slurp(fd);
    check(!strcmp(version, "hog " HOG_VERSION "\n"), "--version gives name and number");
    free(version);
    close(fd);
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    check(options_help(fd, &o, views) == -ENOSPC && options_version(fd) == -ENOSPC,
          "help and --version notice a full disk");
    o.topics[0] = "thresholds";
    check(options_help(fd, &o, views) == -ENOSPC, "so do thresholds");
    close(fd);
}

/* Letters and names are given once, over all tables. */
static void check_table(void)
{
    const struct option_spec *all[MAX_GIVEN];
    const struct view *owners[MAX_GIVEN];
    size_t n = 0, visible = 0;
    int fd = open("docs/hog.8", O_RDONLY | O_CLOEXEC);
    char *manual = slurp(fd);

    check(fd >= 0 && *manual, "docs/hog.8 can be read from here");
    for (const struct option_spec *spec = option_table; spec->name && n < MAX_GIVEN; spec++) {
        check(spec->section != SECTION_VIEW, "--%s is in a section", spec->name);
        owners[n] = NULL;
        all[n++] = spec;
    }
    for (const struct view *const *view = views; *view; view++)
        for (const struct option_spec *spec = (*view)->options; spec && spec->name && n < MAX_GIVEN; spec++) {
            owners[n] = *view;
            all[n++] = spec;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(all[i]->name, all[j]->name) || (all[i]->letter && all[i]->letter == all[j]->letter) ||
                (all[i]->letter && all[i]->letter == all[j]->also))
                check(false, "option tables: --%s twice", all[i]->name);
    for (size_t i = 0; i < n; i++) {
        visible += !all[i]->hidden;
        check_option(all[i], owners[i], manual);
    }
    check(n < MAX_GIVEN, "all options of a command line can be noted");
    check(visible > 30 && visible <= MOST_OPTIONS, "at most %d options: %zu", MOST_OPTIONS, visible);
    free(manual);
    close(fd);
}

int main(void)
{
    check_table();
    check_pages();
    check_made();
    check_files();
    return done();
}
