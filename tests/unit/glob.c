// SPDX-License-Identifier: GPL-2.0-only
/* Patterns against names; compared with libc's fnmatch() where both have the same meaning. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/glob.h"
#include "tests/unit/tap.h"

static const struct {
    const char *pattern, *name;
    bool fits;
} cases[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "anything", true},
    {"bash", "bash", true},
    {"bash", "bash2", false},
    {"bas", "bash", false},
    {"ba*", "bash", true},
    {"*sh", "bash", true},
    {"*as*", "bash", true},
    {"b?sh", "bash", true},
    {"b?sh", "bsh", false},
    {"?", "", false},
    {"*?", "a", true},
    {"a*b*c", "axxbyyc", true},
    {"a*b*c", "axxbyy", false},
    {"*ab", "aab", true},
    {"kworker/[0-9]*", "kworker/1:5", true},
    {"kworker/[0-9]*", "kworker/u8:0", false},
    {"[!a]b", "bb", true},
    {"[!a]b", "ab", false},
    {"[]x]", "]", true},
    {"[a-]", "-", true},
    {"[z-a]", "m", false},
    {"\\*", "*", true},
    {"\\*", "x", false},
    {"\\[a]", "[a]", true},
    {"a\\", "a\\", true},
};

static void check_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(glob_matches(cases[i].pattern, cases[i].name, strlen(cases[i].name)) == cases[i].fits,
              "\"%s\" %s \"%s\"", cases[i].pattern, cases[i].fits ? "fits" : "does not fit", cases[i].name);
    check(glob_matches("[ab", "[ab", 3), "a set that is never closed is a bracket");
    check(glob_matches("a*c", "a\0c", 3), "any byte is one, NUL too");
    check(!glob_matches("ab", "abc", 3) && glob_matches("ab", "abc", 2), "a name ends where its length says");
}

/* Few letters, so that many match by chance. */
static void fill(char *to, size_t most, const char *letters)
{
    size_t n = (size_t)rand() % most, kinds = strlen(letters);

    for (size_t i = 0; i < n; i++)
        to[i] = letters[(size_t)rand() % kinds];
    to[n] = '\0';
}

static void compare_with_libc(void)
{
    unsigned same = 0, fit = 0;
    char pattern[12], name[12];

    srand(1);
    for (int i = 0; i < 200000; i++) {
        fill(pattern, sizeof pattern, "aab?**");
        fill(name, sizeof name, "aab");
        bool fits = glob_matches(pattern, name, strlen(name));
        same += fits == !fnmatch(pattern, name, 0);
        fit += fits;
    }
    check(same == 200000 && fit > 10000, "the same as fnmatch() in 200000 random cases: %u, %u fit", same,
          fit);
}

/* A naive matcher would take years. */
static void check_hostile(void)
{
    char name[4096];

    memset(name, 'a', sizeof name);
    check(!glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name, sizeof name),
          "a pattern of many stars is decided at once");
}

int main(void)
{
    check_cases();
    compare_with_libc();
    check_hostile();
    return done();
}
