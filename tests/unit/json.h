/* SPDX-License-Identifier: GPL-2.0-only */
/* A small strict reader of one JSON object without nesting (RFC 8259), for tests. */
#ifndef HOG_TESTS_JSON_H
#define HOG_TESTS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct json_member {
    char name[32];
    enum { JSON_STRING, JSON_NUMBER, JSON_NULL } kind;
    char text[512]; /* of a string: decoded; of a number: as written */
};

static bool json_string(const char **p, char *to, size_t size)
{
    const char *s = *p;
    size_t n = 0;

    if (*s++ != '"')
        return false;
    for (; *s != '"'; s++) {
        char c = *s;
        if ((unsigned char)c < ' ' || n + 1 >= size)
            return false; /* control bytes (and the end) must not stand bare */
        if (c == '\\') {
            static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
            const char *at = *++s ? strchr(from, *s) : NULL;
            if (!at)
                return false; /* \u is legal JSON, but hog has no use for it */
            c = into[at - from];
        }
        to[n++] = c;
    }
    to[n] = '\0';
    *p = s + 1;
    return true;
}

static size_t json_digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool json_number(const char **p, char *to, size_t size)
{
    const char *s = *p;

    s += *s == '-';
    if (!json_digits(s) || (*s == '0' && json_digits(s) > 1))
        return false;
    s += json_digits(s);
    if (*s == '.') {
        if (!json_digits(++s))
            return false;
        s += json_digits(s);
    }
    size_t n = (size_t)(s - *p);
    if (n >= size)
        return false;
    memcpy(to, *p, n);
    to[n] = '\0';
    *p = s;
    return true;
}

static bool json_value(const char **p, struct json_member *member)
{
    if (**p == '"') {
        member->kind = JSON_STRING;
        return json_string(p, member->text, sizeof member->text);
    }
    if (!strncmp(*p, "null", 4)) {
        member->kind = JSON_NULL;
        member->text[0] = '\0';
        *p += 4;
        return true;
    }
    member->kind = JSON_NUMBER;
    return json_number(p, member->text, sizeof member->text);
}

/* The members of the object that `line` is, up to its newline; 0 when it is anything else. */
static size_t json_object(const char *line, struct json_member *members, size_t most)
{
    size_t n = 0;

    if (*line++ != '{')
        return 0;
    do {
        if (n == most || !json_string(&line, members[n].name, sizeof members[n].name) || *line++ != ':' ||
            !json_value(&line, &members[n]))
            return 0;
        n++;
    } while (*line++ == ',');
    return line[-1] == '}' && line[0] == '\n' ? n : 0;
}

#endif
