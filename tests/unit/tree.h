/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up host below a directory of its own: files of /proc and /sys, as a test needs them. */
#ifndef HOG_TESTS_TREE_H
#define HOG_TESTS_TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[64];

static int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

/* Removes PATH below the root, and everything below it. */
static inline void tree_remove(const char *path)
{
    char full[16384];

    snprintf(full, sizeof full, "%s%s", tree_root, path);
    nftw(full, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void tree_end(void)
{
    tree_remove("");
}

static inline void tree_begin(void)
{
    snprintf(tree_root, sizeof tree_root, "/tmp/hog-tree-XXXXXX");
    if (!mkdtemp(tree_root)) {
        perror(tree_root);
        exit(1);
    }
    atexit(tree_end);
}

/* Writes a file, with the directories above it. */
static inline void tree_file(const char *path, const char *text)
{
    char full[16384];

    snprintf(full, sizeof full, "%s%s", tree_root, path);
    for (char *p = full + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (mkdir(full, 0777) < 0 && errno != EEXIST)
            perror(full);
        *p = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) == EOF || fclose(file)) {
        perror(full);
        exit(1);
    }
}

#endif
