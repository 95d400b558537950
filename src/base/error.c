/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/error.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *why, int err, const char *format, ...)
{
    if (!why)
        return err;
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    for (char *p = why->text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    return err;
}

const char *error_name(int err)
{
    switch (err < 0 ? -err : err) {
#define NAME(e)                                                                                              \
    case e:                                                                                                  \
        return #e
        NAME(EPERM);
        NAME(ENOENT);
        NAME(ESRCH);
        NAME(EINTR);
        NAME(EIO);
        NAME(E2BIG);
        NAME(ENOEXEC);
        NAME(EBADF);
        NAME(EAGAIN);
        NAME(ENOMEM);
        NAME(EACCES);
        NAME(EFAULT);
        NAME(EBUSY);
        NAME(EEXIST);
        NAME(ENODEV);
        NAME(ENOTDIR);
        NAME(EISDIR);
        NAME(EINVAL);
        NAME(ENFILE);
        NAME(EMFILE);
        NAME(ENOSPC);
        NAME(EROFS);
        NAME(EPIPE);
        NAME(EDOM);
        NAME(ERANGE);
        NAME(ENOSYS);
        NAME(ELOOP);
        NAME(ENODATA);
        NAME(EPROTO);
        NAME(EBADMSG);
        NAME(EOVERFLOW);
        NAME(EILSEQ);
        NAME(EOPNOTSUPP);
        NAME(ETIMEDOUT);
        NAME(EALREADY);
        NAME(ENXIO);
        NAME(ECANCELED);
        NAME(ENAMETOOLONG);
#undef NAME
    case 524: /* ENOTSUPP, kernel-internal, leaks out of bpf(2) */
        return "ENOTSUPP";
    default:
        return "E?";
    }
}
