#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a browser makes of the page of `report -o html`, with a name in it that tries to break out.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
load_start "$BUILD/tests/load/duty" 1000 1000 3000 9
"$HOG" record "$TMP/r" top,cpu 0.1 8
sed -i 's/"duty"\]$/"<script>alert(1)<\/script>\\"'"'"'\&lt;<img\\\\x20src=x>"]/' "$TMP/r"
written() { "$HOG" report "$TMP/r" -k 12 -o html >"$TMP/page.html" && "$HOG" report "$TMP/r" -k 12 -o json >"$TMP/report" && grep -q '&#60;img' "$TMP/page.html"; }
check 'a page with a hostile name' written
in_a_browser() {
    python3 tests/live/browser.py "$TMP/page.html" "$TMP/dom" | tee /dev/stderr | grep -qx 'requests=0' && python3 tests/live/page.py "$TMP/dom" "$TMP/report"
}
# The same for a page whose name does break out, where the browser runs no script.
without_script() {
    sed "s/default-src .none.;/img-src http:;/; s/script-src 'unsafe-inline'/script-src 'none'/; 0,/^<tr>.*&#60;img/ {
        /^<tr>/! b; s/&#60;img/<img/; s/x&#62;/http:\\/\\/host.invalid\\/x><script>document.title='it ran'<\\/script>/ }" \
        "$TMP/page.html" >"$TMP/worse.html"
    python3 tests/live/browser.py "$TMP/worse.html" "$TMP/dom" | tee /dev/stderr | grep -qx 'requests=1' || return 1
    python3 tests/live/page.py "$TMP/dom" "$TMP/report" | tee "$TMP/wrong" # the broken place and one name; everything else is read
    grep -q '<title>hog report' "$TMP/dom" && [ "$(sed 's/.* in place of .*/name/' "$TMP/wrong" | xargs)" = '<img> img src=http://host.invalid/x name' ]
}
if command -v chromium-headless-shell >/dev/null; then
    check 'in a browser its tables are those of the report, and it asks no network' in_a_browser
    check 'nor without script; what had slipped out would have been seen' without_script
else
    skip 'a browser' 'needs CHROMIUM: package chromium-headless-shell'
fi
done_testing
