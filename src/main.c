// SPDX-License-Identifier: GPL-2.0-only
/* hog names the resource hogs of a Linux host. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "cli/doctor.h"
#include "cli/energy_command.h"
#include "cli/run_report.h"
#include "cli/thresholds_print.h"
#include "cli/hook_names.h"
#include "cli/process_limits.h"
#include "cli/options.h"
#include "cli/options_help.h"
#include "cli/pin.h"
#include "cli/run.h"
#include "base/message.h"

/* If 0, 1 or 2 is closed, the next open() would become stdout, and the next map could get the fd 0. Without
 * /dev/null the root directory fills the gap: writes to it fail. */
static void reserve_stdio(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0)
            fd = open("/", O_PATH | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static enum status written(int err)
{
    if (!err || err == -EPIPE)
        return STATUS_DONE;
    message("cannot write to stdout: %s (%s)", strerror(-err), error_name(err));
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static struct options options;
    struct error why = {""};

    bool no_stdout = fcntl(STDOUT_FILENO, F_GETFD) < 0 && errno == EBADF;
    reserve_stdio();
    process_limits_change();
    if (options_parse(&options, argc, argv, views, &why) || hook_names_check(options.run.without, &why)) {
        message("%s", why.text);
        return STATUS_USAGE;
    }
    if (no_stdout && !options.command) {
        message("stdout is closed: there is nowhere to write to");
        return STATUS_FAILED;
    }
    switch (options.mode) {
    case RUN_HELP:
        return written(options_help(STDOUT_FILENO, &options, views));
    case RUN_VERSION:
        return written(options_version(STDOUT_FILENO));
    case RUN_THRESHOLDS:
        return written(thresholds_print(&options.thresholds, STDOUT_FILENO));
    case RUN_DOCTOR:
        return doctor(&options);
    case RUN_PIN:
        return pin_views(&options);
    case RUN_READ:
        return read_views(&options);
    case RUN_UNPIN:
        return unpin_views(&options);
    case RUN_REPORT:
        return run_report(&options);
    case RUN_DIFF:
        return run_diff(&options);
    case RUN_VIEWS:
        break;
    }
    return options.command ? energy_command(&options) : (int)run_views(&options);
}
