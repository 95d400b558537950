// SPDX-License-Identifier: GPL-2.0-only
/* Values with units: by the name of the column, three digits. */
#include "out/human.h"
#include <string.h>
#include "tap.h"

int main(void)
{
    static const struct {
        const char *column;
        double value;
        const char *text; /* NULL: left as it is */
    } cases[] = {
        {"rss_kib", 65536, "64M"},
        {"rss_kib", 0, "0B"},
        {"kib", 0.5, "512B"},
        {"kib", 1023, "1.00M"},
        {"kib", 999, "999K"},
        {"delta_kib", -2048, "-2M"},
        {"read_kib_s", 1536, "1.50M"},
        {"size_kib", 0.001, "1.02B"},
        {"vm_kib", 1e12, "931T"},
        {"p50_us", 0.5, "0.50us"},
        {"p50_us", 999.6, "1.00ms"},
        {"wait_max_us", 1250, "1.25ms"},
        {"run_ms", 999.9, "1.00s"},
        {"run_ms", 0.25, "250us"},
        {"total_ms", 90000, "90s"},
        {"cpu_pct", 33.33, "33.3%"},
        {"cpu_pct", 0, "0.0%"},
        {"wait_pct", 244.4, "244%"},
        {"faults_s", 1500, "1.50K"},
        {"count", 999, "999"},
        {"count", 16442, "16.4K"},
        {"wait_count", 1e6, "1M"},
        {"errors", 0, "0"},
        {"pid", 65536, NULL},
        {"rank", 1, NULL},
        {"oom_s", 1500, NULL},
        {"age_s", 1500, NULL},
        {"uid", 65534, NULL},
        {"watts", 1500, NULL},
        {"accounts", 5000, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HUMAN_TEXT] = "";
        bool done = human_format(cases[i].column, strlen(cases[i].column), cases[i].value, text);
        check(done == (cases[i].text != NULL) && (!done || !strcmp(text, cases[i].text)),
              "%s of %g is %s, not %s", cases[i].column, cases[i].value,
              cases[i].text ? cases[i].text : "left", done ? text : "left");
    }
    return done();
}
