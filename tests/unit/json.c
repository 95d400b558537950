/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whatever the name of a process: a row keeps its fields, is valid UTF-8 without anything that draws
 * nothing, reads the same in all formats, and gives back the bytes of the name. Random names, the same ones
 * in each run.
 */
#include "tests/unit/json.h"
#include "out/out.h"
#include "tests/unit/tap.h"
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#define ROWS    100000
#define LONGEST 40

#define ROW_COLUMNS(X)                                                                                       \
    X(number, 6, NONE, NONE, WIDE, "")                                                                       \
    X(dev, -8, NONE, NONE, WIDE, "")                                                                         \
    X(kib, 8, KIB, NONE, WIDE, "")                                                                           \
    X(ms, 0, MS, NONE, WIDE, "")                                                                             \
    X(comm, -15, NONE, NONE, WIDE, "")
COLUMN_TABLE(ROW_COLUMNS);
static const struct schema schema = {.name = "fuzz", .columns = columns, .ncolumns = COLUMNS};

static uint64_t state = 0x9e3779b97f4a7c15;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

struct name {
    char bytes[LONGEST];
    size_t length;
};

/* Bytes of every kind, often nearly valid or dangerous ones. */
static struct name random_name(void)
{
    static const char *const pieces[] = {"\303\251",
                                         "\342\200\256",
                                         "\360\237\230\200",
                                         "\355\240\200",
                                         "\\x20",
                                         "\"",
                                         "\\",
                                         " ",
                                         "\n",
                                         "\t",
                                         "-",
                                         "#",
                                         "\342\200",
                                         "\302\233",
                                         "cpu"};
    struct name name = {.length = next() % LONGEST};

    for (size_t i = 0; i < name.length; i++)
        name.bytes[i] = (char)(next() % 3 ? next() : next() % 96 + 32);
    if (next() % 2) {
        const char *piece = pieces[next() % (sizeof pieces / sizeof *pieces)];
        size_t n = strlen(piece), at = next() % (LONGEST - n);
        memcpy(name.bytes + at, piece, n);
        if (next() % 4 == 0)
            name.length = at + n;
    }
    return name;
}

static size_t random_row(struct name *dev, struct name *comm, struct cell cells[5])
{
    *dev = random_name();
    *comm = random_name();
    cells[0] = cell_unsigned(next() % 100);
    cells[1] = cell_bytes(dev->bytes, dev->length);
    cells[2] = next() % 4 ? cell_signed((int32_t)next()) : cell_unknown();
    cells[3] = cell_decimal((int32_t)next() / 1e4, 3);
    cells[4] = (struct cell){.kind = CELL_STRING, .s = {comm->bytes, comm->length}}; /* NUL bytes and all */
    return strnlen(dev->bytes, dev->length);
}

/* The next line of the file without its newline. */
static char *next_line(FILE *file, char *line, size_t size)
{
    char *newline = fgets(line, (int)size, file) ? strchr(line, '\n') : NULL;
    if (newline)
        *newline = '\0';
    return newline ? line : NULL;
}

/* As awk does: fields are separated by runs of blanks. */
static size_t split(char *line, const char *blanks, char *fields[], size_t most)
{
    size_t n = 0;
    for (char *field = strtok(line, blanks); field; field = strtok(NULL, blanks)) {
        if (n == most)
            return most + 1;
        fields[n++] = field;
    }
    return n;
}

/* Decodes \xNN, the only escape. */
static size_t unescape(const char *text, char *to)
{
    size_t n = 0;
    while (*text) {
        if (text[0] != '\\') {
            to[n++] = *text++;
            continue;
        }
        if (text[1] != 'x' || !isxdigit((unsigned char)text[2]) || !isxdigit((unsigned char)text[3]))
            return (size_t)-1;
        to[n++] = (char)strtoul((char[]){text[2], text[3], '\0'}, NULL, 16);
        text += 4;
    }
    return n;
}

static bool gives_back(const char *text, const char *bytes, size_t length)
{
    char plain[1024];

    if (!length)
        return !strcmp(text, "-");
    return strcmp(text, "-") && unescape(text, plain) == length && !memcmp(plain, bytes, length);
}

/* By the C library's decoder: valid, and no control character. */
static bool is_clean(const char *line)
{
    wchar_t c;
    mbstate_t mb = {0};

    while (*line) {
        size_t n = mbrtowc(&c, line, MB_CUR_MAX, &mb);
        if (n > 4 || (c < L' ' && c != L'\t') || (c >= 0x7f && c < 0xa1) || c == 0x202e || c == 0x200b)
            return false;
        line += n;
    }
    return true;
}

