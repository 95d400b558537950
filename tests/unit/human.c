// SPDX-License-Identifier: GPL-2.0-only
/* Values with units: three digits. */
#include "out/human.h"
#include <string.h>
#include "tap.h"

int main(void)
{
    static const struct {
        enum column_unit unit;
        double value;
        const char *text; /* NULL: left as it is */
    } cases[] = {
        {UNIT_KIB, 65536, "64M"},
        {UNIT_KIB, 0, "0B"},
        {UNIT_KIB, 0.5, "512B"},
        {UNIT_KIB, 1023, "1.00M"},
        {UNIT_KIB, 999, "999K"},
        {UNIT_KIB, -2048, "-2M"},
        {UNIT_KIB_PER_S, 1536, "1.50M"},
        {UNIT_KIB, 0.001, "1.02B"},
        {UNIT_KIB, 1e12, "931T"},
        {UNIT_US, 0.5, "0.50us"},
        {UNIT_US, 999.6, "1.00ms"},
        {UNIT_US, 1250, "1.25ms"},
        {UNIT_MS, 999.9, "1.00s"},
        {UNIT_MS, 0.25, "250us"},
        {UNIT_MS, 90000, "90s"},
        {UNIT_PCT, 33.33, "33.3%"},
        {UNIT_PCT, 0, "0.0%"},
        {UNIT_PCT, 244.4, "244%"},
        {UNIT_PER_S, 1500, "1.50K"},
        {UNIT_COUNT, 999, "999"},
        {UNIT_COUNT, 16442, "16.4K"},
        {UNIT_COUNT, 1e6, "1M"},
        {UNIT_COUNT, 0, "0"},
        {UNIT_NONE, 65536, NULL},
        {UNIT_S, 1500, NULL},
        {UNIT_S, 1500, NULL},
        {UNIT_NONE, 65534, NULL},
        {UNIT_WATTS, 1500, NULL},
        {UNIT_NONE, 5000, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HUMAN_TEXT] = "";
        bool done = human_format(cases[i].unit, cases[i].value, text);
        check(done == (cases[i].text != NULL) && (!done || !strcmp(text, cases[i].text)),
              "unit %d of %g is %s, not %s", cases[i].unit, cases[i].value,
              cases[i].text ? cases[i].text : "left", done ? text : "left");
    }
    return done();
}
