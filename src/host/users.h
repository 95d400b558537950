/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of users, from /etc/passwd only: a static binary has no name services. */
#ifndef HOG_HOST_USERS_H
#define HOG_HOST_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct users;

/* root: in front of /etc/passwd; "" but for tests. A file that is not there, or is too large, has no users.
 * NULL: no memory. */
struct users *users_open(const char *root);
void users_close(struct users *users);

/* The first name of that number, or NULL. Lives as long as `users`. */
const char *users_name(const struct users *users, uint32_t uid);

bool users_find(const struct users *users, const char *name, size_t length, uint32_t *uid);

#endif
