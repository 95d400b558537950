// SPDX-License-Identifier: GPL-2.0-only
#include "host/container.h"
#include <stdbool.h>
#include <string.h>

#define ID_DIGITS 64 /* of a SHA-256 */
#define SHOWN     12

struct word {
    const char *text;
    size_t length;
};

static bool begins(struct word word, const char *with)
{
    size_t n = strlen(with);

    return word.length >= n && !memcmp(word.text, with, n);
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && begins(word, text);
}

static struct word after(struct word word, const char *prefix)
{
    size_t n = strlen(prefix);

    return (struct word){word.text + n, word.length - n};
}

static bool cut_end(struct word *word, const char *suffix)
{
    size_t n = strlen(suffix);

    if (word->length < n || memcmp(word->text + word->length - n, suffix, n) != 0)
        return false;
    word->length -= n;
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_id(struct word word)
{
    if (word.length != ID_DIGITS)
        return false;
    for (size_t i = 0; i < word.length; i++)
        if (!is_hex(word.text[i]))
            return false;
    return true;
}

static void found(struct container *container, const char *runtime, struct word id)
{
    if (!id.length)
        return;
    container->runtime = runtime;
    container->id = id.text;
    container->length = id.length;
}

/* RUNTIME-ID.scope is what runtimes ask systemd for; RUNTIME-ID or ID what they make themselves; and
 * SLICE:RUNTIME:ID what is meant for systemd where there is none. */
static bool by_id(struct word word, struct container *container)
{
    static const struct {
        const char *prefix, *runtime;
    } prefixes[] = {
        {"docker-", "docker"},
        {"cri-containerd-", "containerd"},
        {"nerdctl-", "containerd"},
        {"crio-", "crio"},
        {"libpod-", "podman"},
        {"docker:", "docker"},
        {"cri-containerd:", "containerd"},
        {"nerdctl:", "containerd"},
        {"crio:", "crio"},
        {"libpod:", "podman"},
    };
    const char *colon;

    if (word.length > ID_DIGITS && word.text[word.length - ID_DIGITS - 1] == ':' &&
        (colon = memchr(word.text, ':', word.length - ID_DIGITS - 1))) {
        word.length -= (size_t)(colon + 1 - word.text);
        word.text = colon + 1;
    }
    cut_end(&word, ".scope");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!begins(word, prefixes[i].prefix) || !is_id(after(word, prefixes[i].prefix)))
            continue;
        found(container, prefixes[i].runtime, after(word, prefixes[i].prefix));
        return true;
    }
    return false;
}

/* Below the directory that a runtime keeps its containers in. */
static bool by_parent(struct word parent, struct word word, struct container *container)
{
    const char *runtime = is(parent, "docker") ? "docker" : is(parent, "libpod_parent") ? "podman" : NULL;

    if (is(parent, "lxc") || is(parent, "lxc.payload")) {
        found(container, "lxc", word);
        return true;
    }
    if (!is_id(word))
        return false;
    found(container, runtime, word);
    return true;
}

/* A machine of systemd: the service of a nspawn, or the scope that systemd-machined gave it; virtual machines
 * have such scopes too. */
static bool by_machine(struct word parent, struct word word, struct container *container)
{
    static const char service[] = "systemd-nspawn@", scope[] = "machine-";

    if (begins(word, service) && cut_end(&word, ".service")) {
        found(container, "nspawn", after(word, service));
        return true;
    }
    if (!is(parent, "machine.slice") || !begins(word, scope) || !cut_end(&word, ".scope"))
        return false;
    word = after(word, scope);
    if (begins(word, "qemu\\x2d"))
        return false;
    if (begins(word, "lxc\\x2d"))
        found(container, "lxc", word);
    else
        found(container, "nspawn", word);
    return true;
}

/* pod<UID>, or kubepods-burstable-pod<UID>.slice, where dashes of the UID are underscores. Pods of files have
 * a UID of 32 digits without dashes. */
static void by_pod(struct word word, struct container *container)
{
    char pod[CONTAINER_POD];
    bool slice = cut_end(&word, ".slice");

    if (slice && begins(word, "kubepods-")) {
        word = after(word, "kubepods-");
        if (begins(word, "burstable-"))
            word = after(word, "burstable-");
        else if (begins(word, "besteffort-"))
            word = after(word, "besteffort-");
    } else if (slice) {
        return;
    }
    if (!begins(word, "pod"))
        return;
    word = after(word, "pod");
    if (word.length != 32 && word.length != 36)
        return;
    for (size_t i = 0; i < word.length; i++) {
        pod[i] = word.text[i] == '_' ? '-' : word.text[i];
        if (!is_hex(pod[i]) && pod[i] != '-')
            return;
    }
    pod[word.length] = '\0';
    memcpy(container->pod, pod, sizeof pod);
}

static void consider(struct word parent, struct word word, struct container *container)
{
    static const char payload[] = "lxc.payload.";

    by_pod(word, container);
    if (begins(word, payload))
        found(container, "lxc", after(word, payload));
    else if (!by_id(word, container) && !by_machine(parent, word, container))
        by_parent(parent, word, container);
}

void container_of_path(const char *path, size_t length, struct container *container)
{
    struct word parent = {"", 0};

    memset(container, 0, sizeof *container);
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(path + at, '/', length - at);
        struct word word = {path + at, (slash ? (size_t)(slash - path) : length) - at};
        if (word.length) {
            consider(parent, word, container);
            parent = word;
        }
        at += word.length + 1;
    }
}

size_t container_short(const struct container *container)
{
    struct word id = {container->id, container->length};

    return is_id(id) ? SHOWN : id.length;
}

/* The rest of the path begins with the group, maybe with more behind its name. */
static bool begins_with_group(const char *path, size_t length, struct word group, struct word more)
{
    size_t n = group.length + more.length;

    return length >= n && !memcmp(path, group.text, group.length) &&
           !memcmp(path + group.length, more.text, more.length) && (length == n || path[n] == '/' || !n);
}

bool cgroup_path_is_in(const char *path, size_t length, const char *group, size_t group_length)
{
    struct word word = {group, group_length}, none = {"", 0}, service = {".service", 8};

    while (word.length && word.text[word.length - 1] == '/')
        word.length--;
    if (group_length && *group == '/')
        return begins_with_group(path, length, word, none);
    bool maybe_service = !memchr(group, '.', word.length);
    for (size_t at = 0; at < length && word.length; at++) {
        const char *name = path + at + 1;
        size_t rest = length - at - 1;
        if (path[at] == '/' && (begins_with_group(name, rest, word, none) ||
                                (maybe_service && begins_with_group(name, rest, word, service))))
            return true;
    }
    return false;
}

bool container_id_begins(const struct container *in, const char *text, size_t length)
{
    struct word whole = {text, length};
    size_t n = in->length == SHOWN && is_id(whole) ? SHOWN : length;

    return in->length >= n && in->length && !memcmp(in->id, text, n);
}
