// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/call_test.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/quote.h"

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

static bool parse_value(const char *text, int64_t *value)
{
    char *end;

    if (!strcmp(text, "NULL")) {
        *value = 0;
        return true;
    }
    errno = 0;
    *value = strtoll(text, &end, 0);
    return !errno && end != text && !*skip_blanks(end);
}

static bool parse_test(struct call_test *test, const char *text)
{
    static const struct {
        const char *sign;
        unsigned test;
    } signs[] = {{"<=", CALL_LESS | CALL_EQUAL},
                 {">=", CALL_GREATER | CALL_EQUAL},
                 {"==", CALL_EQUAL},
                 {"!=", CALL_LESS | CALL_GREATER},
                 {"<", CALL_LESS},
                 {">", CALL_GREATER}};

    text = skip_blanks(text);
    if (strncmp(text, "ret", 3) != 0)
        return false;
    text += 3;
    test->test = strncmp(text, "64", 2) ? 0 : CALL_WIDE;
    text = skip_blanks(text + (test->test ? 2 : 0));
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, n) != 0)
            continue;
        test->test |= signs[i].test;
        return parse_value(skip_blanks(text + n), &test->value);
    }
    return false;
}

int call_test_parse(struct call_test *test, const char *text, struct error *why)
{
    if (parse_test(test, text))
        return 0;
    return error_set(
        why, -EINVAL,
        "--error: \"%s\" is no test of a result: ret or ret64, one of < <= == != >= >, and a number or NULL, "
        "like 'ret<0'",
        quote(text).text);
}

int call_bytes_parse(unsigned *bytes, const char *text, struct error *why)
{
    if (!strcmp(text, "ret"))
        *bytes = CALL_RESULT;
    else if (*text >= '1' && *text <= '6' && !text[1])
        *bytes = (unsigned)(*text - '0');
    else
        return error_set(why, -EINVAL,
                         "--bytes: \"%s\" is neither the number of an argument, 1 to 6, nor ret",
                         quote(text).text);
    return 0;
}
