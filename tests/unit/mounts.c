/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of mountinfo, malformed ones too. */
#include "host/mounts.h"
#include "tests/unit/tap.h"
#include <stdlib.h>
#include <string.h>

static bool parse(const char *text, struct mount_point *mount, char line[256])
{
    snprintf(line, 256, "%s", text);
    return mount_parse(line, mount);
}

int main(void)
{
    static const char *const bad[] = {
        "",
        "\n",
        "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1\n",
        "36 35 98:0 /mnt1 - ext3 /dev/root rw\n",
        "36 35 98 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "36 35 98: /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "36 35 98:0x /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "-36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "x 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "99999999999 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
        "36 35 98:0 /mnt1 mnt2 rw - ext3 /dev/root rw\n",
        "36 35 98:0 /mnt1 /mnt2 rw - ",
        " - ",
    };
    struct mount_point mount;
    char line[256];

    check(parse("36 35 98:7 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n",
                &mount, line) &&
              mount.id == 36 && mount.major == 98 && mount.minor == 7 && !strcmp(mount.path, "/mnt2") &&
              !strcmp(mount.type, "ext3"),
          "a line is read");
    check(parse("1 1 0:2 / / rw - rootfs rootfs rw", &mount, line) && !strcmp(mount.path, "/"),
          "without tags and newline");
    check(parse("1 1 0:2 / /a\\040b\\011\\134\\012 rw - tmpfs", &mount, line) &&
              !strcmp(mount.path, "/a b\t\\\n") && !strcmp(mount.type, "tmpfs"),
          "blanks are unescaped");
    check(parse("1 1 0:2 / /a\\04 rw - tmpfs x y", &mount, line) && !strcmp(mount.path, "/a\\04"),
          "what is no escape stays");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!parse(bad[i], &mount, line), "line %zu is none", i);
    struct mounts *mounts = mounts_open();
    check(mounts && !mounts_path(mounts, 0, 4294967295u, 0, 0, 1), "a mount that is not there has no path");
    for (uint32_t i = 0; mounts && i < 1000; i++)
        mounts_path(mounts, 0, 4294960000u + i, 0, 0, i);
    check(mounts != NULL, "many that are not there are no trouble");
    mounts_close(mounts);
    return done();
}
