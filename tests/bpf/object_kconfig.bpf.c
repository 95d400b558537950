/* SPDX-License-Identifier: GPL-2.0-only */
/* An extern of each type that a kernel configuration option can have, with a program for each. */
#define SEC(name) __attribute__((section(name), used))
#define KCONFIG   __attribute__((section(".kconfig")))
#define WEAK      __attribute__((weak))

typedef char text6[6];
enum libbpf_tristate { TRI_NO = 0, TRI_YES = 1, TRI_MODULE = 2 };

#define OPTION(name, type)                                                                                   \
    extern type CONFIG_##name KCONFIG;                                                                       \
    SEC("raw_tp/x") int get_##name(void *context)                                                            \
    {                                                                                                        \
        return *(volatile char *)&CONFIG_##name;                                                             \
    }

OPTION(BOOL, _Bool)
OPTION(BOOL_NO, _Bool)
OPTION(BOOL_MODULE, _Bool)
OPTION(TRI, enum libbpf_tristate)
OPTION(TRI_M, enum libbpf_tristate)
OPTION(CHAR, char)
OPTION(CHAR_NUMBER, signed char)
OPTION(INT, int)
OPTION(INT_NEGATIVE, int)
OPTION(INT_LARGE, int)
OPTION(INT_YES, int)
OPTION(HEX, unsigned long)
OPTION(UNSIGNED_NEGATIVE, unsigned int)
OPTION(SHORT_EDGE, short)
OPTION(TEXT_CUT, text6)
OPTION(TEXT_OPEN, text6)
OPTION(ABSENT, int)
OPTION(COMMENTED, _Bool)

/* Another name is a prefix of this one. */
OPTION(INT_, int)

extern int CONFIG_WEAK_ABSENT KCONFIG WEAK;
SEC("raw_tp/x") int get_WEAK_ABSENT(void *context)
{
    return CONFIG_WEAK_ABSENT;
}

char kconfig_license[] SEC("license") = "GPL";
