/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of options: each name once, and --help and the manual have every one. Run from the top of the
 * source tree: reads docs/hog.8. */
#include "cli/options.h"
#include "cli/options_table.h"
#include "view/view.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *slurp(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)(size < 0 ? 0 : size) + 1);

    if (!text || (size > 0 && pread(fd, text, (size_t)size, 0) != size))
        abort();
    return text;
}

/* Whether text has `name` between `before` and something that does not continue a name. */
static bool mentions(const char *text, const char *before, const char *name)
{
    size_t nb = strlen(before), n = strlen(name);

    for (const char *p = text; (p = strstr(p, before)); p += nb)
        if (!strncmp(p + nb, name, n) && !strchr("-abcdefghijklmnopqrstuvwxyz=", p[nb + n]))
            return true;
    return false;
}

static void check_explained(const struct option_spec *spec, const char *help, const char *manual)
{
    for (; spec->name; spec++) {
        char help_item[64], manual_item[64];
        if (spec->letter) {
            snprintf(help_item, sizeof help_item, "\n  -%c, --", spec->letter);
            snprintf(manual_item, sizeof manual_item, "\n.It Fl %c , Fl -", spec->letter);
        } else {
            snprintf(help_item, sizeof help_item, "\n      --");
            snprintf(manual_item, sizeof manual_item, "\n.It Fl -");
        }
        bool in_help = mentions(help, help_item, spec->name);
        bool in_manual = mentions(manual, manual_item, spec->name);
        check(in_help == !spec->hidden, "--%s %s --help", spec->name, spec->hidden ? "not in" : "in");
        check(in_manual == !spec->hidden, "--%s %s the manual", spec->name, spec->hidden ? "not in" : "in");
    }
}

static void check_help(void)
{
    static const struct view lengthy = {
        .name = "lengthy",
        .summary = "a summary that is much too long for a line of a terminal with eighty columns and so must "
                   "be wrapped"};
    static const struct view *const made[] = {&lengthy, NULL};
    int fd = memfd_create("help", 0), manual_fd = open("docs/hog.8", O_RDONLY | O_CLOEXEC);
    size_t widest = 0;

    check(options_help(fd, views) == 0 && options_help(fd, made) == 0, "--help is written");
    char *help = slurp(fd), *manual = slurp(manual_fd);
    check(manual_fd >= 0 && *manual, "docs/hog.8 can be read from here");
    for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
        widest = strcspn(line, "\n") > widest ? strcspn(line, "\n") : widest;
    check(widest < 80 && widest > 60, "--help fits 80 columns: %zu", widest);
    check(strstr(help, "\n  lengthy     a summary"), "--help shows the views it is given");
    check(strstr(help, "\n  doctor      ") && strstr(help, "Exit status"),
          "--help shows doctor, exit statuses");
    check_explained(option_table, help, manual);
    for (const struct view *const *view = views; *view; view++) {
        check(mentions(help, "\n  ", (*view)->name), "%s in --help", (*view)->name);
        if ((*view)->options)
            check_explained((*view)->options, help, manual);
    }
    check(!strstr(help, " \n"), "--help has no trailing blanks");
    free(help);
    free(manual);
    close(fd);
    close(manual_fd);

    fd = memfd_create("version", 0);
    check(options_version(fd) == 0, "--version is written");
    char *version = slurp(fd);
    check(!strcmp(version, "hog " HOG_VERSION "\n"), "--version gives name and number");
    free(version);
    close(fd);
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    check(options_help(fd, views) == -ENOSPC && options_version(fd) == -ENOSPC,
          "--help and --version notice a full disk");
    close(fd);
}

/* Letters and names are given once, over all tables. */
static void check_table(void)
{
    const struct option_spec *all[256];
    size_t n = 0;

    for (const struct option_spec *spec = option_table; spec->name; spec++)
        all[n++] = spec;
    for (const struct view *const *view = views; *view; view++)
        for (const struct option_spec *spec = (*view)->options; spec && spec->name; spec++)
            all[n++] = spec;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(all[i]->name, all[j]->name) || (all[i]->letter && all[i]->letter == all[j]->letter))
                check(false, "option tables: --%s twice", all[i]->name);
    check(n > 10, "%zu options", n);
}

int main(void)
{
    check_table();
    check_help();
    return done();
}