static FILE *write_rows(enum out_format format)
{
    int fd = memfd_create("rows", 0);
    struct out *out = out_open(fd, format, false);

    state = 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < ROWS; i++) {
        struct name dev, comm;
        struct cell cells[5];
        random_row(&dev, &comm, cells);
        out_row(out, &schema, cells);
    }
    check(out_flush(out) == 0, "%d random rows written in format %d", ROWS, format);
    out_close(out);
    lseek(fd, 0, SEEK_SET);
    return fdopen(fd, "r");
}

static void check_rows(void)
{
    FILE *text = write_rows(OUT_TEXT), *tsv = write_rows(OUT_TSV), *json = write_rows(OUT_JSON);
    unsigned fields_wrong = 0, formats_differ = 0, names_lost = 0, unclean = 0, json_wrong = 0, blanks = 0;

    state = 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < ROWS; i++) {
        char lines[3][2048], *fields[8], *tabbed[8];
        struct json_member members[10];
        struct name dev, comm;
        struct cell cells[5];
        size_t dev_length = random_row(&dev, &comm, cells);

        if (!next_line(text, lines[0], 2048) || !next_line(tsv, lines[1], 2048) ||
            !fgets(lines[2], 2048, json)) {
            fields_wrong += ROWS - i;
            break;
        }
        blanks += lines[0][strlen(lines[0]) - 1] == ' ';
        unclean += !is_clean(lines[0]) || !is_clean(lines[1]);
        if (split(lines[0], " \t", fields, 8) != 6 || split(lines[1], "\t", tabbed, 8) != 6) {
            fields_wrong++;
            continue;
        }
        for (size_t f = 0; f < 6; f++)
            formats_differ += strcmp(fields[f], tabbed[f]) != 0;
        names_lost += !gives_back(fields[2], dev.bytes, dev_length);
        names_lost += !gives_back(fields[5], comm.bytes, comm.length);
        if (json_object(lines[2], members, 10) != 9) {
            json_wrong++;
            continue;
        }
        for (size_t f = 1; f < 6; f++) { /* after type, view, seq, rank */
            const struct json_member *member = &members[f + 3];
            bool known = strcmp(fields[f], "-") || member->kind == JSON_STRING;
            json_wrong += strcmp(member->name, columns[f - 1].name) != 0;
            formats_differ += known ? strcmp(member->text, fields[f]) != 0 : member->kind != JSON_NULL;
        }
    }
    check(getc(text) == EOF && getc(tsv) == EOF && getc(json) == EOF, "no line more than rows");
    check(!fields_wrong, "every row has its six fields: %u have not", fields_wrong);
    check(!blanks, "no row ends in a blank: %u do", blanks);
    check(!unclean, "every line is valid UTF-8 without control characters: %u are not", unclean);
    check(!names_lost, "the escaped name gives back the bytes: %u do not", names_lost);
    check(!json_wrong, "every row is a JSON object: %u are not", json_wrong);
    check(!formats_differ, "a value reads the same in every format: %u differ", formats_differ);
    fclose(text);
    fclose(tsv);
    fclose(json);
}

/* The check itself must be able to fail. */
static void check_reader(void)
{
    static const char *const bad[] = {
        "{}\n",         "{\"a\":1}",        "{\"a\":01}\n",       "{\"a\":1,}\n", "{\"a\":.5}\n",
        "{\"a\":1.}\n", "{\"a\":nan}\n",    "{\"a\":\"\t\"}\n",   "{\"a\":\"}\n", "{\"a\":\"\\x\"}\n",
        "{\"a\":+1}\n", "{a:1}\n",          "{\"a\":\"b\"c\"}\n", "[1]\n",        "{\"a\":1}x\n",
        "{\"a\":-}\n",  "{\"a\":\"\\\"}\n",
    };
    struct json_member members[4];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!json_object(bad[i], members, 4), "broken JSON %zu is refused", i);
    check(json_object("{\"a\":-0.5,\"b\":null,\"c\":\"\\\\x\"}\n", members, 4) == 3 &&
              !strcmp(members[0].text, "-0.5") && members[1].kind == JSON_NULL &&
              !strcmp(members[2].text, "\\x"),
          "good JSON is read");
}

int main(void)
{
    check(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a UTF-8 decoder to compare with");
    check_reader();
    check_rows();
    return done();
}
