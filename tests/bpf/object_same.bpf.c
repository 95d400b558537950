/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections with the same name: linkers and assemblers make them, compilers rarely. */
#define SEC(name) __attribute__((section(name), used))

/* A second section of this name, with one function that returns `result`. */
#define SECOND(section, function, result)                                                                    \
    asm(".section \"" section "\",\"ax\",@progbits,unique,1\n"                                               \
        ".globl " function "\n.type " function ",@function\n" function ":\nr0 = " result "\nexit\n"          \
        ".size " function ", .-" function "\n.text\n")

struct same_task {
    int field;
} __attribute__((preserve_access_index));

SEC("raw_tp/alone") int same_alone(struct same_task *task)
{
    return task->field;
}

SEC("raw_tp/plain") int same_first(void *context)
{
    return 1;
}
SECOND("raw_tp/plain", "same_second", "2");

SEC("raw_tp/moved") int same_third(struct same_task *task)
{
    return task->field;
}
SECOND("raw_tp/moved", "same_fourth", "4");

char same_license[] SEC("license") = "GPL";
